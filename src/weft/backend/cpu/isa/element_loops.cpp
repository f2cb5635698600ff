// The opcodes as loops over blocks, for every type: plain loops that the compiler vectorises for this instruction set.
#include "weft/backend/cpu/block_loops.h"
#include "weft/backend/cpu/isa/complex_loops.h"
#include "weft/backend/cpu/isa/divisions.h"
#include "weft/base/unsigned_of.h"
#include "weft/kernel/element.h"

namespace weft::cpu::WEFT_ISA {
namespace {

using element::Bool;

template <class T>
inline constexpr bool common = std::is_same_v<T, float> || std::is_same_v<T, double> ||
                               std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>;

template <Opcode op, class T>
void unary(void* out, const void* const* operands, std::int64_t count, const StepInfo&) {
    auto* to = static_cast<T*>(out);
    auto* a = static_cast<const T*>(operands[0]);
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) to[i] = element::apply1<op>(a[i]);
}

template <Opcode op, class T>
struct Binary {
    using Result = T;
    WEFT_ELEMENT static T of(T a, T b) {
        if constexpr (divides_as_floating<op, T>)
            return divided_as_floating<op>(a, b);
        else if constexpr (divides_in_steps<op, T>)
            return divided_in_steps<op>(a, b);
        else
            return element::apply2<op>(a, b);
    }
};
template <Opcode op, class T>
struct Compared {
    using Result = Bool;
    WEFT_ELEMENT static Bool of(T a, T b) { return element::compare<op>(a, b); }
};

template <class Operation, class T>
void binary(void* out, const void* const* operands, std::int64_t count, const StepInfo& info) {
    auto* to = static_cast<typename Operation::Result*>(out);
    auto* a = static_cast<const T*>(operands[0]);
    auto* b = static_cast<const T*>(operands[1]);
    if constexpr (common<T>) {
        if (info.uniform == 1) {
            T value = *a;
#pragma GCC ivdep
            for (std::int64_t i = 0; i < count; ++i) to[i] = Operation::of(value, b[i]);
            return;
        }
        if (info.uniform == 2) {
            T value = *b;
#pragma GCC ivdep
            for (std::int64_t i = 0; i < count; ++i) to[i] = Operation::of(a[i], value);
            return;
        }
    }
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) to[i] = Operation::of(a[i], b[i]);
}

/// Quotients and remainders whose elements are computed some at a time, or by one divisor.
template <Opcode op, class T>
void division(void* out, const void* const* operands, std::int64_t count, const StepInfo& info) {
    auto *a = static_cast<const T*>(operands[0]), *b = static_cast<const T*>(operands[1]);
    if constexpr (divides_floating<op, T>) {
        divide_floating<op>(static_cast<T*>(out), a, b, count, info.uniform);
    } else {
        if (info.uniform == 2 && *b != 0 && *b != -1) return divide_by<op>(static_cast<T*>(out), a, *b, count);
        binary<Binary<op, T>, T>(out, operands, count, info);
    }
}

template <Opcode op, class R>
void complex_binary(void* out, const void* const* operands, std::int64_t count, const StepInfo&) {
    ComplexLoops<R>::template binary<op>(static_cast<R*>(out), static_cast<const R*>(operands[0]),
                                         static_cast<const R*>(operands[1]), count);
}

template <class T>
void select(void* out, const void* const* operands, std::int64_t count, const StepInfo&) {
    auto* to = static_cast<T*>(out);
    auto* condition = static_cast<const std::uint8_t*>(operands[0]);
    auto* b = static_cast<const T*>(operands[1]);
    auto* c = static_cast<const T*>(operands[2]);
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        T yes = b[i], no = c[i];
        to[i] = condition[i] ? yes : no;
    }
}

template <class T>
void fused(void* out, const void* const* operands, std::int64_t count, const StepInfo&) {
    auto* to = static_cast<T*>(out);
    auto* a = static_cast<const T*>(operands[0]);
    auto* b = static_cast<const T*>(operands[1]);
    auto* c = static_cast<const T*>(operands[2]);
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) to[i] = element::fused(a[i], b[i], c[i]);
}

template <class To, class From>
void cast(void* out, const void* const* operands, std::int64_t count, const StepInfo&) {
    auto* to = static_cast<To*>(out);
    auto* a = static_cast<const From*>(operands[0]);
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) to[i] = element::convert<To>(a[i]);
}

template <int size>
void copy(void* out, const void* const* operands, std::int64_t count, const StepInfo&) {
    if (out != operands[0]) __builtin_memcpy(out, operands[0], static_cast<std::size_t>(count) * size);
}

template <class T, int part>
void part_of(void* out, const void* const* operands, std::int64_t count, const StepInfo&) {
    auto* to = static_cast<T*>(out);
    auto* a = static_cast<const T*>(operands[0]);
    for (std::int64_t i = 0; i < count; ++i) to[i] = a[2 * i + part];
}

