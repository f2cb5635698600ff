#include "weft/compile/parted_cuts.h"

#include <algorithm>

#include "weft/base/integers.h"
#include "weft/compile/plan.h"
#include "weft/ops/join.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

using Cuts = std::vector<std::vector<std::int64_t>>;
constexpr std::size_t most_parts = 32;  // of a map: each is a kernel

/// What is seen of an array: from `low` to `high`, moved by `shift`.
struct Window {
    Dims low, high, shift;
};

// Between pieces, and between those of concatenations that pieces are slices of.
void add_cuts_of(const Graph& graph, std::int32_t join, const Window& seen, int depth, Cuts& cuts) {
    auto axis = static_cast<std::size_t>(graph.node(join).attributes_as<ConcatenateAttributes>().axis);
    std::int64_t start = 0;
    for (std::int32_t piece : graph.inputs(join)) {
        std::int64_t size = graph.node(piece).shape[axis].value();
        Window part = seen;
        part.low[axis] = std::max(seen.low[axis], start + seen.shift[axis]);
        part.high[axis] = std::min(seen.high[axis], start + size + seen.shift[axis]);
        if (part.low[axis] < part.high[axis]) {
            if (part.low[axis] > seen.low[axis]) cuts[axis].push_back(part.low[axis]);
            std::int32_t below = depth > 0 ? concatenation_below(graph, piece) : -1;
            if (below >= 0) {
                const Offsets& from = graph.node(piece).attributes_as<SliceAttributes>().start;
                part.shift[axis] += start;
                for (std::size_t i = 0; i < from.size(); ++i) part.shift[i] -= from[i].value.value();
                add_cuts_of(graph, below, part, depth - 1, cuts);
            }
        }
        start += size;
    }
}

void add_cuts(const Graph& graph, std::int32_t join, int deep, Cuts& cuts) {
    const Node& node = graph.node(join);
    if (node.operation == &concatenate_operation) {
        return add_cuts_of(graph, join, {Dims(cuts.size(), 0), dims_of(node.shape), Dims(cuts.size(), 0)}, deep, cuts);
    }
    const PadAttributes& a = node.attributes_as<PadAttributes>();
    const Shape& from = graph.node(graph.inputs(join)[0]).shape;
    for (std::size_t axis = 0; axis < cuts.size(); ++axis) {
        std::int64_t start = a.before[axis].value.value();
        cuts[axis].push_back(start), cuts[axis].push_back(start + from[axis].value());
    }
}

bool lies_between(const Graph& graph, std::int32_t join, int deep, const Cuts& cuts) {
    Cuts own(cuts.size());
    add_cuts(graph, join, deep, own);
    for (std::size_t axis = 0; axis < own.size(); ++axis)
        for (std::int64_t cut : own[axis])
            if (!std::binary_search(cuts[axis].begin(), cuts[axis].end(), cut)) return false;
    return true;
}

/// All that the joins want along the first `axes` axes.
Cuts cuts_along(const Graph& graph, const Shape& shape, const std::vector<JoinRead>& joins, std::size_t axes,
                int deep) {
    Cuts cuts(shape.size());
    for (const JoinRead& read : joins) add_cuts(graph, read.join, deep, cuts);
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
    add_cuts(graph, pad, 0, own);
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
    add_cuts(graph, read.join, 0, own);
    auto in_row = static_cast<double>(own.back().size() + (node.operation == &concatenate_operation));
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

std::int32_t concatenation_below(const Graph& graph, std::int32_t piece) {
    const Node& node = graph.node(piece);
    if (node.operation != &slice_operation) return -1;
    std::int32_t below = graph.inputs(piece)[0];
    const SliceAttributes& a = node.attributes_as<SliceAttributes>();
    bool plain = std::all_of(a.step.begin(), a.step.end(), [](std::int64_t step) { return step == 1; }) &&
                 std::all_of(a.start.begin(), a.start.end(), [](Offset start) { return start.value.known(); });
    bool leaf = graph.entries[at(below)].leaf;
    if (!plain || leaf || graph.node(below).operation != &concatenate_operation) return -1;
    auto sized = [&](std::int32_t input) { return known(graph.node(input).shape); };
    std::span<const std::int32_t> pieces = graph.inputs(below);
    return std::all_of(pieces.begin(), pieces.end(), sized) ? below : -1;
}

ChosenCuts chosen_cuts(const Graph& graph, const Shape& shape, const std::vector<JoinRead>& joins,
                       std::int64_t instructions) {
    constexpr double sure = 1.25;  // what is not known: other steps in the way of a copy, how far memory is
    ChosenCuts best;
    double most = 0;
    // A roll along each axis is seen through; where that takes too many parts, the last one alone.
    auto consider = [&](std::size_t axes, int deep) {
        Cuts cuts = cuts_along(graph, shape, joins, axes, deep);
        if (count_of_parts(cuts) > most_parts) return;
        std::vector<bool> dissolved;
        std::vector<std::int32_t> needed;  // as a whole, by those that are not dissolved
        for (const JoinRead& read : joins) {
            dissolved.push_back(lies_between(graph, read.join, deep, cuts));
            if (!dissolved.back())
                for (std::int32_t piece : graph.inputs(read.join)) needed.push_back(concatenation_below(graph, piece));
        }
        double saved = 0;
        std::size_t loads = 1;
        for (std::size_t i = 0; i < joins.size(); ++i)
            if (dissolved[i] && !contains(needed, joins[i].join)) saved += copy_of(graph, joins[i], cuts), ++loads;
        double cost = parts_of(shape, loads, instructions, cuts);
        if (saved > sure * cost && saved - cost > most)
            most = saved - cost, best = {std::move(cuts), std::move(dissolved)};
    };
    for (int deep : {3, 0})
        for (std::size_t axes = shape.size(); axes > 0 && (deep > 0 || best.cuts.empty()); --axes) consider(axes, deep);
    return best;
}

}  // namespace weft
