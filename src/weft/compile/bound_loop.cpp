#include "weft/compile/bound_loop.h"

#include <algorithm>

#include "weft/compile/made.h"
#include "weft/compile/views.h"
#include "weft/ops/gather.h"
#include "weft/ops/scatter.h"

namespace weft {
namespace {

// An array that is pointed into, and its index tensors, as if they had the shape of the points (of a gather's result, of a scatter's
// updates): the array does not move along the axes that its index tensors stand for, and these move along no others.
void lay_out_pointed(const IndexedLoad& indexed, const Node& node, const Dims& dims, std::vector<Layout>& loads,
                     Layout& array, Access& access) {
    bool gathers = node.operation->family == Family::gather;
    std::int64_t first =
        gathers ? node.attributes_as<GatherAttributes>().axis : node.attributes_as<ScatterAttributes>().axis;
    bool along = gathers ? node.attributes_as<GatherAttributes>().along : node.attributes_as<ScatterAttributes>().along;
    auto axis = static_cast<std::size_t>(first);
    for (std::size_t k = 0; k < indexed.indices; ++k) {
        Pointer pointer;
        pointer.load = static_cast<std::int32_t>(indexed.load + 1 + k);
        pointer.size = array.dims[axis + k], pointer.stride = array.strides[axis + k];
        pointer.axis = first + static_cast<std::int64_t>(k), pointer.operation = node.operation->name;
        pointer.where = node.where;
        access.pointers.push_back(pointer);
    }
    if (along) {
        array.strides[axis] = 0;
        array.dims = dims;
        return;
    }
    std::size_t wide = loads[indexed.load + 1].dims.size();
    Dims strides(dims.size(), 0);
    for (std::size_t i = 0; i < dims.size(); ++i) {
        if (i < axis) strides[i] = array.strides[i];
        if (i >= axis + wide) strides[i] = array.strides[i - wide + indexed.indices];
    }
    array = {array.dtype, dims, strides};
    for (std::size_t k = 0; k < indexed.indices; ++k) {
        Layout& index = loads[indexed.load + 1 + k];
        Dims moves(dims.size(), 0);
        for (std::size_t i = 0; i < wide; ++i) moves[axis + i] = index.strides[i];
        index = {index.dtype, dims, moves};
    }
}

void lay_out_gather(const IndexedLoad& indexed, const Node& node, std::vector<Layout>& loads, Loop& loop) {
    lay_out_pointed(indexed, node, dims_of(node.shape), loads, loads[indexed.load], loop.loads[indexed.load]);
}

// The store points into the output; the array that is changed has been copied there.
void lay_out_scatter(const IndexedLoad& indexed, const Node& node, Layout output, std::vector<Layout>& loads,
                     Loop& loop) {
    Access store{output.dtype, {}};
    lay_out_pointed(indexed, node, loop.dims, loads, output, store);
    store.strides = output.strides;
    loop.stores.push_back(std::move(store));
    loop.scatter = node.attributes_as<ScatterAttributes>().mode;
    loads[indexed.load] = {output.dtype, {}, {}};
}

// A load of what is made; a key stands behind it, and is the same at every point.
void lay_out_made(const Node& node, std::vector<Layout>& loads, std::size_t load, Loop& loop) {
    bool keyed = !node.inputs.empty();
    loop.loads.push_back(
        made_access(node, {}, static_cast<std::int32_t>(load + 1), keyed ? loads[load + 1] : Layout{}));
    if (keyed) loads[load + 1] = {loads[load + 1].dtype, {}, {}};
}

}  // namespace

Loop bound_loop(const Plan& plan, const Step& step, const Graph& graph, std::span<const Layout> loads,
                std::span<const Layout> stores) {
    Loop loop;
    loop.program = step.program;
    Dims dims = dims_of(graph.node(step.space).shape);
    std::vector<std::size_t> order;  // of loop axes: kept ones first
    for (std::size_t i = 0; i < dims.size(); ++i) {
        if (std::find(step.axes.begin(), step.axes.end(), static_cast<std::int64_t>(i)) == step.axes.end())
            order.push_back(i);
    }
    std::size_t kept = order.size();
    for (std::int64_t axis : step.axes) order.push_back(static_cast<std::size_t>(axis));
    for (std::size_t axis : order) loop.dims.push_back(dims[axis]);
    loop.reduced = dims.size() - kept;
    loop.reductions = step.reductions;
    loop.scan = step.running;
    std::vector<Layout> layouts(loads.begin(), loads.end());
    for (std::size_t i = 0; i < layouts.size(); ++i) {
        std::int32_t base = memory_below(plan, step.loads[i]);
        if (plan.places[static_cast<std::size_t>(base)].kind == Place::made)
            lay_out_made(graph.node(base), layouts, i, loop);
        else
            loop.loads.push_back({layouts[i].dtype, {}});
    }
    for (const IndexedLoad& indexed : step.indexed) {
        const Node& node = graph.node(indexed.entry);
        if (node.operation->family == Family::gather) lay_out_gather(indexed, node, layouts, loop);
        if (node.operation->family == Family::scatter) lay_out_scatter(indexed, node, stores[0], layouts, loop);
    }
    for (std::size_t i = 0; i < layouts.size(); ++i) {
        Dims strides = broadcast_strides(layouts[i], dims);
        for (std::size_t axis : order) loop.loads[i].strides.push_back(strides[axis]);
    }
    for (const Layout& layout : stores) {
        if (step.kind == Step::scatter) break;  // it is there
        if (step.kind == Step::scan) {
            loop.stores.push_back({layout.dtype, {}});
            for (std::size_t axis : order) loop.stores.back().strides.push_back(layout.strides[axis]);
            continue;
        }
        // A reduction's result and a copy's lie row-major whatever their slot's shape (ones apart); a map's as its slot says.
        Dims kept_dims(loop.dims.begin(), loop.dims.begin() + static_cast<std::ptrdiff_t>(kept));
        loop.stores.push_back({layout.dtype, step.kind == Step::map ? layout.strides : contiguous_strides(kept_dims)});
    }
    return loop;
}

}  // namespace weft
