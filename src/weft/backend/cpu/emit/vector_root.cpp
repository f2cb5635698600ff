// Square roots without the processor's own unit, which is busy for as long as some twenty multiplications take: 100,000 floats 27.4 us, so 19.7 (Xeon,
// Emerald Rapids).
#include "weft/backend/cpu/emit/vector_arithmetic.h"

namespace weft::cpu::emit {

/// Where it is not that: below `least`, for infinities, negative numbers and NaN; 0 has one.
VectorArithmetic::Value VectorArithmetic::beyond_roots(Lane whole, Value x, std::uint64_t least,
                                                       std::uint64_t infinity) {
    Value beyond = integer_compare(IntPredicate::less_equal, whole, true, bits(whole, infinity - least),
                                   line(VectorOp::int_subtract, whole, x, bits(whole, least)));
    Value not_zero = integer_compare(IntPredicate::not_equal, whole, false, x, bits(whole, 0));
    return line(VectorOp::mask_and, Lane::mask, beyond, not_zero);
}

/// From y, 1 / sqrt(x) to 14 bits, by Goldschmidt's steps (R. E. Goldschmidt, 1964): g = x y and h = y / 2 come nearer to sqrt(x) and to half its
/// inverse by r = 1/2 - g h each. What x lacks of g g, exact by one rounding, times h is then what g lacks (P. Markstein, 1990). With an Intel's y
/// that is the rounded root of each of the floats from 2^-102 on, all of which were tried; below, what x lacks is no normal number. h is
/// negative here, so that each step is one instruction.
VectorArithmetic::Root VectorArithmetic::root_by_steps(Value x) {
    constexpr std::uint64_t sign = 0x80000000;
    constexpr double some = 0x1p60;  // for 1 / 0: then all is 0
    const Lane lane = Lane::f32;
    Value y = line(VectorOp::lesser, lane, line(VectorOp::about_inverse_root, lane, x), number(lane, some));
    Value g = line(VectorOp::multiply, lane, x, y), h = line(VectorOp::multiply, lane, y, number(lane, -0.5));
    Value r = line(VectorOp::fma, lane, g, h, number(lane, 0.5));
    g = line(VectorOp::fma, lane, g, r, g), h = line(VectorOp::fma, lane, h, r, h);
    Value too_much = line(VectorOp::fma, lane, g, g, line(VectorOp::bit_xor, lane, x, bits(lane, sign)));
    return {line(VectorOp::fma, lane, too_much, h, g), beyond_roots(Lane::i32, x, 0x0c800000, 0x7f800000)};
}

/// The same of doubles, in one step of the third order: with q = (1 - x y y) / 2 the inverse is y (1 + q + 3/2 q q), to within 5/2 q^3 < 2^-40 of it.
/// Of so many numbers not all can be tried: what g lacks is known to within 2^-40 of itself, so that the root lies between what comes of h a
/// 2^-37th smaller and larger, and is the rounded one where both round alike; else (of one in a hundred million) it is the processor's. 100,000
/// doubles on a Xeon 77 to 40 us.
VectorArithmetic::Root VectorArithmetic::double_root_by_steps(Value x) {
    constexpr std::uint64_t sign = std::uint64_t{1} << 63, least = std::uint64_t{0x040} << 52,
                            infinity = std::uint64_t{0x7ff} << 52;
    constexpr double some = 0x1p500, off = 0x1p-37;
    const Lane lane = Lane::f64;
    Value y = line(VectorOp::lesser, lane, line(VectorOp::about_inverse_root, lane, x), number(lane, some));
    Value g = line(VectorOp::multiply, lane, x, y), h = line(VectorOp::multiply, lane, y, number(lane, -0.5));
    Value q = line(VectorOp::fma, lane, g, h, number(lane, 0.5));
    q = line(VectorOp::multiply, lane, q, line(VectorOp::fma, lane, q, number(lane, 1.5), number(lane, 1)));
    g = line(VectorOp::fma, lane, g, q, g), h = line(VectorOp::fma, lane, h, q, h);
    Value too_much = line(VectorOp::fma, lane, g, g, line(VectorOp::bit_xor, lane, x, bits(lane, sign)));
    auto with = [&](double factor) {
        return line(VectorOp::fma, lane, too_much, line(VectorOp::multiply, lane, h, number(lane, factor)), g);
    };
    Value root = with(1 - off);
    Value unsure = float_compare(Predicate::not_equal, lane, root, with(1 + off));
    return {root, line(VectorOp::mask_or, Lane::mask, unsure, beyond_roots(Lane::i64, x, least, infinity))};
}

}  // namespace weft::cpu::emit
