// Of VectorArithmetic: whole numbers, in lanes of 4 or 8 bytes; narrower types are kept as they wrap.
#include <algorithm>

#include "weft/backend/cpu/emit/vector_arithmetic.h"

namespace weft::cpu::emit {
namespace {

using Value = VectorArithmetic::Value;

}  // namespace

std::optional<Value> VectorArithmetic::integer_unary(Opcode opcode, DType dtype, Value a) {
    Lane lane = lane_of(dtype);
    Value negative = line(VectorOp::int_subtract, lane, bits(lane, 0), a);
    if (opcode == Opcode::negative) return wrapped(negative, dtype);
    if (opcode == Opcode::bit_not) return wrapped(line(VectorOp::bit_xor, lane, a, bits(lane, ~0ull)), dtype);
    if (is_unsigned(dtype)) return a;  // absolute
    return wrapped(integer_extreme(true, lane, false, a, negative), dtype);
}

std::optional<Value> VectorArithmetic::integer_binary(Opcode opcode, DType dtype, Value a, Value b) {
    Lane lane = lane_of(dtype);
    switch (opcode) {
        case Opcode::add:
            return wrapped(line(VectorOp::int_add, lane, a, b), dtype);
        case Opcode::subtract:
            return wrapped(line(VectorOp::int_subtract, lane, a, b), dtype);
        case Opcode::multiply:
            return wrapped(integer_multiply(lane, a, b), dtype);
        case Opcode::minimum:
            return integer_extreme(false, lane, is_unsigned(dtype), a, b);
        case Opcode::maximum:
            return integer_extreme(true, lane, is_unsigned(dtype), a, b);
        case Opcode::bit_and:
            if (b == bits(lane, ~sign_bit(lane))) return magnitude(lane, a);
            return line(VectorOp::bit_and, lane, a, b);
        case Opcode::bit_or:
            return line(VectorOp::bit_or, lane, a, b);
        case Opcode::bit_xor:
            return line(VectorOp::bit_xor, lane, a, b);
        case Opcode::shift_left:
        case Opcode::shift_right:
            return shift(opcode, dtype, a, b);
        default:
            return std::nullopt;  // division
    }
}

Value VectorArithmetic::integer_multiply(Lane lane, Value a, Value b) {
    if (lane == Lane::i32 || avx512_) return line(VectorOp::int_multiply, lane, a, b);
    auto high = [&](Value x) { return line(VectorOp::shift_right_unsigned, lane, x, -1, -1, 32); };
    Value cross = line(VectorOp::int_add, lane, line(VectorOp::multiply_halves, lane, high(a), b),
                       line(VectorOp::multiply_halves, lane, a, high(b)));
    return line(VectorOp::int_add, lane, line(VectorOp::multiply_halves, lane, a, b),
                line(VectorOp::shift_left, lane, cross, -1, -1, 32));
}

Value VectorArithmetic::integer_extreme(bool greatest, Lane lane, bool without_sign, Value a, Value b) {
    if (lane == Lane::i64 && !avx512_) {
        Value less = integer_compare(IntPredicate::less, lane, without_sign, a, b);
        return greatest ? select(less, b, a) : select(less, a, b);
    }
    VectorOp op = without_sign ? (greatest ? VectorOp::unsigned_greater : VectorOp::unsigned_lesser)
                               : (greatest ? VectorOp::int_greater : VectorOp::int_lesser);
    return line(op, lane, a, b);
}

Value VectorArithmetic::integer_compare(IntPredicate predicate, Lane lane, bool without_sign, Value a, Value b) {
    auto make = [&](IntPredicate which, Value x, Value y, unsigned extra = 0) {
        return builder_.add({.op = VectorOp::int_compare,
                             .lane = Lane::mask,
                             .from = lane,
                             .a = x,
                             .b = y,
                             .immediate = static_cast<std::uint64_t>(which) + extra});
    };
    if (avx512_) return make(predicate, a, b, without_sign ? static_cast<unsigned>(IntPredicate::is_unsigned) : 0);
    auto opposite = [&](Value mask) { return line(VectorOp::mask_not, Lane::mask, mask); };
    if (predicate == IntPredicate::equal) return make(IntPredicate::equal, a, b);
    if (predicate == IntPredicate::not_equal) return opposite(make(IntPredicate::equal, a, b));
    if (without_sign) {
        Value sign = bits(lane, sign_bit(lane));
        a = line(VectorOp::bit_xor, lane, a, sign);
        b = line(VectorOp::bit_xor, lane, b, sign);
    }
    if (predicate == IntPredicate::less) return make(IntPredicate::greater, b, a);
    if (predicate == IntPredicate::greater) return make(IntPredicate::greater, a, b);
    return opposite(make(IntPredicate::greater, a, b));
}

/// A count beyond the width, or a negative one, leaves 0 or the sign: so do the processor's shifts by lanes.
Value VectorArithmetic::shift(Opcode opcode, DType dtype, Value a, Value b) {
    Lane lane = lane_of(dtype);
    bool left = opcode == Opcode::shift_left, logical = is_unsigned(dtype);
    if (!left && !logical && lane == Lane::i64 && !avx512_) return arithmetic_shift_64(a, b);
    Value result;
    if (is_constant(b)) {
        std::uint64_t count = std::min<std::uint64_t>(builder_.line(b).immediate, 64);
        VectorOp op = left ? VectorOp::shift_left : logical ? VectorOp::shift_right_unsigned : VectorOp::shift_right;
        result = line(op, lane, a, -1, -1, count);
    } else {
        VectorOp op = left      ? VectorOp::shift_left_by
                      : logical ? VectorOp::shift_right_unsigned_by
                                : VectorOp::shift_right_by;
        result = line(op, lane, a, b);
    }
    return left ? wrapped(result, dtype) : result;
}

/// AVX2 has none: the sign bit, moved along, is carried through by m - 2 m.
Value VectorArithmetic::arithmetic_shift_64(Value a, Value b) {
    Lane lane = Lane::i64;
    Value most = bits(lane, 63);
    Value count = select(integer_compare(IntPredicate::less, lane, true, most, b), most, b);
    auto moved = [&](Value x) { return line(VectorOp::shift_right_unsigned_by, lane, x, count); };
    Value sign = moved(bits(lane, 1ull << 63));
    return line(VectorOp::int_subtract, lane, line(VectorOp::bit_xor, lane, moved(a), sign), sign);
}

/// The number of the type that has the lane's lowest bits.
Value VectorArithmetic::wrapped(Value a, DType dtype) {
    int unused = 8 * width_of(lane_of(dtype)) - 8 * static_cast<int>(size_of(dtype));
    if (unused == 0) return a;
    auto count = static_cast<std::uint64_t>(unused);
    if (is_unsigned(dtype) || is_half(dtype))
        return line(VectorOp::bit_and, Lane::i32, a, bits(Lane::i32, 0xffffffffu >> count));
    Value left = line(VectorOp::shift_left, Lane::i32, a, -1, -1, count);
    return line(VectorOp::shift_right, Lane::i32, left, -1, -1, count);
}

}  // namespace weft::cpu::emit
