#include "weft/compile/in_place.h"

#include <algorithm>

#include "weft/compile/step_kernels.h"

namespace weft {
namespace {

// How a step reads from `base`, if it does.
enum class Reads { nothing, alike, otherwise };

// Alike: everything it reads there lies as `stored` does and axis by axis along the step's space, so that each row (each point, where
// the spaces are the same) is read only for itself. The second matrix of a product is read whole for every row.
Reads reads_of(const Graph& graph, const Views& views, const Step& step, const Base& base, const Layout& stored) {
    Reads reads = Reads::nothing;
    for (std::size_t i = 0; i < step.loads.size(); ++i) {
        const View& view = views[static_cast<std::size_t>(step.loads[i])];
        if (!(view.base == base)) continue;
        bool for_itself = stored.dims.size() == graph.node(step.space).shape.size() &&
                          !(step.kind == Step::library && i > 0) && !pointed(step, i);
        if (scatters(step, graph)) for_itself = i == 0;
        if (!lies_alike(view, stored) || !for_itself) return Reads::otherwise;
        reads = Reads::alike;
    }
    return reads;
}

bool stores(const Step& step, std::int32_t slot) {
    return std::find(step.stores.begin(), step.stores.end(), slot) != step.stores.end();
}

}  // namespace

bool lies_alike(const View& view, const Layout& stored) {
    return view.offset == 0 && view.layout.dtype == stored.dtype && view.layout.dims == stored.dims &&
           view.layout.strides == stored.strides;
}

bool may_write_over(const Plan& plan, const Graph& graph, const Views& views, const Step& step, std::int32_t slot,
                    const Base& base) {
    Layout stored = slot_layout(plan, graph, views, slot);
    // A map reads an element before it writes it; a scatter leaves its first load's elements where they are.
    if (step.kind == Step::map || scatters(step, graph))
        return reads_of(graph, views, step, base, stored) != Reads::otherwise;
    if (step.kind != Step::rows) return false;
    bool written = false;
    for (const Step& part : step.parts) {
        Reads reads = reads_of(graph, views, part, base, stored);
        if (reads == Reads::otherwise || (reads == Reads::alike && (written || part.leading < step.leading)))
            return false;
        if (!stores(part, slot)) continue;
        if (part.kind != Step::map) return false;
        written = true;
    }
    return true;
}

}  // namespace weft
