#include "weft/ops/index_plan.h"

#include <algorithm>

#include "weft/graph/node.h"

namespace weft {
namespace {

class Planner {
  public:
    Planner(const Tensor& x, std::span<const Index> entries) : x_(x), entries_(entries) {}

    IndexPlan plan() {
        std::int64_t axes = 0, dots = 0;
        for (const Index& entry : entries_) {
            axes += axes_taken(entry);
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
        IndexRun run = index_run(slice, n);
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
    IndexPlan plan_;
    bool any_tensor_ = false, gap_ = false;
};

}  // namespace

std::int64_t axes_taken(const Index& entry) {
    if (auto* tensor = std::get_if<Tensor>(&entry.value))
        return tensor->dtype() == DType::bool_ ? static_cast<std::int64_t>(tensor->ndim()) : 1;
    return std::holds_alternative<std::int64_t>(entry.value) || std::holds_alternative<Slice>(entry.value);
}

IndexRun index_run(const Slice& slice, std::int64_t n) {
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

IndexPlan plan_of_index(const Tensor& x, std::span<const Index> entries) { return Planner(x, entries).plan(); }

}  // namespace weft
