// Reductions over blocks: those of places (argmax, argmin) here, the others in reduce_joined.cpp.
#include "weft/backend/cpu/isa/best_of.h"

namespace weft::cpu::WEFT_ISA {

namespace {

template <class T>
const ReduceLoops* loops_of(Reduction reduction) {
    using Compared = std::conditional_t<element::is_bool<T>, std::uint8_t, T>;
    if constexpr (!element::is_half<T> && !element::is_complex<T>) {
        if (reduction == Reduction::argmax) return &Best<Compared, true>::loops;
        if (reduction == Reduction::argmin) return &Best<Compared, false>::loops;
    }
    return nullptr;
}

}  // namespace

const ReduceLoops* reduce_loops(Reduction reduction, DType dtype) {
    if (reduction != Reduction::argmax && reduction != Reduction::argmin) return joined_loops(reduction, dtype);
    return with_dtype(dtype, [&]<class T>(TypeTag<T>) { return loops_of<element::Rep<T>>(reduction); });
}

}  // namespace weft::cpu::WEFT_ISA
