#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "weft/backend/cpu/reduction_kernel.h"
#include "weft/base/error.h"

namespace weft::cpu {
namespace {

constexpr std::int64_t short_row = 256;       // elements of the longest row that shares a block with others
constexpr std::int64_t row_chunk = 16384;     // elements of a long row in one task
constexpr std::int64_t shortest_folded = 32;  // elements of a row that machine code joins by itself

/// Whether the innermost kept axis runs through memory more closely than the innermost reduced one, for most inputs.
bool prefers_columns(const LoopLayout& layout) {
    if (layout.kept.empty() || layout.reduced.empty()) return false;
    int votes = 0;
    for (const Dims& reach : layout.reach) {
        std::int64_t kept = std::abs(reach[layout.kept.size() - 1]), reduced = std::abs(reach.back());
        if (kept == 0 || reduced == 0) continue;
        votes += kept < reduced ? 1 : -1;
    }
    return votes > 0;
}

}  // namespace

ReductionKernel::ReductionKernel(const Loop& loop, bool emitted) {
    BlockLoops loops = block_loops(best_isa());
    LoopLayout layout = layout_of(loop);
    kept_ = layout.kept;
    kept_count_ = element_count(layout.kept);
    length_ = element_count(layout.reduced);
    for (std::size_t i = 0; i < loop.reductions.size(); ++i) {
        DType dtype = loop.program.dtype(loop.program.outputs[i]);
        Reduction reduction = loop.reductions[i];
        bool position = reduction == Reduction::argmax || reduction == Reduction::argmin;
        Output output{loops.reduce(reduction, dtype), dtype, {loop.stores[i].dtype, layout.stores[i]}, position, {}};
        if (!position || length_ == 0) output.identity = identity_of(reduction, dtype);
        promise(output.loops != nullptr, "every verified reduction has its loops");
        outputs_.push_back(output);
    }
    way_ = prefers_columns(layout) ? Way::columns : length_ <= short_row ? Way::short_rows : Way::long_rows;
    choose_space(loop, layout, emitted);
    choose_tasks();
    lay_out_scratch();
}

void ReductionKernel::choose_space(const Loop& loop, const LoopLayout& layout, bool emitted) {
    std::size_t kept = layout.kept.size(), reduced = layout.reduced.size();
    std::vector<std::size_t>
        order;  // axes of the layout, outermost first: [kept, reduced] or [kept outer, reduced, kept inner]
    std::size_t outer = way_ == Way::columns ? kept - 1 : kept;
    for (std::size_t axis = 0; axis < outer; ++axis) order.push_back(axis);
    for (std::size_t axis = 0; axis < reduced; ++axis) order.push_back(kept + axis);
    if (way_ == Way::columns) order.push_back(kept - 1);
    Dims dims;
    for (std::size_t axis : order) dims.push_back(axis < kept ? layout.kept[axis] : layout.reduced[axis - kept]);
    std::vector<Stream> streams;
    std::vector<Feed> feeds;
    std::size_t moving = 0;
    inner_ = dims.empty() ? 1 : dims.back();
    for (std::size_t i = 0; i < layout.loads.size(); ++i) {
        Stream stream{loop.loads[i].dtype, {}, fetched_ahead(loop.loads[i])};
        for (std::size_t axis : order) stream.strides.push_back(layout.loads[i][axis]);
        bool indexed = !loop.loads[i].plain();
        bool direct = !indexed && stream.memory == loop.program.inputs[i] && stream.contiguous(dims);
        bool whole_rows = (way_ == Way::short_rows && reduced > 0) || (way_ == Way::columns && inner_ <= 128);
        feeds.push_back(indexed                                                     ? Feed::copied
                        : stream.uniform()                                          ? Feed::uniform
                        : direct                                                    ? Feed::direct
                        : whole_rows && stream.innermost_alone() && dims.size() > 1 ? Feed::stationary
                                                                                    : Feed::copied);
        moving += direct;
        streams.push_back(std::move(stream));
    }
    IndexedBlocks indexed(loop, dims, streams);
    runner_ = BlockRunner(loop.program, dims, streams, feeds, block_loops(best_isa()), moving, false, indexed.loads());
    straight_ = way_ == Way::columns && find_straight(loop, streams, reduced);
    in_place_ =
        way_ == Way::long_rows && length_ <= row_chunk &&
        std::all_of(loop.program.outputs.begin(), loop.program.outputs.end(),
                    [&](std::int32_t output) {
                        const Instruction& at = loop.program.code[static_cast<std::size_t>(output)];
                        return at.opcode == Opcode::input && feeds[static_cast<std::size_t>(at.a)] == Feed::direct;
                    }) &&
        std::all_of(outputs_.begin(), outputs_.end(), [](const Output& output) { return output.position; });
    if (in_place_) way_ = Way::short_rows;
    bool far = straight_ && std::all_of(outputs_.begin(), outputs_.end(), [](const Output& output) {
                   return lie_far_apart(output.row_stride * static_cast<std::int64_t>(output.width()));
               });
    if (!emitted || far) return;
    source_ = emit::EmittedSource(loop, dims, streams);
    choose_code(loop, dims, reduced);
}

/// Machine code that computes and joins; or computes alone.
void ReductionKernel::choose_code(const Loop& loop, const Dims& dims, std::size_t reduced) {
    bool stores_values = std::all_of(outputs_.begin(), outputs_.end(),
                                     [](const Output& output) { return output.stream.memory == output.dtype; });
    // Short rows have too little to do to be taken block by block; the shortest would leave most lanes empty.
    bool whole_rows = reduced == 1 && length_ <= row_chunk &&
                      (way_ == Way::long_rows || (way_ == Way::short_rows && !in_place_ && length_ >= shortest_folded));
    if (whole_rows && stores_values && !source_.indexed()) {
        std::vector<Stream> stores;
        for (const Output& output : outputs_) stores.push_back(output.stream);
        folded_ = emit::EmittedRows(source_.program(), dims, source_.streams(), loop.reductions, stores);
        if (folded_) way_ = Way::long_rows;
        if (folded_) return;
    }
    if ((way_ == Way::long_rows && reduced == 1) || (way_ == Way::columns && !source_.indexed())) {
        std::vector<std::pair<Reduction, DType>> joined;
        for (std::size_t i = 0; i < outputs_.size(); ++i) joined.emplace_back(loop.reductions[i], outputs_[i].dtype);
        auto how = way_ == Way::columns ? emit::Mode::accumulated : emit::Mode::joined;
        joined_ = emit::EmittedRows(source_.program(), dims, source_.streams(), joined, how);
    }
    if (joined_ || straight_ || runner_.program().steps.empty()) return;  // or nothing is computed, only moved
    std::vector<Stream> made;  // a row of values each, as the runner would leave them
    for (const Output& output : outputs_) {
        Stream stream{output.dtype, Dims(dims.size())};
        auto step = static_cast<std::int64_t>(output.width());
        for (std::size_t axis = dims.size(); axis-- > 0; step *= dims[axis]) stream.strides[axis] = step;
        made.push_back(std::move(stream));
    }
    rows_ = emit::EmittedRows(source_.program(), dims, source_.streams(), made);
}

void ReductionKernel::evaluate(Thread& thread, std::int64_t flat, std::int64_t count) const {
    if (!rows_) return runner_.run(thread.context, thread.loads, flat, count);
    std::size_t loads = source_.streams().size();
    source_.fill(thread.loads, flat, count, thread.base + picked_at_);
    rows_.run(flat, count, thread.base + rows_at_, [&](std::size_t i) -> const void* {
        if (i < loads) return source_.base(i, thread.loads, flat, thread.base + picked_at_);
        const Output& output = outputs_[i - loads];
        return thread.base + output.made_at - flat * static_cast<std::int64_t>(output.width());
    });
}

void ReductionKernel::choose_tasks() {
    std::int64_t block = runner_.block(), elements = 1;  // elements of a unit of work
    switch (way_) {
        case Way::short_rows:
            rows_in_block_ = (in_place_ ? task_elements : block) / std::max<std::int64_t>(length_, 1);
            rows_in_block_ = std::clamp<std::int64_t>(rows_in_block_, 1, block);
            units_ = divide_up(kept_count_, rows_in_block_);
            elements = rows_in_block_ * length_;
            break;
        case Way::long_rows:
            chunk_ = row_chunk;
            chunks_ = divide_up(length_, chunk_);
            units_ = kept_count_ * chunks_;
            elements = std::min(length_, chunk_);
            break;
        case Way::columns:
            tiles_ = ColumnTiles(inner_ == 0 ? 0 : kept_count_ / inner_, length_, inner_, widest_segment());
            rows_in_block_ = tiles_.segment() == inner_ ? std::max<std::int64_t>(1, block / tiles_.segment()) : 1;
            chunks_ = tiles_.chunks();
            units_ = tiles_.count();
            elements = tiles_.elements();
            break;
    }
    units_in_task_ = std::max<std::int64_t>(1, task_elements / std::max<std::int64_t>(elements, 1));
    tasks_ = divide_up(units_, units_in_task_);
    std::int64_t joins = chunks_ > 1 ? divide_up(kept_count_, block) : 1;
    slots_ = slots_for(std::max(tasks_, joins));
}

void ReductionKernel::lay_out_scratch() {
    std::size_t bytes = aligned(runner_.scratch_bytes());
    auto block = static_cast<std::size_t>(std::max(runner_.block(), tiles_.segment()));
    for (Output& output : outputs_) {
        output.lanes_at = bytes;
        bytes += aligned(lanes_bytes);
        output.values_at = bytes;
        bytes += aligned(block * output.width()) + 64;
        output.places_at = bytes;
        if (output.position) bytes += aligned(block * sizeof(std::int64_t));
    }
    rows_at_ = bytes;
    bytes += aligned(std::max({rows_.scratch_bytes(), joined_.scratch_bytes(), folded_.scratch_bytes()}));
    picked_at_ = bytes;
    if (rows_ || joined_) bytes += source_.bytes();
    if (rows_) {
        for (Output& output : outputs_) {
            output.made_at = bytes;
            bytes += aligned(block * output.width()) + 64;
        }
    }
    thread_bytes_ = bytes;
    if (chunks_ <= 1) return;
    auto partials = static_cast<std::size_t>(kept_count_ * chunks_);
    for (Output& output : outputs_) {
        output.partials_at = shared_bytes_;
        shared_bytes_ += aligned(partials * output.width());
        output.partial_places_at = shared_bytes_;
        if (output.position) shared_bytes_ += aligned(partials * sizeof(std::int64_t));
    }
}

ReductionKernel::Thread ReductionKernel::thread(std::byte* scratch, int slot, const void* const* loads,
                                                void* const* stores) const {
    std::byte* base = scratch + shared_bytes_ + static_cast<std::size_t>(slot) * thread_bytes_;
    return {runner_.context(base), base, scratch, loads, stores};
}

void ReductionKernel::run(const void* const* loads, void* const* stores, std::byte* scratch) const {
    if (kept_count_ == 0) return;
    if (length_ == 0) {
        Thread only = thread(scratch, 0, loads, stores);
        return fill_identity(only);
    }
    for_each_task(tasks_, slots_, [&](std::int64_t task, int slot) {
        Thread at = thread(scratch, slot, loads, stores);
        if (!rows_ && !joined_ && !folded_) runner_.begin(at.context, loads);
        if (way_ == Way::short_rows)
            run_short_rows(at, task);
        else if (way_ == Way::long_rows)
            run_long_rows(at, task);
        else
            run_columns(at, task);
    });
    if (chunks_ > 1) {
        for_each_task(divide_up(kept_count_, runner_.block()), slots_, [&](std::int64_t task, int slot) {
            Thread at = thread(scratch, slot, loads, stores);
            join_chunks(at, task);
        });
    }
}

void ReductionKernel::run_short_rows(Thread& thread, std::int64_t task) const {
    std::int64_t end = std::min(units_, (task + 1) * units_in_task_);
    for (std::int64_t unit = task * units_in_task_; unit < end; ++unit) {
        std::int64_t first = unit * rows_in_block_, rows = std::min(rows_in_block_, kept_count_ - first);
        evaluate(thread, first * length_, rows * length_);
        for (std::size_t i = 0; i < outputs_.size(); ++i) {
            const Output& output = outputs_[i];
            output.loops->rows(values(thread, output), places(thread, output), value(thread, i), rows, length_);
        }
        deliver(thread, first, rows, 0, 1);
    }
}

void ReductionKernel::run_long_rows(Thread& thread, std::int64_t task) const {
    std::int64_t first = task * units_in_task_, end = std::min(units_, first + units_in_task_);
    if (folded_) return fold_rows(thread, first, end - first);
    for (std::int64_t unit = first; unit < end; ++unit) {
        reduce_row(thread, unit / chunks_, unit % chunks_);
    }
}

/// Rows of one chunk each, to their results at once.
void ReductionKernel::fold_rows(Thread& thread, std::int64_t first, std::int64_t rows) const {
    std::size_t loads = source_.streams().size();
    folded_.run(first * length_, rows * length_, thread.base + rows_at_, [&](std::size_t i) -> const void* {
        return i < loads ? source_.base(i, thread.loads, 0, nullptr) : thread.stores[i - loads];
    });
}

void ReductionKernel::reduce_row(Thread& thread, std::int64_t row, std::int64_t chunk) const {
    for (const Output& output : outputs_) output.loops->begin(thread.base + output.lanes_at);
    std::int64_t start = chunk * chunk_, end = std::min(length_, start + chunk_), block = runner_.block();
    for (; joined_ && start < end; start += source_.step(end - start))
        join(thread, row * length_ + start, source_.step(end - start));
    for (std::int64_t first = start; first < end; first += block) {
        std::int64_t count = std::min(block, end - first);
        evaluate(thread, row * length_ + first, count);
        for (std::size_t i = 0; i < outputs_.size(); ++i) {
            outputs_[i].loops->lanes(thread.base + outputs_[i].lanes_at, value(thread, i), count, first);
        }
    }
    for (const Output& output : outputs_) {
        output.loops->fold(thread.base + output.lanes_at, values(thread, output), places(thread, output));
    }
    deliver(thread, row, 1, chunk, chunks_);
}

/// Computes `count` values of a row and joins them to its lanes, by machine code.
void ReductionKernel::join(Thread& thread, std::int64_t flat, std::int64_t count) const {
    std::size_t loads = source_.streams().size();
    source_.fill(thread.loads, flat, count, thread.base + picked_at_);
    joined_.run(flat, count, thread.base + rows_at_, [&](std::size_t i) -> const void* {
        if (i >= loads) return thread.base + outputs_[i - loads].lanes_at;
        return source_.base(i, thread.loads, flat, thread.base + picked_at_);
    });
}

void ReductionKernel::deliver(Thread& thread, std::int64_t start, std::int64_t count, std::int64_t chunk,
                              std::int64_t chunks) const {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
        if (chunks == 1) {
            store(thread, i, start, count);
            continue;
        }
        const Output& output = outputs_[i];
        auto at = static_cast<std::size_t>(chunk * kept_count_ + start), many = static_cast<std::size_t>(count);
        std::memcpy(thread.shared + output.partials_at + at * output.width(), values(thread, output),
                    many * output.width());
        if (output.position)
            std::memcpy(thread.shared + output.partial_places_at + at * 8, places(thread, output), many * 8);
    }
}

