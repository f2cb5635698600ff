#include "weft/ops/indexing.h"

#include <algorithm>

#include "weft/graph/node.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/index_plan.h"
#include "weft/ops/join.h"
#include "weft/ops/scatter.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

std::source_location where_of(std::span<const Index> entries) {
    return entries.empty() ? std::source_location() : entries[0].where;
}

template <class F>
auto placed(std::span<const Index> entries, F&& body) {
    try {
        return body();
    } catch (Error& error) {
        error.add(place(where_of(entries)));
        throw;
    }
}

// The first step: the box, as a view.
Tensor boxed(const Tensor& x, const IndexPlan& plan, std::source_location where) {
    Tensor box = slice(Operand(x, where), plan.start, plan.length, plan.step);
    if (plan.flipped.empty() && plan.shape == plan.length) return box;
    return reshape(Operand(plan.flipped.empty() ? box : flip(box, plan.flipped), where), plan.shape);
}

/// Of n elements what an entry takes in their order, if it is a slice forwards or an integer that is there.
std::optional<IndexRun> run_forwards(const Index& entry, Size n) {
    if (!n.known()) return std::nullopt;
    if (auto* slice = std::get_if<Slice>(&entry.value))
        return slice->step > 0 ? std::optional(index_run(*slice, n.value())) : std::nullopt;
    auto* integer = std::get_if<std::int64_t>(&entry.value);
    if (!integer || *integer < -n.value() || *integer >= n.value()) return std::nullopt;
    return IndexRun{*integer < 0 ? *integer + n.value() : *integer, 1, 1};
}

/// Slices forwards and integers of sizes that are known, the most frequent indices by far: nodes without a plan.
std::optional<Tensor> part_forwards(const Tensor& x, std::span<const Index> entries) {
    const Shape& shape = x.shape();
    if (entries.empty() || entries.size() > shape.size()) return std::nullopt;
    SmallVector<IndexRun, 4> runs;
    Shape kept;
    bool whole = true;
    for (std::size_t axis = 0; axis < entries.size(); ++axis) {
        std::optional<IndexRun> run = run_forwards(entries[axis], shape[axis]);
        if (!run) return std::nullopt;
        runs.push_back(*run);
        whole &= Size(run->length) == shape[axis];
        if (std::holds_alternative<Slice>(entries[axis].value)) kept.push_back(run->length);
    }
    std::source_location where = where_of(entries);
    auto part = [&] {
        SliceAttributes a;
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            bool given = axis < runs.size();
            a.start.push_back({given ? runs[axis].start : 0});
            a.length.push_back(given ? Size(runs[axis].length) : shape[axis]);
            a.step.push_back(given ? runs[axis].step : 1);
        }
        return a;
    };
    Tensor box = whole ? x : make_node(slice_operation, {x}, attributes_made(part), where);
    if (kept.size() == entries.size()) return box;
    for (std::size_t axis = entries.size(); axis < shape.size(); ++axis) kept.push_back(shape[axis]);
    return reshape(Operand(box, where), kept);
}

// The second step.
Tensor picked(Tensor box, const IndexPlan& plan, std::source_location where) {
    if (plan.tensors.empty()) return box;
    std::int64_t first = plan.picked[0];
    if (plan.apart) {
        Axes order = plan.picked;
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(box.ndim()); ++i) {
            if (std::find(plan.picked.begin(), plan.picked.end(), i) == plan.picked.end()) order.push_back(i);
        }
        box = permute_dims(box, order);
        first = 0;
    }
    return take(Operand(box, where), plan.tensors, first);
}

// `value` as what stands at the places: x's dtype, the shape of x[index].
Tensor fitted(const Operand& value, const Tensor& x, const Shape& shape, std::source_location where) {
    LineScope line(value.where);
    Tensor tensor = value.as(x.dtype()).astype(x.dtype(), where);
    if (!broadcasts_to(tensor.shape(), shape)) {
        throw ShapeError(text("at: a value of shape ", tensor.shape(), " does not broadcast to ", shape,
                              ", the shape of the places"));
    }
    return broadcast_to(Operand(tensor, where), shape);
}

