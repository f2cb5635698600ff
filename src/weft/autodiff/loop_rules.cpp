#include "weft/autodiff/loop_rules.h"

#include "weft/autodiff/between.h"
#include "weft/autodiff/cond.h"
#include "weft/autodiff/derivative.h"
#include "weft/autodiff/vmap.h"
#include "weft/base/integers.h"
#include "weft/ops/creation.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

const LoopResultAttributes& result_of(const Tensor& result) {
    return result.node()->attributes_as<LoopResultAttributes>();
}

}  // namespace

std::function<Tensor(const Tensor&)> as_given(const Tensor& loop) {
    const LoopAttributes& a = loop_of(loop);
    std::vector<Tensor> from, to;
    for (std::size_t i = a.carried + a.sliced; i < a.step->inputs; ++i)
        from.push_back(a.step->nodes[i]), to.push_back(input_of(loop, i));
    return [from, to](const Tensor& inside) { return replaced({&inside, 1}, from, to)[0]; };
}

namespace {

Tensor placeholder(const Shape& shape, DType dtype, const Tensor& of) {
    return input(step_value_name, shape, dtype, of.node()->where);
}

/// The same loop, which knows what stands for the nodes of the one that it was made of.
Tensor with_images(const Tensor& loop, std::vector<std::int32_t> images) {
    LoopAttributes a = loop_of(loop);
    a.images = std::move(images);
    std::vector<Tensor> inputs;
    for (Node* input : loop.node()->inputs) inputs.push_back(handle(input));
    return make_node(loop_operation, inputs, attributes(std::move(a)), loop.node()->where);
}

}  // namespace

bool is_loop(const Node& node) { return node.operation == &loop_operation; }
bool has_results(const Node& node) { return is_loop(node) || node.operation == &cond_operation; }

Tensor push_loop(const Tensor& loop, std::span<const Tensor> tangents) {
    const LoopAttributes& a = loop_of(loop);
    const std::vector<Tensor>& nodes = a.step->nodes;
    std::vector<Tensor> carry(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(a.carried)), x, init, xs, wrt,
        moves;
    for (std::size_t i = 0; i < a.carried; ++i) init.push_back(input_of(loop, i));
    for (std::size_t i = 0; i < a.sliced; ++i)
        x.push_back(nodes[a.carried + i]), xs.push_back(input_of(loop, a.carried + i));
    for (std::size_t i = 0; i < a.step->inputs; ++i) {
        if (!is_inexact(nodes[i].dtype())) continue;
        Tensor given = tangents[i], move = placeholder(nodes[i].shape(), nodes[i].dtype(), loop);
        if (i < a.carried) {
            carry.push_back(move), init.push_back(given ? given : zeros_like(input_of(loop, i)));
        } else if (!given) {
            continue;
        } else if (i < a.carried + a.sliced) {
            x.push_back(move), xs.push_back(given);
        } else {
            move = given;  // the same in each step
        }
        wrt.push_back(nodes[i]), moves.push_back(move);
    }
    // Of every value of the step, since any may be asked for; what is not is not computed.
    std::vector<Tensor> moving, next;
    std::vector<std::int32_t> numbers;
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (is_inexact(nodes[i].dtype())) moving.push_back(nodes[i]), numbers.push_back(static_cast<std::int32_t>(i));
    std::vector<Tensor> pushed = pushforward(moving, wrt, moves);
    std::vector<Tensor> of_node(nodes.size());
    for (std::size_t i = 0; i < pushed.size(); ++i) of_node[at(numbers[i])] = pushed[i];
    for (std::size_t i = 0; i < a.carried; ++i) next.push_back(a.step->output(i));
    for (std::size_t i = 0; i < a.carried; ++i)
        if (is_inexact(nodes[i].dtype())) next.push_back(of_node[at(a.step->outputs[i])]);
    MadeLoop made = make_loop({carry, x, next, pushed, init, xs, a.length, a.reverse, loop.node()->where, a.condition},
                              as_given(loop));
    std::vector<std::int32_t> images(nodes.size(), -1);
    for (std::size_t i = 0; i < numbers.size(); ++i) images[at(numbers[i])] = made.values[i];
    return with_images(made.loop, std::move(images));
}

Tensor push_loop_result(const Tensor& result, const Tensor& tangents) {
    const LoopResultAttributes& r = result_of(result);
    const LoopAttributes& a = loop_of(input_of(result));
    auto value = static_cast<std::size_t>(r.value);
    if (r.collected && value >= a.carried) return loop_values(tangents, loop_of(tangents).images[value]);
    std::size_t behind = a.carried;  // tangents stand behind the values, in their order
    for (std::size_t i = 0; i < value; ++i) behind += is_inexact(a.step->nodes[i].dtype());
    return r.collected ? loop_trail(tangents, behind) : loop_last(tangents, behind);
}

