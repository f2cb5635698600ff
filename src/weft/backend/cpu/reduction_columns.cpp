// The third way of a reduction: rows joined onto a row of results.
#include <numeric>

#include "weft/backend/cpu/isa.h"
#include "weft/backend/cpu/isa/column_chunks.h"
#include "weft/backend/cpu/reduction_kernel.h"

namespace weft::cpu {
namespace {

constexpr std::int64_t straight_bytes =
    16384;  // of a row of columns that are joined where they lie: some pages at a time
// Of a row of tiles that lie side by side and are joined as one: memory is read along its pages for longer, and what is joined to stays in the
// second cache (256 cubed down the first axis 0.94 to 0.97 of the time; rows of 128 KB no faster, of 256 KB 1.04; on a Zen 4 0.94 of 64 KB's).
std::int64_t together_bytes() { return is_zen4() ? 262144 : 65536; }
// Of a row of few columns that is joined with others as one; so many rows at least are worth it.
constexpr std::int64_t most_widened_bytes = 64, fewest_widened_rows = 512;
constexpr std::int64_t tasks_of_thread = 4;  // which are left, at least, that threads can share evenly

template <class T>
JoinChunks<T> joins_of_chunks(Reduction of) {
    if constexpr (std::is_same_v<T, float>)
        return WEFT_OF_BEST_ISA(joins_of_chunks_f32(of));
    else
        return WEFT_OF_BEST_ISA(joins_of_chunks_f64(of));
}

/// Whether values of the type are joined in any order to the same bits.
bool joins_in_any_order(Reduction of, DType dtype) {
    bool position = of == Reduction::argmax || of == Reduction::argmin;
    return !position && (is_integer(dtype) || dtype == DType::bool_);
}

/// Rows of few columns that lie behind each other, as wider rows of whole vectors, which are then joined.
void join_widened(const ReduceLoops& loops, std::size_t size, std::byte* to, const std::byte* from, std::int64_t rows,
                  std::int64_t columns, bool fresh) {
    constexpr std::size_t vector = 64;  // bytes
    auto lanes = static_cast<std::int64_t>(vector / size);
    std::int64_t together = lanes / std::gcd(lanes, columns), wide = together * columns, blocks = rows / together;
    alignas(vector) std::byte totals[vector * most_widened_bytes];
    loops.columns(totals, nullptr, from, blocks, wide, wide, 0, true, false);
    loops.columns(to, nullptr, totals, together, columns, columns, 0, fresh, false);
    from += blocks * wide * static_cast<std::int64_t>(size), rows -= blocks * together;
    loops.columns(to, nullptr, from, rows, columns, columns, 0, false, false);
}

/// `f` with the function that joins chunks of these, or null.
template <class F>
auto with_joins(Reduction of, DType dtype, F&& f) {
    return dtype == DType::float32 ? f(joins_of_chunks<float>(of)) : f(joins_of_chunks<double>(of));
}

}  // namespace

/// Whether every output is an array as it lies in memory: rows evenly spaced, columns side by side.
bool ReductionKernel::find_straight(const Loop& loop, const std::vector<Stream>& streams) {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
        const Instruction& value = loop.program.code[static_cast<std::size_t>(loop.program.outputs[i])];
        if (value.opcode != Opcode::input) return false;
        if (!loop.loads[static_cast<std::size_t>(value.a)].plain()) return false;
        Output& output = outputs_[i];
        output.load = static_cast<std::size_t>(value.a);
        output.straight = streams[output.load];
        auto size = static_cast<std::int64_t>(output.width());
        const Dims& strides = output.straight.strides;
        if (output.straight.memory != output.dtype || strides.back() != size) return false;
        output.row_stride = strides[strides.size() - 2] / size;
    }
    return true;
}

std::int64_t ReductionKernel::widest_segment() const {
    return straight_ ? straight_bytes / widest_output() : runner_.block();
}

/// How many tiles side by side a thread joins as one. Each number is made as if of a tile alone.
std::int64_t ReductionKernel::tiles_at_once() const {
    std::int64_t most = together_bytes() / (tiles_.segment() * widest_output());
    std::int64_t beside = std::max<std::int64_t>(tiles_.side_by_side(), 1);  // 0: there are no columns
    if (int threads = slots_for(units_); threads > 1) most = std::min(most, units_ / (tasks_of_thread * threads));
    most = std::clamp<std::int64_t>(most, 1, beside);
    return divide_up(beside, divide_up(beside, most));
}

std::int64_t ReductionKernel::widest_output() const {
    std::size_t widest = 1;
    for (const Output& output : outputs_) widest = std::max(widest, output.width());
    return static_cast<std::int64_t>(widest);
}

