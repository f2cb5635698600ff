#include "weft/ops/sort.h"

#include "weft/graph/node.h"
#include "weft/ops/batch.h"
#include "weft/ops/creation.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

Meta infer_sort(const Operation&, std::span<const Tensor> inputs, const Attributes* attributes) {
    auto& a = attributes_of<SortAttributes>(attributes);
    Shape shape = inputs[0].shape();
    if (a.wanted >= 0) shape[static_cast<std::size_t>(a.axis)] = a.wanted;
    return {shape, inputs[0].dtype()};
}
Meta infer_argsort(const Operation&, std::span<const Tensor> inputs, const Attributes* attributes) {
    auto& a = static_cast<const AttributesOf<ArgsortAttributes>*>(attributes)->value;
    Shape shape = inputs[0].shape();
    if (a.first >= 0) shape[static_cast<std::size_t>(a.axis)] = a.first;
    return {shape, DType::int64};
}
Meta infer_search(const Operation&, std::span<const Tensor> inputs, const Attributes*) {
    return {inputs[1].shape(), DType::int64};
}

template <class A>
Tensor batch_sort(const Tensor& result, const Batch& batch) {
    A a = result.node()->attributes_as<A>();
    ++a.axis;
    return batch.like(result, batch.inputs, attributes(a));
}
Tensor jvp_sort(const Tensor& result, std::span<const Tensor> tangents) {
    auto& a = result.node()->attributes_as<SortAttributes>();
    Tensor order = argsort(input_of(result, 0), a.axis, a.descending);
    if (a.wanted >= 0) order = slice_along(order, static_cast<std::size_t>(a.axis), a.first, a.wanted);
    Tensor moved = take_along_axis(tangents[0], order, a.axis);
    return a.nan_spreads && is_inexact(result.dtype()) ? where(isnan(result), 0, moved) : moved;
}
/// Whether a comes before b, or, with `equal`, beside it; NaN is last.
Tensor before(const Tensor& a, const Tensor& b, bool equal) {
    Tensor less = equal ? a <= b : a < b;
    if (!is_inexact(a.dtype())) return less;
    return logical_or(less, equal ? isnan(b) : logical_and(isnan(b), logical_not(isnan(a))));
}
// Values may have any axes; of rows there is one. With a row for each example all are bisected at once: positions grow by halves of the
// row's length as long as what stands before them comes before the value.
Tensor batch_search(const Tensor& result, const Batch& batch) {
    if (!batch.batched[0]) return batch.like(result, batch.inputs);
    const Tensor& rows = batch.inputs[0];
    if (!rows.shape()[1].known() || is_complex(rows.dtype()) || rows.dtype() == DType::bool_) return {};
    std::int64_t length = rows.shape()[1].value(), half = 1;
    bool right = result.node()->attributes_as<SearchAttributes>().right;
    while (half <= length / 2) half *= 2;
    Size count = element_count(result.shape());
    Tensor values = reshape(batch.all(1), {batch.size, count});
    Tensor at = zeros({batch.size, count}, DType::int64);
    for (; half >= 1 && length > 0; half /= 2) {
        Tensor next = at + half;
        Tensor there = take_along_axis(rows, minimum(next, length) - 1, 1);
        at = where(logical_and(next <= length, before(there, values, right)), next, at);
    }
    return reshape(at, batch.shape(result.shape()));
}

const Operation topk_operation{
    .name = "topk",
    .family = Family::composite,
    .doc = "The k largest along an axis, best first.",
    .torch = "topk",
    .composite = true,
    .samples = {
        {{{3, 7}}, [](auto x) { return topk(x[0], 3).first; }, "np.sort(x0)[:, ::-1][:, :3]"},
        {{{6, 2}}, [](auto x) { return topk(x[0], 2, 0, false).second; }, "np.argsort(x0, 0, kind='stable')[:2]"}}};

}  // namespace

const Operation sort_operation{
    .name = "sort",
    .family = Family::sort,
    .doc = "The elements in order along an axis; NaN last.",
    .numpy = "sort",
    .torch = "sort",
    .infer = infer_sort,
    .jvp = jvp_sort,
    .batch = batch_sort<SortAttributes>,
    .samples = {{{{3, 7}}, [](auto x) { return sort(x[0]); }, "np.sort(x0)"},
                {{{6, 2}}, [](auto x) { return sort(x[0], 0, true); }, "np.sort(x0, 0)[::-1]"},
                {{{2, 300}}, [](auto x) { return sorted_part(x[0], 148, 2); }, "np.sort(x0)[:, 148:150]"}}};
