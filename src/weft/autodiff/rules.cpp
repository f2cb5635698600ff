#include "weft/autodiff/rules.h"

#include <map>

#include "weft/autodiff/cond_rules.h"
#include "weft/autodiff/custom.h"
#include "weft/autodiff/derivative.h"
#include "weft/autodiff/loop_rules.h"
#include "weft/autodiff/scalar_graph.h"
#include "weft/kernel/builder.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

std::vector<Tensor> inputs_of(const Tensor& result) {
    std::vector<Tensor> inputs;
    inputs.reserve(result.node()->inputs.size());
    for (Node* input : result.node()->inputs) inputs.push_back(handle(input));
    return inputs;
}

// Whether the body divides, takes roots or calls.
bool divides_or_calls(const Operation& operation, DType meeting) {
    ProgramBuilder builder;
    std::vector<Scalar> operands;
    for (int i = 0; i < operation.arity; ++i)
        operands.push_back(builder.input(operation.condition && i == 0 ? DType::bool_ : compute_dtype(meeting)));
    Scalar result = operation.body(operands, nullptr);
    if (!result.builder()) return false;
    builder.output(result);
    Program program = builder.take();
    return std::any_of(program.code.begin(), program.code.end(), [](const Instruction& i) {
        return i.opcode == Opcode::divide || i.opcode == Opcode::square_root || i.opcode == Opcode::call;
    });
}

// Where a local derivative can be infinite or NaN, a factor of 0 must stay 0. Asked for each node, so each thread remembers.
bool may_be_singular(const Operation& operation, DType meeting) {
    thread_local std::map<std::pair<const Operation*, DType>, bool> known;
    auto [at, fresh] = known.try_emplace({&operation, meeting}, false);
    if (fresh) at->second = divides_or_calls(operation, meeting);
    return at->second;
}

// d result / d input i as a tensor, times `factor`; empty if the derivative is 0 everywhere. Of half types that of the float32 numbers that they
// hold, as a body is computed.
class Partials {
  public:
    explicit Partials(const Tensor& result)
        : result_(result), inputs_(inputs_of(result)), graph_(result.node()->where) {
        const Operation& operation = *result.node()->operation;
        meeting_ = compute_dtype(meeting_dtype(operation, inputs_));
        scalars_.reserve(inputs_.size() + 1);
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            bool condition = operation.condition && i == 0;
            scalars_.push_back(graph_.scalar(astype(inputs_[i], condition ? DType::bool_ : meeting_)));
        }
        scalars_.push_back(graph_.scalar(astype(result, compute_dtype(result.dtype()))));
        singular_ = may_be_singular(operation, meeting_);
    }
    Tensor times(std::size_t i, const Tensor& factor) {
        Scalar partial = result_.node()->operation->partials[i](scalars_);
        if (!partial.builder()) {
            double number = partial.literal().as<double>();
            if (number == 0) return {};
            if (number == 1) return factor;
            return number == -1 ? -factor : factor * number;
        }
        Tensor local = graph_.tensor(partial, meeting_);
        bool narrow = is_half(factor.dtype()) && local.dtype() == DType::float32;  // only the product is rounded
        if (local.dtype() != factor.dtype() && !narrow) local = astype(local, factor.dtype());
        Tensor product = joined(local, narrow ? astype(factor, DType::float32) : factor);
        return narrow ? astype(product, factor.dtype()) : product;
    }

  private:
    Tensor joined(const Tensor& local, const Tensor& factor) {
        Operand left(factor, result_.node()->where);
        // What was not chosen adds nothing, whatever comes with it.
        if (result_.node()->operation->condition) return gated_multiply(Operand(local, left.where), factor);
        return singular_ ? gated_multiply(left, local) : multiply(left, local);
    }

    Tensor result_;
    std::vector<Tensor> inputs_;
    ScalarGraph graph_;
    std::vector<Scalar> scalars_;
    DType meeting_;
    bool singular_;
};

