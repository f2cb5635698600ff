#include "weft/nn/check.h"

#include <algorithm>

#include "weft/graph/node.h"

namespace weft::nn {

bool may_be_equal(const Shape& a, const Shape& b) {
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(), [](Size x, Size y) { return may_equal(x, y); });
}

void check_same_shape(std::string_view loss, const Tensor& prediction, const Tensor& target,
                      std::source_location where) {
    if (may_be_equal(prediction.shape(), target.shape())) return;
    throw ShapeError(text(loss, ": the prediction has shape ", prediction.shape(), ", the target ", target.shape(),
                          "; a loss does not broadcast, so reshape one of them", place(where)));
}

void check_axis(std::string_view layer, const Operand& x, std::size_t least_ndim, std::int64_t axis, std::int64_t size,
                std::string_view what) {
    const Shape shape = x.as_tensor().shape();
    std::size_t at = axis < 0 ? shape.size() + static_cast<std::size_t>(axis) : static_cast<std::size_t>(axis);
    if (shape.size() >= least_ndim && at < shape.size() && may_equal(shape[at], size)) return;
    std::string_view which = axis == -1 ? "last axis" : axis == 1 ? "second axis" : "first axis";
    throw ShapeError(text(layer, ": the input has shape ", shape, ", but its ", which, " must hold ", size, ' ', what,
                          place(x.where)));
}

void check_ndim(std::string_view layer, const Operand& x, std::initializer_list<std::string_view> allowed) {
    const Shape shape = x.as_tensor().shape();
    std::string list;
    for (std::string_view form : allowed) {  // "(N, C, L)": as many axes as commas and one
        if (static_cast<std::size_t>(std::count(form.begin(), form.end(), ',')) + 1 == shape.size()) return;
        list += text(list.empty() ? "" : " or ", form);
    }
    throw ShapeError(text(layer, ": the input has shape ", shape, ", but must be ", list, place(x.where)));
}

}  // namespace weft::nn
