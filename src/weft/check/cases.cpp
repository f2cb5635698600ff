#include "weft/check/cases.h"

#include <algorithm>
#include <cmath>

#include "weft/check/compare.h"
#include "weft/graph/node.h"
#include "weft/ops/elementwise.h"

namespace weft {
namespace {

Sample elementwise_sample(const Operation& operation, std::vector<Shape> inputs) {
    Sample sample;
    sample.inputs = std::move(inputs);
    sample.call = [&operation](std::span<const Tensor> x) {
        std::vector<Operand> operands(x.begin(), x.end());
        return weft::apply(operation, std::span<const Operand>(operands));
    };
    return sample;
}

// Operands of shapes that broadcast to `shape`: operand k lacks what its turn says.
std::vector<Shape> broadcasting(const Shape& shape, int arity, int turn) {
    std::vector<Shape> inputs;
    for (int k = 0; k < arity; ++k) {
        Shape mine = shape;
        switch ((k + turn) % 4) {
            case 1:
                mine[0] = 1;
                break;
            case 2:
                mine.erase(0);
                break;
            case 3:
                mine = {};
                break;
            default:
                break;
        }
        inputs.push_back(mine);
    }
    return inputs;
}

}  // namespace

bool plain_elementwise(const Operation& operation) {
    return operation.family == Family::elementwise && operation.samples.empty();
}

std::vector<Sample> samples_of(const Operation& operation, Shapes shapes) {
    if (!plain_elementwise(operation)) return operation.samples;
    auto arity = static_cast<std::size_t>(operation.arity);
    std::vector<Shape> wanted;
    switch (shapes) {
        case Shapes::sizes:
            wanted = {{}, {0}, {1}, {7}, {64}, {1023}, {1025}, {2, 0, 3}, {1, 1}, {33, 65}};
            break;
        case Shapes::layouts:
            wanted = {{5}, {3, 5}, {4, 9, 17}, {2, 1, 70}, {0, 4}};
            break;
        case Shapes::few:
            wanted = {{3, 5}};
            break;
    }
    std::vector<Sample> samples;
    for (const Shape& shape : wanted)
        samples.push_back(elementwise_sample(operation, std::vector<Shape>(arity, shape)));
    if (shapes == Shapes::sizes || arity < 2) return samples;
    for (int turn = 0; turn < 4; ++turn)
        samples.push_back(elementwise_sample(operation, broadcasting({4, 3, 5}, operation.arity, turn)));
    return samples;
}

std::vector<std::vector<DType>> dtypes_of(const Operation& operation, const Sample& sample) {
    std::vector<std::vector<DType>> all;
    for (DType dtype : all_dtypes()) {
        if (plain_elementwise(operation) && operation.takes &&
            !operation.takes(operation.meet ? operation.meet(dtype) : dtype))
            continue;
        if (sample.dtypes.empty()) {
            all.emplace_back(sample.inputs.size(), dtype);
            continue;
        }
        std::vector<DType> one = sample.dtypes;
        for (DType& stated : one) {
            if (is_inexact(stated)) stated = dtype;
        }
        if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
    }
    return all;
}

std::vector<Array> inputs_of(const Operation& operation, const Sample& sample, const std::vector<DType>& dtypes,
                             Draw& draw) {
    std::vector<Array> inputs;
    for (std::size_t i = 0; i < sample.inputs.size(); ++i) {
        Dims dims = dims_of(sample.inputs[i]);
        bool index = sample.index_below > 0 && i < sample.dtypes.size() && is_integer(sample.dtypes[i]);
        const Domain* domain =
            operation.domain.empty() ? nullptr : &operation.domain[std::min(i, operation.domain.size() - 1)];
        inputs.push_back(index ? draw.indices(dtypes[i], dims, sample.index_below)
                               : draw.array(dtypes[i], dims, domain));
    }
    return inputs;
}

std::vector<Tensor> tensors_of(const std::vector<Array>& arrays, Form form) {
    std::vector<Tensor> tensors;
    for (const Array& array : arrays) tensors.emplace_back(laid_out(array, form));
    return tensors;
}

std::string described(const Operation& operation, const std::vector<Array>& inputs, Form form) {
    std::string words(operation.name);
    for (const Array& input : inputs) words += text(" ", input.dtype, input.dims);
    return form == Form::contiguous ? words : text(words, " ", name_of(form));
}

bool exact(const Operation& operation, DType result) {
    if (!is_inexact(result)) return true;
    switch (operation.family) {
        case Family::reduce:
        case Family::scan:
        case Family::scatter:
        case Family::contraction:
        case Family::window:
        case Family::factorization:
        case Family::fourier:
        case Family::composite:
            return false;
        default:
            return true;
    }
}

double joined_error(const std::vector<Array>& inputs, const Array& result) {
    double terms = 8, largest = 1;
    auto note = [&](const Array& array) {
        for (double value : as_doubles(array)) {
            if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
        }
    };
    for (const Array& input : inputs) terms += static_cast<double>(input.size()), note(input);
    note(result);
    return epsilon_of(result.dtype) * terms * largest;
}

}  // namespace weft