// A composite operation's value written out in the operations of its body.
Tensor expand(const Tensor& result) {
    std::vector<Tensor> inputs = inputs_of(result);
    const Operation& operation = *result.node()->operation;
    DType meeting = compute_dtype(meeting_dtype(operation, inputs));
    ScalarGraph graph(result.node()->where);
    std::vector<Scalar> operands;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        operands.push_back(graph.scalar(astype(inputs[i], operation.condition && i == 0 ? DType::bool_ : meeting)));
    }
    return astype(graph.tensor(operation.body(operands, result.node()->attributes.get()), meeting), result.dtype());
}

// A cotangent (a tangent) in the type of what it belongs to: of a real number the real part, which is all that moves it.
Tensor in_type(const Tensor& x, DType dtype) {
    return astype(is_complex(x.dtype()) && !is_complex(dtype) ? real(x) : x, dtype);
}

Tensor add_up(const Tensor& a, const Tensor& b) { return !a ? b : !b ? a : a + b; }

Tensor full_size(const Tensor& tangent, const Tensor& result) {
    Tensor typed = astype(tangent, result.dtype());
    return typed.shape() == result.shape() ? typed : broadcast_to(typed, result.shape());
}

// Linear in each input with the others held: the operation itself, with one input's tangent in its place at a time.
Tensor push_linear(const Tensor& result, std::span<const Tensor> tangents) {
    const Node& node = *result.node();
    std::vector<Tensor> inputs = inputs_of(result);
    if (node.operation->jointly_linear) {
        for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = tangents[i] ? tangents[i] : zeros_like(inputs[i]);
        return make_node(*node.operation, inputs, node.attributes, node.where);
    }
    Tensor sum;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!tangents[i]) continue;
        std::vector<Tensor> replaced = inputs;
        replaced[i] = tangents[i];
        sum = add_up(sum, make_node(*node.operation, replaced, node.attributes, node.where));
    }
    return sum;
}

Tensor push_elementwise(const Tensor& result, std::span<const Tensor> tangents) {
    Partials partials(result);
    Tensor sum;
    for (std::size_t i = 0; i < tangents.size(); ++i) {
        if (tangents[i]) sum = add_up(sum, partials.times(i, astype(tangents[i], result.dtype())));
    }
    return sum ? full_size(sum, result) : sum;
}

std::vector<Tensor> pull_elementwise(const Tensor& result, const Tensor& cotangent, const std::vector<bool>& wanted) {
    Partials partials(result);
    std::vector<Tensor> cotangents(wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (!wanted[i]) continue;
        const Node& input = *result.node()->inputs[i];
        if (Tensor whole = partials.times(i, cotangent))
            cotangents[i] = in_type(sum_to(whole, input.shape), input.dtype);
    }
    return cotangents;
}

// An operation that states how a tangent goes through: that is linear in the tangent, so it is transposed as a graph.
std::vector<Tensor> pull_through_jvp(const Tensor& result, const Tensor& cotangent, const std::vector<bool>& wanted) {
    std::vector<Tensor> tangents(wanted.size()), placeholders;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const Node& node = *result.node()->inputs[i];
        if (!wanted[i]) continue;
        tangents[i] = input("tangent", node.shape, node.dtype);
        placeholders.push_back(tangents[i]);
    }
    Tensor outputs[] = {result.node()->operation->jvp(result, tangents)}, cotangents[] = {cotangent};
    std::vector<Tensor> found = pullback(outputs, cotangents, placeholders);
    std::vector<Tensor> all(wanted.size());
    for (std::size_t i = 0, k = 0; i < wanted.size(); ++i) {
        if (wanted[i]) all[i] = found[k++];
    }
    return all;
}

