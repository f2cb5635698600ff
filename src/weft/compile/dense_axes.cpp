#include "weft/compile/dense_axes.h"

#include <span>
#include <vector>

#include "weft/ops/view.h"

namespace weft {
namespace {

std::size_t index(std::int64_t axis) { return static_cast<std::size_t>(axis); }

std::int64_t number(std::size_t axis) { return static_cast<std::int64_t>(axis); }

std::vector<std::size_t> proper_axes(const Shape& shape) {
    std::vector<std::size_t> axes;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
        if (!(shape[axis] == Size(1))) axes.push_back(axis);
    return axes;
}

// Axes of the one shape that hold as many elements as axes of the other.
struct Group {
    std::span<const std::size_t> from, to;
};

// A plan is good for all sizes that are equal where its own are: so only axes of the same size are told apart, in front and behind; what is
// left of both shapes holds as much, together.
std::vector<Group> groups_of(const Shape& from, std::span<const std::size_t> of, const Shape& to,
                             std::span<const std::size_t> into) {
    std::vector<Group> groups, behind;
    while (!of.empty() && !into.empty() && from[of.front()] == to[into.front()]) {
        groups.push_back({of.first(1), into.first(1)});
        of = of.subspan(1), into = into.subspan(1);
    }
    while (!of.empty() && !into.empty() && from[of.back()] == to[into.back()]) {
        behind.push_back({of.last(1), into.last(1)});
        of = of.first(of.size() - 1), into = into.first(into.size() - 1);
    }
    if (!of.empty() && !into.empty()) groups.push_back({of, into});
    groups.insert(groups.end(), behind.begin(), behind.end());
    return groups;
}

void part(DenseAxes& axes, std::int64_t axis) {
    axes[index(axis)] = -1;
    for (std::int64_t& next : axes)
        if (next == axis) next = -1;
}

DenseAxes permuted(const DenseAxes& from, const Axes& order) {
    DenseAxes place(from.size()), axes;
    for (std::size_t i = 0; i < order.size(); ++i) place[index(order[i])] = number(i);
    for (std::int64_t axis : order) axes.push_back(from[index(axis)] < 0 ? -1 : place[index(from[index(axis)])]);
    return axes;
}

DenseAxes sliced(DenseAxes axes, const Shape& from, const SliceAttributes& slice) {
    for (std::size_t axis = 0; axis < from.size(); ++axis) {
        if (slice.length[axis] == from[axis]) continue;
        // What steps over an axis steps over the whole of it. An axis itself goes on by its own steps, one or several at a time.
        std::int64_t own = slice.step[axis] == 1 && !(slice.length[axis] == Size(1)) ? axes[axis] : -1;
        part(axes, number(axis));
        axes[axis] = own;
    }
    return axes;
}

DenseAxes repeated(const DenseAxes& from, const Shape& shape, const Shape& wider) {
    std::size_t shift = wider.size() - shape.size();
    DenseAxes axes(wider.size(), -1);
    for (std::size_t i = 0; i < shape.size(); ++i)
        if (from[i] >= 0 && shape[i] == wider[i + shift]) axes[i + shift] = from[i] + number(shift);
    return axes;
}

}  // namespace

DenseAxes dense_axes(const Shape& shape, const Axes& order) {
    DenseAxes axes(shape.size(), -1);
    std::int64_t before = -1;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        std::int64_t axis = order.empty() ? number(i) : order[i];
        if (shape[index(axis)] == Size(1)) continue;
        if (before >= 0) axes[index(before)] = axis;
        before = axis;
    }
    return axes;
}

std::optional<DenseAxes> reshaped(const DenseAxes& axes, const Shape& from, const Shape& to) {
    DenseAxes result(to.size(), -1);
    std::vector<std::size_t> of = proper_axes(from), into = proper_axes(to);
    std::vector<Group> groups = groups_of(from, of, to, into);
    std::vector<std::int64_t> begins(from.size(), -1);  // of each axis that begins a group, the axis that it becomes
    for (const Group& group : groups) {
        for (std::size_t i = 0; i + 1 < group.from.size(); ++i)
            if (axes[group.from[i]] != number(group.from[i + 1])) return {};
        for (std::size_t i = 0; i + 1 < group.to.size(); ++i) result[group.to[i]] = number(group.to[i + 1]);
        begins[group.from.front()] = number(group.to.front());
    }
    for (const Group& group : groups)
        if (std::int64_t next = axes[group.from.back()]; next >= 0) result[group.to.back()] = begins[index(next)];
    return result;
}

DenseAxes viewed(const DenseAxes& axes, const Shape& from, const Node& view) {
    const Operation* operation = view.operation;
    if (operation == &permute_dims_operation) return permuted(axes, view.attributes_as<PermuteAttributes>().axes);
    if (operation == &slice_operation) return sliced(axes, from, view.attributes_as<SliceAttributes>());
    if (operation == &broadcast_to_operation) return repeated(axes, from, view.shape);
    DenseAxes shown = axes;
    if (operation == &flip_operation)
        for (std::int64_t axis : view.attributes_as<PermuteAttributes>().axes) part(shown, axis);
    return shown;
}

}  // namespace weft
