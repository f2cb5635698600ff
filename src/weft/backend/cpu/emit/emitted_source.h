// What a kernel of machine code reads, from a Loop: its loads as streams over a space. Loads that move by indices, or are random, come
// as blocks filled before each call (indexed_load.h), one element after another, and so do those that short rows do not run along with; index tensors and keys are none of the code's.
// Callers: emitted_map.cpp, block_reduction.cpp.
#pragma once

#include "weft/backend/cpu/emit/spread_loads.h"
#include "weft/backend/cpu/indexed_load.h"

namespace weft::cpu::emit {

class EmittedSource {
  public:
    EmittedSource() = default;
    /// `program`: the loop's, which the loop need not have any more. `streams`: its loads beside a space of sizes `dims`.
    EmittedSource(const Loop& loop, Program program, const Dims& dims, const std::vector<Stream>& streams);

    /// The loop's, without inputs that no instruction reads.
    const Program& program() const { return program_; }
    /// One an input of that program.
    const std::vector<Stream>& streams() const { return streams_; }
    bool indexed() const { return static_cast<bool>(indexed_); }
    /// Makes short rows one long one, where loads that keep them apart can be written out (spread_loads.h says when; `dims` and the rest as there):
    /// these too come as blocks then, all of up to `block` elements.
    bool spread(const Dims& dims, std::int64_t most, bool repeated, std::int64_t block) {
        if (!spread_.take(dims, streams_, most, repeated)) return false;
        block_ = block;
        return true;
    }
    /// Whether blocks are to be filled before each call.
    bool filled() const { return indexed_ || spread_; }

    /// Elements that a block holds: at least 1024, a power of two where spread() does not say otherwise.
    std::int64_t block() const { return block_; }
    /// Memory for the blocks.
    std::size_t bytes() const { return indexed_.bytes(block_) + spread_.bytes(block_); }
    /// How many of `count` elements are to be computed at once.
    std::int64_t step(std::int64_t count) const { return indexed_ && count > block_ ? block_ : count; }
    /// The blocks of elements [flat, flat + count).
    void fill(const void* const* loads, std::int64_t flat, std::int64_t count, std::byte* blocks) const {
        if (draws_) expect(loads, flat, count);
        if (indexed_) indexed_.fill(loads, flat, count, block_, blocks);
        auto from = [&](std::size_t i) { return loads[loads_[i]]; };
        if (spread_) spread_.fill(from, flat, count, block_, blocks + indexed_.bytes(block_));
    }
    /// Asks for what these elements read from arrays that run along: it comes while something else is done.
    void expect(const void* const* loads, std::int64_t flat, std::int64_t count) const {
        for (const Ahead& ahead : ahead_) ahead.fetch(loads, flat, count);
    }
    /// Where element 0 of the space lies, or would lie, for input number `i`.
    const void* base(std::size_t i, const void* const* loads, std::int64_t flat, const std::byte* blocks) const {
        const void* base = loads[loads_[i]];
        if (spread_ && spread_.base(i, flat, block_, blocks + indexed_.bytes(block_), base)) return base;
        indexed_.base(loads_[i], flat, block_, blocks, base);
        return base;
    }

  private:
    struct Ahead {
        std::size_t load;
        std::int64_t width;
        void fetch(const void* const* loads, std::int64_t flat, std::int64_t count) const {
            const auto* from = static_cast<const std::byte*>(loads[load]) + flat * width;
            for (std::int64_t at = 0; at < count * width; at += 64) __builtin_prefetch(from + at);
        }
    };

    Program program_;
    std::vector<Ahead> ahead_;  // arrays that run along
    bool draws_ = false;        // then they are asked for while random bits are drawn
    std::vector<Stream> streams_;
    std::vector<std::size_t> loads_;  // of each input: its number among the loop's
    IndexedBlocks indexed_;
    SpreadLoads spread_;
    std::int64_t block_ = 1024;
};

}  // namespace weft::cpu::emit
