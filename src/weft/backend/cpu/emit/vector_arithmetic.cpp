#include "weft/backend/cpu/emit/vector_arithmetic.h"

#include <bit>
#include <cmath>
#include <limits>

#include "weft/backend/cpu/isa.h"
#include "weft/base/error.h"
#include "weft/kernel/coefficients.h"
#include "weft/kernel/lanes.h"

namespace weft::cpu::emit {
namespace {

using Value = VectorArithmetic::Value;

Lane integer_lane(Lane lane) { return width_of(lane) == 8 ? Lane::i64 : Lane::i32; }
std::uint64_t all_bits(Lane lane) { return width_of(lane) == 8 ? ~0ull : 0xffffffffull; }

std::uint64_t pattern_of(Lane lane, double value) {
    if (lane == Lane::f64) return std::bit_cast<std::uint64_t>(value);
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

double least_normal(Lane lane) {
    return lane == Lane::f64 ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
}

}  // namespace

Lane lane_of(DType dtype) {
    switch (dtype) {
        case DType::bool_:
            return Lane::mask;
        case DType::float32:
            return Lane::f32;
        case DType::float64:
            return Lane::f64;
        case DType::int64:
        case DType::uint64:
            return Lane::i64;
        case DType::complex64:
        case DType::complex128:
            return Lane::none;
        default:
            return Lane::i32;
    }
}

Value VectorArithmetic::line(VectorOp op, Lane lane, Value a, Value b, Value c, std::uint64_t immediate) {
    return builder_.add({.op = op, .lane = lane, .from = lane, .a = a, .b = b, .c = c, .immediate = immediate});
}
Value VectorArithmetic::conversion(VectorOp op, Lane to, Lane from, Value a) {
    return builder_.add({.op = op, .lane = to, .from = from, .a = a});
}
Value VectorArithmetic::bits(Lane lane, std::uint64_t pattern) {
    // One constant for a pattern, whatever it stands for.
    Lane plain = integer_lane(lane);
    return line(VectorOp::constant, plain, -1, -1, -1, pattern & all_bits(plain));
}
Value VectorArithmetic::number(Lane lane, double value) { return bits(lane, pattern_of(lane, value)); }
Value VectorArithmetic::truth(bool value) {
    Value zero = bits(Lane::i32, 0);
    return integer_compare(IntPredicate::equal, Lane::i32, false, zero, value ? zero : bits(Lane::i32, 1));
}

Value VectorArithmetic::constant(DType dtype, const Literal& literal) {
    return with_dtype(dtype, [&](auto tag) -> Value {
        using T = typename decltype(tag)::Type;
        auto value = literal.as<T>();
        if constexpr (std::is_same_v<T, bool>)
            return truth(value);
        else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>)
            return bits(Lane::i32, value.bits);
        else if constexpr (std::is_same_v<T, float>)
            return bits(Lane::f32, std::bit_cast<std::uint32_t>(value));
        else if constexpr (std::is_same_v<T, double>)
            return bits(Lane::f64, std::bit_cast<std::uint64_t>(value));
        else if constexpr (std::is_integral_v<T>)
            return bits(lane_of(dtype), static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
        else
            throw InternalError("emitter: a complex constant");
    });
}

double VectorArithmetic::constant_number(Value a) const {
    const Line& at = builder_.line(a);
    if (width_of(at.lane) == 8) return std::bit_cast<double>(at.immediate);
    return std::bit_cast<float>(static_cast<std::uint32_t>(at.immediate));
}

std::optional<Value> VectorArithmetic::unary(Opcode opcode, DType dtype, Value a) {
    if (dtype == DType::bool_) return line(VectorOp::mask_not, Lane::mask, a);
    if (is_floating(dtype)) return floating_unary(opcode, lane_of(dtype), a);
    return integer_unary(opcode, dtype, a);
}

Value VectorArithmetic::floating_unary(Opcode opcode, Lane lane, Value a) {
    auto rounded = [&](Rounding how) {
        return line(VectorOp::round, lane, a, -1, -1, static_cast<std::uint64_t>(how));
    };
    switch (opcode) {
        case Opcode::negative:
            if (Line of = builder_.line(a); of.op == VectorOp::bit_and && of.b == bits(lane, ~sign_bit(lane)))
                return line(VectorOp::bit_or, lane, of.a, bits(lane, sign_bit(lane)));
            return line(VectorOp::bit_xor, lane, a, bits(lane, sign_bit(lane)));
        case Opcode::absolute:
            return magnitude(lane, a);
        case Opcode::square_root:
            return line(VectorOp::square_root, lane, a);
        case Opcode::floor:
            return rounded(Rounding::down);
        case Opcode::ceil:
            return rounded(Rounding::up);
        case Opcode::truncate:
            return rounded(Rounding::zero);
        default:
            return rounded(Rounding::even);
    }
}

/// a without its sign: that of -a is the same, so that what sigmoid(x) and sigmoid(-x) are made of is computed once.
Value VectorArithmetic::magnitude(Lane lane, Value a) {
    Line of = builder_.line(a);
    bool signs = of.op == VectorOp::bit_xor || of.op == VectorOp::bit_or;
    if (signs && of.b == bits(lane, sign_bit(lane))) a = of.a;
    return line(VectorOp::bit_and, lane, a, bits(lane, ~sign_bit(lane)));
}

std::optional<Value> VectorArithmetic::binary(Opcode opcode, DType dtype, Value a, Value b) {
    if (dtype == DType::bool_) {
        bool both = opcode == Opcode::bit_and || opcode == Opcode::minimum;
        return line(opcode == Opcode::bit_xor ? VectorOp::mask_xor
                    : both                    ? VectorOp::mask_and
                                              : VectorOp::mask_or,
                    Lane::mask, a, b);
    }
    return is_floating(dtype) ? floating_binary(opcode, lane_of(dtype), a, b) : integer_binary(opcode, dtype, a, b);
}

std::optional<Value> VectorArithmetic::floating_binary(Opcode opcode, Lane lane, Value a, Value b) {
    switch (opcode) {
        case Opcode::add:
            return line(VectorOp::add, lane, a, b);
        case Opcode::subtract:
            return line(VectorOp::subtract, lane, a, b);
        case Opcode::multiply:
            return line(VectorOp::multiply, lane, a, b);
        case Opcode::divide:
            return line(VectorOp::divide, lane, a, b);
        case Opcode::minimum:
            return floating_extreme(false, lane, a, b);
        case Opcode::maximum:
            return floating_extreme(true, lane, a, b);
        default:
            return std::nullopt;  // floor_divide and remainder need fmod
    }
}

/// a < b || a != a ? a : b. The processor's a < b ? a : b gives b where a is NaN.
Value VectorArithmetic::floating_extreme(bool greatest, Lane lane, Value a, Value b) {
    VectorOp op = greatest ? VectorOp::greater : VectorOp::lesser;
    if (is_constant(b) && constant_number(b) != 0 && !std::isnan(constant_number(b))) return line(op, lane, b, a);
    Value plain = line(op, lane, a, b);
    if (is_constant(a) && !std::isnan(constant_number(a))) return plain;
    return line(VectorOp::select, lane, float_compare(Predicate::unordered, lane, a, a), a, plain);
}

/// With the least normal number one instruction compares magnitudes: nearer to 0 are those without a bit in their exponent.
Value VectorArithmetic::float_compare(Predicate predicate, Lane lane, Value a, Value b) {
    const Line& of = builder_.line(a);
    bool magnitude = of.op == VectorOp::bit_and && of.b == bits(lane, ~sign_bit(lane));
    if (avx512_ && predicate == Predicate::less && magnitude && b == number(lane, least_normal(lane))) {
        Value exponent = number(lane, std::numeric_limits<double>::infinity());
        return integer_compare(IntPredicate::apart, lane, false, builder_.line(a).a, exponent);
    }
    return builder_.add({.op = VectorOp::compare,
                         .lane = Lane::mask,
                         .from = lane,
                         .a = a,
                         .b = b,
                         .immediate = static_cast<std::uint64_t>(predicate)});
}

Value VectorArithmetic::compare(Opcode opcode, DType dtype, Value a, Value b) {
    Lane lane = lane_of(dtype);
    if (lane == Lane::mask) {
        auto negated = [&](Value x) { return line(VectorOp::mask_not, Lane::mask, x); };
        if (opcode == Opcode::not_equal) return line(VectorOp::mask_xor, Lane::mask, a, b);
        if (opcode == Opcode::equal) return negated(line(VectorOp::mask_xor, Lane::mask, a, b));
        if (opcode == Opcode::less) return line(VectorOp::mask_and_not, Lane::mask, b, a);
        return negated(line(VectorOp::mask_and_not, Lane::mask, a, b));
    }
    if (is_floating(dtype)) {
        Predicate predicate = opcode == Opcode::equal       ? Predicate::equal
                              : opcode == Opcode::not_equal ? Predicate::not_equal
                              : opcode == Opcode::less      ? Predicate::less
                                                            : Predicate::less_equal;
        return float_compare(predicate, lane, a, b);
    }
    IntPredicate predicate = opcode == Opcode::equal       ? IntPredicate::equal
                             : opcode == Opcode::not_equal ? IntPredicate::not_equal
                             : opcode == Opcode::less      ? IntPredicate::less
                                                           : IntPredicate::less_equal;
    return integer_compare(predicate, lane, is_unsigned(dtype), a, b);
}

Value VectorArithmetic::select(Value condition, Value yes, Value no) {
    if (yes == no) return yes;
    Lane lane = builder_.line(yes).lane;
    if (lane == Lane::mask) {
        return line(VectorOp::mask_or, lane, line(VectorOp::mask_and, lane, condition, yes),
                    line(VectorOp::mask_and_not, lane, no, condition));
    }
    if (Value result = gated(condition, yes, no); result >= 0) return result;
    const Line& test = builder_.line(condition);
    if (test.op == VectorOp::compare && test.immediate == static_cast<std::uint64_t>(Predicate::less)) {
        if (test.a == yes && test.b == no) return line(VectorOp::lesser, test.from, yes, no);
        if (test.b == yes && test.a == no) return line(VectorOp::greater, test.from, yes, no);
    }
    return line(VectorOp::select, lane, condition, yes, no);
}

/// The x whose magnitude is compared with the least normal number; or -1.
Value VectorArithmetic::below_least(Value condition) const {
    const Line& test = builder_.line(condition);
    if (test.op == VectorOp::int_compare && test.immediate == static_cast<std::uint64_t>(IntPredicate::apart))
        return test.a;
    bool less = test.op == VectorOp::compare && test.immediate == static_cast<std::uint64_t>(Predicate::less);
    if (!less || !is_constant(test.b) || constant_number(test.b) != least_normal(test.from)) return -1;
    const Line& magnitude = builder_.line(test.a);
    return magnitude.op == VectorOp::bit_and ? magnitude.a : -1;
}

/// f == 0 ? 0 : f * y, where f = small ? 0 : x and no other x is 0: small ? 0 : x * y, which need not wait for the choice. Or -1. (A cotangent
/// that is carried through a loop, times a local derivative: ops/denormal.h, gated_multiply.)
Value VectorArithmetic::gated(Value condition, Value yes, Value no) {
    auto zero = [&](Value x) { return is_constant(x) && builder_.line(x).immediate == 0; };
    Line test = builder_.line(condition), product = builder_.line(no);
    if (test.op != VectorOp::compare || test.immediate != static_cast<std::uint64_t>(Predicate::equal) || !zero(yes) ||
        !zero(test.b) || product.op != VectorOp::multiply || (product.a != test.a && product.b != test.a))
        return -1;
    Line chosen = builder_.line(test.a);
    if (chosen.op != VectorOp::select || !zero(chosen.b)) return -1;
    if (below_least(chosen.a) != chosen.c) return -1;
    (product.a == test.a ? product.a : product.b) = chosen.c;
    return line(VectorOp::select, product.lane, chosen.a, yes,
                line(VectorOp::multiply, product.lane, product.a, product.b));
}

Value VectorArithmetic::fma(DType dtype, Value a, Value b, Value c) {
    return line(VectorOp::fma, lane_of(dtype), a, b, c);
}

/// elementary::scaled, as recorded: (a * 2^half) * 2^(n - half), half being n / 2 rounded by adding a large number.
Value VectorArithmetic::multiply_in_function(DType dtype, Value a, Value b) {
    Lane lane = lane_of(dtype);
    auto is = [&](Value value, VectorOp op) { return builder_.line(value).op == op; };
    auto plain = [&] { return line(VectorOp::multiply, lane, a, b); };
    if (!is(a, VectorOp::multiply)) return plain();
    double magic = lane == Lane::f32 ? 0x1.8p23 : 0x1.8p52, bias = lane == Lane::f32 ? 127 : 1023;
    std::uint64_t fraction = lane == Lane::f32 ? 23 : 52;
    /// The n of a factor 2^n, or -1.
    auto exponent = [&](Value factor) -> Value {
        const Line& moved = builder_.line(factor);
        if (moved.op != VectorOp::shift_left || moved.immediate != fraction) return -1;
        const Line& sum = builder_.line(moved.a);
        return sum.op == VectorOp::add && sum.b == number(lane, magic + bias) ? sum.a : -1;
    };
    Value rest = exponent(b), half = exponent(builder_.line(a).b);
    if (rest < 0 || half < 0 || !is(rest, VectorOp::subtract) || builder_.line(rest).b != half) return plain();
    Value n = builder_.line(rest).a;
    Value halved = line(VectorOp::multiply, lane, n, number(lane, 0.5));
    Value rounded = line(VectorOp::add, lane, halved, number(lane, magic));
    if (half != line(VectorOp::subtract, lane, rounded, number(lane, magic))) return plain();
    if (!avx512_) return scaled_in_steps(lane, builder_.line(a).a, n).value_or(plain());
    // What vanishes is left out (Lanes::scaled_by), or its arguments have been cut off (Scaling).
    double least = lane == Lane::f32 ? least_exponent<float> : least_exponent<double>;
    Value kept = masks_ ? float_compare(Predicate::not_less, lane, n, number(lane, least)) : -1;
    return line(VectorOp::scale, lane, builder_.line(a).a, n, kept);
}

/// (1 + x) 2^n where |x| < 1/2, as exponentials end: (2^k + x 2^k) 2^(n - k), of a k that leaves the first exact whatever n is (lanes.h says how large
/// and how small it may be). To the bit what 1 + x times two halves of n is, in 8 lines instead of 11, or 6.
std::optional<Value> VectorArithmetic::scaled_in_steps(Lane lane, Value a, Value n) {
    Line sum = builder_.line(a);
    if (sum.op != VectorOp::add || sum.b != number(lane, 1)) return std::nullopt;
    double magic = lane == Lane::f32 ? 0x1.8p23 : 0x1.8p52, bias = lane == Lane::f32 ? 127 : 1023,
           below = elementary::exponent_below;
    std::uint64_t fraction = lane == Lane::f32 ? 23 : 52;
    auto ending = [&](Value first, Value rest) {
        return line(VectorOp::multiply, lane, line(VectorOp::fma, lane, sum.a, first, first), rest);
    };
    if (Line whole = builder_.line(n);
        lane == Lane::f32 && whole.op == VectorOp::subtract && whole.b == number(lane, magic + bias - below)) {
        // elementary::reduce_by_ln2 left an exponent's bits, those of 2^(n - below), or below 0.
        constexpr Lane bits_of = Lane::i32;
        auto exponent = [&](double of) { return bits(bits_of, static_cast<std::uint64_t>(of + bias) << fraction); };
        Value all = line(VectorOp::shift_left, bits_of, whole.a, -1, -1, fraction);
        Value first = line(VectorOp::int_greater, bits_of, all, exponent(2 - bias));
        Value rest = line(VectorOp::int_subtract, bits_of, all, first);
        return ending(first, line(VectorOp::int_add, bits_of, rest, exponent(below)));
    }
    auto power = [&](Value of, double more) {
        Value shifted = line(VectorOp::add, lane, of, number(lane, magic + bias + more));
        return line(VectorOp::shift_left, lane, shifted, -1, -1, fraction);
    };
    Value k = line(VectorOp::greater, lane, n, number(lane, 2 - bias + below));
    return ending(power(k, -below), power(line(VectorOp::subtract, lane, n, k), below));
}

}  // namespace weft::cpu::emit
