#include "weft/compile/pieces.h"

#include <algorithm>
#include <map>

#include "weft/base/integers.h"
#include "weft/compile/step_kernels.h"
#include "weft/compile/views.h"
#include "weft/ops/join.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

// Where what the view operation shows has to lie for the view to lie so; false if strides cannot say it.
bool undo_view(const Node& node, const Dims& dims, View& view) {
    Layout below{view.layout.dtype, dims, Dims(dims.size(), 0)};
    if (node.operation == &reshape_operation) {
        std::optional<Dims> strides = reshaped_strides(view.layout, dims);
        if (!strides) return false;
        below.strides = std::move(*strides);
    } else if (node.operation == &permute_dims_operation) {
        const Axes& axes = node.attributes_as<PermuteAttributes>().axes;
        for (std::size_t i = 0; i < axes.size(); ++i)
            below.strides[static_cast<std::size_t>(axes[i])] = view.layout.strides[i];
    } else if (node.operation->family != Family::elementwise) {
        return false;
    } else {
        below.strides = view.layout.strides;
    }
    view.layout = std::move(below);
    return true;
}

bool side_by_side(const Layout& rows) { return rows.dims.back() != 1 && rows.strides.back() == 1; }

// Whether rows lie evenly, their elements side by side: a product's rows are cut, and its sums joined, as those of a dense result.
bool even_rows(const Layout& layout) {
    std::size_t last = layout.dims.size() - 1;
    if (layout.dims[last] != 1 && layout.strides[last] != 1) return false;
    if (last == 0) return true;
    std::int64_t step = layout.strides[last - 1] * layout.dims[last - 1];
    for (std::size_t i = last - 1; i-- > 0; step *= layout.dims[i])
        if (layout.dims[i] != 1 && layout.strides[i] != step) return false;
    return layout.dims[last - 1] != 1;
}

// Whether many rows of a few elements each lie with gaps: a map is faster over all of them at once, and they are copied column by column
// (100,000 x 3 beside as many: tanh 1,005 us or 370, a product of two arrays 300 either way).
bool short_rows(const Layout& layout) {
    constexpr std::int64_t few = 8, many = 1024;
    std::int64_t run = 1, next = 0;  // elements that lie evenly; how far away one more would
    for (std::size_t i = layout.dims.size(); i-- > 0;) {
        if (layout.dims[i] == 1) continue;
        if (run > 1 && layout.strides[i] != next) return run < few && layout.size() > many;
        run *= layout.dims[i], next = layout.strides[i] * layout.dims[i];
    }
    return false;
}

class Pieces {
  public:
    Pieces(const Plan& plan, const Graph& graph, Views& views, const std::vector<std::int32_t>& output_of)
        : plan_(plan), graph_(graph), views_(views), output_of_(output_of) {}

    std::vector<std::int32_t> place() {
        std::vector<std::int32_t> joins;
        for (std::size_t s = 0; s < plan_.steps.size(); ++s)
            if (lays_pieces(plan_.steps[s], graph_)) joins.push_back(static_cast<std::int32_t>(s));
        if (joins.empty() || plan_.as_written) return {};
        find_uses();
        // A join's result may be a piece itself: the outermost first.
        for (std::size_t j = joins.size(); j-- > 0;) place_pieces_of(plan_.steps[at(joins[j])]);
        if (!any_) return {};
        move_views();
        return std::move(host_);
    }

  private:
    /// How a slot is written and read.
    struct Use {
        const Step* writer = nullptr;     // of a step of rows the part
        int times = 0;                    // that it is written
        bool library = false;             // read by what is no loop, and no join
        std::vector<std::int32_t> views;  // entries that show it, each behind what it is a view of
    };

    void find_uses() {
        uses_.resize(plan_.slots.size());
        host_.assign(plan_.slots.size(), -1);
        for (const Step& step : plan_.steps) {
            for (std::int32_t slot : step.stores) uses_[at(slot)].writer = &step, ++uses_[at(slot)].times;
            for (std::int32_t slot : step.inside) ++uses_[at(slot)].times;  // it may be made again elsewhere (again.h)
            for (const Step& part : step.parts) {
                for (std::int32_t slot : part.stores) uses_[at(slot)].writer = &part;
                note_reads(part);
            }
            if (step.parts.empty()) note_reads(step);
        }
        for (std::size_t e = 0; e < plan_.places.size(); ++e) {
            if (plan_.places[e].kind != Place::view) continue;
            std::int32_t slot = slot_below(plan_, static_cast<std::int32_t>(e));
            if (slot >= 0) uses_[at(slot)].views.push_back(static_cast<std::int32_t>(e));
        }
    }
    void note_reads(const Step& step) {
        bool loop =
            step.kind == Step::map || step.kind == Step::reduce || step.kind == Step::scan || step.kind == Step::copy;
        if (loop || lays_pieces(step, graph_)) return;
        for (std::int32_t load : step.loads)
            if (std::int32_t slot = slot_below(plan_, load); slot >= 0) uses_[at(slot)].library = true;
    }

