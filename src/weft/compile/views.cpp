#include "weft/compile/views.h"

#include "weft/ops/recompute.h"
#include "weft/ops/view.h"

namespace weft {
// From the innermost axis outwards: axes of `from` are taken as their elements are given out to axes of the result.
std::optional<Dims> reshaped_strides(const Layout& from, const Dims& dims) {
    if (from.contiguous()) return contiguous_strides(dims);
    Dims strides(dims.size(), 1);
    std::int64_t step = 1, left = 1;  // of what was taken: from one element to the next, elements that are left
    std::size_t taken = from.dims.size();
    for (std::size_t axis = dims.size(); axis-- > 0;) {
        while (left % dims[axis] != 0) {
            promise(taken > 0, "a reshape shows as many elements as it is made of");
            std::int64_t size = from.dims[--taken], over = from.strides[taken];
            if (size == 1) continue;
            if (left != 1 && over != left * step) return {};
            if (left == 1) step = over;
            left *= size;
        }
        strides[axis] = step;
        step *= dims[axis], left /= dims[axis];
    }
    return strides;
}

namespace {

void slice_view(const SliceAttributes& a, View& view) {
    auto element = static_cast<std::int64_t>(size_of(view.layout.dtype));
    for (std::size_t i = 0; i < view.layout.dims.size(); ++i) {
        std::int64_t start = a.start[i].value.value(), length = a.length[i].value();
        if (length < 0 || (length > 0 && start + (length - 1) * a.step[i] >= view.layout.dims[i])) {
            throw IndexError(text("slice: ", length, " elements from ", start, " in steps of ", a.step[i],
                                  " leave axis ", i, " of size ", view.layout.dims[i]));
        }
        if (length > 0) view.offset += start * view.layout.strides[i] * element;
        view.layout.dims[i] = length;
        view.layout.strides[i] *= a.step[i];
    }
}

void flip_view(const Axes& axes, View& view) {
    auto element = static_cast<std::int64_t>(size_of(view.layout.dtype));
    for (std::int64_t axis : axes) {
        auto i = static_cast<std::size_t>(axis);
        if (view.layout.dims[i] > 0) view.offset += (view.layout.dims[i] - 1) * view.layout.strides[i] * element;
        view.layout.strides[i] = -view.layout.strides[i];
    }
}

}  // namespace

Dims broadcast_strides(const Layout& from, const Dims& dims) {
    Dims strides(dims.size(), 0);
    std::size_t shift = dims.size() - from.dims.size();
    for (std::size_t i = 0; i < from.dims.size(); ++i) {
        bool repeats = from.dims[i] == 1 && dims[i + shift] != 1;
        if (!repeats && from.dims[i] != dims[i + shift]) {
            throw ShapeError(
                text("shapes ", from.dims, " and ", dims, " do not broadcast, now that their sizes are known"));
        }
        strides[i + shift] = repeats ? 0 : from.strides[i];
    }
    return strides;
}

Dims ordered_strides(const Dims& dims, const Axes& order) {
    if (order.empty()) return contiguous_strides(dims);
    Dims strides(dims.size());
    std::int64_t step = 1;
    for (std::size_t k = order.size(); k-- > 0;) {
        auto axis = static_cast<std::size_t>(order[k]);
        strides[axis] = step;
        step *= std::max<std::int64_t>(dims[axis], 1);
    }
    return strides;
}

View apply_view(const Node& node, const View& from) {
    View view = from;
    if (node.operation->family == Family::elementwise || node.operation == &recompute_operation)
        return view;  // the operand itself
    Dims dims = dims_of(node.shape);
    if (node.operation == &reshape_operation) {
        if (element_count(dims) != from.layout.size())
            throw ShapeError(text("reshape: ", from.layout.dims, " has not as many elements as ", dims));
        std::optional<Dims> strides = reshaped_strides(from.layout, dims);
        // Partition saw to it that axes which become one, whole or in other pieces, follow each other without a gap (dense_axes.h).
        promise(strides.has_value(), "a reshape that is a view joins only axes without a gap between");
        view.layout.strides = std::move(*strides);
        view.layout.dims = dims;
    } else if (node.operation == &permute_dims_operation) {
        const Axes& axes = node.attributes_as<PermuteAttributes>().axes;
        for (std::size_t i = 0; i < axes.size(); ++i) {
            view.layout.dims[i] = from.layout.dims[static_cast<std::size_t>(axes[i])];
            view.layout.strides[i] = from.layout.strides[static_cast<std::size_t>(axes[i])];
        }
    } else if (node.operation == &broadcast_to_operation) {
        view.layout.strides = broadcast_strides(from.layout, dims);
        view.layout.dims = dims;
    } else if (node.operation == &slice_operation) {
        slice_view(node.attributes_as<SliceAttributes>(), view);
    } else {
        promise(node.operation == &flip_operation,
                "the view operations are reshape, permute, broadcast, slice and flip");
        flip_view(node.attributes_as<PermuteAttributes>().axes, view);
    }
    return view;
}

}  // namespace weft
