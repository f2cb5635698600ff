// A compiled kernel over parts of a box of any number of axes: the two innermost are the code's own loops, the others are walked
// here. Nothing is allocated while it runs; any number of threads may run it. Callers: emitted_map.cpp, block_reduction.cpp.
#pragma once

#include <algorithm>
#include <cstring>

#include "weft/backend/cpu/emit/kernel_cache.h"
#include "weft/backend/cpu/loop_layout.h"
#include "weft/compile/device.h"

namespace weft::cpu::emit {

class EmittedRows {
  public:
    EmittedRows() = default;
    /// Streams over the axes of dims, one an input and an output. Empty where no kernel can be emitted (kernel_cache.h says when).
    /// `options`: compiled so, and anew; for tests. `past`: what can be is stored past the caches; of several stores only
    /// where their rows start on 64-byte boundaries, and parts at multiples of 64 within them.
    EmittedRows(const Program& program, Dims dims, const std::vector<Stream>& loads, const std::vector<Stream>& stores,
                const EmitOptions* options = nullptr, bool past = false);
    /// What is joined instead of stored, one an output. Mode::joined: to the 64 values of ReduceLoops::lanes at base(i); run() is then
    /// handed parts of one row alone, which start at a multiple of 64. Mode::accumulated: to a row of results of which base(i) is the
    /// first; run_tile() joins rows to it in their order.
    EmittedRows(const Program& program, Dims dims, const std::vector<Stream>& loads,
                const std::vector<std::pair<Reduction, DType>>& joined, Mode how);
    /// Rows that are joined to one element each, of `results` over all axes but the last; run() is handed whole rows. `stored`: of the
    /// program's first outputs, which are stored instead; `past`: the last of them past the caches, where rows start on such boundaries.
    EmittedRows(const Program& program, Dims dims, const std::vector<Stream>& loads,
                const std::vector<Reduction>& reductions, const std::vector<Stream>& results,
                const std::vector<Stream>& stored = {}, bool past = false);

    explicit operator bool() const { return kernel_ != nullptr; }
    /// How often a vector asks the block evaluator's loops.
    std::size_t calls() const { return kernel_->calls; }
    /// Working memory of one run over `axes` axes.
    static std::size_t scratch_bytes(std::size_t streams, std::size_t axes) {
        return (Arguments{streams}.words() + std::max<std::size_t>(axes, 1)) * sizeof(std::int64_t);
    }
    std::size_t scratch_bytes() const { return kernel_ ? scratch_bytes(kernel_->streams, dims_.size()) : 0; }
    /// Part of a box of at least two axes: `width` elements of each of `rows` rows, from row-major position `flat` on.
    template <class Base>
    void run_tile(std::int64_t flat, std::int64_t rows, std::int64_t width, std::byte* scratch, Base base) const {
        auto* words = reinterpret_cast<std::int64_t*>(scratch);
        Walk walk = start(words, flat);
        while (rows > 0) {
            rows -= aim_rows(walk, rows, width);
            call(walk, base);
            advance_rows(walk);
        }
    }
    /// `count` boxes of the two innermost axes, one behind the other. What the last streams, from `loads` on, are joined to is asked for box by box:
    /// `joined(i, box)`.
    template <class Base, class Joined>
    void run_boxes(std::int64_t first, std::int64_t count, std::size_t loads, std::byte* scratch, Base base,
                   Joined joined) const {
        auto* words = reinterpret_cast<std::int64_t*>(scratch);
        std::int64_t rows = dims_[dims_.size() - 2], width = dims_.back();
        Walk walk = start(words, first * rows * width);
        words[0] = width, words[1] = rows;
        for (std::int64_t box = first; box < first + count; ++box) {
            for (std::size_t i = 0; i < loads; ++i)
                words[arguments().base(i)] = reinterpret_cast<std::int64_t>(base(i)) + offset(walk, i);
            for (std::size_t i = loads; i < kernel_->streams; ++i)
                words[arguments().base(i)] = reinterpret_cast<std::int64_t>(joined(i - loads, box));
            (*kernel_)(words);
            advance_rows(walk);
        }
    }
    /// Elements [flat, flat + count) in row-major order; `base(i)`: the address of stream i at index 0 of every axis.
    template <class Base>
    void run(std::int64_t flat, std::int64_t count, std::byte* scratch, Base base) const {
        auto* words = reinterpret_cast<std::int64_t*>(scratch);
        if (dims_.size() == 1) return run_stretch(words, flat, count, base);
        Walk walk = start(words, flat);
        while (count > 0) {
            count -= aim(walk, count);
            call(walk, base);
            advance(walk);
        }
    }

