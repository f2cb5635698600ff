#include "weft/compile/parted_cuts.h"

#include <algorithm>

#include "weft/base/integers.h"
#include "weft/ops/join.h"

namespace weft {
namespace {

using Cuts = std::vector<std::vector<std::int64_t>>;
constexpr std::size_t most_parts = 32;  // of a map: each is a kernel

void add_cuts(const Graph& graph, std::int32_t join, Cuts& cuts) {
    const Node& node = graph.node(join);
    if (node.operation == &concatenate_operation) {
        auto axis = static_cast<std::size_t>(node.attributes_as<ConcatenateAttributes>().axis);
        std::int64_t end = 0;
        for (std::int32_t input : graph.inputs(join))
            cuts[axis].push_back(end += graph.node(input).shape[axis].value());
        return;
    }
    const PadAttributes& a = node.attributes_as<PadAttributes>();
    const Shape& from = graph.node(graph.inputs(join)[0]).shape;
    for (std::size_t axis = 0; axis < cuts.size(); ++axis) {
        std::int64_t start = a.before[axis].value.value();
        cuts[axis].push_back(start), cuts[axis].push_back(start + from[axis].value());
    }
}

bool lies_between(const Graph& graph, std::int32_t join, const Cuts& cuts) {
    Cuts own(cuts.size());
    add_cuts(graph, join, own);
    for (std::size_t axis = 0; axis < own.size(); ++axis)
        for (std::int64_t cut : own[axis])
            if (!std::binary_search(cuts[axis].begin(), cuts[axis].end(), cut)) return false;
    return true;
}

/// All that the joins want along the first `axes` axes.
Cuts cuts_along(const Graph& graph, const Shape& shape, const std::vector<JoinRead>& joins, std::size_t axes) {
    Cuts cuts(shape.size());
    for (const JoinRead& read : joins) add_cuts(graph, read.join, cuts);
    for (std::size_t axis = 0; axis < cuts.size(); ++axis) {
        std::vector<std::int64_t>& along = cuts[axis];
        std::int64_t size = shape[axis].value();
        if (axis >= axes) along.clear();
        along.push_back(0), along.push_back(size);
        std::sort(along.begin(), along.end());
        along.erase(std::unique(along.begin(), along.end()), along.end());
    }
    return cuts;
}

std::size_t count_of_parts(const Cuts& cuts) {
    std::size_t parts = 1;
    for (const auto& along : cuts) parts *= along.size() - 1;
    return parts;
}

/// What of a pad nobody cuts is computed by the map itself.
bool whole_inside(const Graph& graph, std::int32_t pad, const Cuts& cuts) {
    Cuts own(cuts.size());
    add_cuts(graph, pad, own);
    for (std::size_t axis = 0; axis < cuts.size(); ++axis)
        for (std::int64_t cut : cuts[axis])
            if (cut > own[axis][0] && cut < own[axis][1]) return false;
    return true;
}

// Nanoseconds, as measured on a Zen 4 that copies within its second-level cache. What lies in rows that are cut begins anew in each part of each
// row, to copy it as to compute it.
double copy_of(const Graph& graph, const JoinRead& read, const Cuts& cuts) {
    constexpr double call = 45, filled = 40, near_byte = 0.014, byte = 0.027, passed_byte = 0.025, begin_of_row = 2;
    constexpr double near = 8192;
    const Node& node = graph.node(read.join);
    Dims dims = dims_of(node.shape);
    double elements = static_cast<double>(element_count(dims)),
           bytes = elements * static_cast<double>(size_of(node.dtype));
    if (!read.copies) return filled + (whole_inside(graph, read.join, cuts) ? passed_byte * bytes : 0);
    Cuts own(dims.size());
    add_cuts(graph, read.join, own);
    double in_row = static_cast<double>(own.back().size());
    double rows = elements / static_cast<double>(std::max<std::int64_t>(dims.back(), 1));
    return call + (bytes <= near ? near_byte : byte) * bytes + (in_row > 1 ? begin_of_row * rows * in_row : 0);
}
double parts_of(const Shape& shape, std::size_t loads, std::int64_t instructions, const Cuts& cuts) {
    constexpr double call = 35, load = 5, row = 0.75, vector = 0.35;
    auto in_row = static_cast<double>(cuts.back().size() - 1);
    Dims dims = dims_of(shape);
    double rows =
        static_cast<double>(element_count(dims)) / static_cast<double>(std::max<std::int64_t>(dims.back(), 1));
    double cost = (call + load * static_cast<double>(loads)) * static_cast<double>(count_of_parts(cuts) - 1);
    double of_row = row + vector * static_cast<double>(loads + static_cast<std::size_t>(instructions));
    return in_row > 1 ? cost + of_row * rows * in_row : cost;
}

}  // namespace

ChosenCuts chosen_cuts(const Graph& graph, const Shape& shape, const std::vector<JoinRead>& joins,
                       std::int64_t instructions) {
    constexpr double sure = 1.25;  // what is not known: other steps in the way of a copy, how far memory is
    ChosenCuts best;
    double most = 0;
    for (std::size_t axes = shape.size(); axes > 0; --axes) {
        Cuts cuts = cuts_along(graph, shape, joins, axes);
        if (count_of_parts(cuts) > most_parts) continue;
        std::vector<bool> dissolved;
        double saved = 0;
        std::size_t loads = 1;
        for (const JoinRead& read : joins) {
            dissolved.push_back(lies_between(graph, read.join, cuts));
            if (dissolved.back()) saved += copy_of(graph, read, cuts), ++loads;
        }
        double cost = parts_of(shape, loads, instructions, cuts);
        if (saved > sure * cost && saved - cost > most)
            most = saved - cost, best = {std::move(cuts), std::move(dissolved)};
    }
    return best;
}

}  // namespace weft
