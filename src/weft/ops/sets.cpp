#include "weft/ops/sets.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "weft/graph/node.h"
#include "weft/ops/arrange.h"
#include "weft/ops/creation.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/indexing.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/sort.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

template <class T>
inline constexpr bool is_complex_number = false;
template <class T>
inline constexpr bool is_complex_number<std::complex<T>> = true;

/// An order in which those with a NaN stand last.
template <class T>
bool before(const T& a, const T& b) {
    bool a_nan = a != a, b_nan = b != b;
    if (a_nan || b_nan) return !a_nan && b_nan;
    return a.real() != b.real() ? a.real() < b.real() : a.imag() < b.imag();
}

/// Positions in order, stable; NaN stands last, and of complex numbers those with a NaN.
template <class T>
std::vector<std::int64_t> order_of(const Array& x) {
    if constexpr (is_complex_number<T>) {
        const T* values = x.data<T>();
        std::vector<std::int64_t> order(static_cast<std::size_t>(x.size()));
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(),
                         [&](std::int64_t i, std::int64_t j) { return before(values[i], values[j]); });
        return order;
    } else {
        return argsort(reshape(Tensor(x), {x.size()})).template to_vector<std::int64_t>();
    }
}

template <class T>
bool same(const T& a, const T& b, bool equal_nan) {
    if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>)
        return same(static_cast<float>(a), static_cast<float>(b), equal_nan);
    else
        return a == b || (equal_nan && a != a && b != b);
}

struct Found {
    std::vector<std::int64_t> first, counts;
    Array inverse;
};

template <class T>
Found find(const Array& x, bool equal_nan) {
    const T* values = x.data<T>();
    Found found{{}, {}, Array::empty(DType::int64, x.dims)};
    auto* inverse = found.inverse.data<std::int64_t>();
    for (std::int64_t at : order_of<T>(x)) {
        if (found.first.empty() || !same(values[found.first.back()], values[at], equal_nan))
            found.first.push_back(at), found.counts.push_back(0);
        ++found.counts.back();
        inverse[at] = static_cast<std::int64_t>(found.first.size()) - 1;
    }
    return found;
}

void refuse_undetermined(const Tensor& x, const Operand& operand) {
    if (!has_numbers(x)) {
        throw ValueError(text("unique: how many distinct elements there are is not known before the value of shape ",
                              x.shape(),
                              " is computed, and here it is only declared (inside a traced function, or below "
                              "an input)",
                              place(operand.where)));
    }
}

}  // namespace

Unique unique(const Operand& operand) { return unique(operand, UniqueOptions{}); }

// Without places: of equal elements the sorted ones hold that first which stood first.
Tensor unique_values(const Operand& operand, UniqueOptions options) {
    Tensor x = operand.as_tensor();
    if (is_complex(x.dtype())) return unique(operand, options).values;
    refuse_undetermined(x, operand);
    Array sorted = contiguous(sort(Operand(ravel(x), operand.where)).array());
    return with_dtype(sorted.dtype, [&]<class T>(TypeTag<T>) {
        const T* values = sorted.data<T>();
        std::int64_t size = sorted.size(), count = size > 0 ? 1 : 0;
        auto begins = [&](std::int64_t i) { return !same(values[i - 1], values[i], options.equal_nan); };
        for (std::int64_t i = 1; i < size; ++i) count += begins(i);
        Array distinct = Array::empty(sorted.dtype, {count});
        T* to = distinct.data<T>();
        for (std::int64_t i = size; i-- > 0;) {  // the first of equal ones is written last
            to[count - 1] = values[i];
            if (i > 0) count -= begins(i);
        }
        return Tensor(distinct);
    });
}

Unique unique(const Operand& operand, UniqueOptions options) {
    Tensor x = operand.as_tensor();
    refuse_undetermined(x, operand);
    Array values = contiguous(x.array());
    return with_dtype(values.dtype, [&]<class T>(TypeTag<T>) {
        Found found = find<T>(values, options.equal_nan);
        auto count = static_cast<std::int64_t>(found.first.size());
        Array distinct = Array::empty(values.dtype, {count});
        for (std::size_t i = 0; i < found.first.size(); ++i) distinct.data<T>()[i] = values.data<T>()[found.first[i]];
        return Unique{distinct, Array::from(found.first, {count}), found.inverse, Array::from(found.counts, {count})};
    });
}

