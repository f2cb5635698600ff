// A reduction prepared for its sizes and strides. Three ways, chosen by these alone (never by threads or instruction set):
//   short rows: blocks of whole rows, each row joined by itself;
//   long rows:  blocks of one row, joined in 64 lanes; rows beyond a chunk in several tasks;
//   columns:    where the kept axis is the one that runs through memory: rows are joined onto a row of results, vectorised across.
// Chunks' results lie in scratch and are joined in their order.
// Callers: block_reduction.cpp, which prepares them; reduction_rows.cpp runs them, reduction_runs.cpp those of several axes, reduction_columns.cpp
// holds the third way.
#pragma once

#include "weft/backend/cpu/block_kernel.h"
#include "weft/backend/cpu/column_tiles.h"
#include "weft/backend/cpu/emit/emitted_rows.h"
#include "weft/backend/cpu/emit/emitted_source.h"

namespace weft::cpu {

inline constexpr std::int64_t row_chunk = 16384;  // elements of a long row in one task; each chunk is joined by itself

/// Whether machine code joins rows of so many elements each by itself.
bool folds_rows(std::int64_t length);
/// And does so best, of what this program computes.
bool folds_rows(const Program& computed, std::int64_t length, bool stored = false);

class ReductionKernel : public PreparedLoop {
  public:
    ReductionKernel(const Loop& loop, bool emitted);
    std::string_view by() const override { return rows_ || joined_ || folded_ ? "emitter" : "block evaluator"; }
    std::size_t scratch_bytes() const override {
        return shared_bytes_ + static_cast<std::size_t>(slots_) * thread_bytes_;
    }
    void run(const void* const* loads, void* const* stores, std::byte* scratch) const override;
    std::size_t cursor_bytes(std::int64_t rows, std::int64_t step) const override {
        return folded_ && kept_count_ > 0 ? folded_.cursor_bytes(rows, step) : 0;
    }
    void start_rows(std::int64_t rows, std::int64_t first, const void* const* loads, void* const* stores,
                    std::byte* cursor) const override;

  private:
    enum class Way { short_rows, long_rows, columns };

    struct Output {
        const ReduceLoops* loops;
        Reduction reduction;
        DType dtype;       // of the values
        Stream stream;     // of the results, over the kept axes
        bool position;     // argmax, argmin: the result is where, not what
        Literal identity;  // of no values; positions have none
        std::size_t lanes_at = 0, values_at = 0, places_at = 0, made_at = 0;  // in a thread's scratch
        std::size_t partials_at = 0, partial_places_at = 0;                   // in the kernel's scratch

        // Of columns, and runs, that are an array as it lies in memory, neither computed nor copied:
        std::size_t load = 0;
        Stream straight{};
        std::int64_t row_stride = 0;  // of columns: elements

        std::size_t width() const { return size_of(dtype); }
        bool number() const { return dtype == DType::float32 || dtype == DType::float64; }
        DType result() const { return position ? DType::int64 : dtype; }
    };

    struct Thread {
        BlockRunner::Context context;
        std::byte* base;    // of the thread's scratch
        std::byte* shared;  // of the kernel's
        const void* const* loads;
        void* const* stores;
    };

    void choose_space(const Loop& loop, const LoopLayout& layout, bool emitted);
    void choose_code(const Loop& loop, const Dims& dims, std::size_t reduced);
    bool find_straight(const Loop& loop, const std::vector<Stream>& streams);
    void choose_tasks();
    void lay_out_scratch();
    std::int64_t widest_output() const;  // bytes
    std::int64_t widest_segment() const;
    std::int64_t tiles_at_once() const;
    Thread thread(std::byte* scratch, int slot, const void* const* loads, void* const* stores) const;

