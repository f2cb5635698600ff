#include <algorithm>
#include <cstdlib>

#include "weft/backend/cpu/arithmetic.h"
#include "weft/backend/cpu/loop_layout.h"
#include "weft/backend/cpu/scan.h"
#include "weft/backend/cpu/strided.h"
#include "weft/backend/cpu/value_blocks.h"
#include "weft/base/unsigned_of.h"

namespace weft::cpu {
namespace {

constexpr std::int64_t side_by_side = 8;  // rows whose sums do not wait for each other
// Of a row's piece: eight wait in the second-level cache, and are long enough for memory to be asked in time.
constexpr std::int64_t piece_bytes = 32768;
// What is computed at once: of columns so much that it stays in the first-level cache; of rows eight, if they are short.
constexpr std::int64_t most_of_columns = 2048, most_of_rows = 8192;
constexpr std::int64_t apart = 64;  // bytes between pieces: those of a page's length would be taken for each other

// Values are computed for a piece of some lanes into cache, joined from there, and stored. Where the scanned axis is the one that runs
// through memory, lanes are rows: pieces of eight (of more, if they are short) at a time. Else they are columns: row after row of
// values is joined onto what runs in each column.
class ComputedScan final : public PreparedLoop {
  public:
    ComputedScan(const Loop& loop, bool emitted)
        : scan_(*loop.scan),
          reduction_(loop.reductions[0]),
          store_{loop.stores[0].dtype, {}},
          narrow_(block_loops(best_isa()).move.narrow) {
        LoopLayout layout = layout_of(loop);
        Dims dims = layout.kept, &strides = layout.stores[0];
        count_ = element_count(layout.reduced);
        lanes_ = element_count(dims);
        std::size_t kept = dims.size(), scanned = kept;  // where the scanned axis stands in the space
        std::int64_t step = layout.reduced.empty() ? 0 : strides[kept];
        columns_ = kept > 0 && count_ > 1 && std::abs(strides[kept - 1]) < std::abs(step);
        if (columns_) scanned = kept - 1;
        dims.insert(scanned, count_);
        auto beside = [&](const Dims& of) {
            Dims moved(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(kept));
            moved.insert(scanned, layout.reduced.empty() ? 0 : of[kept]);
            return moved;
        };
        std::vector<Stream> streams;
        for (std::size_t i = 0; i < loop.loads.size(); ++i)
            streams.push_back({loop.loads[i].dtype, beside(layout.loads[i])});
        store_.strides = beside(strides);
        values_ = ValueBlocks(loop, dims, streams, emitted);
        dims_ = dims;
        whole_ = store_.contiguous(dims);
        choose_tiles();
        lay_out_scratch();
    }
    std::string_view by() const override { return values_.emitted() ? "emitter" : "block evaluator"; }
    std::size_t scratch_bytes() const override { return static_cast<std::size_t>(slots_) * thread_bytes_; }

    void run(const void* const* loads, void* const* stores, std::byte* scratch) const override {
        if (count_ == 0 || lanes_ == 0) return;
        // Half types are floats until they are stored, so that either is the other to these loops.
        if (is_half(store_.memory)) return run_as(loads, static_cast<Float16*>(stores[0]), scratch);
        with_dtype(store_.memory, [&]<class T>(TypeTag<T>) {
            if constexpr (!std::is_same_v<T, bool> && !is_half_number<T>)
                run_as(loads, static_cast<Wrapped<T>*>(stores[0]), scratch);
        });
    }

  private:
    template <class To>
    void run_as(const void* const* loads, To* to, std::byte* scratch) const {
        using A = Accumulator<To>;  // the type of the values
        with_running<A>(reduction_, [&](A start, auto join) {
            for_each_task(tasks_, slots_, [&](std::int64_t task, int slot) {
                std::byte* mine = scratch + static_cast<std::size_t>(slot) * thread_bytes_;
                ValueBlocks::Thread thread = values_.thread(mine, loads);
                std::int64_t end = std::min(units_, (task + 1) * units_in_task_);
                for (std::int64_t unit = task * units_in_task_; unit < end; ++unit)
                    columns_ ? scan_columns(thread, unit, to, start, join) : scan_rows(thread, unit, to, start, join);
            });
        });
    }

