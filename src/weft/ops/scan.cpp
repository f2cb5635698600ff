#include "weft/ops/scan.h"

#include "weft/graph/node.h"
#include "weft/ops/batch.h"
#include "weft/ops/creation.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

Meta infer_scan(const Operation&, std::span<const Tensor> inputs, const Attributes*) {
    DType dtype = inputs[0].dtype();
    if (kind_of(dtype) == Kind::unsigned_integer)
        dtype = DType::uint64;
    else if (!is_inexact(dtype))
        dtype = DType::int64;
    return {inputs[0].shape(), dtype};
}

Tensor transpose_cumulative_sum(const Tensor& result, std::size_t, const Tensor& cotangent) {
    const ScanAttributes& a = attributes_of<ScanAttributes>(result);
    return cumulative_sum(cotangent, a.axis, {.reverse = !a.reverse, .exclusive = a.exclusive});
}

// `count` elements of the last axis.
Tensor part_of_rows(const Tensor& x, std::int64_t first, std::int64_t count) {
    Shape start(x.ndim(), Size(0)), length = x.shape();
    start.back() = first, length.back() = count;
    return slice(x, start, length);
}

// Along the last axis of n: moved up by one, a 0 in front.
Tensor moved_up(const Tensor& x, std::int64_t n) {
    Shape gap = x.shape();
    gap.back() = 1;
    return concatenate({zeros(gap, x.dtype()), part_of_rows(x, 0, n - 1)}, static_cast<std::int64_t>(x.ndim()) - 1);
}

// d_i = x_i d_{i-1} + c_i along the last axis of n: steps are joined two, four, eight, ... at a time. Each is linear in c. What has nothing
// before it stays as it is: an infinite x times 0 would be NaN.
Tensor linear_recurrence(Tensor x, Tensor c, std::int64_t n) {
    auto last = static_cast<std::int64_t>(x.ndim()) - 1;
    for (std::int64_t d = 1; d < n; d *= 2) {
        auto behind = [&](const Tensor& all) { return part_of_rows(all, d, n - d); };
        auto before = [&](const Tensor& all) { return part_of_rows(all, 0, n - d); };
        c = concatenate({part_of_rows(c, 0, d), behind(c) + behind(x) * before(c)}, last);
        if (2 * d < n) x = concatenate({part_of_rows(x, 0, d), behind(x) * before(x)}, last);
    }
    return c;
}

// y_i = x_i y_{i-1}, so dy_i = x_i dy_{i-1} + y_{i-1} t_i: without a quotient, so that zeros are no trouble. Where the axis's size is not known
// dy_i = sum_{j in J(i)} t_j * prod_{k in J(i), k != j} x_k: by the products before j, and those between j and i as an outer table, quadratic
// in the axis.
Tensor jvp_cumulative_prod(const Tensor& result, std::span<const Tensor> tangents) {
    const ScanAttributes& a = attributes_of<ScanAttributes>(result);
    Tensor x = handle(result.node()->inputs[0]);
    auto last = static_cast<std::int64_t>(x.ndim()) - 1;
    auto bring = [&](const Tensor& t) {
        Tensor moved = moveaxis(t, a.axis, last);
        return a.reverse ? flip(moved, {last}) : moved;
    };
    Tensor row = bring(x), tangent = bring(tangents[0]);
    Tensor before = cumulative_prod(row, last, {.exclusive = true});
    auto back = [&](const Tensor& t) { return moveaxis(a.reverse ? flip(t, {last}) : t, last, a.axis); };
    Size n = row.shape()[row.ndim() - 1];
    if (n.known()) {
        Tensor inclusive = linear_recurrence(row, before * tangent, n.value());
        return back(a.exclusive && n.value() > 0 ? moved_up(inclusive, n.value()) : inclusive);
    }
    Tensor positions = iota(n);
    Tensor i = expand_dims(positions, 1), j = expand_dims(positions, 0);
    Shape table = row.shape();
    table.push_back(n);
    // factors[..., j, k] = x_k for k > j (in scan order), 1 up to j; its running product along k: the product between j and i.
    Tensor later = where(less(i, j), broadcast_to(expand_dims(row, -2), table), Tensor(1.0f).astype(x.dtype()));
    Tensor between = cumulative_prod(later, static_cast<std::int64_t>(table.size()) - 1, {.exclusive = a.exclusive});
    Tensor allowed = a.exclusive ? less(i, j) : less_equal(i, j);
    Tensor weight = expand_dims(before * tangent, -1);
    Tensor terms = where(allowed, weight * between, Tensor(0.0f).astype(x.dtype()));
    return back(sum(terms, static_cast<std::int64_t>(table.size()) - 2));
}

