// Where the elements of an access lie that moves by indices as well as by strides (kernel/loop.h's pointers): places, in bytes, along
// runs of the innermost axis of a space. Indices were checked before; an axis of size 0 says that none is negative.
// Always: nothing is allocated on the way. Callers: indexed_load.cpp, computed_scatter.cpp.
#pragma once

#include <array>

#include "weft/backend/cpu/loop_layout.h"

namespace weft::cpu {

inline constexpr std::int64_t most_places = 256;  // that are worked out at a time, where one index does not say it all

inline std::int64_t from_front(std::int64_t index, std::int64_t size) { return index + (index < 0 ? size : 0); }

/// A tensor of integers beside the space.
struct WalkedIndex {
    std::size_t load;
    DType dtype;
    std::int64_t size, step;  // size: 0 if no index is negative; step: bytes in the array that is pointed into
    Dims strides;             // bytes
    std::int64_t inner() const { return strides.empty() ? 0 : strides.back(); }
};

struct IndexedWalk {
    /// Where a run of elements begins: bytes, without what the indices add.
    struct Cursor {
        std::int64_t array;
        SmallVector<std::int64_t, 4> indices;
    };

    IndexedWalk() = default;
    /// Of an access of the loop, over a space of sizes `over`, whose own strides beside it are `moves`; `streams`: the loop's loads.
    IndexedWalk(const Access& access, const Loop& loop, Dims over, Dims moves, const std::vector<Stream>& streams)
        : dims(std::move(over)), strides(std::move(moves)) {
        for (const Pointer& pointer : access.pointers) {
            auto from = static_cast<std::size_t>(pointer.load);
            WalkedIndex index{from, loop.loads[from].dtype, pointer.size,
                              pointer.stride * static_cast<std::int64_t>(size_of(access.dtype)), streams[from].strides};
            (index.inner() == 0 ? still : moving).push_back(std::move(index));
        }
    }

    Cursor cursor(const std::int64_t* at) const {
        Cursor cursor{0, {}};
        cursor.indices.resize(moving.size() + still.size());
        for (std::size_t axis = 0; axis < dims.size(); ++axis) move(cursor, axis, at[axis]);
        return cursor;
    }
    void move(Cursor& cursor, std::size_t axis, std::int64_t steps) const {
        cursor.array += strides[axis] * steps;
        std::size_t k = 0;
        for (const auto* list : {&moving, &still})
            for (const WalkedIndex& index : *list) cursor.indices[k++] += index.strides[axis] * steps;
    }

    /// What the indices that stay as they are along a run add to its places.
    std::int64_t still_places(const Cursor& cursor, const void* const* loads) const {
        std::int64_t bytes = 0;
        for (std::size_t k = 0; k < still.size(); ++k) {
            const WalkedIndex& index = still[k];
            const auto* from = static_cast<const std::byte*>(loads[index.load]) + cursor.indices[moving.size() + k];
            bytes += from_front(index_at(from, index.dtype), index.size) * index.step;
        }
        return bytes;
    }
    /// Of elements [first, first + count) of a run, count <= most_places: their strides and the indices that change along it.
    void moving_places(const Cursor& cursor, const void* const* loads, std::int64_t first, std::int64_t count,
                       std::int64_t* to) const {
        std::int64_t stride = strides.empty() ? 0 : strides.back();
        for (std::int64_t i = 0; i < count; ++i) to[i] = (first + i) * stride;
        for (std::size_t k = 0; k < moving.size(); ++k) {
            const WalkedIndex& index = moving[k];
            const auto* at =
                static_cast<const std::byte*>(loads[index.load]) + cursor.indices[k] + first * index.inner();
            with_dtype(index.dtype, [&]<class I>(TypeTag<I>) {
                if constexpr (std::is_integral_v<I>)
                    add_places<I>(to, at, index.inner(), count, index.size, index.step);
            });
        }
    }
    /// Whether the last two axes are rows that one tensor of int64 places, each a stretch of elements of `width` bytes.
    bool in_rows(std::int64_t width) const {
        return dims.size() > 1 && moving.empty() && still.size() == 1 && still[0].dtype == DType::int64 &&
               strides.back() == width;
    }
    /// The elements from index `start` on, in row-major order: f(cursor, rows, run) for each run along the innermost axis. `together`:
    /// whole rows, each a step along the axis before the innermost behind the one before it, are as many at once as there are.
    template <class F>
    void runs(const std::int64_t* start, std::int64_t count, bool together, F&& f) const {
        std::size_t axes = dims.size();
        Cursor here = cursor(start);
        if (axes == 0) return f(here, std::int64_t{1}, count);
        SmallVector<std::int64_t, 12> at(start, start + axes);
        while (true) {
            std::int64_t run = std::min(count, dims.back() - at.back()), rows = 1;
            if (together && axes > 1 && at.back() == 0 && count > run)
                rows = std::min(count / run, dims[axes - 2] - at[axes - 2]);
            f(here, rows, run);
            count -= rows * run;
            if (count <= 0) return;
            move(here, axes - 1, -at.back());
            at.back() = 0;
            for (std::size_t axis = axes - 1; axis-- > 0; rows = 1) {
                move(here, axis, rows);
                if ((at[axis] += rows) < dims[axis]) break;
                move(here, axis, -dims[axis]);
                at[axis] = 0;
            }
        }
    }

    Dims dims, strides;                      // of the space; bytes
    std::vector<WalkedIndex> moving, still;  // along the innermost axis

  private:
    static std::int64_t index_at(const void* from, DType dtype) {
        return with_dtype(dtype, [&]<class T>(TypeTag<T>) -> std::int64_t {
            if constexpr (std::is_integral_v<T>)
                return static_cast<std::int64_t>(*static_cast<const T*>(from));
            else
                return 0;
        });
    }
    /// `I` indices, each `stride` bytes behind the one before it, to where they point: to[i] += place.
    template <class I>
    static void add_places(std::int64_t* to, const std::byte* from, std::int64_t stride, std::int64_t count,
                           std::int64_t size, std::int64_t step) {
        for (std::int64_t i = 0; i < count; ++i, from += stride)
            to[i] += from_front(static_cast<std::int64_t>(*reinterpret_cast<const I*>(from)), size) * step;
    }
};

}  // namespace weft::cpu
