#include "weft/autodiff/loop.h"

#include "weft/autodiff/hoist.h"
#include "weft/autodiff/loop_rules.h"
#include "weft/base/integers.h"
#include "weft/ops/view.h"

namespace weft {

template <>
void AttributesOf<LoopAttributes>::key(KeyParts& parts) const {
    const KeyParts& of_step = value.step->key;
    parts.words.insert(parts.words.end(), of_step.words.begin(), of_step.words.end());
    parts.sizes.insert(parts.sizes.end(), of_step.sizes.begin(), of_step.sizes.end());
    parts.offsets.insert(parts.offsets.end(), of_step.offsets.begin(), of_step.offsets.end());
    for (std::size_t word : {value.carried, value.sliced, std::size_t{value.reverse}}) parts.words.push_back(word);
    parts.words.push_back(value.condition ? *value.condition + 1 : 0);
    parts.sizes.push_back(value.length);
}

template <>
void AttributesOf<LoopAttributes>::print(std::ostream& out) const {
    if (value.condition)
        out << "while=%" << *value.condition << ", step=";
    else
        out << "length=" << value.length << ", reverse=" << (value.reverse ? "True" : "False") << ", step=";
    weft::print(out, *value.step);
}

template <>
AttributesHandle AttributesOf<LoopAttributes>::substitute(const SizeLookup& lookup) const {
    LoopAttributes copy = value;
    copy.step = weft::substitute(*value.step, lookup);
    copy.length = value.length.substitute(lookup);
    return std::make_shared<AttributesOf>(std::move(copy));
}

namespace {

Shape with_steps(Size length, const Shape& shape) {
    Shape all = shape;
    all.insert(0, length);
    return all;
}

Meta infer_loop(const Operation& operation, std::span<const Tensor> inputs, const Attributes* attributes) {
    const LoopAttributes& a = static_cast<const AttributesOf<LoopAttributes>&>(*attributes).value;
    promise(inputs.size() == a.step->inputs && a.carried + a.sliced <= inputs.size(), "a loop has its region's inputs");
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const Tensor& inside = a.step->nodes[i];
        bool slices = i >= a.carried && i < a.carried + a.sliced;
        Shape wanted = slices ? with_steps(a.length, inside.shape()) : inside.shape();
        bool fits = inputs[i].dtype() == inside.dtype() && wanted.size() == inputs[i].ndim();
        for (std::size_t axis = 0; fits && axis < wanted.size(); ++axis)
            fits = may_equal(wanted[axis], inputs[i].shape()[axis]);
        if (!fits)
            throw ShapeError(text(operation.name, ": input ", i, " is ", inputs[i].dtype(), " ", inputs[i].shape(),
                                  ", but its step was written for ", inside.dtype(), " ", wanted));
    }
    return {{}, DType::float32};
}

Meta infer_result(const Operation&, std::span<const Tensor> inputs, const Attributes* attributes) {
    const LoopResultAttributes& result = static_cast<const AttributesOf<LoopResultAttributes>&>(*attributes).value;
    const LoopAttributes& a = inputs[0].node()->attributes_as<LoopAttributes>();
    const Tensor& inside = a.step->nodes[static_cast<std::size_t>(result.value)];
    promise(!result.collected || !a.condition, "of steps that nobody counts none are collected");
    bool trail = static_cast<std::size_t>(result.value) < a.carried;
    return {result.collected ? with_steps(trail ? a.length + 1 : a.length, inside.shape()) : inside.shape(),
            inside.dtype()};
}

}  // namespace

const Operation loop_operation{.name = "loop",
                               .family = Family::region,
                               .arity = -1,
                               .doc = "A step's expressions, run again and again with what they carry.",
                               .infer = infer_loop,
                               .batch = batch_loop};
const Operation loop_result_operation{.name = "loop_result",
                                      .family = Family::region,
                                      .arity = 1,
                                      .doc = "What a loop carries after its last step, or a value of all its steps.",
                                      .infer = infer_result,
                                      .batch = batch_loop_result};

MadeLoop make_loop(const LoopParts& parts, const std::function<Tensor(const Tensor&)>& outside) {
    KeepPending keep;
    std::vector<Tensor> placeholders(parts.carry.begin(), parts.carry.end()),
        outputs(parts.next.begin(), parts.next.end());
    placeholders.insert(placeholders.end(), parts.x.begin(), parts.x.end());
    outputs.insert(outputs.end(), parts.values.begin(), parts.values.end());
    Frozen frozen = freeze(placeholders, outputs);
    std::vector<Tensor> inputs(parts.init.begin(), parts.init.end());
    inputs.insert(inputs.end(), parts.xs.begin(), parts.xs.end());
    for (const Tensor& captured : frozen.captured) inputs.push_back(outside ? outside(captured) : captured);
    MadeLoop made;
    auto first = frozen.region->outputs.begin() + static_cast<std::ptrdiff_t>(parts.next.size());
    made.values.assign(first, frozen.region->outputs.end());
    LoopAttributes a{frozen.region, parts.carry.size(), parts.x.size(), parts.length, parts.reverse, parts.condition};
    made.loop = make_node(loop_operation, inputs, attributes(std::move(a)), parts.where);
    return made;
}

Tensor loop_last(const Tensor& loop, std::size_t i) {
    LoopResultAttributes a{false, static_cast<std::int64_t>(i)};
    return make_node(loop_result_operation, {loop}, attributes(a), loop.node()->where);
}

