// Loops of which less is asked for than they do: steps behind the last one that anybody reads are left out, a trail of which the last row is read is not
// kept, and a loop of one step is its step.
#include "weft/autodiff/loop_steps.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/view.h"
#include "weft/rewrite/number.h"
#include "weft/rewrite/rules/rules.h"

namespace weft {
namespace {

const LoopAttributes& loop_of(const Node& result) { return result.inputs[0]->attributes_as<LoopAttributes>(); }
const LoopResultAttributes& result_of(const Node& result) { return result.attributes_as<LoopResultAttributes>(); }

// A result of steps that are counted, of all of them.
bool of_all_steps(const Node& node) {
    return is(node, loop_result_operation) && result_of(node).collected && loop_of(node).length.known();
}

// The rows that a slice shows, from the first to the last; nothing where it shows none, or that is not known.
std::optional<Rows> rows_of(const Node& slice) {
    const SliceAttributes& a = slice.attributes_as<SliceAttributes>();
    Size start = a.start[0].value, count = a.length[0];
    if (!start.known() || !count.known() || count == Size(0)) return {};
    return Rows{start.value(), start.value() + (count.value() - 1) * a.step[0] + 1};
}

// How many steps make what is read of a loop: of each of its results slices alone. Nothing: all, as far as is known.
std::optional<std::int64_t> steps_read(const Site& site, const Node& loop) {
    auto results = site.readers(loop);
    if (!results) return {};
    std::int64_t steps = 0;
    for (const Node* result : *results) {
        auto slices = of_all_steps(*result) ? site.readers(*result) : std::nullopt;
        if (!slices) return {};
        for (const Node* slice : *slices) {
            std::optional<Rows> rows;
            if (is(*slice, slice_operation)) rows = rows_of(*slice);
            if (!rows) return {};
            steps = std::max(steps, steps_of_rows(loop_of(*result), result_of(*result), *rows));
        }
    }
    return steps;
}

// ys[:m] of a loop, where of nothing that it gives more is read -> ys of its first m steps; backwards its last m slices.
Tensor fewer_steps(const Site& site) {
    const Node& result = *site.node.inputs[0];
    if (!of_all_steps(result)) return {};
    const LoopAttributes& a = loop_of(result);
    std::optional<std::int64_t> steps = steps_read(site, *result.inputs[0]);
    if (!steps || *steps >= a.length.value()) return {};
    Tensor loop = first_steps(in(result), *steps);
    const SliceAttributes& rows = site.node.attributes_as<SliceAttributes>();
    Shape start = starts_of(rows);
    start[0] = start[0] - first_row(a, *steps);
    Tensor fewer = make_node(loop_result_operation, {loop}, result.attributes, result.where);
    return slice(fewer, start, rows.length, rows.step);
}

// The last row of a trail -> what is carried after the last step.
Tensor last_of_trail(const Site& site) {
    const Node& trail = *site.node.inputs[0];
    if (!of_all_steps(trail) || !site.only_here(trail)) return {};
    const LoopAttributes& a = loop_of(trail);
    auto value = static_cast<std::size_t>(result_of(trail).value);
    Size last = a.reverse ? Size(0) : a.length;
    const SliceAttributes& rows = site.node.attributes_as<SliceAttributes>();
    if (value >= a.carried || !(rows.length[0] == Size(1)) || !(rows.start[0].value == last)) return {};
    Shape start = starts_of(rows);
    start[0] = 0;
    return slice(expand_dims(loop_last(in(trail), value), 0), start, rows.length, rows.step);
}

Tensor one_step(const Site& site) {
    const LoopAttributes& a = loop_of(site.node);
    return a.length == Size(1) && !a.condition ? of_one_step(handle(const_cast<Node*>(&site.node))) : Tensor();
}

using T = const Tensor&;

// h' = tanh(h + x), of all steps and after the last.
Scanned states(T h, T x, bool reverse) {
    auto step = [](std::span<const Tensor> c, std::span<const Tensor> now) -> ScanStep {
        Tensor next = tanh(c[0] + now[0]);
        return {{next}, {next * now[0]}};
    };
    return scan(step, {h}, {x}, {.reverse = reverse});
}

}  // namespace

void add_loop_rules(RuleList& rules) {
    auto with = [](auto f, std::vector<Shape> shapes) { return example_of_floats(f, std::move(shapes)); };
    auto add = [&](std::string name, const Operation& root, auto apply, std::vector<Example> examples) {
        Needs needs{.operations = {{&loop_operation}}};
        rules.push_back(rule_at(std::move(name), Phase::special, {&root}, apply,
                                {.examples = std::move(examples), .needs = needs, .frees = true}));
    };
    // clang-format off
    add("fewer_steps", slice_operation, fewer_steps, {
        with([](T h, T x) { return slice(states(h, x, true).ys[0], {4, 0}, {2, 3}); }, {{3}, {6, 3}}), with([](T h, T x) { return slice(states(h, x, false).ys[0], {1, 0}, {2, 3}); }, {{3}, {6, 3}})});
    add("last_of_trail", slice_operation, last_of_trail, {
        with([](T h, T x) { return slice(loop_trail(in(*states(h, x, true).carry[0].node()), 0), {0, 0}, {1, 3}); }, {{3}, {6, 3}}), with([](T h, T x) { return slice(loop_trail(in(*states(h, x, false).carry[0].node()), 0), {6, 1}, {1, 2}); }, {{3}, {6, 3}})});
    add("one_step", loop_result_operation, one_step, {
        with([](T h, T x) { return states(h, x, false).ys[0]; }, {{3}, {1, 3}}), with([](T h, T x) { return states(h, x, true).carry[0]; }, {{3}, {1, 3}})});
    // clang-format on
}

}  // namespace weft
