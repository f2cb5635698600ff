// Arithmetic that both instruction sets write alike.
#include "weft/found.h"

#if WEFT_HAVE_XBYAK && defined(__x86_64__)

#include <algorithm>

#include "weft/backend/cpu/emit/writer.h"

namespace weft::cpu::emit {

void Writer::common(const Line& line, std::int32_t to, const std::array<std::int32_t, 3>& from) {
    if (line.op == VectorOp::fma) return fused(line, to, from);
    bool plain = line.lane != Lane::mask && line.from == line.lane;
    if (plain) {
        Xmm result = reg(to, line.lane), a = reg(from[0], line.lane);
        Xmm other = from[1] >= 0 ? reg(from[1], line.lane) : a;
        const Xbyak::Operand& b = second(other);
        if (arithmetic(line, result, a, b) || integers(line, result, a, b)) return;
    }
    own(line, to, from);
}

bool Writer::arithmetic(const Line& line, const Xmm& to, const Xmm& a, const Xbyak::Operand& b) {
    bool single = line.lane == Lane::f32;
    switch (line.op) {
        case VectorOp::add:
            single ? vaddps(to, a, b) : vaddpd(to, a, b);
            return true;
        case VectorOp::subtract:
            single ? vsubps(to, a, b) : vsubpd(to, a, b);
            return true;
        case VectorOp::multiply:
            single ? vmulps(to, a, b) : vmulpd(to, a, b);
            return true;
        case VectorOp::divide:
            single ? vdivps(to, a, b) : vdivpd(to, a, b);
            return true;
        case VectorOp::square_root:
            single ? vsqrtps(to, a) : vsqrtpd(to, a);
            return true;
        case VectorOp::lesser:
            single ? vminps(to, a, b) : vminpd(to, a, b);
            return true;
        case VectorOp::greater:
            single ? vmaxps(to, a, b) : vmaxpd(to, a, b);
            return true;
        default:
            return false;
    }
}

bool Writer::integers(const Line& line, const Xmm& to, const Xmm& a, const Xbyak::Operand& b) {
    bool narrow = width_of(line.lane) == 4;
    auto count = static_cast<std::uint8_t>(std::min<std::uint64_t>(line.immediate, 64));
    switch (line.op) {
        case VectorOp::int_add:
            narrow ? vpaddd(to, a, b) : vpaddq(to, a, b);
            return true;
        case VectorOp::int_subtract:
            narrow ? vpsubd(to, a, b) : vpsubq(to, a, b);
            return true;
        case VectorOp::multiply_halves:
            vpmuludq(to, a, b);
            return true;
        case VectorOp::shift_left:
            narrow ? vpslld(to, a, count) : vpsllq(to, a, count);
            return true;
        case VectorOp::shift_right_unsigned:
            narrow ? vpsrld(to, a, count) : vpsrlq(to, a, count);
            return true;
        case VectorOp::shift_left_by:
            narrow ? vpsllvd(to, a, b) : vpsllvq(to, a, b);
            return true;
        case VectorOp::shift_right_unsigned_by:
            narrow ? vpsrlvd(to, a, b) : vpsrlvq(to, a, b);
            return true;
        default:
            break;
    }
    if (!narrow) return false;
    switch (line.op) {
        case VectorOp::int_multiply:
            return vpmulld(to, a, b), true;
        case VectorOp::int_lesser:
            return vpminsd(to, a, b), true;
        case VectorOp::int_greater:
            return vpmaxsd(to, a, b), true;
        case VectorOp::unsigned_lesser:
            return vpminud(to, a, b), true;
        case VectorOp::unsigned_greater:
            return vpmaxud(to, a, b), true;
        case VectorOp::shift_right:
            return vpsrad(to, a, count), true;
        case VectorOp::shift_right_by:
            return vpsravd(to, a, b), true;
        default:
            return false;
    }
}

/// The three forms of fused multiply-add overwrite one operand each; where none dies, the sum is moved first.
void Writer::fused(const Line& line, std::int32_t to, const std::array<std::int32_t, 3>& from) {
    if (second_ || third_) return fused_with_memory(line, to, from);
    bool single = line.lane == Lane::f32;
    Xmm result = reg(to, line.lane), a = reg(from[0], line.lane), b = reg(from[1], line.lane),
        c = reg(from[2], line.lane);
    if (to == from[0]) {
        single ? vfmadd213ps(result, b, c) : vfmadd213pd(result, b, c);
    } else if (to == from[1]) {
        single ? vfmadd213ps(result, a, c) : vfmadd213pd(result, a, c);
    } else {
        if (to != from[2]) vmovaps(result, c);
        single ? vfmadd231ps(result, a, b) : vfmadd231pd(result, a, b);
    }
}

/// An instruction has one operand in memory: a factor, else what is added. Of both the latter is brought to a register before.
void Writer::fused_with_memory(const Line& line, std::int32_t to, const std::array<std::int32_t, 3>& from) {
    bool single = line.lane == Lane::f32, over_a = to == from[0];
    Xmm result = reg(to, line.lane), a = reg(from[0], line.lane);
    if (!second_) {
        Xmm b = reg(to == from[1] ? from[0] : from[1], line.lane);
        if (!over_a && to != from[1]) vmovaps(result, a);
        return single ? vfmadd213ps(result, b, *third_) : vfmadd213pd(result, b, *third_);
    }
    Xmm c = reg(!third_ ? from[2] : over_a ? spare_number() : to, line.lane);
    if (third_) vmovups(c, *third_);
    if (over_a) return single ? vfmadd132ps(result, c, *second_) : vfmadd132pd(result, c, *second_);
    if (!third_ && to != from[2]) vmovaps(result, c);
    single ? vfmadd231ps(result, a, *second_) : vfmadd231pd(result, a, *second_);
}

}  // namespace weft::cpu::emit

#endif
