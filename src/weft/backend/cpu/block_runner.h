// Runs a prepared program over one block of a space of indices after another: brings inputs in, steps, and (for its callers)
// takes results out. Knows nothing of maps, reductions or threads. Callers: block_map.cpp, block_reduction.cpp.
#pragma once

#include "weft/backend/cpu/block_program.h"
#include "weft/backend/cpu/indexed_load.h"

namespace weft::cpu {

class BlockRunner {
  public:
    /// One thread's working memory, as pointers into its scratch.
    struct Context {
        void** value;  // by slot
        std::byte* cells;
        std::byte* registers;
        std::int64_t* at;  // the index of the block's first element
        std::int64_t* walk;
        std::byte* half;  // a block of 16-bit numbers
    };

    BlockRunner() = default;
    /// `streams`: arrays that the steps read and write in memory itself. `copy_inputs`: stores may be loads (a map in place).
    /// `indexed`: loads that move by indices; they are copied.
    BlockRunner(const Program& program, Dims dims, std::vector<Stream> loads, std::vector<Feed> feeds,
                const BlockLoops& loops, std::size_t streams, bool copy_inputs,
                const std::vector<IndexedLoad>& indexed = {});

    /// Elements a block holds at most: a power of two, fewer for programs with many registers.
    std::int64_t block() const { return block_; }
    const Dims& dims() const { return dims_; }
    const BlockProgram& program() const { return program_; }
    std::size_t scratch_bytes() const { return scratch_bytes_; }

    Context context(void* scratch) const;
    /// Once before a thread's first block: constants, uniform values, stationary inputs.
    void begin(Context& context, const void* const* loads) const;
    /// Sets the block that starts at row-major position `flat` and computes `count` <= block() elements of it, which lie in a row
    /// of memory for direct inputs.
    void run(Context& context, const void* const* loads, std::int64_t flat, std::int64_t count) const {
        seek(context, flat);
        feed(context, loads, count);
        step(context, count);
    }
    void seek(Context& context, std::int64_t flat) const { unravel(flat, dims_, context.at); }
    void feed(Context& context, const void* const* loads, std::int64_t count) const;
    void step(Context& context, std::int64_t count) const {
        for (const BlockProgram::At& at : program_.steps) call(context, at, count);
    }
    void* home(const Context& context, std::int32_t slot) const {
        return context.registers + program_.homes[static_cast<std::size_t>(slot)] * register_bytes_;
    }
    /// Writes count values of type `dtype` to a stream over `dims` from index `at` on.
    void store(Context& context, const Stream& stream, const Dims& dims, const std::int64_t* at, void* memory,
               const void* values, DType dtype, std::int64_t count) const;

  private:
    static void call(Context& context, const BlockProgram::At& at, std::int64_t count) {
        const void* operands[3];
        for (int n = 0; n < 3; ++n) operands[n] = at.operands[n] < 0 ? nullptr : context.value[at.operands[n]];
        at.step(context.value[at.out], operands, count, at.info);
    }
    /// Whether a copied input's block happens to lie in memory as the steps want it.
    bool within_a_run(const Context& context, std::size_t input, std::int64_t count) const;
    void gather(Context& context, std::size_t input, const void* memory, void* to, std::int64_t count) const;
    void gather_indexed(Context& context, const IndexedLoad& load, const void* const* loads, std::int64_t count) const;

    Dims dims_;
    std::vector<Stream> loads_;
    std::vector<Feed> feeds_;
    std::vector<IndexedLoad> indexed_;
    std::vector<std::int32_t> indexed_of_;  // of a load: its number in indexed_, or -1
    BlockProgram program_;
    MoveLoops move_{};
    bool read_only_ = false;  // nothing is stored where inputs lie
    std::int64_t block_ = 0, elements_ = 0;
    std::ptrdiff_t register_bytes_ = 0;
    std::size_t cells_at_ = 0, registers_at_ = 0, index_at_ = 0, half_at_ = 0, scratch_bytes_ = 0;
};

}  // namespace weft::cpu
