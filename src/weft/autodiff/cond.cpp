#include "weft/autodiff/cond.h"

#include <algorithm>

#include "weft/autodiff/between.h"
#include "weft/autodiff/cond_rules.h"
#include "weft/graph/made_nodes.h"

namespace weft {

template <>
void AttributesOf<CondAttributes>::key(KeyParts& parts) const {
    for (const auto& branch : value.branches) {
        parts.words.insert(parts.words.end(), branch->key.words.begin(), branch->key.words.end());
        parts.sizes.insert(parts.sizes.end(), branch->key.sizes.begin(), branch->key.sizes.end());
        parts.offsets.insert(parts.offsets.end(), branch->key.offsets.begin(), branch->key.offsets.end());
    }
}

template <>
void AttributesOf<CondAttributes>::print(std::ostream& out) const {
    out << "true=";
    weft::print(out, *value.branches[0]);
    out << ", false=";
    weft::print(out, *value.branches[1]);
}

template <>
AttributesHandle AttributesOf<CondAttributes>::substitute(const SizeLookup& lookup) const {
    CondAttributes copy;
    for (int b : {0, 1}) copy.branches[b] = weft::substitute(*value.branches[b], lookup);
    return std::make_shared<AttributesOf>(std::move(copy));
}

namespace {

Meta infer_cond(const Operation& operation, std::span<const Tensor> inputs, const Attributes* attributes) {
    const CondAttributes& a = static_cast<const AttributesOf<CondAttributes>&>(*attributes).value;
    for (const auto& branch : a.branches) {
        promise(inputs.size() == branch->inputs + 1, "a conditional has its regions' inputs");
        for (std::size_t i = 0; i < branch->inputs; ++i) {
            const Tensor &inside = branch->nodes[i], &given = inputs[i + 1];
            bool fits = given.dtype() == inside.dtype() && given.ndim() == inside.ndim();
            for (std::size_t axis = 0; fits && axis < given.ndim(); ++axis)
                fits = may_equal(inside.shape()[axis], given.shape()[axis]);
            if (!fits)
                throw ShapeError(text(operation.name, ": input ", i, " is ", given.dtype(), " ", given.shape(),
                                      ", but its branches were written for ", inside.dtype(), " ", inside.shape()));
        }
    }
    return {{}, DType::float32};
}

Meta infer_branch_result(const Operation&, std::span<const Tensor> inputs, const Attributes* attributes) {
    const LoopResultAttributes& result = static_cast<const AttributesOf<LoopResultAttributes>&>(*attributes).value;
    const CondAttributes& a = inputs[0].node()->attributes_as<CondAttributes>();
    const Tensor& inside = a.branches[0]->output(static_cast<std::size_t>(result.value));
    return {inside.shape(), inside.dtype()};
}

}  // namespace

const Operation cond_operation{.name = "cond",
                               .family = Family::region,
                               .arity = -1,
                               .doc = "One of two functions, chosen by a truth value; the other is not computed.",
                               .infer = infer_cond,
                               .batch = batch_cond};
const Operation cond_result_operation{.name = "cond_result",
                                      .family = Family::region,
                                      .arity = 1,
                                      .doc = "What the branch gives that is taken.",
                                      .infer = infer_branch_result,
                                      .batch = batch_cond_result};

Tensor make_cond(const CondParts& parts, const std::function<Tensor(const Tensor&)>& outside) {
    KeepPending keep;
    std::vector<Tensor> read, inputs{parts.predicate};
    for (std::span<const Tensor> outputs : parts.outputs)
        for (const Tensor& x : captured_by({}, outputs, parts.own))
            if (std::none_of(read.begin(), read.end(), [&](const Tensor& known) { return known.is(x); }))
                read.push_back(x), inputs.push_back(outside(x));
    CondAttributes a;
    for (int b : {0, 1}) {
        Frozen frozen = freeze(read, parts.outputs[b], parts.own);
        promise(frozen.captured.empty(), "both branches of a conditional read what is known");
        a.branches[b] = frozen.region;
    }
    return make_node(cond_operation, inputs, attributes(std::move(a)), parts.where);
}

Tensor cond_result(const Tensor& cond, std::size_t i) {
    LoopResultAttributes a{false, static_cast<std::int64_t>(i)};
    return make_node(cond_result_operation, {cond}, attributes(a), cond.node()->where);
}

CondTrace::CondTrace(const Tensor& predicate, std::vector<Tensor> arguments, std::source_location where)
    : predicate_(predicate), arguments_(std::move(arguments)), where_(where) {
    std::string given = text("cond: the predicate must be one truth value, bool (), but is ", predicate.dtype(), " ",
                             predicate.shape());
    if (predicate.dtype() != DType::bool_) throw DTypeError(text(given, "; write a comparison (x != 0)", place(where)));
    if (predicate.ndim() != 0)
        throw ShapeError(text(given,
                              "; join the truth values of many elements by all or any, or choose for each with "
                              "where(condition, a, b)",
                              place(where)));
    for (const Tensor& x : arguments_) placeholders_.push_back(input(branch_value_name, x.shape(), x.dtype(), where));
}

std::vector<Tensor> CondTrace::results(std::span<const Tensor> if_true, std::span<const Tensor> if_false,
                                       std::span<const Tensor> own, const std::vector<std::string>& names) const {
    if (if_true.size() != if_false.size())
        throw ValueError(text("cond: the branches must give as many results, but gave ", if_true.size(),
                              " where the predicate holds and ", if_false.size(), " where not", place(where_)));
    for (std::size_t i = 0; i < if_true.size(); ++i) {
        const Tensor &yes = if_true[i], &no = if_false[i];
        std::string name = i < names.size() ? names[i] : text("result ", i);
        std::string what = text("cond: ", name, " is ", yes.dtype(), " ", yes.shape(),
                                " where the predicate holds and ", no.dtype(), " ", no.shape(), " where not; ");
        if (yes.dtype() != no.dtype()) throw DTypeError(text(what, "convert one of them with astype", place(where_)));
        if (!(yes.shape() == no.shape()))
            throw ShapeError(text(what, "both branches give the same shapes", place(where_)));
    }
    auto given = [&](const Tensor& x) {
        auto at = std::find_if(placeholders_.begin(), placeholders_.end(), [&](const Tensor& y) { return y.is(x); });
        return at == placeholders_.end() ? x : arguments_[static_cast<std::size_t>(at - placeholders_.begin())];
    };
    Tensor made = make_cond({predicate_, {if_true, if_false}, own, where_}, given);
    std::vector<Tensor> results;
    for (std::size_t i = 0; i < if_true.size(); ++i) results.push_back(cond_result(made, i));
    return results;
}

std::vector<Tensor> cond(const Tensor& predicate, const Branch& if_true, const Branch& if_false,
                         std::vector<Tensor> arguments, std::source_location where) {
    MadeNodes made;
    CondTrace trace(predicate, std::move(arguments), where);
    std::vector<Tensor> yes = if_true(trace.arguments()), no = if_false(trace.arguments());
    std::vector<Tensor> own(made.nodes().begin(), made.nodes().end());
    return trace.results(yes, no, own);
}

}  // namespace weft
