#include <algorithm>
#include <array>
#include <numeric>

#include "weft/backend/cpu/indexed_walk.h"
#include "weft/backend/cpu/scatter.h"
#include "weft/backend/cpu/strided.h"
#include "weft/backend/cpu/value_blocks.h"

namespace weft::cpu {
namespace {

constexpr std::int64_t block_bytes =
    16384;  // of values: half of a small first-level cache, the rest is what they are joined onto
constexpr std::int64_t line_bytes = 64, least_piece = 128;  // of the cache; two lines are read at a time

/// Rows of elements that one tensor of int64 places: each lies `stride` bytes behind the one before it, and as many steps as its index says.
struct Rows {
    std::byte* to;
    std::int64_t stride;
    const std::byte* indices;
    std::int64_t index_stride, size, step;  // size: 0 if no index is negative
    std::byte* first() const { return to + from_front(*reinterpret_cast<const std::int64_t*>(indices), size) * step; }
    void next() { to += stride, indices += index_stride; }
};

/// Lanes of elements that it places one by one: each lane lies `down` bytes behind the one before it, its indices `across`.
struct Lanes {
    Rows lane;
    std::int64_t count, down, across;
    void next() { lane.to += down, lane.indices += across; }
};

/// Values, of the type of memory, onto a run of elements, onto rows of neighbours, onto lanes, or onto elements at places in bytes.
struct Joins {
    void (*run)(std::byte* to, std::int64_t stride, const std::byte* values, std::int64_t value_stride,
                std::int64_t count);
    void (*rows)(Rows rows, std::int64_t count, std::int64_t of_row, const std::byte* values);
    void (*lanes)(Lanes lanes, std::int64_t of_lane, const std::byte* values);
    void (*places)(std::byte* base, const std::int64_t* places, const std::byte* values, std::int64_t count);
};

template <class T, class Join>
Joins joins_of() {
    Joins joins;
    joins.run = join_run<T, Join>;
    joins.rows = [](Rows rows, std::int64_t count, std::int64_t of_row, const std::byte* values) {
        auto* from = reinterpret_cast<const T*>(values);
        for (; count > 0; --count, from += of_row, rows.next())
            join_side_by_side<Join>(reinterpret_cast<T*>(rows.first()), from, of_row);
    };
    joins.lanes = [](Lanes lanes, std::int64_t of_lane, const std::byte* values) {
        auto* from = reinterpret_cast<const T*>(values);
        for (; lanes.count > 0; --lanes.count, lanes.next()) {
            Rows elements = lanes.lane;
            for (std::int64_t i = 0; i < of_lane; ++i, ++from, elements.next()) {
                auto& element = *reinterpret_cast<T*>(elements.first());
                element = Join()(element, *from);
            }
        }
    };
    joins.places = [](std::byte* base, const std::int64_t* places, const std::byte* values, std::int64_t count) {
        auto* from = reinterpret_cast<const T*>(values);
        for (std::int64_t i = 0; i < count; ++i) {
            auto& element = *reinterpret_cast<T*>(base + places[i]);
            element = Join()(element, from[i]);
        }
    };
    return joins;
}

// Values are computed a block at a time into cache, in the order of the box, and joined from there. What cannot meet may be several
// threads': ranges of the axes in front of those that meet, and pieces of the axis behind them. Any cut gives the same bits, so there are
// as many as threads can use.
class ComputedScatter final : public PreparedLoop {
  public:
    ComputedScatter(const Loop& loop, bool emitted)
        : memory_(loop.stores[0].dtype),
          width_(static_cast<std::int64_t>(size_of(memory_))),
          narrow_(block_loops(best_isa()).move.narrow) {
        joins_ = with_mode(*loop.scatter, memory_,
                           []<class T, class Join>(TypeTag<T>, Join) { return joins_of<T, Join>(); });
        LoopLayout layout = layout_of(loop);
        dims_ = layout.kept, strides_ = layout.stores[0];
        for (std::size_t i = 0; i < loop.loads.size(); ++i) streams_.push_back({loop.loads[i].dtype, layout.loads[i]});
        elements_ = element_count(dims_);
        if (elements_ == 0) return;
        find_cuts(loop.stores[0]);
        auto add_part = [&](std::int64_t of_cut) {
            Dims dims = dims_;
            if (cut_ < dims.size()) dims[cut_] = of_cut;
            parts_.push_back({ValueBlocks(loop, dims, streams_, emitted),
                              IndexedWalk(loop.stores[0], loop, dims, strides_, streams_),
                              element_count(dims) / fronts_, 1});
        };
        std::int64_t whole = cut_ < dims_.size() ? dims_[cut_] : 0;
        add_part(pieces_ > 1 ? piece_ : whole);
        if (pieces_ > 1 && whole % piece_ != 0) add_part(whole % piece_);
        lay_out_scratch();
    }
    std::string_view by() const override {
        return !parts_.empty() && parts_[0].values.emitted() ? "emitter" : "block evaluator";
    }
    std::size_t scratch_bytes() const override { return static_cast<std::size_t>(slots_) * thread_bytes_; }