const Operation argsort_operation{
    .name = "argsort",
    .family = Family::sort,
    .doc = "The positions that put the elements in order along an axis; NaN last.",
    .numpy = "argsort",
    .torch = "argsort",
    .infer = infer_argsort,
    .batch = batch_sort<ArgsortAttributes>,
    .differentiable = false,
    .samples = {{{{3, 7}}, [](auto x) { return argsort(x[0]); }, "np.argsort(x0, kind='stable')"},
                {{{70, 2}}, [](auto x) { return argsort(x[0], 0); }, "np.argsort(x0, 0, kind='stable')"},
                {{{2, 1000}}, [](auto x) { return argsort(x[0]); }, "np.argsort(x0, kind='stable')"},
                {{{0, 2}}, [](auto x) { return argsort(x[0], 0); }, "np.argsort(x0, 0)"}}};
const Operation searchsorted_operation{
    .name = "searchsorted",
    .family = Family::sort,
    .arity = 2,
    .doc = "Where values would be inserted into a sorted row.",
    .numpy = "searchsorted",
    .torch = "searchsorted",
    .infer = infer_search,
    .batch = batch_search,
    .differentiable = false,
    .samples = {
        {{{9}, {2, 3}}, [](auto x) { return searchsorted(sort(x[0]), x[1]); }, "np.searchsorted(np.sort(x0), x1)"},
        {{{9}, {9}},
         [](auto x) { return searchsorted(sort(x[0]), x[0], true); },
         "np.searchsorted(np.sort(x0), x0, 'right')"}}};
WEFT_REGISTER(argsort_operation);
WEFT_REGISTER(searchsorted_operation);
WEFT_REGISTER(sort_operation);
WEFT_REGISTER(topk_operation);

std::int64_t wanted_positions(const ArgsortAttributes& a, std::int64_t size) {
    if (a.first <= size) return a.first < 0 ? size : a.first;
    throw ValueError(text("topk: ", a.first, " of the ", size, " elements along axis ", a.axis,
                          "; k must lie between 0 and the size"));
}

Tensor argsort(const Operand& x, std::int64_t axis, bool descending, bool) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    axis = checked_axis(x, axis, tensor.ndim(), "argsort");
    return make_node(argsort_operation, {tensor}, attributes(ArgsortAttributes{axis, descending}), x.where);
}

Tensor sort(const Operand& x, std::int64_t axis, bool descending, bool) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    axis = checked_axis(x, axis, tensor.ndim(), "sort");
    return make_node(sort_operation, {tensor}, attributes(SortAttributes{axis, descending}), x.where);
}

Tensor sorted_part(const Operand& x, std::int64_t first, std::int64_t count, std::int64_t axis) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    axis = checked_axis(x, axis, tensor.ndim(), "sorted_part");
    Size size = tensor.shape()[static_cast<std::size_t>(axis)];
    if (!size.known() || first < 0 || count < 0 || first > size.value() - count)
        throw ValueError(text("sorted_part: ", count, " elements from place ", first, " on of the ", size,
                              " along axis ", axis, "; they must be among these", place(x.where)));
    return make_node(sort_operation, {tensor}, attributes(SortAttributes{axis, false, first, count, true}), x.where);
}

std::pair<Tensor, Tensor> topk(const Operand& x, std::int64_t k, std::int64_t axis, bool largest) {
    Tensor tensor = x.as_tensor();
    axis = checked_axis(x, axis, tensor.ndim(), "topk");
    auto at = static_cast<std::size_t>(axis);
    Size size = tensor.shape()[at];
    if (k < 0 || (size.known() && k > size.value())) {
        throw ValueError(text("topk: ", k, " of the ", size, " elements along axis ", axis, " of shape ",
                              tensor.shape(), "; k must lie between 0 and the size", place(x.where)));
    }
    Operand placed(tensor, x.where);
    Tensor positions = make_node(argsort_operation, {tensor}, attributes(ArgsortAttributes{axis, largest, k}), x.where);
    return {take_along_axis(placed, positions, axis), positions};
}

Tensor searchsorted(const Operand& sorted, const Operand& values, bool right) {
    LineScope line(sorted.where);
    Tensor row = sorted.as_tensor();
    // A number that the row's type does not hold still has its place: beyond all of them.
    bool fits = !values.weak() || values.literal.fits(row.dtype());
    Tensor wanted = !values.weak() ? values.tensor
                    : fits         ? values.as(promote_weak(row.dtype(), values.literal.kind))
                                   : values.as(DType::float64);
    if (row.ndim() != 1)
        throw ShapeError(text("searchsorted: the sorted values have shape ", row.shape(),
                              "; they must be one row (1-d)", place(sorted.where)));
    DType dtype = promote(row.dtype(), wanted.dtype());
    return make_node(searchsorted_operation, {row.astype(dtype, sorted.where), wanted.astype(dtype, sorted.where)},
                     attributes(SearchAttributes{right}), sorted.where);
}

}  // namespace weft
