#include "weft/compile/gathers.h"

#include "weft/base/integers.h"
#include "weft/compile/made.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"

namespace weft {
namespace {

// `input`: which of the reader's the gather is.
bool reads_point_by_point(const Node& reader, std::size_t input, const Node& gather) {
    Family family = reader.operation->family;
    return family == Family::reduce || family == Family::scan || (family == Family::scatter && input == 1) ||
           (family == Family::elementwise && reader.shape == gather.shape);
}

// Numbers written into the program have no memory that could be picked from, or say where; nor has what is made where it is read.
bool lies_in_memory(const Graph& graph, const std::vector<bool>& made, std::int32_t entry) {
    if (!in_memory(graph, entry)) return false;
    while (!graph.entries[at(entry)].leaf && graph.node(entry).operation->family == Family::view)
        entry = graph.inputs(entry)[0];
    return !made[at(entry)];
}

}  // namespace

std::vector<bool> joined_by_columns(const Graph& graph) {
    std::vector<bool> joined(graph.entries.size(), false);
    for (std::size_t e = graph.entries.size(); e-- > 0;) {
        if (graph.entries[e].leaf) continue;
        const Node& node = graph.node(static_cast<std::int32_t>(e));
        for (std::int32_t input : graph.inputs(static_cast<std::int32_t>(e))) {
            const Shape& shape = graph.node(input).shape;
            if (node.operation->family == Family::reduce) {
                const Axes& axes = node.attributes_as<ReduceAttributes>().axes;
                bool rows = !axes.empty() && axes[axes.size() - 1] + 1 == static_cast<std::int64_t>(shape.size());
                if (!rows) joined[at(input)] = true;
            } else if (node.operation->family == Family::elementwise && joined[e] && node.shape == shape) {
                joined[at(input)] = true;
            }
        }
    }
    return joined;
}

LoopGathers gathers_in_loops(const Graph& graph, const std::vector<bool>& made) {
    std::size_t count = graph.entries.size();
    std::vector<bool> by_columns = joined_by_columns(graph);
    LoopGathers found{std::vector<bool>(count, false), std::vector<bool>(count, false)};
    for (std::size_t e = 0; e < count; ++e) {
        auto entry = static_cast<std::int32_t>(e);
        if (graph.entries[e].leaf) continue;
        const Node& node = graph.node(entry);
        auto inputs = graph.inputs(entry);
        if (node.operation->family == Family::gather) {
            found.gathers[e] = !by_columns[e];
            for (std::int32_t input : inputs) found.gathers[e] = found.gathers[e] && lies_in_memory(graph, made, input);
        }
        found.indices[e] = node.operation == &astype_operation && node.dtype == DType::int64 &&
                           is_integer(graph.node(inputs[0]).dtype) && lies_in_memory(graph, made, inputs[0]);
    }
    for (std::int32_t output : graph.outputs) found.gathers[at(output)] = found.indices[at(output)] = false;
    for (std::size_t e = 0; e < count; ++e) {
        auto entry = static_cast<std::int32_t>(e);
        if (graph.entries[e].leaf) continue;
        auto inputs = graph.inputs(entry);
        for (std::size_t i = 0; i < inputs.size(); ++i)
            if (found.gathers[at(inputs[i])] && !reads_point_by_point(graph.node(entry), i, graph.node(inputs[i])))
                found.gathers[at(inputs[i])] = false;
    }
    for (std::size_t e = 0; e < count; ++e) {
        auto entry = static_cast<std::int32_t>(e);
        if (graph.entries[e].leaf) continue;
        auto inputs = graph.inputs(entry);
        for (std::size_t i = 0; i < inputs.size(); ++i)
            if (!found.gathers[e] || i == 0) found.indices[at(inputs[i])] = false;
    }
    return found;
}

}  // namespace weft