Tensor loop_trail(const Tensor& loop, std::size_t i) {
    LoopResultAttributes a{true, static_cast<std::int64_t>(i)};
    return make_node(loop_result_operation, {loop}, attributes(a), loop.node()->where);
}

Tensor loop_values(const Tensor& loop, std::int32_t node) {
    const LoopAttributes& a = loop.node()->attributes_as<LoopAttributes>();
    // Slices of what is read slice by slice are known already; what is carried, before each step and after it, is one array.
    if (at(node) >= a.carried && at(node) < a.carried + a.sliced) return handle(loop.node()->inputs[at(node)]);
    auto of_trail = [&](std::size_t carried, bool after) {
        Tensor trail = loop_trail(loop, carried);
        Shape start(trail.ndim(), 0), length = trail.shape();
        start[0] = after != a.reverse ? 1 : 0, length[0] = a.length;
        return slice(trail, start, length);
    };
    if (at(node) < a.carried) return of_trail(at(node), false);
    for (std::size_t i = 0; i < a.carried; ++i)
        if (a.step->outputs[i] == node) return of_trail(i, true);
    return make_node(loop_result_operation, {loop}, attributes(LoopResultAttributes{true, node}), loop.node()->where);
}

void refuse_change(std::string_view function, const std::string& name, const Tensor& before, const Tensor& after,
                   const std::source_location& where) {
    std::string what = text(function, ": ", name, " is ", before.dtype(), " ", before.shape(), " before a step and ",
                            after.dtype(), " ", after.shape(), " after it; ");
    if (after.dtype() != before.dtype())
        throw DTypeError(text(what, "give init the type that it becomes, or convert it with astype", place(where)));
    if (!(after.shape() == before.shape()))
        throw ShapeError(text(what, "what is carried keeps its shape", place(where)));
}

std::string LoopTrace::init_name(std::size_t i) const {
    return i < options_.init_names.size() ? options_.init_names[i] : text("carried value ", i);
}
std::string LoopTrace::xs_name(std::size_t i) const {
    return i < options_.xs_names.size() ? options_.xs_names[i] : text("xs ", i);
}

LoopTrace::LoopTrace(std::vector<Tensor> init, std::vector<Tensor> xs, const LoopOptions& options,
                     std::source_location where)
    : init_(std::move(init)), xs_(std::move(xs)), options_(options), where_(where) {
    if (xs_.empty() && !options_.length)
        throw ValueError(text("scan: without xs, length says how many steps there are", place(where)));
    if (options_.length && options_.length->known() && options_.length->value() < 0)
        throw ValueError(text("scan: length is ", *options_.length, "; it must be at least 0", place(where)));
    if (options_.length) length_ = *options_.length;
    for (std::size_t i = 0; i < xs_.size(); ++i) {
        const Shape& shape = xs_[i].shape();
        if (shape.empty())
            throw ShapeError(text("scan: ", xs_name(i),
                                  " has no axis to go along; what is the same in every step is simply used by "
                                  "the function",
                                  place(where)));
        if (i == 0 && !options_.length) length_ = shape[0];
        if (!may_equal(shape[0], length_)) {
            std::string steps = options_.length ? " steps (length)" : " of " + xs_name(0);
            throw ShapeError(text("scan: ", xs_name(i), " of shape ", shape, " has ", shape[0],
                                  " slices, but there are ", length_, steps, place(where)));
        }
        x_.push_back(input(step_value_name, Shape(shape.begin() + 1, shape.end()), xs_[i].dtype(), where));
    }
    for (const Tensor& begin : init_) carry_.push_back(input(step_value_name, begin.shape(), begin.dtype(), where));
}

Scanned LoopTrace::results(std::span<const Tensor> next, std::span<const Tensor> y) const {
    if (next.size() != carry_.size())
        throw ValueError(text("scan: the function gave ", next.size(), " carried values, but was given ", carry_.size(),
                              place(where_)));
    for (std::size_t i = 0; i < next.size(); ++i) refuse_change("scan", init_name(i), carry_[i], next[i], where_);
    KeepPending keep;
    StepExpressions step{carry_, x_, xs_, {next.begin(), next.end()}, {y.begin(), y.end()}, length_};
    hoist_products(step);
    SunkProducts behind(step);
    std::vector<Tensor> values = behind.reads();
    for (std::size_t i = 0; i < step.y.size(); ++i)
        if (!behind.holds(i)) values.push_back(step.y[i]);
    MadeLoop made = make_loop({carry_, step.x, step.next, values, init_, step.xs, length_, options_.reverse, where_});
    Scanned scanned;
    for (std::size_t i = 0; i < next.size(); ++i) scanned.carry.push_back(loop_last(made.loop, i));
    std::vector<Tensor> collected, sunk;
    for (std::int32_t value : made.values) collected.push_back(loop_values(made.loop, value));
    std::size_t reads = behind.reads().size(), next_collected = reads, next_sunk = 0;
    if (reads > 0) sunk = behind.results({collected.data(), reads});
    for (std::size_t i = 0; i < step.y.size(); ++i)
        scanned.ys.push_back(behind.holds(i) ? sunk[next_sunk++] : collected[next_collected++]);
    return scanned;
}

Scanned scan(const std::function<ScanStep(std::span<const Tensor> carry, std::span<const Tensor> x)>& f,
             std::vector<Tensor> init, std::vector<Tensor> xs, const LoopOptions& options, std::source_location where) {
    KeepPending keep;
    LoopTrace trace(std::move(init), std::move(xs), options, where);
    ScanStep step = f(trace.carry(), trace.x());
    return trace.results(step.carry, step.y);
}

}  // namespace weft
