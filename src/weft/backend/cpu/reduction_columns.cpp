// The third way of a reduction: rows joined onto a row of results.
#include "weft/backend/cpu/reduction_kernel.h"

namespace weft::cpu {
namespace {

constexpr std::int64_t straight_bytes =
    16384;  // of a row of columns that are joined where they lie: some pages at a time

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

std::int64_t ReductionKernel::widest_output() const {
    std::size_t widest = 1;
    for (const Output& output : outputs_) widest = std::max(widest, output.width());
    return static_cast<std::int64_t>(widest);
}

void ReductionKernel::run_columns(Thread& thread, std::int64_t task) const {
    std::int64_t end = std::min(units_, (task + 1) * units_in_task_);
    for (std::int64_t unit = task * units_in_task_; unit < end; ++unit) reduce_columns(thread, tiles_.tile(unit));
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
    bool straight = straight_ && !joined_;
    if (straight) runner_.seek(thread.context, flat);
    if (!straight && !joined_) evaluate(thread, flat, rows * width);
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
        const Output& output = outputs_[i];
        const void* from = nullptr;
        if (straight)
            from = static_cast<const std::byte*>(thread.loads[output.load]) + output.straight.offset(thread.context.at);
        else if (!joined_)
            from = value(thread, i);
        output.loops->columns(values(thread, output), places(thread, output), from, joined_ ? 0 : rows, width,
                              straight ? output.row_stride : width, row, fresh);
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