    void choose_tiles() {
        std::int64_t block = std::min(values_.block(), columns_ ? most_of_columns : most_of_rows);
        auto width = static_cast<std::int64_t>(size_of(values_.dtype()));
        if (columns_) {
            inner_ = dims_.back();
            width_ = std::max<std::int64_t>(std::min(inner_, block), 1);
            rows_ = width_ == inner_ ? std::clamp<std::int64_t>(block / width_, 1, count_) : 1;
            segments_ = divide_up(inner_, width_);
            units_ = lanes_ / std::max<std::int64_t>(inner_, 1) * segments_;
            units_in_task_ = task_elements / (width_ * count_);
        } else {
            // Short rows are computed many at once, for all that lies between them is the next.
            together_ = count_ * side_by_side <= block;
            rows_ = std::min(together_ ? block / std::max<std::int64_t>(count_, 1) : side_by_side, lanes_);
            piece_ = std::min({count_, lanes_ == 1 ? most_of_columns : piece_bytes / width, values_.block()});
            direct_ = whole_ && piece_ == count_ && !is_half(store_.memory);
            pitch_ = together_ ? count_ : piece_ + apart / width;
            result_pitch_ = direct_ ? count_ : pitch_;
            units_ = divide_up(lanes_, std::max<std::int64_t>(rows_, 1));
            units_in_task_ = task_elements / std::max<std::int64_t>(rows_ * count_, 1);
        }
        units_in_task_ = std::max<std::int64_t>(units_in_task_, 1);
        tasks_ = divide_up(units_, units_in_task_);
        slots_ = slots_for(tasks_);
    }

    void lay_out_scratch() {
        auto tile = static_cast<std::size_t>(columns_ ? rows_ * width_ : rows_ * pitch_);
        auto running = static_cast<std::size_t>(columns_ ? width_ : rows_);
        values_at_ = values_.scratch_bytes();
        results_at_ = values_at_ + aligned(tile * size_of(values_.dtype()));
        running_at_ = results_at_ + aligned(tile * size_of(values_.dtype()));
        thread_bytes_ = running_at_ + aligned(running * size_of(values_.dtype()));
    }

    template <class To, class A, class Join>
    void scan_rows(ValueBlocks::Thread& thread, std::int64_t unit, To* to, A start, Join join) const {
        std::int64_t first = unit * rows_, rows = std::min(rows_, lanes_ - first);
        auto* in = reinterpret_cast<A*>(thread.base + values_at_);
        auto* running = reinterpret_cast<A*>(thread.base + running_at_);
        auto* out = reinterpret_cast<A*>(thread.base + results_at_);
        if constexpr (std::is_same_v<A, To>)
            if (direct_) out = to + first * count_;
        std::fill_n(running, rows, start);
        for (std::int64_t done = 0; done < count_; done += piece_) {
            std::int64_t count = std::min(piece_, count_ - done), at = scan_.backwards ? count_ - done - count : done;
            if (together_) {
                values_.fill(thread, first * count_, rows * count, in);
            } else {
                for (std::int64_t k = 0; k < rows; ++k)
                    values_.fill(thread, (first + k) * count_ + at, count, in + k * pitch_);
            }
            std::int64_t rest = std::min(piece_, count_ - done - count),
                         next = scan_.backwards ? at - rest : at + count;
            for (std::int64_t k = 0; k < rows && rest > 0; ++k)
                values_.expect(thread, (first + k) * count_ + next, rest);
            std::int64_t k = 0;
            for (; k + side_by_side <= rows; k += side_by_side)
                join_rows<side_by_side>(in + k * pitch_, out + k * result_pitch_, running + k, count, join);
            for (; k < rows; ++k) join_rows<1>(in + k * pitch_, out + k * result_pitch_, running + k, count, join);
            if (whole_ && count == count_ && result_pitch_ == count_) {
                if (!direct_) put(to + first * count_, 1, out, rows * count);
                continue;
            }
            for (std::int64_t k = 0; k < rows; ++k)
                put(to + place((first + k) * count_ + at), step(dims_.size() - 1), out + k * result_pitch_, count);
        }
    }

    /// Results side by side to where they belong, of a half type rounded.
    template <class To, class A>
    void put(To* to, std::int64_t stride, const A* from, std::int64_t count) const {
        if constexpr (std::is_same_v<A, To>) {
            copy_run(to, stride, from, 1, count);
        } else if (stride == 1) {
            narrow_(to, store_.memory, from, count);
        } else {
            constexpr std::int64_t some = 256;
            To narrowed[some];
            for (std::int64_t done = 0; done < count; done += some) {
                std::int64_t now = std::min(some, count - done);
                narrow_(narrowed, store_.memory, from + done, now);
                copy_run(to + done * stride, stride, narrowed, 1, now);
            }
        }
    }

    /// `rows` rows of `count` values. What runs stays in registers. A function at the beginning of a line of the cache, like the next: across
    /// two its loop may take 1.2 times as long.
    template <std::size_t rows, class A, class Join>
    __attribute__((noinline, aligned(64))) void join_rows(const A* in, A* out, A* running, std::int64_t count,
                                                          Join join) const {
        auto each = [&]<std::size_t... k>(std::index_sequence<k...>) {
            A now[rows] = {running[k]...};
            const bool exclusive = scan_.exclusive, backwards = scan_.backwards;
            const std::int64_t pitch = pitch_, result_pitch = result_pitch_;
            for (std::int64_t i = 0; i < count; ++i) {
                std::int64_t x = backwards ? count - 1 - i : i;
                auto one = [&](A& run, std::int64_t row) {
                    A next = join(run, in[row * pitch + x]);
                    out[row * result_pitch + x] = exclusive ? run : next;
                    run = next;
                };
                (one(now[k], static_cast<std::int64_t>(k)), ...);
            }
            ((running[k] = now[k]), ...);
        };
        each(std::make_index_sequence<rows>());
    }

