// The opcodes as loops over blocks, for every type: plain loops that the compiler vectorises for this instruction set.
#include "weft/backend/cpu/block_loops.h"
#include "weft/backend/cpu/isa/complex_loops.h"
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

/// Whole numbers for which a / b, rounded, lies on the same side of each whole number as a / b: vectors divide floating numbers alone.
template <Opcode op, class T>
inline constexpr bool divides_as_floating = std::is_integral_v<T> && sizeof(T) <= 4 &&
                                            (op == Opcode::floor_divide || op == Opcode::remainder);

/// element::integer_floor_divide and integer_remainder of such numbers, without branches.
template <Opcode op, class T>
WEFT_ELEMENT T divided_as_floating(T a, T b) {
    using Real = std::conditional_t<sizeof(T) <= 2, float, double>;
    using Whole = std::conditional_t<std::is_same_v<T, std::uint32_t>, std::uint32_t, std::int32_t>;
    constexpr bool has_sign = std::is_signed_v<T>;
    Whole minus_one = has_sign && b == static_cast<T>(-1), zero = b == 0;  // by these: -a, which may wrap, and 0
    Whole divisor = minus_one | zero ? Whole{1} : static_cast<Whole>(b), dividend = static_cast<Whole>(a);
    Whole quotient = static_cast<Whole>(static_cast<Real>(dividend) / static_cast<Real>(divisor));
    Whole rest = dividend - quotient * divisor;
    Whole above = has_sign && rest != 0 && (rest < 0) != (divisor < 0);  // the quotient was rounded towards 0
    if constexpr (op == Opcode::remainder) return static_cast<T>(above ? rest + divisor : rest);
    Whole result = minus_one ? static_cast<Whole>(0u - static_cast<std::uint32_t>(dividend)) : quotient - above;
    return static_cast<T>(zero ? Whole{0} : result);
}

#if defined(WEFT_ISA_avx512)  // which converts between these and double in vectors
template <Opcode op, class T>
inline constexpr bool divides_in_steps = std::is_same_v<T, std::int64_t> &&
                                         (op == Opcode::floor_divide || op == Opcode::remainder);
#else
template <Opcode op, class T>
inline constexpr bool divides_in_steps = false;
#endif

/// The same of 8 bytes, of which a double holds 53 bits: by the quotient of the doubles, off by at most 2^12 or so, and then by what is left
/// of a over b, rounded to the nearest, so that an error of the last bit changes nothing. What is left lies within half of b then, on its
/// other side where the quotient was rounded up. Numbers wrap, as b = 1 wants it of a double that is 2^63.
template <Opcode op>
WEFT_ELEMENT std::int64_t divided_in_steps(std::int64_t a, std::int64_t b) {
    using Word = std::uint64_t;
    constexpr double most = 0x1.fffffffffffffp62, to_nearest = 0x1.8p52;
    Word minus_one = b == -1, zero = b == 0;
    std::int64_t divisor = minus_one | zero ? 1 : b;
    double real = static_cast<double>(divisor), first = static_cast<double>(a) / real;
    first = first < most ? first : most;
    Word quotient = static_cast<Word>(static_cast<std::int64_t>(first));
    Word rest = static_cast<Word>(a) - quotient * static_cast<Word>(divisor);
    double second = (static_cast<double>(static_cast<std::int64_t>(rest)) / real + to_nearest) - to_nearest;
    Word more = static_cast<Word>(static_cast<std::int64_t>(second));
    quotient += more, rest -= more * static_cast<Word>(divisor);
    auto left = static_cast<std::int64_t>(rest);
    Word above = left != 0 && (left < 0) != (divisor < 0);  // the quotient is
    if constexpr (op == Opcode::remainder)
        return static_cast<std::int64_t>(zero ? Word{0} : above ? rest + static_cast<Word>(divisor) : rest);
    Word result = minus_one ? Word{0} - static_cast<Word>(a) : quotient - above;
    return static_cast<std::int64_t>(zero ? Word{0} : result);
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
