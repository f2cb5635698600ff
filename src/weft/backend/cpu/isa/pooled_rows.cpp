#include "weft/backend/cpu/isa/pooled_rows.h"

#include "weft/kernel/element.h"

namespace weft::cpu::WEFT_ISA {
namespace {

// Steps are constants, so that the compiler makes vectors.
template <std::int64_t step>
void take(const RowWindows& w, const float* __restrict from, float* __restrict to) {
    for (std::int64_t y = 0; y < w.count; ++y) to[y] = from[y * step];
    for (std::int64_t k = 1; k < w.kernel; ++k) {
        from += w.dilation;
        for (std::int64_t y = 0; y < w.count; ++y) {
            float value = from[y * step], best = to[y];
            to[y] = (value > best) | (value != value) ? value : best;
        }
    }
}

}  // namespace

void take_rows(const RowWindows& w, const float* from, float* to) {
    w.stride == 1 ? take<1>(w, from, to) : take<2>(w, from, to);
}

}  // namespace weft::cpu::WEFT_ISA