    void run(const void* const* loads, void* const* stores, std::byte* scratch) const override {
        if (elements_ == 0) return;
        for_each_task(tasks_ * pieces_, slots_, [&](std::int64_t task, int slot) {
            std::int64_t front = pieces_ == 1 ? task : task / pieces_;
            join_piece(front, task - front * pieces_, loads, static_cast<std::byte*>(stores[0]),
                       scratch + static_cast<std::size_t>(slot) * thread_bytes_);
        });
    }

  private:
    /// What a thread computes at once: the whole box, or a piece of it along the axis that is cut.
    struct Part {
        ValueBlocks values;
        IndexedWalk places;
        std::int64_t of_front, block;  // elements behind a point of the axes in front; made at a time
    };

    void find_cuts(const Access& store) {
        std::size_t first = 0, behind = dims_.size();  // axes that meet lie in [first, behind)
        while (first < dims_.size() && strides_[first] != 0) ++first;
        while (behind > first && strides_[behind - 1] != 0) --behind;
        for (std::size_t axis = 0; axis < first; ++axis) fronts_ *= dims_[axis];
        fronts_in_task_ = std::max<std::int64_t>(task_elements / (elements_ / fronts_), 1);
        tasks_ = divide_up(fronts_, fronts_in_task_);
        cut_ = behind;
        if (cut_ < dims_.size() && begins_lines(store)) {
            std::int64_t step = width_;  // bytes along the axis that is cut
            for (std::size_t axis = cut_ + 1; axis < dims_.size(); ++axis) step *= dims_[axis];
            std::int64_t unit = least_piece / std::gcd(least_piece, step), units = dims_[cut_] / unit;
            std::int64_t wanted = divide_up(slots_for(elements_), tasks_);
            std::int64_t pieces = std::min({wanted, units, elements_ / task_elements});
            if (pieces > 1) {
                piece_ = divide_up(units, pieces) * unit;
                pieces_ = divide_up(dims_[cut_], piece_);
            }
        }
        slots_ = slots_for(tasks_ * pieces_);
    }

    /// Whether what lies behind a place begins with a line of the cache, wherever that is: else threads would share lines.
    bool begins_lines(const Access& store) const {
        for (std::size_t axis = 0; axis < cut_; ++axis)
            if (strides_[axis] % line_bytes != 0) return false;
        return std::all_of(store.pointers.begin(), store.pointers.end(),
                           [&](const Pointer& pointer) { return pointer.stride * width_ % line_bytes == 0; });
    }

    void lay_out_scratch() {
        auto of_value = static_cast<std::int64_t>(size_of(parts_[0].values.dtype()));
        std::int64_t most = 0;
        std::size_t bytes = 0;
        for (Part& part : parts_) {
            part.block = std::min(block_bytes / of_value, part.values.block());
            std::int64_t row = part.places.dims.empty() ? 1 : part.places.dims.back();
            if (row < part.block) part.block -= part.block % row;  // whole rows
            most = std::max(most, part.block);
            bytes = std::max(bytes, part.values.scratch_bytes());
        }
        values_at_ = aligned(bytes);
        narrowed_at_ = values_at_ + aligned(static_cast<std::size_t>(most * of_value));
        table_at_ = narrowed_at_ + (is_half(memory_) ? aligned(static_cast<std::size_t>(most * width_)) : 0);
        thread_bytes_ = table_at_ + aligned(streams_.size() * sizeof(void*));
    }

    void join_piece(std::int64_t task, std::int64_t piece, const void* const* loads, std::byte* to,
                    std::byte* mine) const {
        const Part& part = parts_[parts_.size() > 1 && piece + 1 == pieces_];
        if (piece > 0) loads = moved(loads, piece * piece_, mine), to += piece * piece_ * strides_[cut_];
        ValueBlocks::Thread thread = part.values.thread(mine, loads);
        std::int64_t at = task * fronts_in_task_ * part.of_front;
        std::int64_t end = std::min((task + 1) * fronts_in_task_, fronts_) * part.of_front;
        for (; at < end; at += part.block)
            join_block(part, thread, at, std::min(part.block, end - at), to, mine + values_at_);
    }

    /// The loads from element number `first` on, along the axis that is cut.
    const void* const* moved(const void* const* loads, std::int64_t first, std::byte* mine) const {
        auto** table = reinterpret_cast<const void**>(mine + table_at_);
        for (std::size_t i = 0; i < streams_.size(); ++i)
            table[i] = static_cast<const std::byte*>(loads[i]) + first * streams_[i].strides[cut_];
        return table;
    }