bool ReductionKernel::joins_chunks_together() const {
    if (way_ != Way::columns || !straight_ || joined_ || chunks_ < chunks_together || tiles_.segment() != inner_)
        return false;
    return std::all_of(outputs_.begin(), outputs_.end(), [&](const Output& output) {
        bool few = inner_ * static_cast<std::int64_t>(output.width()) <= most_chunk_bytes;
        return few && output.number() &&
               with_joins(output.reduction, output.dtype, [](auto joins) { return joins != nullptr; });
    });
}

/// Whether the library's loops join all columns, as they lie, faster than machine code: few of them, and those of which rows lie far apart. Vectors of
/// 64 bytes that wait in registers do better with the few (emit/writer_columns.cpp): 1,000 x 100, 4,096 x 64 in 0.71 to 0.86 of the time, 100,000 x 128
/// from memory in 0.62; not with what one of them holds.
bool ReductionKernel::joins_without_code() const {
    if (!straight_ || run_ > 0) return false;
    bool waits = outputs_.size() == 1 && best_isa() == Isa::avx512 && size_of(outputs_[0].dtype) >= 4;
    for (const Output& output : outputs_) {
        auto size = static_cast<std::int64_t>(output.width());
        bool few = few_columns(inner_ * size) && output.row_stride >= inner_ && (output.number() || !output.position);
        bool left = few && waits && !output.position && inner_ * size > most_chunk_bytes;
        if (left || (!few && !lie_far_apart(output.row_stride * size))) return false;
    }
    return true;
}

/// Whether a tile is all rows of all columns, whose results lie side by side, so that they are made where they belong; of machine code all tiles one
/// behind the other.
bool ReductionKernel::joins_where_stored(std::size_t reduced) const {
    if (way_ != Way::columns || reduced != 1 || chunks_ != 1 || tiles_.segment() != inner_) return false;
    bool by_loops = straight_ ? length_ < fewest_widened_rows : length_ * inner_ <= runner_.block();
    if (!joined_ && !by_loops) return false;
    return std::all_of(outputs_.begin(), outputs_.end(), [&](const Output& output) {
        bool beside = joined_ ? output.stream.contiguous(kept_)
                              : output.stream.strides.back() == static_cast<std::int64_t>(output.width());
        return !output.position && output.stream.memory == output.dtype && beside;
    });
}

/// Each tile costs a call of the code and little besides: 512 of 32 x 32 floats in 0.6 of the time.
void ReductionKernel::join_boxes(Thread& thread, std::int64_t first, std::int64_t count) const {
    joined_.run_boxes(
        first, count, source_.streams().size(), thread.base + rows_at_, [&](std::size_t i) { return thread.loads[i]; },
        [&](std::size_t i, std::int64_t box) {
            const Output& output = outputs_[i];
            std::byte* to =
                static_cast<std::byte*>(thread.stores[i]) + box * inner_ * static_cast<std::int64_t>(output.width());
            output.loops->columns(to, nullptr, nullptr, 0, inner_, inner_, 0, true, false);
            return to;
        });
}

/// The same by the library's loops: as the values lie, or computed of as many tiles as a block holds. A tile of few rows and columns takes less
/// than finding its place among all, and delivering it.
void ReductionKernel::join_boxes_by_loops(Thread& thread, std::int64_t first, std::int64_t count) const {
    std::int64_t each = length_ * inner_, end = first + count;
    Dims at(kept_.size() + 1, 0);  // the box's, with its first row and column
    unravel(first * inner_, kept_, at.data());
    for (std::int64_t next = first; first < end; first = next) {
        next = straight_ ? end : std::min(end, first + runner_.block() / each);
        if (!straight_) evaluate(thread, first * each, (next - first) * each);
        for (std::int64_t box = 0; box < next - first; ++box) {
            for (std::size_t i = 0; i < outputs_.size(); ++i) join_box(thread, i, at.data(), box);
            for (std::size_t axis = kept_.size() - 1; axis-- > 0 && ++at[axis] == kept_[axis];) at[axis] = 0;
        }
    }
}

/// `box`: its number among those whose values were computed.
void ReductionKernel::join_box(Thread& thread, std::size_t i, const std::int64_t* at, std::int64_t box) const {
    const Output& output = outputs_[i];
    std::byte* to = static_cast<std::byte*>(thread.stores[i]) + output.stream.offset(at);
    if (straight_) {
        const auto* from = static_cast<const std::byte*>(thread.loads[output.load]) + output.straight.offset(at);
        output.loops->columns(to, nullptr, from, length_, inner_, output.row_stride, 0, true,
                              is_zen4() && output.straight.ahead);
    } else {
        const auto* from = static_cast<const std::byte*>(value(thread, i));
        from += box * length_ * inner_ * static_cast<std::int64_t>(output.width());
        output.loops->columns(to, nullptr, from, length_, inner_, inner_, 0, true, false);
    }
}

