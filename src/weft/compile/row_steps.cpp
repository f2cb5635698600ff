#include "weft/compile/row_steps.h"

#include <algorithm>

#include "weft/ops/view.h"
#include "weft/ops/window.h"

namespace weft {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// The last axis of several elements, of those that lie in this order; -1 of a single element.
std::int64_t last_proper(const Shape& shape, const Axes& order) {
    for (std::size_t i = shape.size(); i-- > 0;) {
        std::int64_t axis = order.empty() ? static_cast<std::int64_t>(i) : order[i];
        if (!(shape[at(axis)] == Size(1))) return axis;
    }
    return -1;
}

// The axis that an axis becomes where sizes in front of it, or behind it, stay; -1 where it becomes part of another.
std::int64_t reshaped_axis(std::int64_t axis, const Shape& from, const Shape& to) {
    std::size_t place = at(axis), behind = from.size() - place;
    if (place < to.size() && std::equal(from.begin(), from.begin() + axis + 1, to.begin())) return axis;
    bool stays = behind <= to.size() &&
                 std::equal(from.begin() + axis, from.end(), to.end() - static_cast<std::ptrdiff_t>(behind));
    return stays ? static_cast<std::int64_t>(to.size() - behind) : -1;
}

// Where the axis of the entry below a view is seen in it; -1: nowhere as such.
std::int64_t viewed_axis(std::int64_t axis, const Shape& from, const Node& view) {
    if (view.operation == &permute_dims_operation) {
        const Axes& axes = view.attributes_as<PermuteAttributes>().axes;
        return std::find(axes.begin(), axes.end(), axis) - axes.begin();
    }
    if (view.operation == &reshape_operation) return reshaped_axis(axis, from, view.shape);
    if (view.operation == &broadcast_to_operation) {
        bool repeats =
            last_proper(from, {}) == axis && axis + 1 < static_cast<std::int64_t>(from.size());  // one number behind it
        return repeats ? -1
                       : axis + static_cast<std::int64_t>(view.shape.size()) - static_cast<std::int64_t>(from.size());
    }
    return axis;
}

}  // namespace

bool rows_lead(const Axes& order, std::size_t rows) {
    for (std::size_t axis = 0; axis < std::min(rows, order.size()); ++axis)
        if (at(order[axis]) != axis) return false;
    return true;
}

Shape proper(const Shape& shape) {
    Shape kept;
    for (Size size : shape)
        if (!(size == Size(1))) kept.push_back(size);
    return kept;
}

bool RowSteps::is_product(const Step& step) const {
    return step.kind == Step::library && graph_.node(step.space).operation->family == Family::contraction;
}

bool RowSteps::is_convolution(const Step& step) const {
    const Operation* operation = step.kind == Step::library ? graph_.node(step.space).operation : nullptr;
    return operation == &convolution_operation || operation == &convolution_input_gradient_operation;
}

bool RowSteps::slides(const Step& step) const {
    const Operation* operation = step.kind == Step::library ? graph_.node(step.space).operation : nullptr;
    // The gradient of a weight is a sum over images.
    return operation && operation->family == Family::window && operation != &convolution_weight_gradient_operation;
}

bool RowSteps::reduces_rows(const Step& step) const {
    if (step.kind != Step::reduce || step.axes.empty()) return false;
    std::size_t kept = space(step).size() - step.axes.size();
    return std::all_of(step.axes.begin(), step.axes.end(), [&](std::int64_t axis) { return at(axis) >= kept; });
}

bool RowSteps::joins_inner_axes(const Step& step) const {
    return step.kind == Step::reduce && !step.axes.empty() && !reduces_rows(step) && !rows_of(step).empty();
}

bool RowSteps::has_more_than(const Shape& rows, const Shape& all) {
    return all.size() > rows.size() && std::equal(rows.begin(), rows.end(), all.begin());
}

// Partial results are kept for each block, so positions, which count from the first row, and half types, which would be rounded, stay.
bool RowSteps::sums_over_rows(const Step& step, const Shape& rows) const {
    if (!joins_rows(step, rows.size()) || !has_more_than(rows, space(step)) || is_one(rows)) return false;
    for (std::size_t i = 0; i < step.stores.size(); ++i) {
        const Slot& slot = plan_.slots[at(step.stores[i])];
        bool position = step.reductions[i] == Reduction::argmax || step.reductions[i] == Reduction::argmin;
        if (position || !slot.order.empty() || slot.dtype != compute_dtype(slot.dtype)) return false;
    }
    return true;
}

bool RowSteps::weighs(const Step& step) const {
    if (!is_product(step) || space(step).size() < 3) return false;
    return graph_.node(step.loads[1]).operation != &broadcast_to_operation;
}

