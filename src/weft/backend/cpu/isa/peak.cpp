// As many fused multiply-adds as the processor can do: independent chains in registers, no memory; and memory alone, copied or read. What
// shares of the peak are measured by.
#include "weft/backend/cpu/isa/peak.h"

#include "weft/backend/cpu/isa.h"
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

/// `ahead` bytes on lies what is asked for, into the first-level cache or the second: a hint, so that it may lie behind the end.
template <std::uintptr_t ahead, int into>
float read_asking(const float* from, std::int64_t count) {
    using V = Vec<float>;
    constexpr int together = 8;
    typename V::Type sums[together];
    for (auto& sum : sums) sum = V::zero();
    for (std::int64_t i = 0; i < count; i += together * V::lanes) {
        for (int k = 0; k < together; ++k) {
            const float* at = from + i + k * V::lanes;
            __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(at) + ahead), 0, into);
            sums[k] = V::add(sums[k], V::load(at));
        }
    }
    float lanes[V::lanes];
    for (int k = 1; k < together; ++k) sums[0] = V::add(sums[0], sums[k]);
    V::store(lanes, sums[0]);
    return lanes[0];
}

float read(const float* from, std::int64_t count) {
    return is_zen5() ? read_asking<4096, 3>(from, count) : read_asking<1024, 2>(from, count);
}

}  // namespace

const PeakLoop peak_loop = {run, 2.0 * chains* Vec<float>::lanes, copy, read};

}  // namespace weft::cpu::WEFT_ISA
