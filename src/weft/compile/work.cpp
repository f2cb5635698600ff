#include "weft/compile/work.h"

#include "weft/compile/binding.h"
#include "weft/graph/operation.h"
#include "weft/ops/window.h"

namespace weft {
namespace {

double elements(const View& view) { return static_cast<double>(view.layout.size()); }

// Memory that is read again and again (a stride of 0) counts once.
double bytes_of(const View& view) {
    if (view.base.kind == Base::made) return 0;
    double count = 1;
    for (std::size_t axis = 0; axis < view.layout.dims.size(); ++axis)
        if (view.layout.strides[axis] != 0) count *= static_cast<double>(view.layout.dims[axis]);
    return count * static_cast<double>(size_of(view.layout.dtype));
}

// Of a convolution and its gradients: each number of y (or of its gradient) meets each weight of one output channel.
double of_window(const BoundStep& step) {
    const View &first = step.operands[0], &second = step.operands[1], &result = step.operands.back();
    bool forward = step.operation == &convolution_operation,
         of_input = step.operation == &convolution_input_gradient_operation;
    bool of_weight = step.operation == &convolution_weight_gradient_operation;
    if (!forward && !of_input && !of_weight) return 0;
    const View& y = forward ? result : of_input ? first : second;
    const View& weight = of_weight ? result : second;
    double channels = static_cast<double>(weight.layout.dims[0]);
    return channels == 0 ? 0 : 2 * elements(y) * elements(weight) / channels;
}

// Of a join: what lies within its result is neither read nor written (pieces.h).
double bytes_in_place(const BoundStep& step) {
    const View& result = step.operands.back();
    auto end = result.offset + static_cast<std::int64_t>(bytes_of(result));
    double bytes = 0;
    for (std::size_t k = 0; k + 1 < step.operands.size(); ++k) {
        const View& piece = step.operands[k];
        if (piece.base == result.base && piece.offset >= result.offset && piece.offset < end) bytes += bytes_of(piece);
    }
    return 2 * bytes;
}

}  // namespace

Work work_of(const BoundStep& step) {
    Work work;
    for (const View& view : step.operands) work.bytes += bytes_of(view);
    if (step.operation && step.operation->family == Family::join) work.bytes -= bytes_in_place(step);
    work.operations = step.product_operations;
    if (step.operation && step.operation->family == Family::window) work.operations = of_window(step);
    return work;
}

}  // namespace weft
