#include "weft/nn/activation.h"

#include "weft/base/nearest.h"
#include "weft/graph/node.h"
#include "weft/nn/check.h"
#include "weft/nn/functional/activation.h"
#include "weft/nn/initialize.h"
#include "weft/nn/keys.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"

namespace weft::nn {
namespace {

struct Named {
    const Operation* operation;
    Tensor operator()(const Operand& x) const { return apply(*operation, {x}); }
    std::string_view held_type() const { return operation->name; }
    template <class V>
    void members(V&) {}
};

bool is_unary(const Operation& operation) {
    return operation.family == Family::elementwise && operation.arity == 1 && operation.body;
}

}  // namespace

PReLU::PReLU(std::int64_t num_parameters, double init, DType dtype) {
    check_positive("PReLU", "num_parameters", num_parameters);
    weight = Parameter(init::constant({num_parameters}, init, dtype));
}

Tensor PReLU::operator()(const Operand& x) const {
    LineScope line(x.where);
    ModuleScope scope(layer_name(weight, "PReLU"));
    Size count = weight.shape()[0];
    if (count != Size(1)) check_axis("PReLU", x, 2, 1, count.value(), "channels");
    return functional::prelu(x, weight);
}

Tensor Softmax::operator()(const Operand& x) const { return softmax(x, dim); }
Tensor LogSoftmax::operator()(const Operand& x) const { return log_softmax(x, dim); }

std::vector<std::string_view> activation_names() {
    std::vector<std::string_view> names;
    for (const Operation* operation : all_operations()) {
        if (is_unary(*operation)) names.push_back(operation->name);
    }
    return names;
}

Module activation(std::string_view name) {
    const Operation* operation = find_operation(name);
    if (!operation || !is_unary(*operation)) {
        throw ValueError(
            text("no elementwise function is called '", name, "'", did_you_mean(name, activation_names())));
    }
    return Named{operation};
}

}  // namespace weft::nn
