#include "weft/compile/wanted_orders.h"

#include <algorithm>

#include "weft/base/integers.h"
#include "weft/compile/dense_axes.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

constexpr std::int32_t nobody = -1, several = -2;

// Of each entry the only one that reads it.
std::vector<std::int32_t> only_readers(const Graph& graph) {
    std::vector<std::int32_t> readers(graph.entries.size(), nobody);
    for (std::int32_t e = 0; at(e) < readers.size(); ++e)
        for (std::int32_t input : graph.inputs(e)) {
            std::int32_t& reader = readers[at(input)];
            reader = reader == nobody || reader == e ? e : several;
        }
    for (std::int32_t output : graph.outputs) readers[at(output)] = several;
    return readers;
}

// Whether the reshape would copy what a permutation shows of dense memory, and would not if that lay in the permutation's order.
bool joins_permuted(const Graph& graph, std::int32_t reshape, std::int32_t permutation) {
    const Shape& from = graph.node(graph.inputs(permutation)[0]).shape;
    DenseAxes shown = viewed(dense_axes(from), from, graph.node(permutation));
    return !reshaped(shown, graph.node(permutation).shape, graph.node(reshape).shape);
}

// Whether an operand repeats its numbers along some axis, or may: of a matrix that is the same for a batch all rows are those of one product,
// whose sums are cut as its rows say, and that they are only where they lie evenly.
bool repeats(const Graph& graph, std::int32_t e) {
    while (!graph.entries[at(e)].leaf) {
        const Node& node = graph.node(e);
        if (node.operation == &broadcast_to_operation) return true;
        if (node.operation->family != Family::view) return false;
        e = graph.inputs(e)[0];
    }
    return graph.node(e).computed && !graph.node(e).value().contiguous();
}

bool may_lie_otherwise(const Graph& graph, std::int32_t e, const Axes& order) {
    const Node& node = graph.node(e);
    if (node.shape.empty() || node.shape.back() == Size(1)) return false;
    if (graph.entries[at(e)].leaf) return false;
    Family family = node.operation->family;
    bool computed =
        family == Family::elementwise || (family == Family::contraction && !repeats(graph, graph.inputs(e)[1]));
    bool innermost_stays = order.back() + 1 == static_cast<std::int64_t>(order.size());
    return computed && innermost_stays;
}

// Whether a reduction joins trailing axes but not those that vary slowest in this order, behind the first: short columns, and many.
bool joins_short_columns(const Node& node, const Shape& from, const Axes& order) {
    if (node.operation->family != Family::reduce) return false;
    const Axes& axes = node.attributes_as<ReduceAttributes>().axes;
    auto joined = [&](std::int64_t axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); };
    return joined(static_cast<std::int64_t>(from.size()) - 1) && !joined(order[1]) && !joined(order[0]);
}

// Whether this reader is worse off where what it reads lies in this order.
bool wants_rows(const Graph& graph, std::int32_t reader, const Shape& from, const Axes& order) {
    const Node& node = graph.node(reader);
    if (node.operation == &reshape_operation) return !reshaped(dense_axes(from, order), from, node.shape);
    return joins_short_columns(node, from, order);
}

}  // namespace

std::vector<bool> wanted_in_rows(const Graph& graph, const Axes& order) {
    std::vector<bool> wanted(graph.entries.size(), false);
    for (auto e = static_cast<std::int32_t>(wanted.size()); e-- > 0;) {
        if (graph.entries[at(e)].leaf) continue;
        Family family = graph.node(e).operation->family;
        bool passes = wanted[at(e)] && (family == Family::elementwise || family == Family::join);
        for (std::int32_t input : graph.inputs(e)) {
            const Shape& from = graph.node(input).shape;
            if (from.size() != order.size()) continue;
            if ((passes && (family == Family::join || from == graph.node(e).shape)) ||
                wants_rows(graph, e, from, order))
                wanted[at(input)] = true;
        }
    }
    return wanted;
}

std::map<std::int32_t, Axes> wanted_orders(const Graph& graph) {
    std::map<std::int32_t, Axes> wanted;
    std::vector<std::int32_t> only;
    for (std::int32_t e = 0; at(e) < graph.entries.size(); ++e) {
        if (graph.entries[at(e)].leaf || graph.node(e).operation != &reshape_operation) continue;
        std::int32_t permutation = graph.inputs(e)[0];
        if (graph.entries[at(permutation)].leaf || graph.node(permutation).operation != &permute_dims_operation)
            continue;
        if (only.empty()) only = only_readers(graph);
        std::int32_t turned = graph.inputs(permutation)[0];
        const Axes& order = graph.node(permutation).attributes_as<PermuteAttributes>().axes;
        if (only[at(turned)] != permutation || !may_lie_otherwise(graph, turned, order)) continue;
        if (joins_permuted(graph, e, permutation)) wanted.emplace(turned, order);
    }
    return wanted;
}

}  // namespace weft