    void join_block(const Part& part, ValueBlocks::Thread& thread, std::int64_t flat, std::int64_t count, std::byte* to,
                    std::byte* values) const {
        const IndexedWalk& walk = part.places;
        SmallVector<std::int64_t, 12> at(walk.dims.size());
        unravel(flat, walk.dims, at.data());
        bool in_rows = walk.in_rows(width_);
        if (in_rows) ask_for_rows(walk, thread.loads, at.data(), count, to);
        part.values.fill(thread, flat, count, values);
        const std::byte* from = values;
        if (is_half(memory_)) {
            narrow_(thread.base + narrowed_at_, memory_, reinterpret_cast<const float*>(values), count);
            from = thread.base + narrowed_at_;
        }
        walk.runs(at.data(), count, in_rows || in_lanes(walk),
                  [&](const IndexedWalk::Cursor& cursor, std::int64_t rows, std::int64_t run) {
                      join_cursor(walk, cursor, thread.loads, to, rows, run, from);
                      from += rows * run * width_;
                  });
    }

    void join_cursor(const IndexedWalk& walk, const IndexedWalk::Cursor& cursor, const void* const* loads,
                     std::byte* to, std::int64_t rows, std::int64_t run, const std::byte* values) const {
        if (in_lanes(walk)) return joins_.lanes(lanes_of(walk, cursor, loads, to, rows), run, values);
        if (rows > 1) return joins_.rows(rows_of(walk, cursor, loads, to), rows, run, values);
        to += cursor.array + walk.still_places(cursor, loads);
        if (walk.moving.empty())
            return joins_.run(to, walk.strides.empty() ? 0 : walk.strides.back(), values, width_, run);
        std::array<std::int64_t, most_places> places;
        for (std::int64_t done = 0; done < run; done += most_places) {
            std::int64_t count = std::min(most_places, run - done);
            walk.moving_places(cursor, loads, done, count, places.data());
            joins_.places(to, places.data(), values + done * width_, count);
        }
    }

    /// Whether one tensor of int64 places each element.
    static bool in_lanes(const IndexedWalk& walk) {
        return walk.moving.size() == 1 && walk.still.empty() && walk.moving[0].dtype == DType::int64;
    }
    static Lanes lanes_of(const IndexedWalk& walk, const IndexedWalk::Cursor& cursor, const void* const* loads,
                          std::byte* to, std::int64_t count) {
        const WalkedIndex& index = walk.moving[0];
        const auto* indices = static_cast<const std::byte*>(loads[index.load]) + cursor.indices[0];
        Rows lane{to + cursor.array, walk.strides.back(), indices, index.inner(), index.size, index.step};
        if (count == 1) return {lane, count, 0, 0};
        std::size_t axis = walk.dims.size() - 2;
        return {lane, count, walk.strides[axis], index.strides[axis]};
    }

    static Rows rows_of(const IndexedWalk& walk, const IndexedWalk::Cursor& cursor, const void* const* loads,
                        std::byte* to) {
        const WalkedIndex& index = walk.still[0];
        std::size_t axis = walk.dims.size() - 2;
        const auto* indices = static_cast<const std::byte*>(loads[index.load]) + cursor.indices[0];
        return {to + cursor.array, walk.strides[axis], indices, index.strides[axis], index.size, index.step};
    }

    /// Rows lie where no processor foresees: they come while the block is computed.
    void ask_for_rows(const IndexedWalk& walk, const void* const* loads, const std::int64_t* at, std::int64_t count,
                      std::byte* to) const {
        walk.runs(at, count, true, [&](const IndexedWalk::Cursor& cursor, std::int64_t rows, std::int64_t run) {
            Rows all = rows_of(walk, cursor, loads, to);
            for (std::int64_t r = 0; r < rows; ++r, all.next())
                for (std::int64_t byte = 0; byte < run * width_; byte += line_bytes)
                    __builtin_prefetch(all.first() + byte, 1);
        });
    }

    DType memory_;
    std::int64_t width_;  // of an element, in bytes
    decltype(MoveLoops::narrow) narrow_;
    Joins joins_{};
    Dims dims_, strides_;  // of the box; of the store, in bytes
    std::vector<Stream> streams_;
    std::vector<Part> parts_;  // of a piece, and of the last if it is shorter
    std::int64_t elements_ = 0;
    std::int64_t fronts_ = 1, fronts_in_task_ = 1, tasks_ = 1;  // points of the axes in front
    std::size_t cut_ = 0;  // the axis of which pieces are; none: the number of axes
    std::int64_t piece_ = 0, pieces_ = 1;
    int slots_ = 1;
    std::size_t values_at_ = 0, narrowed_at_ = 0, table_at_ = 0, thread_bytes_ = 0;
};

}  // namespace

std::unique_ptr<const PreparedLoop> prepare_scatter(const Loop& loop, bool emitted) {
    return std::make_unique<ComputedScatter>(loop, emitted);
}

}  // namespace weft::cpu
