// A prepared reduction, run: what its ways have in common, and the two that join rows.
#include <algorithm>
#include <cstring>

#include "weft/backend/cpu/reduction_kernel.h"

namespace weft::cpu {

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

void ReductionKernel::start_rows(std::int64_t rows, std::int64_t first, const void* const* loads, void* const* stores,
                                 std::byte* cursor) const {
    std::size_t many = source_.streams().size();
    auto base = [&](std::size_t i) -> const void* {
        return i < many ? source_.base(i, loads, 0, nullptr) : stores[i - many];
    };
    folded_.start_rows(rows, cursor, base, [=](std::size_t) { return first; });
}

void ReductionKernel::reduce_row(Thread& thread, std::int64_t row, std::int64_t chunk) const {
    for (const Output& output : outputs_) output.loops->begin(thread.base + output.lanes_at);
    std::int64_t start = chunk * chunk_, end = std::min(length_, start + chunk_);
    std::int64_t block = in_place_ ? chunk_ : runner_.block();
    if (run_ > 0) {
        join_runs(thread, row * length_ + start, end - start);
        start = end;
    }
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

}  // namespace weft::cpu
