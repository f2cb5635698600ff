// Reductions over blocks: those of places (argmax, argmin) here, the others in reduce_joined.cpp.
#include "weft/backend/cpu/isa/best_of.h"

namespace weft::cpu::WEFT_ISA {

const ReduceLoops* joined_loops(Reduction reduction, DType dtype);

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
    switch (dtype) {
#define WEFT_CASE(name, type) \
    case DType::name:         \
        return loops_of<element::Rep<type>>(reduction);
        WEFT_FOR_EACH_DTYPE(WEFT_CASE)
#undef WEFT_CASE
    }
    return nullptr;
}

}  // namespace weft::cpu::WEFT_ISA