    template <class To, class A, class Join>
    void scan_columns(ValueBlocks::Thread& thread, std::int64_t unit, To* to, A start, Join join) const {
        std::int64_t outer = unit / segments_, column = unit % segments_ * width_;
        std::int64_t width = std::min(width_, inner_ - column);
        auto* in = reinterpret_cast<A*>(thread.base + values_at_);
        auto* running = reinterpret_cast<A*>(thread.base + running_at_);
        std::fill_n(running, width, start);
        for (std::int64_t done = 0; done < count_; done += rows_) {
            std::int64_t rows = std::min(rows_, count_ - done), at = scan_.backwards ? count_ - done - rows : done;
            std::int64_t flat = (outer * count_ + at) * inner_ + column;
            values_.fill(thread, flat, rows * width, in);
            To* first = to + place(flat);
            std::int64_t across = step(dims_.size() - 1), down = step(dims_.size() - 2);
            if constexpr (std::is_same_v<A, To>) {
                join_columns(in, first, running, rows, width, across, down, join);
            } else {
                auto* results = reinterpret_cast<A*>(thread.base + results_at_);
                join_columns(in, results, running, rows, width, 1, width, join);
                if (across == 1 && down == width)
                    put(first, 1, results, rows * width);
                else
                    for (std::int64_t i = 0; i < rows; ++i) put(first + i * down, across, results + i * width, width);
            }
        }
    }

    /// `rows` rows of `width` values, one behind the other, onto what runs in each column.
    template <class A, class Join>
    void join_columns(const A* in, A* out, A* running, std::int64_t rows, std::int64_t width, std::int64_t across,
                      std::int64_t down, Join join) const {
        scan_.exclusive ? join_columns<true>(in, out, running, rows, width, across, down, join)
                        : join_columns<false>(in, out, running, rows, width, across, down, join);
    }
    template <bool exclusive, class A, class Join>
    __attribute__((noinline, aligned(64))) void join_columns(const A* in, A* out, A* __restrict running,
                                                             std::int64_t rows, std::int64_t width, std::int64_t across,
                                                             std::int64_t down, Join join) const {
        for (std::int64_t i = 0; i < rows; ++i) {
            std::int64_t row = scan_.backwards ? rows - 1 - i : i;
            const A* __restrict values = in + row * width;
            A* __restrict results = out + row * down;
            auto all = [&](std::int64_t stride) {
                for (std::int64_t k = 0; k < width; ++k) {
                    A next = join(running[k], values[k]);
                    results[k * stride] = exclusive ? running[k] : next;
                    running[k] = next;
                }
            };
            across == 1 ? all(1) : all(across);
        }
    }

    /// Of the results, in elements.
    std::int64_t step(std::size_t axis) const {
        return store_.strides[axis] / static_cast<std::int64_t>(size_of(store_.memory));
    }
    std::int64_t place(std::int64_t flat) const {
        SmallVector<std::int64_t, 12> at(dims_.size());
        unravel(flat, dims_, at.data());
        return store_.offset(at.data()) / static_cast<std::int64_t>(size_of(store_.memory));
    }

    Scan scan_;
    Reduction reduction_;
    Stream store_;
    decltype(MoveLoops::narrow) narrow_;
    Dims dims_;  // of the space: lanes' axes and the scanned one
    ValueBlocks values_;
    bool columns_ = false;
    bool together_ = false, whole_ = false,
         direct_ = false;                        // rows are computed at once; results lie row-major; are joined there
    std::int64_t count_ = 0, lanes_ = 0;         // elements of a lane; lanes
    std::int64_t rows_ = 1, piece_ = 1;          // rows at a time (of columns: of the axis), and of each
    std::int64_t pitch_ = 1, result_pitch_ = 1;  // from row to row, of values and of results
    std::int64_t inner_ = 1, width_ = 1, segments_ = 1;  // of columns
    std::int64_t units_ = 0, units_in_task_ = 1, tasks_ = 0;
    int slots_ = 1;
    std::size_t values_at_ = 0, results_at_ = 0, running_at_ = 0, thread_bytes_ = 0;
};

}  // namespace

std::unique_ptr<const PreparedLoop> prepare_computed_scan(const Loop& loop, bool emitted) {
    return std::make_unique<ComputedScan>(loop, emitted);
}

}  // namespace weft::cpu
