// Partition: which entries are computed together. Elementwise entries of one shape are fused when a value passes between them
// directly or they read the same memory; a chain that only a reduction, scan or scatter reads becomes part of it. A gather that only one
// kernel reads is a load of that kernel's loop (gathers.h), and here like an elementwise entry whose operands come from memory.
//
// Why no cycle can arise: every entry has a level, which grows by one whenever a value passes through memory. Entries of one kernel
// have one level and one shape, so a path that leaves a kernel ends on a higher level and never comes back.
#include <algorithm>
#include <unordered_map>

#include "weft/base/hash.h"
#include "weft/compile/device.h"
#include "weft/compile/made.h"
#include "weft/compile/order.h"
#include "weft/compile/partitioner.h"
#include "weft/compile/row_groups.h"
#include "weft/compile/wanted_orders.h"
#include "weft/ops/view.h"

namespace weft {

Plan Partitioner::plan() {
    plan_.structure = graph_.structure;
    plan_.as_written = !options_.fuse;
    plan_.places.resize(static_cast<std::size_t>(count_));
    note_nodes();
    if (options_.fuse)
        made_ = made_in_loops(graph_), loops_ = gathers_in_loops(graph_, made_), wanted_ = wanted_orders(graph_);
    place_leaves_and_views();
    absorb();
    release_scatters();
    group_elementwise();
    place_outputs();
    make_steps();
    order_steps(plan_, graph_);
    if (options_.fuse && options_.rows) group_rows(plan_, graph_), order_steps(plan_, graph_);
    return std::move(plan_);
}

void Partitioner::note_nodes() {
    families_.reserve(static_cast<std::size_t>(count_)), shapes_.reserve(static_cast<std::size_t>(count_));
    std::unordered_map<std::uint64_t, SmallVector<std::int32_t, 2>> known;  // by a hash of the shape
    for (std::int32_t e = 0; e < count_; ++e) {
        families_.push_back(node(e).operation->family);
        const Shape& shape = node(e).shape;
        if (e > 0 && node(e - 1).shape == shape) {
            shapes_.push_back(shapes_.back());
            continue;
        }
        Hasher hasher;
        for (Size size : shape) hasher.add(static_cast<std::uint64_t>(size.code()));
        auto& alike = known[hasher.result().low];
        auto at = std::find_if(alike.begin(), alike.end(), [&](std::int32_t i) { return node(i).shape == shape; });
        shapes_.push_back(at == alike.end() ? e : *at);
        if (at == alike.end()) alike.push_back(e);
    }
}

void Partitioner::put_in_slot(std::int32_t e, Axes order) {
    place(e).kind = Place::slot;
    note_axes(e, dense_axes(node(e).shape, order));
    place(e).index = maker_.new_slot(e, std::move(order));
}

DenseAxes Partitioner::axes_of(std::int32_t e) const {
    auto known = axes_.find(e);
    return known == axes_.end() ? dense_axes(node(e).shape) : known->second;
}

void Partitioner::note_axes(std::int32_t e, DenseAxes axes) {
    if (axes == dense_axes(node(e).shape))
        axes_.erase(e);
    else
        axes_[e] = std::move(axes);
}

// How axes of a reshape follow each other if strides can say it; nothing: it takes a copy.
std::optional<DenseAxes> Partitioner::reshaped_axes(std::int32_t e, std::int32_t from) {
    if (!axes_.contains(from)) return dense_axes(node(e).shape);
    return reshaped(axes_.at(from), node(from).shape, node(e).shape);
}

void Partitioner::place_leaves_and_views() {
    std::int32_t leaves = 0;
    orders_.resize(static_cast<std::size_t>(count_));
    for (std::int32_t e = 0; e < count_; ++e) {
        const Graph::Entry& entry = graph_.entries[static_cast<std::size_t>(e)];
        if (entry.leaf) {
            place(e) = {Place::leaf, leaves++, {}};
            bool plain = !node(e).computed || node(e).value().contiguous();
            if (!plain) note_axes(e, DenseAxes(node(e).shape.size(), -1));
        } else if (node(e).operation == &constant_operation) {
            place(e) = {Place::literal, -1, node(e).attributes_as<ConstantAttributes>().value};
        } else if (options_.fuse && made_[static_cast<std::size_t>(e)]) {
            place(e) = {Place::made, -1, {}};
        } else if (family(e) == Family::view || passes_on(e) || shown(e)) {
            place_view(e, graph_.inputs(e)[0]);
        } else if (family(e) == Family::reduce) {
            put_in_slot(e);
        } else if (family(e) != Family::elementwise && !picked(e)) {
            auto wanted = wanted_.find(e);
            put_in_slot(e, wanted != wanted_.end() ? wanted->second
                           : family(e) == Family::join
                               ? order_of_operands(e)
                               : cpu_compiler().preferred_order(*node(e).operation, node(e).shape.size()));
        }
        orders_[static_cast<std::size_t>(e)] = order_of(e);
        const Axes& order = orders_[static_cast<std::size_t>(e)];
        if (elementwise(e) && !order.empty())
            note_axes(e, dense_axes(node(e).shape, order));  // when it comes to memory
    }
}

// The operand itself, lying in memory already: there is nothing to compute. A number that has to be copied is copied by the one kernel.
bool Partitioner::passes_on(std::int32_t e) {
    bool same = node(e).operation == &stop_gradient_operation || node(e).operation == &positive_operation;
    return same && options_.fuse && !options_.numbers && !elementwise(graph_.inputs(e)[0]);
}

void Partitioner::place_view(std::int32_t e, std::int32_t from) {
    if (place(from).kind == Place::literal) {
        place(e) = place(from);
        return;
    }
    if (node(e).operation == &reshape_operation) {
        std::optional<DenseAxes> axes = reshaped_axes(e, from);
        if (!axes) return place_copy(e, from);
        note_axes(e, std::move(*axes));
    } else if (family(e) != Family::view) {
        note_axes(e, axes_of(from));
    } else {
        note_axes(e, viewed(axes_of(from), node(from).shape, node(e)));
    }
    place(e) = {Place::view, from, {}};
}

// One copy serves all reshapes of an entry.
void Partitioner::place_copy(std::int32_t e, std::int32_t from) {
    auto [copy, fresh] = copy_of_.try_emplace(from, e);
    if (fresh)
        copies_.insert(e), put_in_slot(e);
    else
        place(e) = {Place::view, copy->second, {}};
}

// The order in which an entry lies in memory: a slot's own; an elementwise entry's is that of the first operand of its shape
// that has one (values after a window operation lie channels-last, and what is computed from them stays so), or that its readers want.
Axes Partitioner::order_of(std::int32_t e) {
    if (place(e).kind == Place::slot) return plan_.slots[static_cast<std::size_t>(place(e).index)].order;
    if (place(e).kind == Place::view) return order_of_permuted(e);
    if (!elementwise(e) || picked(e)) return {};
    auto wanted = wanted_.find(e);
    return wanted != wanted_.end() ? wanted->second : order_of_operands(e);
}

// Pieces of a join need not have its shape.
Axes Partitioner::order_of_operands(std::int32_t e) {
    for (std::int32_t input : graph_.inputs(e)) {
        const Axes& order = orders_[static_cast<std::size_t>(input)];
        if (order.empty() || of_leaves_.contains(input)) continue;
        if (same_shape(input, e) || family(e) == Family::join) return order;
    }
    return order_of_leaves(e);
}

// Of a leaf seen in another order of axes (pictures that lie channels last), where batches stay in front and other elements follow
// each other: maps of it lie so, too. Of a matrix that is turned they lie in rows, for most want those.
Axes Partitioner::order_of_permuted(std::int32_t e) {
    std::int32_t from = place(e).index;
    bool permutes = options_.fuse && node(e).operation == &permute_dims_operation;
    if (!permutes || place(from).kind != Place::leaf || axes_.contains(from)) return {};
    const Axes& axes = node(e).attributes_as<PermuteAttributes>().axes;
    auto last = static_cast<std::int64_t>(axes.size()) - 1;
    if (axes.size() < 3 || axes[0] != 0 || axes.back() == last) return {};
    Axes order;
    for (std::int64_t axis = 0; axis <= last; ++axis)
        order.push_back(std::find(axes.begin(), axes.end(), axis) - axes.begin());
    of_leaves_.insert(e);
    return order;
}

// The order in which all arrays lie that are read here as a whole, if it is one, and nobody who reads what is made wants rows.
Axes Partitioner::order_of_leaves(std::int32_t e) {
    const Axes* common = nullptr;
    for (std::int32_t input : graph_.inputs(e)) {
        if (family(e) != Family::join && !same_shape(input, e)) continue;
        if (place(input).kind == Place::literal) continue;
        const Axes& order = orders_[static_cast<std::size_t>(input)];
        if (order.empty() || (common && !(*common == order))) return {};
        common = &order;
    }
    if (!common || options_.own_outputs) return {};
    auto wanted = std::find_if(in_rows_.begin(), in_rows_.end(), [&](const auto& at) { return at.first == *common; });
    if (wanted == in_rows_.end()) wanted = in_rows_.insert(wanted, {*common, wanted_in_rows(graph_, *common)});
    if (wanted->second[static_cast<std::size_t>(e)]) return {};
    of_leaves_.insert(e);
    return *common;
}

// Outputs that are numbers, or views that repeat elements, come to memory by a copy; other views show their base's memory.
void Partitioner::place_outputs() {
    for (std::int32_t output : graph_.outputs) {
        std::int32_t base = output;
        bool repeats = false;
        while (place(base).kind == Place::view) {
            repeats |= node(base).operation == &broadcast_to_operation;
            base = place(base).index;
        }
        bool own = place(output).kind == Place::slot || place(output).kind == Place::fused;
        own = own && orders_[static_cast<std::size_t>(output)].empty();
        if (place(output).kind == Place::literal || (repeats && place(output).kind == Place::view) ||
            (options_.own_outputs && !own)) {
            output_copies_.insert(output);
        }
    }
}

Plan make_plan(const Graph& graph, const PartitionOptions& options) { return Partitioner(graph, options).plan(); }

}  // namespace weft
