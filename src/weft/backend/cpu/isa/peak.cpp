// As many fused multiply-adds as the processor can do: independent chains in registers, no memory. What the share of the peak is
// measured by.
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

}  // namespace

const PeakLoop peak_loop = {run, 2.0 * chains* Vec<float>::lanes};

}  // namespace weft::cpu::WEFT_ISA
