#include "weft/kernel/scalar.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "weft/base/error.h"
#include "weft/kernel/function.h"

namespace weft {
namespace {

/// The builder of the operands; a DTypeError if all are plain numbers, which have no type to compute in.
ScalarBuilder& builder_of(std::string_view name, std::span<const Scalar> operands) {
    ScalarBuilder* found = nullptr;
    for (const Scalar& operand : operands) {
        if (!operand.builder()) continue;
        promise(!found || found == operand.builder(), "the operands of a scalar operation come from one builder");
        found = operand.builder();
    }
    if (!found) throw DTypeError(text(name, ": all operands are plain numbers, so there is no type to compute in"));
    return *found;
}

bool fits(const Literal& number, DType dtype) {
    switch (number.kind) {
        case Kind::boolean:
            return true;
        case Kind::signed_integer:
        case Kind::unsigned_integer:
            return dtype != DType::bool_ || number.integer == 0 || number.integer == 1;
        case Kind::floating:
            return is_inexact(dtype) || (is_integer(dtype) && number.real == std::trunc(number.real));
        case Kind::complex:
            return is_complex(dtype);
    }
    __builtin_unreachable();
}

/// The operand itself, or a plain number as a constant of the type.
Scalar typed(std::string_view name, ScalarBuilder& builder, const Scalar& operand, DType dtype) {
    if (operand.builder()) {
        if (operand.dtype() == dtype) return operand;
        throw DTypeError(
            text(name, ": the operands' types differ: ", dtype, " and ", operand.dtype(), "; cast one of them"));
    }
    if (!fits(operand.literal(), dtype)) {
        throw DTypeError(
            text(name, ": the number ", operand.literal(), " is not a ", dtype, "; cast the other operand first"));
    }
    return builder.constant(dtype, operand.literal());
}

/// The type of the first operand that has one.
DType dtype_among(std::string_view name, std::span<const Scalar> operands) {
    for (const Scalar& operand : operands) {
        if (operand.builder()) return operand.dtype();
    }
    throw DTypeError(text(name, ": all operands are plain numbers, so there is no type to compute in"));
}

/// What the conditions among the operands compared.
DType compared_among(std::span<const Scalar> operands) {
    for (const Scalar& operand : operands) {
        if (operand.builder()) return operand.compared();
    }
    return DType::float32;
}

Scalar apply_select(ScalarBuilder& builder, std::span<const Scalar> operands) {
    auto name = name_of(Opcode::select);
    if (operands[0].builder() && operands[0].dtype() != DType::bool_) {
        throw DTypeError(text(name, ": the condition must be bool, not ", operands[0].dtype(), "; compare it with 0"));
    }
    bool numbers = !operands[1].builder() && !operands[2].builder();
    DType dtype = numbers ? operands[0].compared() : dtype_among(name, operands.subspan(1));
    std::array<Scalar, 3> all{typed(name, builder, operands[0], DType::bool_), typed(name, builder, operands[1], dtype),
                              typed(name, builder, operands[2], dtype)};
    return builder.emit(Opcode::select, dtype, all);
}

bool compares(Opcode opcode) {
    return opcode == Opcode::equal || opcode == Opcode::not_equal || opcode == Opcode::less ||
           opcode == Opcode::less_equal;
}

Scalar unary(Opcode opcode, const Scalar& a) { return apply(opcode, {&a, 1}); }
Scalar binary(Opcode opcode, const Scalar& a, const Scalar& b) {
    Scalar operands[] = {a, b};
    return apply(opcode, operands);
}

}  // namespace

Scalar apply(Opcode opcode, std::span<const Scalar> operands) {
    auto name = name_of(opcode);
    ScalarBuilder& builder = builder_of(name, operands);
    if (opcode == Opcode::select) return apply_select(builder, operands);
    DType dtype = dtype_among(name, operands);
    if (opcode == Opcode::absolute && is_complex(dtype)) return hypot(real(operands[0]), imag(operands[0]));
    if (opcode == Opcode::square_root && is_complex(dtype)) return csqrt(operands[0]);
    if (!takes(opcode, dtype)) throw DTypeError(text(name, ": operands of type ", dtype, " are not taken"));
    std::array<Scalar, 3> all{0, 0, 0};
    promise(operands.size() <= all.size(), "an opcode has at most three operands");
    for (std::size_t i = 0; i < operands.size(); ++i) all[i] = typed(name, builder, operands[i], dtype);
    DType result = dtype;
    if (compares(opcode)) result = DType::bool_;
    if (opcode == Opcode::real || opcode == Opcode::imaginary) result = real_of(dtype);
    if (opcode == Opcode::make_complex) {
        if (is_complex(dtype)) throw DTypeError(text(name, ": the parts must be real, not ", dtype));
        result = dtype == DType::float64 ? DType::complex128 : DType::complex64;
    }
    Scalar value = builder.emit(opcode, result, std::span<const Scalar>(all).first(operands.size()));
    return result == DType::bool_ ? value.comparing(compares(opcode) ? dtype : compared_among(operands)) : value;
}

Scalar call(const Function& function, std::span<const Scalar> operands) {
    ScalarBuilder& builder = builder_of(function.name, operands);
    DType dtype = dtype_among(function.name, operands);
    bool defined = dtype == DType::float32     ? function.f32 != nullptr
                   : dtype == DType::float64   ? function.f64 != nullptr
                   : dtype == DType::complex64 ? function.c64 != nullptr
                                               : dtype == DType::complex128 && function.c128 != nullptr;
    if (!defined) throw DTypeError(text(function.name, ": operands of type ", dtype, " are not taken"));
    std::array<Scalar, 3> all{0, 0, 0};
    promise(operands.size() == static_cast<std::size_t>(function.arity),
            "a call gives the function as many operands as it takes");
    for (std::size_t i = 0; i < operands.size(); ++i) all[i] = typed(function.name, builder, operands[i], dtype);
    return builder.emit(Opcode::call, dtype, std::span<const Scalar>(all).first(operands.size()), &function);
}

Scalar operator+(Scalar a, Scalar b) { return binary(Opcode::add, a, b); }
Scalar operator-(Scalar a, Scalar b) { return binary(Opcode::subtract, a, b); }
Scalar operator*(Scalar a, Scalar b) { return binary(Opcode::multiply, a, b); }
Scalar operator/(Scalar a, Scalar b) { return binary(Opcode::divide, a, b); }
Scalar operator-(Scalar a) { return unary(Opcode::negative, a); }
Scalar operator&(Scalar a, Scalar b) { return binary(Opcode::bit_and, a, b); }
Scalar operator|(Scalar a, Scalar b) { return binary(Opcode::bit_or, a, b); }
Scalar operator^(Scalar a, Scalar b) { return binary(Opcode::bit_xor, a, b); }
Scalar operator~(Scalar a) { return unary(Opcode::bit_not, a); }
Scalar operator<<(Scalar a, Scalar b) { return binary(Opcode::shift_left, a, b); }
Scalar operator>>(Scalar a, Scalar b) { return binary(Opcode::shift_right, a, b); }
Scalar operator==(Scalar a, Scalar b) { return binary(Opcode::equal, a, b); }
Scalar operator!=(Scalar a, Scalar b) { return binary(Opcode::not_equal, a, b); }
Scalar operator<(Scalar a, Scalar b) { return binary(Opcode::less, a, b); }
Scalar operator<=(Scalar a, Scalar b) { return binary(Opcode::less_equal, a, b); }
Scalar operator>(Scalar a, Scalar b) { return binary(Opcode::less, b, a); }
Scalar operator>=(Scalar a, Scalar b) { return binary(Opcode::less_equal, b, a); }

Scalar operator!(Scalar a) {
    if (a.builder() && a.dtype() != DType::bool_) {
        throw DTypeError(text("!: a logical not takes bool, not ", a.dtype(), "; compare it with 0"));
    }
    return unary(Opcode::bit_not, a);
}

Scalar abs(Scalar a) { return unary(Opcode::absolute, a); }
Scalar sqrt(Scalar a) { return unary(Opcode::square_root, a); }
Scalar floor(Scalar a) { return unary(Opcode::floor, a); }
Scalar ceil(Scalar a) { return unary(Opcode::ceil, a); }
Scalar trunc(Scalar a) { return unary(Opcode::truncate, a); }
Scalar round(Scalar a) { return unary(Opcode::round_even, a); }
Scalar floor_divide(Scalar a, Scalar b) { return binary(Opcode::floor_divide, a, b); }
Scalar remainder(Scalar a, Scalar b) { return binary(Opcode::remainder, a, b); }
Scalar min(Scalar a, Scalar b) { return binary(Opcode::minimum, a, b); }
Scalar max(Scalar a, Scalar b) { return binary(Opcode::maximum, a, b); }
Scalar real(Scalar a) { return unary(Opcode::real, a); }
Scalar imag(Scalar a) { return unary(Opcode::imaginary, a); }
Scalar make_complex(Scalar re, Scalar im) { return binary(Opcode::make_complex, re, im); }

Scalar select(Scalar condition, Scalar yes, Scalar no) {
    Scalar operands[] = {condition, yes, no};
    return apply(Opcode::select, operands);
}

Scalar fma(Scalar a, Scalar b, Scalar c) {
    Scalar operands[] = {a, b, c};
    return apply(Opcode::fma, operands);
}

Scalar cast(Scalar a, DType dtype) {
    if (!a.builder()) throw DTypeError(text("cast: a plain number needs no cast to ", dtype));
    if (a.dtype() == dtype) return a;
    return a.builder()->emit(Opcode::cast, dtype, {&a, 1});
}

Scalar bitcast(Scalar a, DType dtype) {
    if (!a.builder()) throw DTypeError("bitcast: a plain number has no bits; give it a type first");
    if (size_of(a.dtype()) != size_of(dtype)) {
        throw DTypeError(text("bitcast: ", a.dtype(), " and ", dtype, " differ in width"));
    }
    if (a.dtype() == dtype) return a;
    return a.builder()->emit(Opcode::bitcast, dtype, {&a, 1});
}

}  // namespace weft