template <class T>
void make_complex(void* out, const void* const* operands, std::int64_t count, const StepInfo&) {
    auto* to = static_cast<T*>(out);
    auto* re = static_cast<const T*>(operands[0]);
    auto* im = static_cast<const T*>(operands[1]);
    for (std::int64_t i = 0; i < count; ++i) {
        T a = re[i], b = im[i];
        to[2 * i] = a;
        to[2 * i + 1] = b;
    }
}

/// Whether an opcode does the same to the bits of signed and of unsigned integers.
template <Opcode op>
inline constexpr bool wraps =
    op == Opcode::negative || op == Opcode::bit_not || op == Opcode::add || op == Opcode::subtract ||
    op == Opcode::multiply || op == Opcode::bit_and || op == Opcode::bit_or || op == Opcode::bit_xor ||
    op == Opcode::shift_left || op == Opcode::equal || op == Opcode::not_equal;
template <Opcode op, class T>
using As = std::conditional_t<wraps<op>, Wrapped<T>, T>;

/// What is moved without being looked at: an integer as wide, where there is one.
template <class T, bool = sizeof(T) <= 8>
struct MovedAs {
    using Type = T;
};
template <class T>
struct MovedAs<T, true> {
    using Type = std::make_signed_t<UnsignedOf<sizeof(T)>>;
};

/// with_dtype, written again: a lambda of another translation unit's inline function must not be shared between sets.
template <class F>
WEFT_ELEMENT Step by_type(DType dtype, F f) {
    switch (dtype) {
#define WEFT_CASE(name, type) \
    case DType::name:         \
        return f.template operator()<element::Rep<type>>();
        WEFT_FOR_EACH_DTYPE(WEFT_CASE)
#undef WEFT_CASE
    }
    return nullptr;
}

template <Opcode op>
Step unary_step(DType dtype) {
    return by_type(dtype, []<class T>() -> Step {
        if constexpr (element::defined<op, T>)
            return unary<op, As<op, T>>;
        else
            return nullptr;
    });
}

template <Opcode op>
Step binary_step(DType dtype) {
    return by_type(dtype, []<class T>() -> Step {
        if constexpr (element::is_complex<T> && element::defined<op, T>)
            return complex_binary<op, decltype(T::re)>;
        else if constexpr (divides_floating<op, T> || divides_by_uniform<op, T>)
            return division<op, T>;
        else if constexpr (element::defined<op, T>)
            return binary<Binary<op, As<op, T>>, As<op, T>>;
        else
            return nullptr;
    });
}

template <Opcode op>
Step compare_step(DType dtype) {
    return by_type(dtype, []<class T>() -> Step {
        if constexpr (element::defined<op, T>)
            return binary<Compared<op, As<op, T>>, As<op, T>>;
        else
            return nullptr;
    });
}

template <class From>
Step cast_from(DType to) {
    return by_type(to, []<class To>() -> Step {
        if constexpr (!std::is_integral_v<From>)  // a floating number ends where the type does
            return cast<To, From>;
        else if constexpr (element::is_bool<To> || (std::is_integral_v<To> && sizeof(To) <= sizeof(From)))
            return cast<Wrapped<To>, Wrapped<From>>;
        else
            return cast<Wrapped<To>, From>;
    });
}

Step copy_step(DType dtype) {
    return by_type(dtype, []<class T>() -> Step { return copy<sizeof(T)>; });
}

Step part_step(const Instruction& at) {
    bool wide = at.dtype == DType::float64 || at.dtype == DType::complex128;
    if (at.opcode == Opcode::make_complex) return wide ? make_complex<double> : make_complex<float>;
    if (at.opcode == Opcode::real) return wide ? part_of<double, 0> : part_of<float, 0>;
    return wide ? part_of<double, 1> : part_of<float, 1>;
}

}  // namespace

Step element_step(const Instruction& at, DType operand) {
    switch (at.opcode) {
#define WEFT_UNARY(name) \
    case Opcode::name:   \
        return unary_step<Opcode::name>(at.dtype);
#define WEFT_BINARY(name) \
    case Opcode::name:    \
        return binary_step<Opcode::name>(at.dtype);
#define WEFT_COMPARE(name) \
    case Opcode::name:     \
        return compare_step<Opcode::name>(operand);
        WEFT_UNARY_OPCODES(WEFT_UNARY)
        WEFT_BINARY_OPCODES(WEFT_BINARY)
        WEFT_COMPARISON_OPCODES(WEFT_COMPARE)
#undef WEFT_UNARY
#undef WEFT_BINARY
#undef WEFT_COMPARE
        case Opcode::cast:
            return by_type(operand, [&]<class From>() -> Step { return cast_from<From>(at.dtype); });
        case Opcode::input:  // an input that leaves the program as it is
        case Opcode::bitcast:
            return copy_step(at.dtype);
        case Opcode::select:
            return by_type(at.dtype, []<class T>() -> Step { return select<typename MovedAs<T>::Type>; });
        case Opcode::fma:
            return at.dtype == DType::float64 ? fused<double> : fused<float>;
        case Opcode::real:
        case Opcode::imaginary:
        case Opcode::make_complex:
            return part_step(at);
        case Opcode::constant:
        case Opcode::call:
            break;
    }
    return nullptr;
}

}  // namespace weft::cpu::WEFT_ISA
