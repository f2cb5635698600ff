#include "weft/check/draw.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft {
namespace {

template <class T>
T value_as(double number) {
    if constexpr (std::is_same_v<T, bool>)
        return number != 0;
    else
        return static_cast<T>(number);
}
template <>
Float16 value_as(double number) {
    return Float16(static_cast<float>(number));
}
template <>
BFloat16 value_as(double number) {
    return BFloat16(static_cast<float>(number));
}

template <class T>
std::pair<double, double> range_of() {
    return {static_cast<double>(std::numeric_limits<T>::lowest()), static_cast<double>(std::numeric_limits<T>::max())};
}

std::pair<double, double> integer_range(DType dtype) {
    std::pair<double, double> range{0, 1};
    with_dtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (std::is_integral_v<T>) range = range_of<T>();
    });
    return range;
}

}  // namespace

Draw::Draw(std::string_view seed) {
    Hasher hasher;
    hasher.add(seed);
    state_ = hasher.result().low;
}

std::uint64_t Draw::bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

double Draw::uniform(double low, double high) {
    return low + (high - low) * (static_cast<double>(bits() >> 11) * 0x1p-53);
}
std::int64_t Draw::below(std::int64_t n) { return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(n)); }

double Draw::number(DType dtype, const Domain* domain) {
    if (dtype == DType::bool_) return static_cast<double>(below(2));
    if (!is_integer(dtype)) return domain ? uniform(domain->low, domain->high) : uniform(-3, 3);
    auto [lowest, highest] = integer_range(dtype);
    double far = below(2) ? 4 : 100;  // small ones, so that operands meet, divide and repeat
    double low = std::max(lowest, domain ? std::ceil(domain->low) : -far),
           high = std::min(highest, domain ? std::floor(domain->high) : far);
    if (low > high) low = high = std::clamp(low, lowest, highest);
    return low + static_cast<double>(below(static_cast<std::int64_t>(high - low) + 1));
}

Array Draw::array(DType dtype, const Dims& dims, const Domain* domain) {
    Array array = Array::empty(dtype, dims);
    with_dtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        T* to = array.data<T>();
        std::int64_t size = array.size();
        if constexpr (std::is_floating_point_v<T>) {  // millions of them, at times under a sanitizer
            double low = domain ? domain->low : -3, high = domain ? domain->high : 3;
            for (std::int64_t i = 0; i < size; ++i) to[i] = static_cast<T>(uniform(low, high));
            return;
        }
        for (std::int64_t i = 0; i < size; ++i) {
            if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
                using Part = typename T::value_type;
                auto re = static_cast<Part>(number(real_of(dtype), domain));
                double high = domain ? (domain->high - domain->low) / 2 : 2;
                to[i] = T(re, static_cast<Part>(uniform(-high, high)));
            } else {
                to[i] = value_as<T>(number(dtype, domain));
            }
        }
    });
    return array;
}

Array Draw::indices(DType dtype, const Dims& dims, std::int64_t limit) {
    Array array = Array::empty(dtype, dims);
    bool from_end = kind_of(dtype) == Kind::signed_integer;
    with_dtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        for (std::int64_t i = 0; i < array.size(); ++i) {
            std::int64_t index = below(limit);
            array.data<T>()[i] = value_as<T>(static_cast<double>(from_end && below(4) == 0 ? index - limit : index));
        }
    });
    return array;
}

std::string_view name_of(Form form) {
    static constexpr std::string_view names[] = {"contiguous", "transposed", "strided",
                                                 "reversed",   "shifted",    "repeated"};
    return names[static_cast<std::size_t>(form)];
}

Array laid_out(const Array& array, Form form) {
    Array to = array;
    Dims outer = array.dims;  // of the memory that holds it
    if (form == Form::contiguous) return contiguous(array);
    if (form == Form::transposed) std::reverse(outer.begin(), outer.end());
    if (form == Form::strided)
        for (std::int64_t& size : outer) size *= 2;
    if (form == Form::repeated && !outer.empty()) outer[0] = std::min<std::int64_t>(outer[0], 1);
    if (form == Form::shifted) outer = {array.size() + 3};
    Array memory = Array::zeros(array.dtype, outer);
    to.buffer = memory.buffer;
    to.offset = form == Form::shifted ? 3 : 0;
    to.strides = form == Form::shifted ? contiguous_strides(array.dims) : memory.strides;
    if (form == Form::transposed) std::reverse(to.strides.begin(), to.strides.end());
    for (std::size_t i = 0; i < to.dims.size(); ++i) {
        if (form == Form::strided) to.strides[i] *= 2;
        if (form == Form::reversed && to.dims[i] > 0)
            to.offset += (to.dims[i] - 1) * to.strides[i], to.strides[i] = -to.strides[i];
    }
    if (form == Form::repeated && !to.dims.empty() && to.dims[0] > 0) {
        Array first = to, from = array;
        first.dims[0] = from.dims[0] = 1;
        copy_elements(from, first);
        to.strides[0] = 0;
    } else {
        copy_elements(array, to);
    }
    return to;
}

Array special_values(DType dtype, double limit) {
    std::vector<double> values{0, 1, 2, -1, 7};
    if (is_integer(dtype)) {
        double low = integer_range(dtype).first;
        values.insert(values.end(), {low, low / 2 - 1, 63});
    }
    bool half = dtype == DType::float16, brain = dtype == DType::bfloat16, wide = real_of(dtype) == DType::float64;
    if (is_inexact(dtype)) {
        double inf = std::numeric_limits<double>::infinity();
        double most = half ? 65504 : wide ? std::numeric_limits<double>::max() : brain ? 0x1.fep127 : 0x1.fffffep127;
        double least = half    ? 0x1p-24
                       : wide  ? 0x1p-1074
                       : brain ? 0x1p-133
                               : 0x1p-149,
               normal = half   ? 0x1p-14
                        : wide ? 0x1p-1022
                               : 0x1p-126;
        values.insert(values.end(), {-0.0, 0.5, -0.5, 1.5, 2.5, -2.5, inf, -inf, std::nan(""), most, -most, least,
                                     -least, 3 * least, normal, -normal, 1e4, -88.5});
    }
    for (double& value : values) value = std::min(value, limit);  // but NaN
    Array array = Array::empty(dtype, {static_cast<std::int64_t>(values.size())});
    with_dtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        constexpr bool whole = std::is_integral_v<T> && !std::is_same_v<T, bool>;
        auto most = [limit]() -> T {                          // in place of what a type without a sign has not
            constexpr T end = std::numeric_limits<T>::max();  // not every one is a double
            if constexpr (whole) return limit < static_cast<double>(end) ? value_as<T>(limit) : end;
            return end;
        };
        for (std::size_t i = 0; i < values.size(); ++i)
            array.data<T>()[i] = whole && std::is_unsigned_v<T> && values[i] < 0 ? most() : value_as<T>(values[i]);
        if (whole) array.data<T>()[4] = most();
    });
    return array;
}

}  // namespace weft
