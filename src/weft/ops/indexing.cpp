#include "weft/ops/indexing.h"

#include <algorithm>

#include "weft/graph/node.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/join.h"
#include "weft/ops/scatter.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

// An index in two steps. First a box of x: along each axis `length` elements from `start`, `step` apart, some axes then turned
// round; its axes of length one that an integer chose are dropped and new ones put in: `shape`. Then, of what that leaves, the
// axes `picked` by index tensors.
struct Plan {
    Shape start, length, shape;
    Dims step;
    Axes flipped;
    std::vector<Tensor> tensors;  // one an axis of `picked`
    Axes picked;                  // axes of `shape`
    bool apart = false;           // another entry stands between index tensors: the picked axes go to the front
};

std::int64_t consumed(const Index& entry) {
    if (auto* tensor = std::get_if<Tensor>(&entry.value))
        return tensor->dtype() == DType::bool_ ? static_cast<std::int64_t>(tensor->ndim()) : 1;
    return std::holds_alternative<std::int64_t>(entry.value) || std::holds_alternative<Slice>(entry.value);
}

/// What a slice takes of n elements, the first in their order first.
struct Run {
    std::int64_t start, length, step;
};

// Python's slice.indices.
Run run_of(const Slice& slice, std::int64_t n) {
    std::int64_t low = slice.step < 0 ? -1 : 0, high = slice.step < 0 ? n - 1 : n;
    auto clip = [&](std::int64_t at) { return std::min(std::max(at < 0 ? at + n : at, low), high); };
    std::int64_t start = slice.start ? clip(*slice.start) : slice.step < 0 ? high : low;
    std::int64_t stop = slice.stop ? clip(*slice.stop) : slice.step < 0 ? low : high;
    std::int64_t step = slice.step;
    if (step == INT64_MIN) ++step;
    if (step == 1) return {start, std::max<std::int64_t>(stop - start, 0), 1};
    if (step > 0) return {start, stop > start ? (stop - start - 1) / step + 1 : 0, step};
    std::int64_t length = start > stop ? (start - stop - 1) / -step + 1 : 0;
    return {length ? start + (length - 1) * step : 0, length, -step};
}

class Planner {
  public:
    Planner(const Tensor& x, std::span<const Index> entries) : x_(x), entries_(entries) {}

    Plan plan() {
        std::int64_t axes = 0, dots = 0;
        for (const Index& entry : entries_) {
            axes += consumed(entry);
            dots += std::holds_alternative<Ellipsis>(entry.value);
            any_tensor_ |= std::holds_alternative<Tensor>(entry.value);
        }
        auto ndim = static_cast<std::int64_t>(x_.ndim());
        if (dots > 1) throw IndexError("index: only one ellipsis may stand in an index");
        if (axes > ndim)
            throw IndexError(text("index: ", axes, " indices for a tensor of shape ", x_.shape(), ", which has ", ndim,
                                  ndim == 1 ? " axis" : " axes"));
        for (const Index& entry : entries_) {
            std::visit([&](const auto& value) { add(value, ndim - axes); }, entry.value);
        }
        while (plan_.start.size() < x_.ndim()) keep_whole();
        return std::move(plan_);
    }

  private:
    std::size_t axis() const { return plan_.start.size(); }
    Size size() const { return x_.shape()[axis()]; }
    void box(Size start, Size length, std::int64_t step) {
        plan_.start.push_back(start), plan_.length.push_back(length), plan_.step.push_back(step);
    }
    void keep_whole() {
        plan_.shape.push_back(size());
        box(0, size(), 1);
        between();
    }
    // Whether a slice, an ellipsis or a new axis stands between index tensors.
    void between() { gap_ |= !plan_.tensors.empty(); }
    void pick(const Tensor& tensor) {
        plan_.apart |= gap_;
        plan_.picked.push_back(static_cast<std::int64_t>(plan_.shape.size()));
        plan_.tensors.push_back(tensor);
        plan_.shape.push_back(size());
        box(0, size(), 1);
    }

    void add(std::int64_t integer, std::int64_t) {
        if (size().known() && (integer < -size().value() || integer >= size().value())) {
            throw IndexError(text("index: ", integer, " is out of bounds for axis ", axis(), " of size ", size(),
                                  " of shape ", x_.shape()));
        }
        if (any_tensor_) {  // beside index tensors an integer is one of them, as in NumPy
            pick(Tensor(integer));
            return;
        }
        box(integer < 0 ? size() + integer : Size(integer), 1, 1);
    }

    void add(const Slice& slice, std::int64_t) {
        if (slice.step == 0) throw ValueError(text("index: the step of the slice of axis ", axis(), " is 0"));
        between();
        if (size().known())
            add_known(slice, size().value());
        else
            add_named(slice);
        plan_.shape.push_back(plan_.length.back());
    }

    // A negative step becomes the same elements from the other end, turned round.
    void add_known(const Slice& slice, std::int64_t n) {
        Run run = run_of(slice, n);
        if (slice.step < 0) plan_.flipped.push_back(static_cast<std::int64_t>(axis()));
        box(run.start, run.length, run.step);
    }