namespace {

// Which inputs of a loop's region differ between examples. What is carried does if it does before the first step, or comes to; all of it
// does where some examples are done sooner than others.
std::vector<bool> differing_inputs(const LoopAttributes& a, const Batch& batch) {
    std::vector<bool> differs(a.step->nodes.size(), false);
    for (std::size_t i = 0; i < a.step->inputs; ++i) differs[i] = batch.batched[i];
    for (bool grows = true; grows;) {
        std::vector<bool> all = depends_on(*a.step, differs);
        grows = false;
        for (std::size_t i = 0; i < a.carried; ++i) {
            if (differs[i] || !(all[at(a.step->outputs[i])] || (a.condition && differs[*a.condition]))) continue;
            differs[i] = grows = true;
        }
    }
    return differs;
}

/// What a loop carries before its first step, in a step and after it.
struct Carried {
    std::vector<Tensor> init, now, next;
};

// Examples of a loop whose condition differs between them: it runs as long as any example goes on, which it carries too; those that are done
// keep their values. Gives the number of the new condition.
std::size_t go_on_together(Carried& carried, std::size_t condition) {
    Tensor goes_on = carried.now[condition];
    for (std::size_t i = 0; i < carried.now.size(); ++i) {
        Shape shape = goes_on.shape();
        shape.resize(carried.now[i].ndim(), 1);
        carried.next[i] = where(reshape(goes_on, shape), carried.next[i], carried.now[i]);
    }
    carried.init.push_back(any(carried.init[condition])), carried.next.push_back(any(carried.next[condition]));
    carried.now.push_back(placeholder({}, DType::bool_, goes_on));
    return carried.now.size() - 1;
}

}  // namespace

Tensor batch_loop(const Tensor& loop, const Batch& batch) {
    const LoopAttributes& a = loop_of(loop);
    const std::vector<Tensor>& nodes = a.step->nodes;
    std::vector<bool> differs = differing_inputs(a, batch), all = depends_on(*a.step, differs);
    // Where placeholders differ, others of all examples stand for them; of what is the same in each step the value itself does.
    std::vector<Tensor> given, from, x, xs;
    Carried carried;
    auto one = [&](std::size_t i) {
        if (!differs[i]) return nodes[i];
        Tensor wide = placeholder(batch.shape(nodes[i].shape()), nodes[i].dtype(), loop);
        from.push_back(nodes[i]), given.push_back(wide);
        return wide;
    };
    for (std::size_t i = 0; i < a.carried; ++i)
        carried.now.push_back(one(i)), carried.init.push_back(differs[i] ? batch.all(i) : batch.inputs[i]);
    for (std::size_t i = a.carried; i < a.carried + a.sliced; ++i)
        x.push_back(one(i)), xs.push_back(differs[i] ? moveaxis(batch.inputs[i], 1, 0) : batch.inputs[i]);
    for (std::size_t i = a.carried + a.sliced; i < a.step->inputs; ++i)
        if (differs[i]) from.push_back(nodes[i]), given.push_back(batch.inputs[i]);
    std::vector<ExampleAxis> front(given.size(), 0), axes;
    Vmap map(given, front);
    for (std::size_t i = 0; i < nodes.size(); ++i) axes.push_back(all[i] ? ExampleAxis(0) : ExampleAxis());
    std::vector<Tensor> wide = map.results(replaced(nodes, from, map.examples()), axes);
    for (std::size_t i = 0; i < a.carried; ++i) {
        std::size_t n = at(a.step->outputs[i]);
        bool spread = differs[i] && !all[n];
        carried.next.push_back(spread ? broadcast_to(wide[n], batch.shape(nodes[n].shape())) : wide[n]);
    }
    std::optional<std::size_t> condition = a.condition;
    if (condition && differs[*condition]) condition = go_on_together(carried, *condition);
    MadeLoop made = make_loop(
        {carried.now, x, carried.next, wide, carried.init, xs, a.length, a.reverse, loop.node()->where, condition},
        as_given(loop));
    return with_images(made.loop, std::move(made.values));
}

Tensor batch_loop_result(const Tensor& result, const Batch& batch) {
    const LoopResultAttributes& r = result_of(result);
    const Tensor& loop = batch.inputs[0];
    auto value = static_cast<std::size_t>(r.value);
    Tensor wide = !r.collected                    ? loop_last(loop, value)
                  : value < loop_of(loop).carried ? loop_trail(loop, value)
                                                  : loop_values(loop, loop_of(loop).images[value]);
    bool differs = wide.ndim() > result.ndim();
    if (!differs) return broadcast_to(wide, batch.shape(result.shape()));
    return r.collected ? moveaxis(wide, 1, 0) : wide;
}

}  // namespace weft