    void run_short_rows(Thread& thread, std::int64_t task) const;
    void run_long_rows(Thread& thread, std::int64_t task) const;
    void fold_rows(Thread& thread, std::int64_t first, std::int64_t rows) const;
    void reduce_row(Thread& thread, std::int64_t row, std::int64_t chunk) const;
    void join(Thread& thread, std::int64_t flat, std::int64_t count) const;
    void join_runs(Thread& thread, std::int64_t flat, std::int64_t count) const;
    void join_straight(Thread& thread, std::int64_t flat, std::int64_t count) const;
    void turn_lanes(Thread& thread, std::int64_t by) const;
    void run_columns(Thread& thread, std::int64_t task) const;
    bool joins_chunks_together() const;
    bool joins_without_code() const;
    bool joins_where_stored(std::size_t reduced) const;
    void join_boxes(Thread& thread, std::int64_t first, std::int64_t count) const;
    void join_boxes_by_loops(Thread& thread, std::int64_t first, std::int64_t count) const;
    void join_box(Thread& thread, std::size_t output, const std::int64_t* at, std::int64_t box) const;
    void join_beside(Thread& thread, const ColumnTiles::Tile& tile) const;
    void reduce_columns(Thread& thread, const ColumnTiles::Tile& tile) const;
    void join_rows(Thread& thread, std::int64_t flat, std::int64_t rows, std::int64_t width, std::int64_t row,
                   bool fresh) const;
    void join_chunks(Thread& thread, std::int64_t task) const;
    void fill_identity(Thread& thread) const;

    /// Computes `count` values from row-major position `flat` on: value() is where they then lie.
    void evaluate(Thread& thread, std::int64_t flat, std::int64_t count) const;
    const void* value(const Thread& thread, std::size_t output) const {
        if (rows_) return thread.base + outputs_[output].made_at;
        return thread.context.value[runner_.program().outputs[output].slot];
    }
    void* values(const Thread& thread, const Output& output) const { return thread.base + output.values_at; }
    std::int64_t* places(const Thread& thread, const Output& output) const {
        return reinterpret_cast<std::int64_t*>(thread.base + output.places_at);
    }
    /// Results of kept elements [start, start + count), which lie in the thread's values and places: stored, or kept as chunk's.
    void deliver(Thread& thread, std::int64_t start, std::int64_t count, std::int64_t chunk, std::int64_t chunks) const;
    void store(Thread& thread, std::size_t output, std::int64_t start, std::int64_t count) const;

    BlockRunner runner_;
    emit::EmittedSource source_;  // what these two read
    emit::EmittedRows rows_;      // computes the values in the runner's place, where there is code
    emit::EmittedRows joined_;    // computes and joins them
    emit::EmittedRows folded_;    // so too, whole rows, and stores what each comes to
    bool chunks_beside_ = false;  // of few columns as they lie: several chunks at a time
    bool where_stored_ = false;   // columns are joined where their results lie
    bool straight_ = false;       // columns, or long rows by runs: nothing is computed
    bool in_place_ = false;       // rows, of any length, are joined where they lie: a block holds none of them
    std::vector<Output> outputs_;
    Dims kept_;
    std::int64_t kept_count_ = 1, length_ = 1;  // results; elements joined to each
    Way way_ = Way::short_rows;
    std::int64_t rows_in_block_ = 1;       // short rows; columns: rows of one block
    std::int64_t inner_ = 1;               // columns: the innermost kept axis
    std::int64_t run_ = 0;                 // long rows of several axes: the innermost, if it is joined run by run
    ColumnTiles tiles_;                    // columns
    std::int64_t at_once_ = 1;             // tiles of columns, side by side
    std::int64_t chunk_ = 1, chunks_ = 1;  // elements of a long row in a chunk; chunks
    std::int64_t units_ = 0, units_in_task_ = 1, tasks_ = 0;
    int slots_ = 1;
    std::size_t shared_bytes_ = 0, thread_bytes_ = 0, rows_at_ = 0, picked_at_ = 0;
};

}  // namespace weft::cpu
