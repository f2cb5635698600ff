// Sums, products and extremes of blocks: a source of their own, for they are faster and smaller by less than -O3 (WEFT_PLAIN_LOOPS).
#include "weft/backend/cpu/isa/joined.h"

namespace weft::cpu::WEFT_ISA {
namespace {

template <class T>
const ReduceLoops* loops_of(Reduction reduction) {
    constexpr bool half = element::is_half<T>, complex = element::is_complex<T>, boolean = element::is_bool<T>;
    if constexpr (!half && !boolean) {
        if (reduction == Reduction::sum) return &Joined<Sum<Wrapped<T>>>::loops;
        if (reduction == Reduction::product) return &Joined<Product<Wrapped<T>>>::loops;
    }
    if constexpr (!half && !complex) {
        if (reduction == Reduction::maximum || reduction == Reduction::any) return &Joined<Extreme<T, true>>::loops;
        if (reduction == Reduction::minimum || reduction == Reduction::all) return &Joined<Extreme<T, false>>::loops;
    }
    return nullptr;
}

}  // namespace

const ReduceLoops* joined_loops(Reduction reduction, DType dtype) {
    return with_dtype(dtype, [&]<class T>(TypeTag<T>) { return loops_of<element::Rep<T>>(reduction); });
}

}  // namespace weft::cpu::WEFT_ISA