    void place_pieces_of(const Step& join) {
        if (uses_[at(join.stores[0])].times != 1) return;
        std::vector<View> places = places_of_pieces(join, graph_, views_);
        for (std::size_t k = 0; k < join.loads.size(); ++k) {
            View& view = places[k];
            std::int32_t e = join.loads[k];
            bool shown = true;
            for (; shown && plan_.places[at(e)].kind == Place::view; e = plan_.places[at(e)].index)
                shown = undo_view(graph_.node(e), views_[at(plan_.places[at(e)].index)].layout.dims, view);
            const Place& place = plan_.places[at(e)];
            if (!shown || place.kind != Place::slot || !may_move(place.index, join.stores[0], view)) continue;
            any_ = true;
            host_[at(place.index)] = join.stores[0];
            views_.set(at(e), std::move(view));
        }
    }

    bool may_move(std::int32_t slot, std::int32_t host, const View& view) const {
        const Use& use = uses_[at(slot)];
        bool free = host_[at(slot)] < 0 && output_of_[at(slot)] < 0 && use.times == 1 && view.layout.size() > 0 &&
                    view.layout.dtype == plan_.slots[at(slot)].dtype && !scatters(*use.writer, graph_);
        if (!free) return false;
        if (view.layout.contiguous() && plan_.slots[at(slot)].order == plan_.slots[at(host)].order) return true;
        return !use.library && writes_with_gaps(*use.writer, view.layout) && strides_show(slot, view);
    }

    // Whether strides say all that is shown of a slot, where it lies so.
    bool strides_show(std::int32_t slot, const View& view) const {
        std::map<std::int32_t, View> shown{{plan_.slots[at(slot)].entry, view}};
        for (std::int32_t e : uses_[at(slot)].views) {
            const Node& node = graph_.node(e);
            const View& from = shown.at(plan_.places[at(e)].index);
            if (node.operation == &reshape_operation && !reshaped_strides(from.layout, views_[at(e)].layout.dims))
                return false;
            shown.emplace(e, apply_view(node, from));
        }
        return true;
    }

    // A reduction's results lie side by side; a copy runs over the axes of what it reads.
    bool writes_with_gaps(const Step& step, const Layout& layout) const {
        if (step.kind != Step::library) {
            bool point_by_point = step.kind == Step::map || step.kind == Step::scan;
            return point_by_point && !short_rows(layout);
        }
        if (graph_.node(step.members[0]).operation->family == Family::contraction)
            return even_rows(layout) || (rows_of_their_own(step) && side_by_side(layout));
        return lays_pieces(step, graph_);
    }

    // Whether a product's second matrix is each batch's own: else the rows of all batches are those of one product, if they lie evenly.
    bool rows_of_their_own(const Step& product) const {
        const Layout& second = views_[at(product.loads[1])].layout;
        for (std::size_t i = 0; i + 2 < second.dims.size(); ++i)
            if (second.dims[i] != 1 && second.strides[i] == 0) return false;
        return true;
    }

    // What shows a slot that has moved.
    void move_views() {
        for (std::size_t e = 0; e < plan_.places.size(); ++e) {
            if (plan_.places[e].kind != Place::view) continue;
            std::int32_t slot = slot_below(plan_, static_cast<std::int32_t>(e));
            if (slot >= 0 && host_[at(slot)] >= 0)
                views_.set(e, apply_view(*graph_.entries[e].node, views_[at(plan_.places[e].index)]));
        }
    }

    const Plan& plan_;
    const Graph& graph_;
    Views& views_;
    const std::vector<std::int32_t>& output_of_;
    std::vector<Use> uses_;  // of each slot
    std::vector<std::int32_t> host_;
    bool any_ = false;
};

}  // namespace

bool lays_pieces(const Step& step, const Graph& graph) {
    if (step.kind != Step::library) return false;
    const Node& node = graph.node(step.members[0]);
    if (node.operation == &concatenate_operation) return true;
    if (node.operation != &pad_operation) return false;
    const Dims& between = node.attributes_as<PadAttributes>().between;
    return std::all_of(between.begin(), between.end(), [](std::int64_t gap) { return gap == 0; });
}

std::vector<View> places_of_pieces(const Step& join, const Graph& graph, const Views& views) {
    const Node& node = graph.node(join.members[0]);
    View place = views[at(join.members[0])];
    const Dims strides = place.layout.strides;
    auto element = static_cast<std::int64_t>(size_of(place.layout.dtype));
    if (node.operation == &pad_operation) {
        const Offsets& before = node.attributes_as<PadAttributes>().before;
        for (std::size_t i = 0; i < before.size(); ++i) place.offset += before[i].value.value() * strides[i] * element;
        place.layout.dims = views[at(join.loads[0])].layout.dims;
        return {place};
    }
    auto axis = static_cast<std::size_t>(node.attributes_as<ConcatenateAttributes>().axis);
    std::vector<View> places;
    for (std::int32_t load : join.loads) {
        place.layout.dims = views[at(load)].layout.dims;
        places.push_back(place);
        place.offset += place.layout.dims[axis] * strides[axis] * element;
    }
    return places;
}

std::vector<std::int32_t> place_pieces(const Plan& plan, const Graph& graph, Views& views,
                                       const std::vector<std::int32_t>& output_of) {
    return Pieces(plan, graph, views, output_of).place();
}

}  // namespace weft
