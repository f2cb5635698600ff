#include "weft/autodiff/batching.h"

#include "weft/ops/creation.h"
#include "weft/ops/join.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

// Inputs broadcast against each other from the last axis on: those with fewer axes get ones behind the batch's.
Tensor batched_elementwise(const Tensor& result, const Batch& batch) {
    std::vector<Tensor> aligned;
    for (std::size_t i = 0; i < batch.inputs.size(); ++i) {
        const Shape& of_one = result.node()->inputs[i]->shape;
        aligned.push_back(batch.inputs[i]);
        if (!batch.batched[i] || of_one.size() == result.ndim()) continue;
        Shape shape(result.ndim() - of_one.size(), 1);
        for (Size size : of_one) shape.push_back(size);
        aligned.back() = reshape(aligned.back(), batch.shape(shape));
    }
    return batch.like(result, aligned);
}

Tensor by_rule(const Tensor& result, const Batch& batch) {
    const Operation& operation = *result.node()->operation;
    if (operation.batch) return operation.batch(result, batch);
    switch (operation.family) {
        case Family::elementwise:
            return batched_elementwise(result, batch);
        case Family::factorization:  // all inputs have the same axes in front of their matrices
            return batch.like(result, batch.all());
        default:
            return {};
    }
}

}  // namespace

Tensor example_by_example(const Tensor& result, const Batch& batch) {
    const Node& node = *result.node();
    if (!batch.size.known()) {
        throw ShapeError(text("vmap: ", node.operation->name,
                              " is computed example by example, for which the number of examples must be known, not '",
                              batch.size, "'", place(node.where)));
    }
    auto example = [](const Tensor& x, std::int64_t k) {
        Shape start(x.ndim(), 0), length = x.shape();
        start[0] = k, length[0] = 1;
        return reshape(slice(x, start, length), Shape(x.shape().begin() + 1, x.shape().end()));
    };
    std::vector<Tensor> results;
    for (std::int64_t k = 0; k < batch.size.value(); ++k) {
        std::vector<Tensor> inputs;
        for (std::size_t i = 0; i < batch.inputs.size(); ++i)
            inputs.push_back(batch.batched[i] ? example(batch.inputs[i], k) : batch.inputs[i]);
        results.push_back(batch.like(result, inputs));
    }
    return results.empty() ? zeros(batch.shape(result.shape()), result.dtype()) : stack(results, 0, node.where);
}

Tensor batched_node(const Tensor& result, const Batch& batch) {
    LineScope line(result.node()->where);
    Tensor found = by_rule(result, batch);
    return found ? found : example_by_example(result, batch);
}

}  // namespace weft