void ReductionKernel::store(Thread& thread, std::size_t i, std::int64_t start, std::int64_t count) const {
    const Output& output = outputs_[i];
    const void* from = output.position ? places(thread, output) : values(thread, output);
    unravel(start, kept_, thread.context.at);
    runner_.store(thread.context, output.stream, kept_, thread.context.at, thread.stores[i], from, output.result(),
                  count);
}

void ReductionKernel::join_chunks(Thread& thread, std::int64_t task) const {
    std::int64_t start = task * runner_.block(), count = std::min(runner_.block(), kept_count_ - start);
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
        const Output& output = outputs_[i];
        const auto* partials = thread.shared + output.partials_at + static_cast<std::size_t>(start) * output.width();
        const auto* partial_places =
            reinterpret_cast<const std::int64_t*>(thread.shared + output.partial_places_at) + start;
        output.loops->join(values(thread, output), places(thread, output), partials, partial_places, chunks_,
                           kept_count_, count);
        store(thread, i, start, count);
    }
}

void ReductionKernel::fill_identity(Thread& thread) const {
    std::int64_t block = runner_.block();
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
        const Output& output = outputs_[i];
        auto* to = static_cast<std::byte*>(values(thread, output));
        with_dtype(output.dtype, [&](auto tag) {
            auto identity = output.identity.as<typename decltype(tag)::Type>();
            for (std::int64_t k = 0; k < block; ++k)
                std::memcpy(to + k * static_cast<std::int64_t>(sizeof identity), &identity, sizeof identity);
        });
        for (std::int64_t start = 0; start < kept_count_; start += block) {
            store(thread, i, start, std::min(block, kept_count_ - start));
        }
    }
}

std::unique_ptr<const PreparedLoop> prepare_reduction(const Loop& loop, bool emitted) {
    return std::make_unique<ReductionKernel>(loop, emitted);
}

}  // namespace weft::cpu
