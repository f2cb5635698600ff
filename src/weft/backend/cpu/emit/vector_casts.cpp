// Casts between lanes: those that saturate, those that AVX2 lacks, and the half types.
#include <algorithm>
#include <cmath>

#include "weft/backend/cpu/emit/vector_arithmetic.h"

namespace weft::cpu::emit {
namespace {

using Value = VectorArithmetic::Value;

}  // namespace

Value VectorArithmetic::widen(Value a, DType half) {
    if (half == DType::float16) {
        Line made = builder_.line(a);  // bits alone are rarely wanted: what makes them gives floats as soon
        if (made.op == VectorOp::load && made.lane == Lane::i32) {
            made.lane = Lane::f32;
            return builder_.add(made);
        }
        if (made.op == VectorOp::float_to_half)
            return conversion(VectorOp::round_to_half, Lane::f32, Lane::f32, made.a);
        return conversion(VectorOp::half_to_float, Lane::f32, Lane::i32, a);
    }
    return line(VectorOp::shift_left, Lane::i32, a, -1, -1, 16);
}

Value VectorArithmetic::round_to(Value a, DType half) {
    if (half == DType::float16) return conversion(VectorOp::float_to_half, Lane::i32, Lane::f32, a);
    // What was rounded and widened (a cast whose result is stored) is what it was: rounding again would take as long once more.
    if (const Line& made = builder_.line(a); made.op == VectorOp::shift_left && made.immediate == 16)
        if (std::find(rounded_.begin(), rounded_.end(), made.a) != rounded_.end()) return made.a;
    Value high = line(VectorOp::shift_right_unsigned, Lane::i32, a, -1, -1, 16);
    Value odd = line(VectorOp::bit_and, Lane::i32, high, bits(Lane::i32, 1));
    Value sum = line(VectorOp::int_add, Lane::i32, line(VectorOp::int_add, Lane::i32, a, bits(Lane::i32, 0x7fff)), odd);
    Value rounded = line(VectorOp::shift_right_unsigned, Lane::i32, sum, -1, -1, 16);
    Value nan = line(VectorOp::bit_or, Lane::i32, high, bits(Lane::i32, 0x40));
    Value result =
        line(VectorOp::select, Lane::i32, float_compare(Predicate::unordered, Lane::f32, a, a), nan, rounded);
    rounded_.push_back(result);
    return result;
}

Value VectorArithmetic::bitcast(Value a, DType from, DType to) { return size_of(from) < 4 ? wrapped(a, to) : a; }

std::optional<Value> VectorArithmetic::cast(Value a, DType from, DType to) {
    if (from == to) return a;
    if (from == DType::bool_) return select(a, constant(to, 1), constant(to, 0));
    if (is_half(from)) return cast(widen(a, from), DType::float32, to);
    if (is_half(to)) {
        auto single = cast(a, from, DType::float32);
        if (single) return round_to(*single, to);
        return std::nullopt;
    }
    Lane source = lane_of(from), target = lane_of(to);
    if (to == DType::bool_) return compare(Opcode::not_equal, from, a, bits(source, 0));
    if (is_floating(from) && is_floating(to)) return conversion(VectorOp::resize, target, source, a);
    if (is_floating(from)) return float_to_integer(a, from, to);
    if (is_floating(to)) return integer_to_float(a, from, target);
    return integer_to_integer(a, from, to);
}

Value VectorArithmetic::integer_to_integer(Value a, DType from, DType to) {
    Lane source = lane_of(from), target = lane_of(to);
    if (source == target) return wrapped(a, to);
    if (target == Lane::i64)
        return conversion(is_unsigned(from) ? VectorOp::extend_unsigned : VectorOp::extend, target, source, a);
    return wrapped(conversion(VectorOp::narrow, target, source, a), to);
}

std::optional<Value> VectorArithmetic::integer_to_float(Value a, DType from, Lane to) {
    Lane source = lane_of(from);
    bool without_sign = from == DType::uint32 || from == DType::uint64;  // narrower ones fit a signed lane
    if (avx512_ || (source == Lane::i32 && !without_sign))
        return conversion(without_sign ? VectorOp::unsigned_to_float : VectorOp::to_float, to, source, a);
    if (source == Lane::i64) return std::nullopt;
    if (to == Lane::f64) {  // the bits of 2^52 + a, less 2^52
        Value wide = conversion(VectorOp::extend_unsigned, Lane::i64, Lane::i32, a);
        Value sum = line(VectorOp::bit_or, Lane::i64, wide, number(Lane::f64, 0x1p52));
        return line(VectorOp::subtract, Lane::f64, sum, number(Lane::f64, 0x1p52));
    }
    Value high = line(VectorOp::shift_right_unsigned, Lane::i32, a, -1, -1, 16);
    Value low = line(VectorOp::bit_and, Lane::i32, a, bits(Lane::i32, 0xffff));
    return line(VectorOp::fma, Lane::f32, conversion(VectorOp::to_float, Lane::f32, Lane::i32, high),
                number(Lane::f32, 65536), conversion(VectorOp::to_float, Lane::f32, Lane::i32, low));
}

std::optional<Value> VectorArithmetic::float_to_integer(Value a, DType from, DType to) {
    Lane source = lane_of(from);
    switch (to) {
        case DType::int32:
            return float_to_int32(a, source);
        case DType::uint32:
            return float_to_uint32(a, source);
        case DType::int64:
        case DType::uint64:
            return float_to_int64(a, source, to == DType::uint64);
        default:
            return float_to_narrow(a, source, to);
    }
}

/// To a type of 1 or 2 bytes: both ends are floats, so saturating is cutting off.
Value VectorArithmetic::float_to_narrow(Value a, Lane from, DType to) {
    int width = 8 * static_cast<int>(size_of(to));
    double top = is_unsigned(to) ? std::ldexp(1, width) - 1 : std::ldexp(1, width - 1) - 1;
    double bottom = is_unsigned(to) ? 0 : -std::ldexp(1, width - 1);
    Value within =
        line(VectorOp::greater, from, number(from, bottom), line(VectorOp::lesser, from, number(from, top), a));
    Value known = select(float_compare(Predicate::unordered, from, a, a), number(from, 0), within);
    return conversion(VectorOp::to_int, Lane::i32, from, known);
}

/// The processor gives the lowest number for whatever is out of range.
Value VectorArithmetic::float_to_int32(Value a, Lane from) {
    Value plain = conversion(VectorOp::to_int, Lane::i32, from, a);
    Value over = float_compare(Predicate::less_equal, from, number(from, 0x1p31), a);
    Value cut = select(over, bits(Lane::i32, 0x7fffffff), plain);
    return select(float_compare(Predicate::unordered, from, a, a), bits(Lane::i32, 0), cut);
}

Value VectorArithmetic::float_to_uint32(Value a, Lane from) {
    // a < 0 or NaN: 0; for the processor's maximum gives its second operand where one is NaN.
    Value positive = line(VectorOp::greater, from, a, number(from, 0));
    if (avx512_) return conversion(VectorOp::to_unsigned, Lane::i32, from, positive);
    Value upper = float_compare(Predicate::less_equal, from, number(from, 0x1p31), positive);
    Value lowered = line(VectorOp::subtract, from, positive, number(from, 0x1p31));
    Value rest = conversion(VectorOp::to_int, Lane::i32, from, select(upper, lowered, positive));
    Value whole = select(upper, line(VectorOp::bit_xor, Lane::i32, rest, bits(Lane::i32, 1ull << 31)), rest);
    Value over = float_compare(Predicate::less_equal, from, number(from, 0x1p32), positive);
    return select(over, bits(Lane::i32, ~0ull), whole);
}

std::optional<Value> VectorArithmetic::float_to_int64(Value a, Lane from, bool without_sign) {
    if (!avx512_) return std::nullopt;
    if (without_sign) {
        Value positive = line(VectorOp::greater, from, a, number(from, 0));
        return conversion(VectorOp::to_unsigned, Lane::i64, from, positive);
    }
    Value plain = conversion(VectorOp::to_int, Lane::i64, from, a);
    Value over = float_compare(Predicate::less_equal, from, number(from, 0x1p63), a);
    Value cut = select(over, bits(Lane::i64, ~0ull >> 1), plain);
    return select(float_compare(Predicate::unordered, from, a, a), bits(Lane::i64, 0), cut);
}

}  // namespace weft::cpu::emit