Tensor batch_scan(const Tensor& result, const Batch& batch) {
    ScanAttributes a = attributes_of<ScanAttributes>(result);
    ++a.axis;
    return batch.like(result, batch.inputs, attributes(a));
}

Tensor scan(const Operation& operation, Reduction reduction, const Operand& x, std::int64_t axis, ScanOptions options) {
    Tensor tensor = x.as_tensor();
    axis = checked_axis(x, axis, tensor.ndim(), operation.name);
    Tensor joined = make_node(operation, {tensor},
                              attributes(ScanAttributes{reduction, axis, options.reverse, options.exclusive}), x.where);
    if (!options.include_initial) return joined;
    Shape one = tensor.shape();
    one[static_cast<std::size_t>(axis)] = 1;
    Tensor first = full(one, reduction == Reduction::sum ? 0 : 1, joined.dtype());
    return options.reverse ? concatenate({joined, first}, axis, x.where) : concatenate({first, joined}, axis, x.where);
}

}  // namespace

const Operation cumulative_sum_operation{
    .name = "cumulative_sum",
    .family = Family::scan,
    .doc = "Running sums along an axis.",
    .numpy = "cumsum",
    .torch = "cumsum",
    .infer = infer_scan,
    .transpose = transpose_cumulative_sum,
    .batch = batch_scan,
    .samples = {{{{3, 4}}, [](auto x) { return cumulative_sum(x[0], 1); }, "np.cumsum(x0, axis=1)"},
                {{{5, 3, 2}}, [](auto x) { return cumulative_sum(x[0], 0); }, "np.cumsum(x0, axis=0)"},
                {{{6}}, [](auto x) { return cumulative_sum(x[0], 0, {.reverse = true}); }, "np.cumsum(x0[::-1])[::-1]"},
                {{{6}},
                 [](auto x) { return cumulative_sum(x[0], 0, {.include_initial = true}); },
                 "np.concatenate([[0], np.cumsum(x0)]).astype(np.cumsum(x0).dtype)"}}};
const Operation cumulative_prod_operation{
    .name = "cumulative_prod",
    .family = Family::scan,
    .doc = "Running products along an axis.",
    .numpy = "cumprod",
    .torch = "cumprod",
    .infer = infer_scan,
    .jvp = jvp_cumulative_prod,
    .batch = batch_scan,
    .samples = {{{{3, 4}}, [](auto x) { return cumulative_prod(x[0], 1); }, "np.cumprod(x0, axis=1)"},
                {{{4, 2}},
                 [](auto x) { return cumulative_prod(x[0], 0, {.reverse = true}); },
                 "np.cumprod(x0[::-1], axis=0)[::-1]"}}};
WEFT_REGISTER(cumulative_sum_operation);
WEFT_REGISTER(cumulative_prod_operation);

Tensor cumulative_sum(const Operand& x, std::int64_t axis, ScanOptions options) {
    LineScope line(x.where);
    return scan(cumulative_sum_operation, Reduction::sum, x, axis, options);
}
Tensor cumulative_prod(const Operand& x, std::int64_t axis, ScanOptions options) {
    LineScope line(x.where);
    return scan(cumulative_prod_operation, Reduction::product, x, axis, options);
}

}  // namespace weft