void ReductionKernel::run_columns(Thread& thread, std::int64_t task) const {
    std::int64_t end = std::min(units_, (task + 1) * units_in_task_);
    if (where_stored_) {
        std::int64_t first = task * units_in_task_, count = end - first;
        return joined_ ? join_boxes(thread, first, count) : join_boxes_by_loops(thread, first, count);
    }
    for (std::int64_t unit = task * units_in_task_; unit < end; ++unit) {
        ColumnTiles::Tile tile = tiles_.tile(unit);
        bool together = chunks_beside_ && unit + chunks_together <= end && tile.chunk + chunks_together < chunks_;
        if (!together) {  // the last of all, which may hold fewer rows, neither
            std::int64_t beside = std::min({at_once_, end - unit, tiles_.side_by_side(unit)});
            tile.width = std::min(beside * tiles_.segment(), inner_ - tile.column);
            reduce_columns(thread, tile);
            unit += beside - 1;
            continue;
        }
        join_beside(thread, tile);
        unit += chunks_together - 1;
    }
}

/// Chunks from a tile's on, to where they are joined later.
void ReductionKernel::join_beside(Thread& thread, const ColumnTiles::Tile& tile) const {
    runner_.seek(thread.context, (tile.outer * length_ + tile.first) * inner_);
    for (const Output& output : outputs_) {
        const auto* from =
            static_cast<const std::byte*>(thread.loads[output.load]) + output.straight.offset(thread.context.at);
        auto at = static_cast<std::size_t>(tile.chunk * kept_count_ + tile.outer * inner_);
        std::byte* to = thread.shared + output.partials_at + at * output.width();
        with_joins(output.reduction, output.dtype, [&]<class T>(JoinChunks<T> join) {
            join(reinterpret_cast<T*>(to), kept_count_, reinterpret_cast<const T*>(from), tile.end - tile.first, inner_,
                 output.row_stride);
        });
    }
}

void ReductionKernel::reduce_columns(Thread& thread, const ColumnTiles::Tile& tile) const {
    std::int64_t rows_at_once = straight_ || joined_ ? tile.end - tile.first : rows_in_block_;
    for (std::int64_t row = tile.first; row < tile.end; row += rows_at_once) {
        std::int64_t flat = (tile.outer * length_ + row) * inner_ + tile.column;
        join_rows(thread, flat, std::min(rows_at_once, tile.end - row), tile.width, row, row == tile.first);
    }
    deliver(thread, tile.outer * inner_ + tile.column, tile.width, tile.chunk, chunks_);
}

/// `width` columns of some rows, the first of them at row-major position `flat`, onto the thread's values.
void ReductionKernel::join_rows(Thread& thread, std::int64_t flat, std::int64_t rows, std::int64_t width,
                                std::int64_t row, bool fresh) const {
    bool straight = straight_ && !joined_, zen4 = straight && is_zen4();
    if (straight) runner_.seek(thread.context, flat);
    if (!straight && !joined_) evaluate(thread, flat, rows * width);
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
        const Output& output = outputs_[i];
        const void* from = nullptr;
        if (straight)
            from = static_cast<const std::byte*>(thread.loads[output.load]) + output.straight.offset(thread.context.at);
        else if (!joined_)
            from = value(thread, i);
        bool widened = straight && joins_in_any_order(output.reduction, output.dtype) && width == output.row_stride &&
                       width * static_cast<std::int64_t>(output.width()) <= most_widened_bytes &&
                       rows >= fewest_widened_rows;
        if (widened) {
            join_widened(*output.loops, output.width(), static_cast<std::byte*>(values(thread, output)),
                         static_cast<const std::byte*>(from), rows, width, fresh);
            continue;
        }
        output.loops->columns(values(thread, output), places(thread, output), from, joined_ ? 0 : rows, width,
                              straight ? output.row_stride : width, row, fresh, zen4 && output.straight.ahead);
    }
    if (!joined_) return;
    std::size_t loads = runner_.program().inputs.size();
    joined_.run_tile(flat, rows, width, thread.base + rows_at_, [&](std::size_t i) -> const void* {
        if (i < loads) return thread.loads[i];
        const Output& output = outputs_[i - loads];
        return thread.base + output.values_at - flat % inner_ * static_cast<std::int64_t>(output.width());
    });
}

}  // namespace weft::cpu
