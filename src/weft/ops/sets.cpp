#include "weft/ops/sets.h"

#include <algorithm>
#include <numeric>

#include "weft/graph/node.h"

namespace weft {
namespace {

template <class T>
inline constexpr bool is_complex_number = false;
template <class T>
inline constexpr bool is_complex_number<std::complex<T>> = true;

/// An order in which NaN stands last, and of complex numbers those with a NaN.
template <class T>
bool before(const T& a, const T& b) {
    if constexpr (is_complex_number<T>) {
        bool a_nan = a != a, b_nan = b != b;
        if (a_nan || b_nan) return !a_nan && b_nan;
        return a.real() != b.real() ? a.real() < b.real() : a.imag() < b.imag();
    } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
        return before(static_cast<float>(a), static_cast<float>(b));
    } else {
        if (a != a || b != b) return a == a && b != b;
        return a < b;
    }
}

template <class T>
bool same(const T& a, const T& b) {
    if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>)
        return static_cast<float>(a) == static_cast<float>(b);
    else
        return a == b;
}

struct Found {
    std::vector<std::int64_t> first, counts;
    Array inverse;
};

template <class T>
Found find(const Array& x) {
    const T* values = x.data<T>();
    std::vector<std::int64_t> order(static_cast<std::size_t>(x.size()));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t i, std::int64_t j) { return before(values[i], values[j]); });
    Found found{{}, {}, Array::empty(DType::int64, x.dims)};
    auto* inverse = found.inverse.data<std::int64_t>();
    for (std::int64_t at : order) {
        if (found.first.empty() || !same(values[found.first.back()], values[at]))
            found.first.push_back(at), found.counts.push_back(0);
        ++found.counts.back();
        inverse[at] = static_cast<std::int64_t>(found.first.size()) - 1;
    }
    return found;
}

}  // namespace

Unique unique(const Operand& operand) {
    Tensor x = operand.as_tensor();
    if (x.node()->symbolic && !x.computed()) {
        throw ValueError(text("unique: how many distinct elements there are is not known before the value of shape ",
                              x.shape(),
                              " is computed, and here it is only declared (inside a traced function, or below "
                              "an input)",
                              place(operand.where)));
    }
    Array values = contiguous(x.array());
    return with_dtype(values.dtype, [&]<class T>(TypeTag<T>) {
        Found found = find<T>(values);
        auto count = static_cast<std::int64_t>(found.first.size());
        Array distinct = Array::empty(values.dtype, {count});
        for (std::size_t i = 0; i < found.first.size(); ++i) distinct.data<T>()[i] = values.data<T>()[found.first[i]];
        return Unique{distinct, Array::from(found.first, {count}), found.inverse, Array::from(found.counts, {count})};
    });
}

}  // namespace weft