    /// A cursor over so many rows, `step` bytes of the last stream each, which are made a few at a time: its bytes; 0 where they are no axis of the
    /// box, nor parts of its only one.
    std::size_t cursor_bytes(std::int64_t rows, std::int64_t step) const;
    /// A RowCursor: each stream stands at its own first row.
    template <class Base, class First>
    void start_rows(std::int64_t rows, std::byte* cursor, Base base, First first) const {
        Cursor& at = cursor_in(cursor, rows);
        for (std::size_t i = 0; i < kernel_->streams; ++i)
            at.places()[i] = reinterpret_cast<std::int64_t>(base(i)) + first(i) * at.words()[arguments().row_step(i)];
    }

    /// Whether there is one axis, of which run_all() takes all at once: what small maps and steps of loops are.
    bool one_axis() const { return dims_.size() == 1; }
    /// All of a box of one axis.
    void run_all(const void* const* loads, std::size_t many, void* const* stores, std::byte* scratch) const {
        auto* words = reinterpret_cast<std::int64_t*>(scratch);
        const std::size_t streams = strides_.size();
        words[0] = dims_[0], words[1] = 1;
        put(words + 2, loads, many);
        put(words + 2 + many, stores, streams - many);
        if (steps_.empty())
            for (std::size_t i = 0; i < streams; ++i) words[2 + streams + i] = 0;
        else
            put(words + 2 + streams, steps_.data(), steps_.size());
        (*kernel_)(words);
    }

  private:
    void place(const std::vector<Stream>& streams);
    void keep_steps(const std::vector<StreamKind>& kinds);
    /// Words, of which there are most often one or two: a call of memcpy takes longer than those.
    template <class T>
    static void put(std::int64_t* to, const T* from, std::size_t count) {
        if (count > 8) {
            std::memcpy(to, from, count * sizeof(T));
            return;
        }
        for (std::size_t i = 0; i < count; ++i) {
            std::memcpy(to + i, from + i, sizeof(T));
            asm volatile("" ::: "memory");  // or the compiler makes a call of it
        }
    }
    struct Walk {
        std::int64_t *words, *at;
    };
    /// Behind it the code's arguments, of which it may move the addresses on; and where each stream stands.
    struct Cursor : RowCursor {
        void (*code)(std::int64_t* words);
        Arguments arguments;
        std::int64_t flat;  // elements of a row, where rows run on; else 0
        std::int64_t* words() { return reinterpret_cast<std::int64_t*>(this + 1); }
        std::int64_t* places() { return words() + arguments.words(); }
    };
    static void make_rows(RowCursor& cursor, std::int64_t count);
    Cursor& cursor_in(std::byte* memory, std::int64_t rows) const;
    Walk start(std::int64_t* words, std::int64_t flat) const;
    std::int64_t aim(Walk& walk, std::int64_t count) const;  // how many elements the next call does
    std::int64_t aim_rows(Walk& walk, std::int64_t rows, std::int64_t width) const;
    template <class Base>
    void call(const Walk& walk, Base& base) const {
        for (std::size_t i = 0; i < kernel_->streams; ++i)
            walk.words[arguments().base(i)] = reinterpret_cast<std::int64_t>(base(i)) + offset(walk, i);
        (*kernel_)(walk.words);
    }
    /// Of a box of one axis, with nothing to walk: what small maps are.
    template <class Base>
    void run_stretch(std::int64_t* words, std::int64_t first, std::int64_t count, Base& base) const {
        const std::size_t streams = strides_.size();
        words[0] = count, words[1] = 1;
        std::int64_t *bases = words + 2, *row_steps = bases + streams;
        for (std::size_t i = 0; i < streams; ++i) {
            bases[i] = reinterpret_cast<std::int64_t>(base(i)) + first * strides_[i];
            row_steps[i] = nexts_[i] != 0 ? nexts_[i] : count * strides_[i];
        }
        std::copy_n(strides_.data(), streams, row_steps + streams);
        (*kernel_)(words);
    }
    Arguments arguments() const { return {kernel_->streams}; }
    std::int64_t offset(const Walk& walk, std::size_t stream) const;
    void advance(Walk& walk) const;
    void advance_rows(Walk& walk) const;

    std::shared_ptr<const CompiledKernel> kernel_;
    Dims dims_;                          // at least one axis
    std::vector<std::int64_t> strides_;  // axis by axis for each stream
    std::vector<std::int64_t> nexts_;    // Stream::next of each
    std::vector<std::int64_t>
        steps_;  // of a box of one axis: the steps among its arguments; none where no step matters
};

}  // namespace weft::cpu::emit
