// Square roots without the processor's own unit, which is busy for as long as some twenty multiplications take: 100,000 floats 27.4 us, so 19.7 (Xeon,
// Emerald Rapids).
#include "weft/backend/cpu/emit/vector_arithmetic.h"

namespace weft::cpu::emit {

/// From y, 1 / sqrt(x) to 14 bits, by Goldschmidt's steps (R. E. Goldschmidt, 1964): g = x y and h = y / 2 come nearer to sqrt(x) and to half its
/// inverse by r = 1/2 - g h each. What x lacks of g g, exact by one rounding, times h is then what g lacks (P. Markstein, 1990). With an Intel's y
/// that is the rounded root of each of the floats from 2^-102 on, all of which were tried; below, what x lacks is no normal number. h is
/// negative here, so that each step is one instruction.
VectorArithmetic::Root VectorArithmetic::root_by_steps(Value x) {
    constexpr std::uint64_t least = 0x0c800000, infinity = 0x7f800000, sign = 0x80000000;
    constexpr double some = 0x1p60;  // for 1 / 0: then all is 0
    const Lane lane = Lane::f32, whole = Lane::i32;
    Value y = line(VectorOp::lesser, lane, line(VectorOp::about_inverse_root, lane, x), number(lane, some));
    Value g = line(VectorOp::multiply, lane, x, y), h = line(VectorOp::multiply, lane, y, number(lane, -0.5));
    Value r = line(VectorOp::fma, lane, g, h, number(lane, 0.5));
    g = line(VectorOp::fma, lane, g, r, g), h = line(VectorOp::fma, lane, h, r, h);
    Value too_much = line(VectorOp::fma, lane, g, g, line(VectorOp::bit_xor, lane, x, bits(lane, sign)));
    Value beyond = integer_compare(IntPredicate::less_equal, whole, true, bits(whole, infinity - least),
                                   line(VectorOp::int_subtract, whole, x, bits(whole, least)));
    Value not_zero = integer_compare(IntPredicate::not_equal, whole, false, x, bits(whole, 0));
    return {line(VectorOp::fma, lane, too_much, h, g), line(VectorOp::mask_and, Lane::mask, beyond, not_zero)};
}

}  // namespace weft::cpu::emit