Shape RowSteps::rows_of(const Step& step) const {
    const Shape& all = space(step);
    if (is_convolution(step)) return {all[0]};
    std::size_t inner = is_product(step) ? 1 : 0;
    for (std::int64_t axis : step.axes) inner = std::max(inner, all.size() - at(axis));
    Shape rows(all.begin(), all.end() - static_cast<std::ptrdiff_t>(inner));
    // A row vector's own axis of one says nothing: its readers may have dropped it.
    while (is_product(step) && !rows.empty() && rows.back() == Size(1)) rows.pop_back();
    return rows;
}

bool RowSteps::has(std::int32_t entry, const Shape& rows) const {
    const Shape& all = graph_.node(entry).shape;
    return all.size() >= rows.size() && std::equal(rows.begin(), rows.end(), all.begin());
}

bool RowSteps::runs_over(const Step& step, const Shape& rows) const {
    bool product = is_product(step), window = slides(step);
    if (step.kind != Step::map && step.kind != Step::reduce && !product && !window) return false;
    if (!has(step.space, rows) || space(step).size() < rows.size() + product) return false;
    if (window && rows.size() > 1) return false;  // rows are images
    for (std::int64_t axis : step.axes)
        if (at(axis) < rows.size()) return false;
    for (std::int32_t slot : step.stores) {
        const Axes& order = plan_.slots[at(slot)].order;
        bool by_elements = !order.empty() && at(order.back()) + 1 != order.size();  // of several rows side by side
        if (by_elements && !rows_lead(order, rows.size())) return false;
    }
    return true;
}

// Whether a row of `entry` is a row of the slot below it: on the way stand only views that leave the rows as they are.
bool RowSteps::keeps(std::int32_t entry, const Shape& rows) const {
    while (true) {
        if (!has(entry, rows)) return false;
        const Place& place = plan_.places[at(entry)];
        if (place.kind != Place::view) return true;
        const Node& node = graph_.node(entry);
        bool spread = node.operation == &broadcast_to_operation &&
                      (rows.empty() || node.shape.size() == graph_.node(place.index).shape.size());
        bool plain = node.operation == &reshape_operation || spread || node.operation->family != Family::view;
        if (!plain) return false;
        entry = place.index;
    }
}

bool RowSteps::reads(const Step& step, std::size_t load, const Shape& rows) const {
    std::int32_t entry = step.loads[load];
    if (picks_from(step, slot_below(plan_, entry))) return false;
    bool aligned = rows.empty() || graph_.node(entry).shape.size() == space(step).size();
    bool second = load > 0 && ((is_product(step) && rows.size() + 1 >= space(step).size()) || is_convolution(step));
    return aligned && !second && keeps(entry, rows);
}

// Along which axis elements follow each other in memory; -1 where nothing says it.
std::int64_t RowSteps::fastest_axis(std::int32_t entry) const {
    std::vector<std::int32_t> views;  // however many stand on each other
    for (; plan_.places[at(entry)].kind == Place::view; entry = plan_.places[at(entry)].index) views.push_back(entry);
    const Place& place = plan_.places[at(entry)];
    std::int64_t axis = -1;
    if (place.kind == Place::slot) axis = last_proper(graph_.node(entry).shape, plan_.slots[at(place.index)].order);
    if (place.kind == Place::leaf) axis = last_proper(graph_.node(entry).shape, {});
    for (; axis >= 0 && !views.empty(); views.pop_back()) {
        axis = viewed_axis(axis, graph_.node(entry).shape, graph_.node(views.back()));
        entry = views.back();
    }
    return axis;
}

bool RowSteps::reads_across(const Step& step, const Shape& rows, std::int64_t few) const {
    for (std::int32_t load : step.loads) {
        const Shape& shape = graph_.node(load).shape;
        if (shape.size() <= rows.size()) continue;
        Shape row(shape.begin() + static_cast<std::ptrdiff_t>(rows.size()), shape.end());
        if (is_one(row)) continue;
        std::int64_t axis = fastest_axis(load);
        if (axis < 0 || at(axis) >= rows.size()) continue;
        bool in_block =
            axis == last_proper(rows, {});  // else each row of a block has its place in other lines of memory
        if (few == 0 || !in_block || element_count(dims_of(row)) > few) return true;
    }
    return false;
}

bool RowSteps::picks_from(const Step& step, std::int32_t slot) const {
    for (std::size_t i = 0; i < step.loads.size(); ++i)
        if (pointed(step, i) && slot_below(plan_, step.loads[i]) == slot) return true;
    return false;
}

}  // namespace weft