// A value of the box's shape, laid into zeros of x's shape.
Tensor laid_out(const Tensor& value, const Tensor& x, const IndexPlan& plan) {
    Tensor box = reshape(value, plan.length);
    if (!plan.flipped.empty()) box = flip(box, plan.flipped);
    Shape before, after;
    Dims between;
    for (std::size_t i = 0; i < x.ndim(); ++i) {
        Size covered = plan.length[i] == Size(0) ? Size(0) : (plan.length[i] - 1) * plan.step[i] + 1;
        before.push_back(plan.start[i]);
        after.push_back(x.shape()[i] - plan.start[i] - covered);
        between.push_back(plan.step[i] - 1);
    }
    return pad_interior(box, before, after, between);
}

Tensor write_box(const Tensor& x, const IndexPlan& plan, const Operand& value, ScatterMode mode,
                 std::source_location where_) {
    Tensor laid = laid_out(fitted(value, x, plan.shape, where_), x, plan);
    if (laid.dtype() == DType::bool_ && mode == ScatterMode::add) return logical_or(x, laid);
    if (mode == ScatterMode::add) return add(Operand(x, where_), laid);
    if (plan.length == x.shape()) return laid;
    Tensor there = laid_out(broadcast_to(constant(true, DType::bool_), plan.shape), x, plan);
    return where(Operand(there, where_), laid, x);
}

Tensor write_picked(const Tensor& x, const IndexPlan& plan, const Operand& value, ScatterMode mode,
                    std::source_location where) {
    bool plain = plan.shape == x.shape() && plan.length == x.shape() && plan.flipped.empty() && !plan.apart;
    if (plain) return scatter(Operand(x, where), plan.tensors, value, plan.picked[0], mode);
    // Anything else: the numbers of the places, by the same index of a tensor of numbers.
    Size count = element_count(x.shape());
    Tensor numbers = picked(boxed(reshape(iota(count), x.shape()), plan, where), plan, where);
    Tensor updates = fitted(value, x, numbers.shape(), where);
    return reshape(scatter(Operand(reshape(x, {count}), where), numbers, updates, 0, mode), x.shape());
}

// x where a mask says so, without asking for the mask's numbers.
std::optional<Tensor> write_masked(const Tensor& x, std::span<const Index> entries, const Operand& value,
                                   ScatterMode mode) {
    auto* mask = entries.size() == 1 ? std::get_if<Tensor>(&entries[0].value) : nullptr;
    if (!mask || mask->dtype() != DType::bool_ || mask->ndim() == 0 || mask->ndim() > x.ndim()) return std::nullopt;
    Tensor number = value.as(x.dtype());
    if (number.ndim() != 0) return std::nullopt;
    Shape shape = mask->shape();
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (!may_equal(shape[i], x.shape()[i])) return std::nullopt;  // refused, with a message, by the planner
    }
    while (shape.size() < x.ndim()) shape.push_back(1);
    Tensor there = reshape(*mask, shape);
    number = number.astype(x.dtype(), entries[0].where);
    if (mode == ScatterMode::set) return where(there, number, x);
    return where(there, x.dtype() == DType::bool_ ? logical_or(x, number) : add(x, number), x);
}

bool is_flag(const Index& entry) {
    auto* tensor = std::get_if<Tensor>(&entry.value);
    return tensor && tensor->dtype() == DType::bool_ && tensor->ndim() == 0;
}

/// A mask without axes picks all or nothing: of x with an axis of one element more, it is a mask of one.
struct Flagged {
    Tensor x;
    std::vector<Index> entries;
};
std::optional<Flagged> with_flag(const Tensor& x, std::span<const Index> entries) {
    auto flag = std::find_if(entries.begin(), entries.end(), is_flag);
    if (flag == entries.end()) return std::nullopt;
    std::int64_t before = 0, behind = 0;
    bool from_end = false;
    for (auto entry = entries.begin(); entry != entries.end(); ++entry) {
        from_end |= entry < flag && std::holds_alternative<Ellipsis>(entry->value);
        (entry < flag ? before : behind) += axes_taken(*entry);
    }
    std::int64_t axis = from_end ? static_cast<std::int64_t>(x.ndim()) - behind : before;
    if (axis < 0 || axis > static_cast<std::int64_t>(x.ndim())) return std::nullopt;  // refused by the planner
    Flagged flagged{expand_dims(Operand(x, flag->where), axis), {entries.begin(), entries.end()}};
    auto& mask = std::get<Tensor>(flagged.entries[static_cast<std::size_t>(flag - entries.begin())].value);
    mask = reshape(mask, {1});
    return flagged;
}