std::vector<Tensor> pull_composite(const Tensor& result, const Tensor& cotangent, const std::vector<bool>& wanted) {
    std::vector<Tensor> inputs = inputs_of(result), wrt, all(wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        bool first = std::none_of(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(i),
                                  [&](const Tensor& t) { return t.is(inputs[i]); });
        if (wanted[i] && first) wrt.push_back(inputs[i]);  // an input given twice gets its whole cotangent once
    }
    Tensor outputs[] = {expand(result)}, cotangents[] = {cotangent};
    std::vector<Tensor> found = pullback(outputs, cotangents, wrt);
    for (std::size_t k = 0; k < wrt.size(); ++k) {
        auto at = std::find_if(inputs.begin(), inputs.end(), [&](const Tensor& t) { return t.is(wrt[k]); });
        all[static_cast<std::size_t>(at - inputs.begin())] = found[k];
    }
    return all;
}

}  // namespace

void refuse_if_not_differentiable(const Node& node) {
    const Operation& operation = *node.operation;
    bool rule = operation.composite || !operation.partials.empty() || operation.transpose || operation.jvp;
    if (!operation.differentiable || !rule) {
        throw NotDifferentiable(text(
            operation.name, ": its derivative does not exist, or is not known; hold it constant with stop_gradient",
            place(node.where)));
    }
}

namespace {

// Whether the partials are the rule: of complex operands only where there is no other, which is the rule of what is not holomorphic.
bool by_partials(const Node& node) {
    const Operation& operation = *node.operation;
    if (operation.partials.empty()) return false;
    bool complex = std::any_of(node.inputs.begin(), node.inputs.end(), [](Node* x) { return is_complex(x->dtype); });
    return !complex || (!operation.transpose && !operation.jvp);
}

}  // namespace

Tensor push(const Tensor& result, std::span<const Tensor> tangents) {
    const Operation& operation = *result.node()->operation;
    if (&operation == &custom_operation) return push_custom(result, tangents);
    if (&operation == &loop_operation) return push_loop(result, tangents);
    if (&operation == &loop_result_operation) return push_loop_result(result, tangents[0]);
    if (&operation == &cond_operation) return push_cond(result, tangents);
    if (&operation == &cond_result_operation) return push_cond_result(result, tangents[0]);
    refuse_if_not_differentiable(*result.node());
    if (by_partials(*result.node())) return push_elementwise(result, tangents);
    if (operation.composite) {
        std::vector<Tensor> inputs = inputs_of(result), wrt, given;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            bool met = std::any_of(wrt.begin(), wrt.end(), [&](const Tensor& t) { return t.is(inputs[i]); });
            if (tangents[i] && !met) wrt.push_back(inputs[i]), given.push_back(tangents[i]);
        }
        Tensor outputs[] = {expand(result)};
        return pushforward(outputs, wrt, given)[0];
    }
    return operation.jvp ? operation.jvp(result, tangents) : push_linear(result, tangents);
}

std::vector<Tensor> pull(const Tensor& result, const Tensor& cotangent, const std::vector<bool>& wanted) {
    const Operation& operation = *result.node()->operation;
    if (&operation == &custom_operation) return pull_custom(result, cotangent, wanted);
    if (&operation == &loop_operation) return pull_loop(result, cotangent, wanted);
    if (&operation == &cond_operation) return pull_cond(result, cotangent, wanted);
    bool of_region = &operation == &loop_result_operation || &operation == &cond_result_operation;
    if (of_region) return {region_cotangent(result, cotangent)};
    refuse_if_not_differentiable(*result.node());
    if (by_partials(*result.node())) return pull_elementwise(result, cotangent, wanted);
    if (operation.composite) return pull_composite(result, cotangent, wanted);
    if (!operation.transpose) return pull_through_jvp(result, cotangent, wanted);
    if (&operation == &concatenate_operation) return parts_of_joined(result, cotangent, wanted);  // of all, at once
    std::vector<Tensor> cotangents(wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (wanted[i]) cotangents[i] = operation.transpose(result, i, cotangent);
    }
    return cotangents;
}

}  // namespace weft
