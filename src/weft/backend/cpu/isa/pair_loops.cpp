// Pairs of arithmetic opcodes on float32 in one pass: half of the time of short steps goes into storing their results. Both
// operations round, as they do apart.
#include "weft/backend/cpu/block_loops.h"
#include "weft/kernel/element.h"

namespace weft::cpu::WEFT_ISA {
namespace {

template <Opcode first, Opcode second, bool reversed>
struct Pair {
    WEFT_ELEMENT static float of(float a, float b, float c) {
        float between = element::apply2<first>(a, b);
        return reversed ? element::apply2<second>(c, between) : element::apply2<second>(between, c);
    }
};

/// Bit k of `uniform`: operand k is one value. (The first two are never both: their result would be uniform itself.)
template <class P, unsigned uniform>
WEFT_ELEMENT void loop(float* to, const float* a, const float* b, const float* c, std::int64_t count) {
    const float a0 = *a, b0 = *b, c0 = *c;
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        to[i] = P::of(uniform & 1 ? a0 : a[i], uniform & 2 ? b0 : b[i], uniform & 4 ? c0 : c[i]);
    }
}

template <class P>
void pair(void* out, const void* const* operands, std::int64_t count, const StepInfo& info) {
    auto* to = static_cast<float*>(out);
    auto* a = static_cast<const float*>(operands[0]);
    auto* b = static_cast<const float*>(operands[1]);
    auto* c = static_cast<const float*>(operands[2]);
    switch (info.uniform) {
        case 0:
            return loop<P, 0>(to, a, b, c, count);
        case 1:
            return loop<P, 1>(to, a, b, c, count);
        case 2:
            return loop<P, 2>(to, a, b, c, count);
        case 4:
            return loop<P, 4>(to, a, b, c, count);
        case 5:
            return loop<P, 5>(to, a, b, c, count);
        default:
            return loop<P, 6>(to, a, b, c, count);
    }
}

template <Opcode first>
Step pair_from(Opcode second, bool reversed) {
    switch (second) {  // of sums and products the order does not matter, to the bit
        case Opcode::add:
            return pair<Pair<first, Opcode::add, false>>;
        case Opcode::multiply:
            return pair<Pair<first, Opcode::multiply, false>>;
        case Opcode::subtract:
            if (reversed) return pair<Pair<first, Opcode::subtract, true>>;
            return pair<Pair<first, Opcode::subtract, false>>;
        default:
            return nullptr;
    }
}

}  // namespace

Step pair_step(Opcode first, Opcode second, bool reversed) {
    switch (first) {
        case Opcode::add:
            return pair_from<Opcode::add>(second, reversed);
        case Opcode::subtract:
            return pair_from<Opcode::subtract>(second, reversed);
        case Opcode::multiply:
            return pair_from<Opcode::multiply>(second, reversed);
        default:
            return nullptr;
    }
}

}  // namespace weft::cpu::WEFT_ISA
