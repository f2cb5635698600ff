// What the oracle reads and writes with: elements by their indices, sums in long double. Callers: runtime/interpreter.cpp and
// interpreter_windows.h.
#pragma once

#include <complex>

#include "weft/compile/device.h"
#include "weft/kernel/join.h"

namespace weft::oracle {

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;

/// An operand, addressed by indices.
class Elements {
  public:
    Elements(const Layout& layout, void* address) : layout_(&layout), address_(address) {}
    const Dims& dims() const { return layout_->dims; }
    DType dtype() const { return layout_->dtype; }
    template <class T>
    T& at(const Dims& index) const {
        std::int64_t offset = 0;
        for (std::size_t i = 0; i < index.size(); ++i) offset += index[i] * layout_->strides[i];
        return static_cast<T*>(address_)[offset];
    }

  private:
    const Layout* layout_;
    void* address_;
};

/// f of every index of a box, row-major.
template <class F>
void for_each_index(const Dims& dims, F&& f) {
    std::int64_t count = 1;
    for (std::int64_t size : dims) count *= size;
    for (std::int64_t i = 0; i < count; ++i) {
        Dims at(dims.size());
        std::int64_t rest = i;
        for (std::size_t axis = dims.size(); axis-- > 0; rest /= dims[axis]) at[axis] = rest % dims[axis];
        f(at);
    }
}

/// A sum of T: exact for integers (wrapping) and bool ("or"), in long double for the rest.
template <class T>
class Sum {
    using Wide = std::conditional_t<std::is_integral_v<T>, T,
                                    std::conditional_t<is_complex<T>, std::complex<long double>, long double>>;
    Wide sum_ = Wide(0);
    static Wide wide(T x) {
        if constexpr (is_complex<T>)
            return {static_cast<long double>(x.real()), static_cast<long double>(x.imag())};
        else
            return static_cast<Wide>(x);
    }

  public:
    void add(T x) { sum_ = joined_sum(sum_, wide(x)); }
    void add_product(T a, T b) { sum_ = joined_sum(sum_, joined_product(wide(a), wide(b))); }
    void divide(std::int64_t n) {
        if constexpr (!std::is_integral_v<T>) sum_ /= static_cast<long double>(n);
    }
    T result() const {
        if constexpr (is_complex<T>)
            return {static_cast<typename T::value_type>(sum_.real()), static_cast<typename T::value_type>(sum_.imag())};
        else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>)
            return T(static_cast<float>(sum_));
        else
            return static_cast<T>(sum_);
    }
};

}  // namespace weft::oracle