Unique unique(const Operand& operand, std::int64_t axis) {
    Tensor x = operand.as_tensor();
    axis = checked_axis(operand, axis, x.ndim(), "unique");
    Tensor first = moveaxis(Operand(x, operand.where), axis, 0);
    std::int64_t rows = first.shape()[0].value(), width = 1;
    for (std::size_t i = 1; i < first.ndim(); ++i) width *= first.shape()[i].value();
    // Each element's place among all distinct ones: rows compare as these numbers do.
    std::vector<std::int64_t> rank = unique(Operand(first, operand.where)).inverse.to_vector<std::int64_t>();
    auto row = [&](std::int64_t i) {
        return std::span(rank).subspan(static_cast<std::size_t>(i * width), static_cast<std::size_t>(width));
    };
    auto same_row = [&](std::int64_t i, std::int64_t j) { return std::ranges::equal(row(i), row(j)); };
    std::vector<std::int64_t> order(static_cast<std::size_t>(rows)), kept, counts,
        inverse(static_cast<std::size_t>(rows));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
        return std::ranges::lexicographical_compare(row(i), row(j));
    });
    for (std::int64_t at : order) {
        if (kept.empty() || !same_row(kept.back(), at)) kept.push_back(at), counts.push_back(0);
        ++counts.back();
        inverse[static_cast<std::size_t>(at)] = static_cast<std::int64_t>(kept.size()) - 1;
    }
    auto count = static_cast<std::int64_t>(kept.size());
    Tensor indices = Tensor::of(kept, {count});
    return {take(Operand(x, operand.where), indices, axis), indices, Tensor::of(inverse, {rows}),
            Tensor::of(counts, {count})};
}

Tensor isin(const Operand& given, const Operand& others) {
    LineScope line(given.where);
    auto beside = [](const Operand& number, const Operand& other) {  // a plain number is of the other's kind
        bool real =
            number.weak() && !other.weak() && is_inexact(other.tensor.dtype()) && number.literal.kind != Kind::complex;
        return real ? Operand(astype(number, other.tensor.dtype()), number.where) : number;
    };
    Tensor x = beside(given, others).as_tensor(), among = ravel(beside(others, given));
    DType meet = promote(x.dtype(), among.dtype());
    x = astype(x, meet), among = astype(among, meet);
    if (among.shape()[0] == Size(0)) return full(x.shape(), false, DType::bool_);
    if (is_complex(meet)) return any(equal(expand_dims(x, -1), among), {-1});
    Tensor sorted = sort(among);
    Tensor at = minimum(searchsorted(sorted, x), among.shape()[0].value() - 1);
    return equal(take(sorted, at), x);
}

Tensor union1d(const Operand& x, const Operand& y) {
    LineScope line(x.where);
    return unique_values(Operand(concatenate({ravel(x), ravel(y)}), x.where), {.equal_nan = true});
}

namespace {
/// Those of the distinct elements of x that are among y, or that are not.
Tensor kept_of(const Operand& x, const Operand& y, bool among) {
    Tensor values = unique_values(x, {.equal_nan = true});
    Tensor mask = isin(values, y);
    return index(values, std::array{Index(among ? mask : logical_not(mask))});
}
}  // namespace

Tensor intersect1d(const Operand& x, const Operand& y) {
    LineScope line(x.where);
    return kept_of(x, y, true);
}

Tensor setdiff1d(const Operand& x, const Operand& y) {
    LineScope line(x.where);
    return kept_of(x, y, false);
}

Tensor setxor1d(const Operand& x, const Operand& y) {
    LineScope line(x.where);
    return unique_values(concatenate({setdiff1d(x, y), setdiff1d(y, x)}));
}

Tensor lexsort(const Operand& keys, std::int64_t axis) {
    LineScope line(keys.where);
    Tensor all = keys.as_tensor();
    if (all.ndim() < 1 || all.shape()[0] == Size(0))
        throw ShapeError(text("lexsort: needs a key, not ", all.shape(), place(keys.where)));
    std::vector<Tensor> by = unstack(keys);
    if (by[0].ndim() == 0) return zeros({}, DType::int64);
    Tensor order = argsort(by[0], axis);
    for (std::size_t i = 1; i < by.size(); ++i)
        order = take_along_axis(order, argsort(take_along_axis(by[i], order, axis), axis), axis);
    return order;
}

}  // namespace weft
