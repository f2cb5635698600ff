#include "weft/backend/cpu/loop_layout.h"

#include <algorithm>
#include <cstdlib>

namespace weft::cpu {
namespace {

/// An axis of the box with its stride in every array.
struct Axis {
    std::int64_t size;
    std::vector<std::int64_t> loads, stores, reach;
};

/// How far the axis moves through memory in all; stores count twice, for a line that is written is also read.
std::uint64_t reach(const Axis& axis) {
    std::uint64_t sum = 0;
    for (std::int64_t stride : axis.reach) sum += static_cast<std::uint64_t>(std::llabs(stride));
    for (std::int64_t stride : axis.stores) sum += 2 * static_cast<std::uint64_t>(std::llabs(stride));
    return sum;
}

bool continues(const std::vector<std::int64_t>& outer, const std::vector<std::int64_t>& inner, std::int64_t size) {
    for (std::size_t i = 0; i < outer.size(); ++i) {
        if (outer[i] != inner[i] * size) return false;
    }
    return true;
}

void sort_and_merge(std::vector<Axis>& axes, bool sort) {
    std::erase_if(axes, [](const Axis& axis) { return axis.size == 1; });
    if (sort)
        std::stable_sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return reach(a) > reach(b); });
    for (std::size_t i = 0; i + 1 < axes.size();) {
        Axis& outer = axes[i];
        Axis& inner = axes[i + 1];
        if (continues(outer.loads, inner.loads, inner.size) && continues(outer.stores, inner.stores, inner.size)) {
            inner.size *= outer.size;
            axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i));
        } else {
            ++i;
        }
    }
}

// A step along an axis along which an index changes may lead anywhere: as if the next index were the next number, or, where several
// make a place, far away.
std::int64_t reach_of(const Loop& loop, const Access& load, std::size_t axis) {
    constexpr std::int64_t far = 1024;
    if (load.source == Source::counting) return 0;
    std::int64_t reach = std::llabs(load.strides[axis]);
    for (const Pointer& pointer : load.pointers) {
        bool several = pointer.axis < 0 || load.pointers.size() > 1;
        if (loop.loads[static_cast<std::size_t>(pointer.load)].strides[axis] == 0) continue;
        reach += several ? std::max<std::int64_t>(far, std::llabs(pointer.stride)) : std::llabs(pointer.stride);
    }
    return reach * static_cast<std::int64_t>(size_of(load.dtype));
}

}  // namespace

LoopLayout layout_of(const Loop& loop) {
    std::vector<Axis> kept, reduced;
    std::size_t keep = loop.dims.size() - loop.reduced;
    for (std::size_t axis = 0; axis < loop.dims.size(); ++axis) {
        Axis at{loop.dims[axis], {}, {}, {}};
        for (const Access& load : loop.loads) {
            at.loads.push_back(load.strides[axis] * static_cast<std::int64_t>(size_of(load.dtype)));
            at.reach.push_back(reach_of(loop, load, axis));
        }
        if (axis < keep || loop.scan) {
            for (const Access& store : loop.stores) {
                at.stores.push_back(store.strides[axis] * static_cast<std::int64_t>(size_of(store.dtype)));
            }
        }
        (axis < keep ? kept : reduced).push_back(std::move(at));
    }
    // Positions count in the order of the reduced axes, so these stay where they are for argmax and argmin.
    bool positions = std::any_of(loop.reductions.begin(), loop.reductions.end(),
                                 [](Reduction r) { return r == Reduction::argmax || r == Reduction::argmin; });
    sort_and_merge(kept, !loop.scatter);  // whose points are joined in the order of the box
    sort_and_merge(reduced, !positions);
    LoopLayout layout;
    layout.loads.resize(loop.loads.size());
    layout.reach.resize(loop.loads.size());
    layout.stores.resize(loop.stores.size());
    auto add_loads = [&](const Axis& axis) {
        for (std::size_t i = 0; i < layout.loads.size(); ++i) {
            layout.loads[i].push_back(axis.loads[i]);
            layout.reach[i].push_back(axis.reach[i]);
        }
    };
    for (const Axis& axis : kept) {
        layout.kept.push_back(axis.size);
        add_loads(axis);
        for (std::size_t i = 0; i < layout.stores.size(); ++i) layout.stores[i].push_back(axis.stores[i]);
    }
    for (const Axis& axis : reduced) {
        layout.reduced.push_back(axis.size);
        add_loads(axis);
        for (std::size_t i = 0; i < axis.stores.size(); ++i) layout.stores[i].push_back(axis.stores[i]);
    }
    return layout;
}

bool Stream::uniform() const {
    return std::all_of(strides.begin(), strides.end(), [](std::int64_t stride) { return stride == 0; });
}

bool Stream::innermost_alone() const {
    for (std::size_t axis = 0; axis + 1 < strides.size(); ++axis) {
        if (strides[axis] != 0) return false;
    }
    return true;
}

bool Stream::contiguous(const Dims& dims) const {
    auto step = static_cast<std::int64_t>(size_of(memory));
    for (std::size_t axis = dims.size(); axis-- > 0;) {
        if (strides[axis] != step) return false;
        step *= dims[axis];
    }
    return true;
}

void unravel(std::int64_t flat, const Dims& dims, std::int64_t* at) {
    if (flat == 0) {  // often, and dividing takes longer than small loops
        std::fill_n(at, dims.size(), 0);
        return;
    }
    for (std::size_t axis = dims.size(); axis-- > 1;) {
        std::int64_t outer = flat / dims[axis];
        at[axis] = flat - outer * dims[axis];
        flat = outer;
    }
    if (!dims.empty()) at[0] = flat;
}

}  // namespace weft::cpu
