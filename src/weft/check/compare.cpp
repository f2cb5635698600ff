#include "weft/check/compare.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace weft {
namespace {

template <class T>
bool is_nan(T value) {
    if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>)
        return std::isnan(static_cast<float>(value));
    else if constexpr (std::is_floating_point_v<T>)
        return std::isnan(value);
    else
        return false;
}

template <class T>
bool same_bits(T a, T b) {
    return std::memcmp(&a, &b, sizeof(T)) == 0 || (is_nan(a) && is_nan(b));
}
template <class T>
bool same_bits(std::complex<T> a, std::complex<T> b) {
    return same_bits(a.real(), b.real()) && same_bits(a.imag(), b.imag());
}

std::string written(double value) {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%.17g", value);
    return buffer;
}

template <class T>
std::string written(T value) {
    if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
        return written(static_cast<double>(value.real())) + "+" + written(static_cast<double>(value.imag())) + "j";
    } else if constexpr (std::is_integral_v<T>) {
        return text(+value);
    } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
        return written(static_cast<double>(static_cast<float>(value)));
    } else {
        return written(static_cast<double>(value));
    }
}

std::string other_form(const Array& expected, const Array& found) {
    if (expected.dtype != found.dtype) return text("dtype ", found.dtype, " in place of ", expected.dtype);
    if (!(expected.dims == found.dims)) return text("shape ", found.dims, " in place of ", expected.dims);
    return "";
}

// Most often all bytes are the same: element by element, in a build for sanitizers, they take a hundred times as long.
bool same_bytes(const Array& a, const Array& b) {
    auto bytes = static_cast<std::size_t>(a.size()) * size_of(a.dtype);
    return bytes == 0 || std::memcmp(a.address(), b.address(), bytes) == 0;
}

// The place of element i, counted row-major, and the two values there.
template <class T>
std::string at(const Array& array, std::int64_t i, T expected, T found) {
    Dims index(array.ndim());
    for (std::size_t axis = array.ndim(); axis-- > 0; i /= array.dims[axis]) index[axis] = i % array.dims[axis];
    return text("at ", index, " of ", array.dtype, array.dims, ": ", written(found), " in place of ",
                written(expected));
}

bool close(double expected, double found, double absolute, double relative) {
    if (std::isnan(expected) || std::isnan(found)) return std::isnan(expected) && std::isnan(found);
    if (std::isinf(expected) || std::isinf(found)) return expected == found;
    return std::abs(expected - found) <= absolute + relative * std::abs(expected);
}

}  // namespace

std::string difference(const Array& expected, const Array& found) {
    if (std::string form = other_form(expected, found); !form.empty()) return form;
    Array a = contiguous(expected), b = contiguous(found);
    if (same_bytes(a, b)) return "";
    return with_dtype(a.dtype, [&](auto tag) -> std::string {
        using T = typename decltype(tag)::Type;
        for (std::int64_t i = 0; i < a.size(); ++i) {
            if (!same_bits(a.data<T>()[i], b.data<T>()[i])) return at(a, i, a.data<T>()[i], b.data<T>()[i]);
        }
        return "";
    });
}

std::string difference(const Array& expected, const Array& found, double absolute, double relative) {
    if (!is_inexact(expected.dtype)) return difference(expected, found);
    if (std::string form = other_form(expected, found); !form.empty()) return form;
    if (same_bytes(contiguous(expected), contiguous(found))) return "";
    std::vector<double> a = as_doubles(expected), b = as_doubles(found);
    std::int64_t parts = is_complex(expected.dtype) ? 2 : 1;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!close(a[i], b[i], absolute, relative)) {
            return at(expected, static_cast<std::int64_t>(i) / parts, a[i], b[i]) +
                   text(", off by ", std::abs(a[i] - b[i]), ", allowed ", absolute + relative * std::abs(a[i]));
        }
    }
    return "";
}

double epsilon_of(DType dtype) {
    switch (real_of(dtype)) {
        case DType::float16:
            return 0x1p-10;
        case DType::bfloat16:
            return 0x1p-7;
        case DType::float32:
            return 0x1p-23;
        case DType::float64:
            return 0x1p-52;
        default:
            return 0;
    }
}

std::vector<double> as_doubles(const Array& array) {
    Array dense = contiguous(array);
    std::vector<double> values;
    with_dtype(dense.dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        for (std::int64_t i = 0; i < dense.size(); ++i) {
            T value = dense.data<T>()[i];
            if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
                values.push_back(static_cast<double>(value.real())),
                    values.push_back(static_cast<double>(value.imag()));
            } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
                values.push_back(static_cast<double>(static_cast<float>(value)));
            } else {
                values.push_back(static_cast<double>(value));
            }
        }
    });
    return values;
}

}  // namespace weft