    // Of a size that is not known yet no end can be clipped: what needs no clipping is taken, the rest refused.
    void add_named(const Slice& slice) {
        bool whole = !slice.start && !slice.stop;
        bool from_front = slice.start.value_or(0) >= 0 && slice.stop.value_or(-1) < 0;
        bool from_back = slice.start.value_or(0) < 0 && slice.stop.value_or(-1) < 0;
        if (slice.step == -1 && whole) {
            plan_.flipped.push_back(static_cast<std::int64_t>(axis()));
            box(0, size(), 1);
        } else if (slice.step > 0 && (from_front || from_back)) {
            Size start = from_back ? size() + *slice.start : Size(slice.start.value_or(0));
            Size stop = slice.stop ? size() + *slice.stop : size();
            Size span = stop - start;
            box(start, slice.step == 1 ? span : (span - 1) / slice.step + 1, slice.step);
        } else {
            throw ShapeError(text("index: a slice of axis ", axis(), " cannot be clipped to its size ", size(),
                                  ", which is not known yet; give the number of elements with ",
                                  "slice(x, start, length)"));
        }
    }

    void add(Ellipsis, std::int64_t missing) {
        between();
        for (std::int64_t i = 0; i < missing; ++i) keep_whole();
    }
    void add(NewAxis, std::int64_t) {
        between();
        plan_.shape.push_back(1);
    }

    void add(const Tensor& tensor, std::int64_t) {
        if (tensor.dtype() == DType::bool_) {
            add_mask(tensor);
        } else if (is_integer(tensor.dtype())) {
            pick(tensor);
        } else {
            throw IndexError(text("index: tensors of integers or bool pick elements, not of ", tensor.dtype()));
        }
    }

    void add_mask(const Tensor& mask) {
        if (mask.ndim() == 0) throw IndexError("index: a 0-d bool picks no elements; use where(condition, x, y)");
        for (std::size_t i = 0; i < mask.ndim(); ++i) {
            // As in NumPy and the array API, a mask without elements picks none, whatever the size of x's axis.
            if (mask.shape()[i] != Size(0) && !may_equal(mask.shape()[i], x_.shape()[axis() + i])) {
                throw IndexError(text("index: the mask has shape ", mask.shape(), ", but axis ", axis() + i, " of ",
                                      x_.shape(), " has size ", x_.shape()[axis() + i], ", not ", mask.shape()[i]));
            }
        }
        for (const Tensor& position : nonzero(mask)) pick(position);
    }

    const Tensor& x_;
    std::span<const Index> entries_;
    Plan plan_;
    bool any_tensor_ = false, gap_ = false;
};

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
Tensor boxed(const Tensor& x, const Plan& plan, std::source_location where) {
    Tensor box = slice(Operand(x, where), plan.start, plan.length, plan.step);
    if (plan.flipped.empty() && plan.shape == plan.length) return box;
    return reshape(Operand(plan.flipped.empty() ? box : flip(box, plan.flipped), where), plan.shape);
}

/// Of n elements what an entry takes in their order, if it is a slice forwards or an integer that is there.
std::optional<Run> run_forwards(const Index& entry, Size n) {
    if (!n.known()) return std::nullopt;
    if (auto* slice = std::get_if<Slice>(&entry.value))
        return slice->step > 0 ? std::optional(run_of(*slice, n.value())) : std::nullopt;
    auto* integer = std::get_if<std::int64_t>(&entry.value);
    if (!integer || *integer < -n.value() || *integer >= n.value()) return std::nullopt;
    return Run{*integer < 0 ? *integer + n.value() : *integer, 1, 1};
}

/// Slices forwards and integers of sizes that are known, the most frequent indices by far: nodes without a plan.
std::optional<Tensor> part_forwards(const Tensor& x, std::span<const Index> entries) {
    const Shape& shape = x.shape();
    if (entries.empty() || entries.size() > shape.size()) return std::nullopt;
    Shape kept;
    bool whole = true;
    for (std::size_t axis = 0; axis < entries.size(); ++axis) {
        std::optional<Run> run = run_forwards(entries[axis], shape[axis]);
        if (!run) return std::nullopt;
        whole &= Size(run->length) == shape[axis];
        if (std::holds_alternative<Slice>(entries[axis].value)) kept.push_back(run->length);
    }
    std::source_location where = where_of(entries);
    auto part = [&] {
        SliceAttributes a;
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            bool given = axis < entries.size();
            Run run = given ? *run_forwards(entries[axis], shape[axis]) : Run{0, 0, 1};
            a.start.push_back({run.start});
            a.length.push_back(given ? Size(run.length) : shape[axis]);
            a.step.push_back(run.step);
        }
        return a;
    };
    Tensor box = whole ? x : make_node(slice_operation, {x}, attributes_made(part), where);
    if (kept.size() == entries.size()) return box;
    for (std::size_t axis = entries.size(); axis < shape.size(); ++axis) kept.push_back(shape[axis]);
    return reshape(Operand(box, where), kept);
}

// The second step.
Tensor picked(Tensor box, const Plan& plan, std::source_location where) {
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
Tensor laid_out(const Tensor& value, const Tensor& x, const Plan& plan) {
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

Tensor write_box(const Tensor& x, const Plan& plan, const Operand& value, ScatterMode mode,
                 std::source_location where_) {
    Tensor laid = laid_out(fitted(value, x, plan.shape, where_), x, plan);
    if (laid.dtype() == DType::bool_ && mode == ScatterMode::add) return logical_or(x, laid);
    if (mode == ScatterMode::add) return add(Operand(x, where_), laid);
    if (plan.length == x.shape()) return laid;
    Tensor there = laid_out(broadcast_to(constant(true, DType::bool_), plan.shape), x, plan);
    return where(Operand(there, where_), laid, x);
}

Tensor write_picked(const Tensor& x, const Plan& plan, const Operand& value, ScatterMode mode,
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
        (entry < flag ? before : behind) += consumed(*entry);
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
        Plan plan = Planner(x, entries).plan();
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
    Plan plan = placed(entries, [&] { return Planner(x, entries).plan(); });
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
