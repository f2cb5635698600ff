// The values of a Loop of one output, block by block to where the caller wants them: by machine code where there is any, else by the
// block evaluator. What becomes of them is the caller's.
// Always: nothing is allocated while blocks are filled; the interpreter's bits. Callers: computed_scan.cpp, computed_scatter.cpp.
#pragma once

#include "weft/backend/cpu/block_runner.h"
#include "weft/backend/cpu/emit/emitted_rows.h"
#include "weft/backend/cpu/emit/emitted_source.h"

namespace weft::cpu {

class ValueBlocks {
  public:
    /// One thread's working memory.
    struct Thread {
        BlockRunner::Context context;
        std::byte* base;
        const void* const* loads;
    };

    ValueBlocks() = default;
    /// Over a space of sizes `dims`; `streams`: the loop's loads beside it. `emitted`: by machine code if it can be.
    ValueBlocks(const Loop& loop, const Dims& dims, const std::vector<Stream>& streams, bool emitted);

    bool emitted() const { return static_cast<bool>(rows_); }
    DType dtype() const { return dtype_; }
    /// Values that fill() makes at most.
    std::int64_t block() const { return rows_ ? source_.block() : runner_.block(); }
    std::size_t scratch_bytes() const { return bytes_; }
    Thread thread(std::byte* scratch, const void* const* loads) const;
    /// Values [flat, flat + count) of the space in row-major order, one after another to `to`.
    void fill(Thread& thread, std::int64_t flat, std::int64_t count, void* to) const;

    /// These values are made soon: asks for what they read.
    void expect(const Thread& thread, std::int64_t flat, std::int64_t count) const {
        if (rows_) source_.expect(thread.loads, flat, count);
    }

  private:
    DType dtype_ = DType::float32;
    BlockRunner runner_;
    emit::EmittedSource source_;
    emit::EmittedRows rows_;
    std::size_t rows_at_ = 0, picked_at_ = 0, bytes_ = 0;
};

}  // namespace weft::cpu
