// As many fused multiply-adds as the processor can do: independent chains in registers, no memory; and memory alone, copied. What
// shares of the peak are measured by.
#include "weft/backend/cpu/isa/peak.h"

#include "weft/backend/cpu/isa/vector.h"

namespace weft::cpu::WEFT_ISA {
namespace {

constexpr int chains = 12;

float run(std::int64_t rounds) {
    using V = Vec<float>;
    typename V::Type sums[chains], factor = V::all(0.999f), step = V::all(0.001f);
    for (auto& sum : sums) sum = V::all(1.0f);
    for (std::int64_t round = 0; round < rounds; ++round) {
        for (auto& sum : sums) sum = V::fma(sum, factor, step);
    }
    float total = 0, lanes[V::lanes];
    for (auto& sum : sums) {
        V::store(lanes, sum);
        total += lanes[0];
    }
    return total;
}

void copy(const float* from, float* to, std::int64_t count) {
    using V = Vec<float>;
    constexpr int together = 4;
    for (std::int64_t i = 0; i < count; i += together * V::lanes) {
        typename V::Type values[together];
        for (int k = 0; k < together; ++k) values[k] = V::load(from + i + k * V::lanes);
        for (int k = 0; k < together; ++k) V::store_past(to + i + k * V::lanes, values[k]);
    }
#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)
    _mm_sfence();  // what went past the caches is there for all to see
#endif
}

}  // namespace

const PeakLoop peak_loop = {run, 2.0 * chains* Vec<float>::lanes, copy};

}  // namespace weft::cpu::WEFT_ISA
