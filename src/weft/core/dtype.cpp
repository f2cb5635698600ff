#include "weft/core/dtype.h"

#include <array>

#include "weft/base/error.h"
#include "weft/base/nearest.h"

namespace weft {
namespace {

struct Facts {
    std::string_view name;
    Kind kind;
    std::uint8_t bytes;
};

constexpr std::array<Facts, dtype_count> facts{{
    {"bool", Kind::boolean, 1},
    {"int8", Kind::signed_integer, 1},
    {"int16", Kind::signed_integer, 2},
    {"int32", Kind::signed_integer, 4},
    {"int64", Kind::signed_integer, 8},
    {"uint8", Kind::unsigned_integer, 1},
    {"uint16", Kind::unsigned_integer, 2},
    {"uint32", Kind::unsigned_integer, 4},
    {"uint64", Kind::unsigned_integer, 8},
    {"float16", Kind::floating, 2},
    {"bfloat16", Kind::floating, 2},
    {"float32", Kind::floating, 4},
    {"float64", Kind::floating, 8},
    {"complex64", Kind::complex, 8},
    {"complex128", Kind::complex, 16},
}};

const Facts& of(DType dtype) { return facts[static_cast<std::size_t>(dtype)]; }

DType signed_of_bytes(std::size_t bytes) {
    return bytes <= 1 ? DType::int8 : bytes == 2 ? DType::int16 : bytes == 4 ? DType::int32 : DType::int64;
}

DType promote_integers(DType a, DType b) {
    if (kind_of(a) == kind_of(b)) return size_of(a) >= size_of(b) ? a : b;
    DType with_sign = kind_of(a) == Kind::signed_integer ? a : b;
    DType without = with_sign == a ? b : a;
    if (size_of(with_sign) > size_of(without)) return with_sign;
    if (size_of(without) == 8) return DType::float64;  // no integer holds both; NumPy's answer
    return signed_of_bytes(2 * size_of(without));
}

DType promote_floats(DType a, DType b) {
    if (is_half(a) && is_half(b) && a != b) return DType::float32;  // neither half holds the other
    return size_of(a) >= size_of(b) ? a : b;
}

}  // namespace

Kind kind_of(DType dtype) { return of(dtype).kind; }
std::size_t size_of(DType dtype) { return of(dtype).bytes; }
std::string_view name_of(DType dtype) { return of(dtype).name; }
std::ostream& operator<<(std::ostream& out, DType dtype) { return out << name_of(dtype); }

std::span<const DType> all_dtypes() {
    static const std::array<DType, dtype_count> all = [] {
        std::array<DType, dtype_count> list{};
        for (int i = 0; i < dtype_count; ++i) list[static_cast<std::size_t>(i)] = static_cast<DType>(i);
        return list;
    }();
    return all;
}

DType dtype_named(std::string_view name) {
    std::vector<std::string_view> names;
    for (DType dtype : all_dtypes()) {
        if (name_of(dtype) == name) return dtype;
        names.push_back(name_of(dtype));
    }
    throw DTypeError(text("there is no dtype named '", name, "'", did_you_mean(name, names)));
}

DType promote(DType a, DType b) {
    if (a == b) return a;
    if (kind_of(a) == Kind::boolean) return b;
    if (kind_of(b) == Kind::boolean) return a;
    if (is_integer(a) && is_integer(b)) return promote_integers(a, b);
    if (is_integer(a)) return b;
    if (is_integer(b)) return a;
    if (is_floating(a) && is_floating(b)) return promote_floats(a, b);
    bool wide = real_of(a) == DType::float64 || real_of(b) == DType::float64;
    return wide ? DType::complex128 : DType::complex64;
}

DType promote_weak(DType array, Kind scalar) {
    Kind kind = kind_of(array);
    switch (scalar) {
        case Kind::boolean:
            return array;
        case Kind::signed_integer:
        case Kind::unsigned_integer:
            return kind == Kind::boolean ? DType::int64 : array;
        case Kind::floating:
            return inexact(array);
        case Kind::complex:
            return array == DType::float64 || array == DType::complex128 ? DType::complex128 : DType::complex64;
    }
    __builtin_unreachable();
}

DType default_dtype(Kind scalar) {
    switch (scalar) {
        case Kind::boolean:
            return DType::bool_;
        case Kind::signed_integer:
        case Kind::unsigned_integer:
            return DType::int64;
        case Kind::floating:
            return DType::float32;
        case Kind::complex:
            return DType::complex64;
    }
    __builtin_unreachable();
}

DType inexact(DType dtype) { return is_inexact(dtype) ? dtype : DType::float32; }

DType real_of(DType dtype) {
    if (dtype == DType::complex64) return DType::float32;
    return dtype == DType::complex128 ? DType::float64 : dtype;
}

DType compute_dtype(DType dtype) { return is_half(dtype) ? DType::float32 : dtype; }

}  // namespace weft
