#include "weft/compile/parted_maps.h"

#include <algorithm>

#include "weft/base/integers.h"
#include "weft/compile/parted_cuts.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

/// A part of an array: along each axis where it begins and how long it is.
struct Box {
    Dims start, length;
};

Tensor part(const Tensor& x, const Box& box) { return slice(x, shape_of(box.start), shape_of(box.length)); }

/// What an operand that is broadcast shows in a box of the result.
Tensor part_of_operand(const Tensor& x, const Box& box) {
    std::size_t more = box.start.size() - x.ndim();
    Box shown;
    for (std::size_t axis = 0; axis < x.ndim(); ++axis) {
        bool repeats = x.shape()[axis] == Size(1);
        shown.start.push_back(repeats ? 0 : box.start[axis + more]);
        shown.length.push_back(repeats ? 1 : box.length[axis + more]);
    }
    return part(x, shown);
}

/// The boxes between cuts, row-major.
std::vector<Box> boxes_of(const PartedGroup& group) {
    std::vector<Box> boxes{{}};
    for (const std::vector<std::int64_t>& cuts : group.cuts) {
        std::vector<Box> longer;
        for (const Box& box : boxes)
            for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
                longer.push_back(box);
                longer.back().start.push_back(cuts[i]);
                longer.back().length.push_back(cuts[i + 1] - cuts[i]);
            }
        boxes = std::move(longer);
    }
    return boxes;
}

class Parter {
  public:
    Parter(const Graph& graph, const PartedGroups& groups)
        : graph_(graph), groups_(groups), whole_(graph.entries.size()), parts_(graph.entries.size()) {
        for (const PartedGroup& group : groups.groups) boxes_.push_back(boxes_of(group));
    }

    Graph run() {
        for (std::size_t e = 0; e < graph_.entries.size(); ++e) {
            auto entry = static_cast<std::int32_t>(e);
            if (groups_.of[e] >= 0)
                compute_parts(entry);
            else if (!groups_.dissolved[e])
                whole_[e] = remade(entry);
        }
        std::vector<Tensor> results;
        std::vector<Node*> outputs, leaves;
        for (std::int32_t output : graph_.outputs) results.push_back(whole(output));
        for (const Tensor& result : results) outputs.push_back(result.node());
        for (std::int32_t leaf : graph_.leaves) leaves.push_back(graph_.entries[at(leaf)].node);
        return gather(outputs, leaves);
    }

  private:
    Tensor remade(std::int32_t e) {
        Node& node = *graph_.entries[at(e)].node;
        if (graph_.entries[at(e)].leaf || graph_.inputs(e).empty()) return handle(&node);
        std::vector<Tensor> inputs;
        bool same = true;
        for (std::int32_t input : graph_.inputs(e)) {
            inputs.push_back(whole(input));
            same &= inputs.back().node() == graph_.entries[at(input)].node;
        }
        return same ? handle(&node) : make_node(*node.operation, inputs, node.attributes, node.where);
    }

    void compute_parts(std::int32_t e) {
        const Node& node = graph_.node(e);
        std::int32_t group = groups_.of[at(e)];
        for (std::size_t b = 0; b < boxes_[at(group)].size(); ++b) {
            std::vector<Tensor> operands;
            for (std::int32_t input : graph_.inputs(e)) operands.push_back(operand(input, group, b));
            parts_[at(e)].push_back(make_node(*node.operation, operands, node.attributes, node.where));
        }
    }

    Tensor operand(std::int32_t input, std::int32_t group, std::size_t b) {
        const Box& box = boxes_[at(group)][b];
        if (groups_.of[at(input)] == group) return parts_[at(input)][b];
        if (!groups_.dissolved[at(input)]) return part_of_operand(whole(input), box);
        return graph_.node(input).operation == &pad_operation ? padded(input, box) : laid(input, box);
    }

    // The piece that holds a box; of a slice of another concatenation the piece of that.
    Tensor laid(std::int32_t join, Box box) {
        for (;;) {
            std::int32_t piece = piece_at(join, box);
            promise(piece >= 0, "parts of maps lie between the borders of what they read");
            std::int32_t below = concatenation_below(graph_, piece);
            if (below < 0) return part(whole(piece), box);
            Box inside = box;
            const Offsets& from = graph_.node(piece).attributes_as<SliceAttributes>().start;
            for (std::size_t axis = 0; axis < from.size(); ++axis) inside.start[axis] += from[axis].value.value();
            Box rest = inside;
            if (piece_at(below, rest) < 0) return part(whole(piece), box);
            box = inside, join = below;
        }
    }

    // The piece that a box lies in, which is then a box of that; -1: it is of several.
    std::int32_t piece_at(std::int32_t join, Box& box) const {
        auto axis = static_cast<std::size_t>(graph_.node(join).attributes_as<ConcatenateAttributes>().axis);
        std::int64_t start = 0;
        for (std::int32_t piece : graph_.inputs(join)) {
            std::int64_t end = start + graph_.node(piece).shape[axis].value();
            if (box.start[axis] < end) {
                bool inside = box.start[axis] + box.length[axis] <= end;
                box.start[axis] -= start;
                return inside ? piece : -1;
            }
            start = end;
        }
        return -1;
    }

    // Beside the padded array a number: it is broadcast where it is read.
    Tensor padded(std::int32_t pad, Box box) {
        const PadAttributes& a = graph_.node(pad).attributes_as<PadAttributes>();
        const Node& from = graph_.node(graph_.inputs(pad)[0]);
        for (std::size_t axis = 0; axis < box.start.size(); ++axis) {
            box.start[axis] -= a.before[axis].value.value();
            if (box.start[axis] < 0 || box.start[axis] >= from.shape[axis].value())
                return constant(a.value, graph_.node(pad).dtype);
        }
        return part(whole(graph_.inputs(pad)[0]), box);
    }

    // The parts laid together, along the last axis first.
    const Tensor& whole(std::int32_t e) {
        Tensor& made = whole_[at(e)];
        if (made) return made;
        if (groups_.dissolved[at(e)]) return made = remade(e);  // others read it as well
        std::int32_t group = groups_.of[at(e)];
        LineScope line(graph_.node(e).where);
        std::vector<Tensor> pieces;
        for (std::size_t b = 0; b < parts_[at(e)].size(); ++b)
            pieces.push_back(broadcast_to(parts_[at(e)][b], shape_of(boxes_[at(group)][b].length)));
        const auto& cuts = groups_.groups[at(group)].cuts;
        for (std::size_t axis = cuts.size(); axis-- > 0;) {
            std::size_t count = cuts[axis].size() - 1;
            std::vector<Tensor> joined;
            for (std::size_t i = 0; i < pieces.size(); i += count)
                joined.push_back(count == 1 ? pieces[i]
                                            : concatenate(std::span<const Tensor>(pieces).subspan(i, count),
                                                          static_cast<std::int64_t>(axis), graph_.node(e).where));
            pieces = std::move(joined);
        }
        return made = pieces[0];
    }

    const Graph& graph_;
    const PartedGroups& groups_;
    std::vector<Tensor> whole_;               // of each entry that somebody reads as a whole
    std::vector<std::vector<Tensor>> parts_;  // of each entry of a group, one a box
    std::vector<std::vector<Box>> boxes_;     // of each group
};

}  // namespace

std::optional<Graph> parted_maps(const Graph& graph) {
    std::optional<PartedGroups> groups = parted_groups(graph);
    if (!groups) return {};
    KeepPending keep;
    return Parter(graph, *groups).run();
}

}  // namespace weft