Tensor write(const Tensor& x, std::span<const Index> entries, const Operand& value, ScatterMode mode) {
    return placed(entries, [&] {
        if (auto flagged = with_flag(x, entries))
            return reshape(write(flagged->x, flagged->entries, value, mode), x.shape());
        if (auto masked = write_masked(x, entries, value, mode)) return *masked;
        IndexPlan plan = plan_of_index(x, entries);
        std::source_location where = where_of(entries);
        return plan.tensors.empty() ? write_box(x, plan, value, mode, where)
                                    : write_picked(x, plan, value, mode, where);
    });
}

}  // namespace

Index::Index(Place place, std::source_location where) : value(place.at), where(where) {}
Index::Index(Slice slice, std::source_location where) : value(slice), where(where) {}
Index::Index(Ellipsis dots, std::source_location where) : value(dots), where(where) {}
Index::Index(NewAxis axis, std::source_location where) : value(axis), where(where) {}
Index::Index(const Tensor& tensor, std::source_location where) : value(tensor), where(where) {}
Index::Index(const Index&) = default;
Index::Index(Index&&) noexcept = default;
Index& Index::operator=(const Index&) = default;
Index& Index::operator=(Index&&) noexcept = default;
Index::~Index() = default;

At::At(Tensor x, std::vector<Index> entries) : x_(std::move(x)), entries_(std::move(entries)) {}
Tensor At::get() const { return index(x_, entries_); }

Tensor index(const Tensor& x, std::span<const Index> entries) {
    if (auto part = part_forwards(x, entries)) return *part;
    if (auto flagged = with_flag(x, entries)) return index(flagged->x, flagged->entries);
    std::source_location where = where_of(entries);
    IndexPlan plan = placed(entries, [&] { return plan_of_index(x, entries); });
    return picked(boxed(x, plan, where), plan, where);
}

Tensor At::set(const Operand& value) const { return write(x_, entries_, value, ScatterMode::set); }
Tensor At::add(const Operand& value) const { return write(x_, entries_, value, ScatterMode::add); }

Tensor Tensor::operator[](std::initializer_list<Index> entries) const {
    return index(*this, {entries.begin(), entries.size()});
}
Tensor Tensor::operator[](const Index& entry) const { return index(*this, {&entry, 1}); }
At Tensor::at(std::initializer_list<Index> entries) const { return At(*this, entries); }

std::vector<Tensor> nonzero(const Operand& operand) {
    Tensor x = operand.as_tensor();
    if (x.ndim() == 0) throw ShapeError(text("nonzero: a 0-d value has no positions", place(operand.where)));
    if (x.node()->symbolic && !x.computed()) {
        throw ValueError(text("nonzero: how many elements are not 0 is not known before the value of shape ", x.shape(),
                              " is computed, and here it is only declared (inside a traced function, or below an "
                              "input); use where(mask, x, y) instead",
                              place(operand.where)));
    }
    Array mask = contiguous(astype(x, DType::bool_).array());
    const bool* first = mask.data<bool>();
    std::int64_t count = std::count(first, first + mask.size(), true);
    std::vector<Array> positions;
    std::vector<std::int64_t*> next;
    for (std::size_t i = 0; i < mask.ndim(); ++i) {
        positions.push_back(Array::empty(DType::int64, {count}));
        next.push_back(positions.back().data<std::int64_t>());
    }
    for (std::int64_t i = 0; i < mask.size(); ++i) {
        if (!first[i]) continue;
        std::int64_t rest = i;
        for (std::size_t axis = mask.ndim(); axis-- > 0; rest /= mask.dims[axis])
            *next[axis]++ = rest % mask.dims[axis];
    }
    return std::vector<Tensor>(positions.begin(), positions.end());
}

}  // namespace weft
