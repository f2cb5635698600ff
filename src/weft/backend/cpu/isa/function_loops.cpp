// Calls of mathematical functions as loops over blocks: weft's own polynomials as vectors of this instruction set, all others
// one element at a time.
#include "weft/backend/cpu/block_loops.h"
#include "weft/kernel/element.h"
#include "weft/kernel/function.h"

namespace weft::cpu::WEFT_ISA {
namespace {

template <class T>
using Body = T (*)(const T*);

template <class T>
WEFT_ELEMENT void call_each(Body<T> body, void* out, const void* const* operands, std::int64_t count, const StepInfo& info) {
    auto* to = static_cast<T*>(out);
    auto* a = static_cast<const T*>(operands[0]);
    auto* b = static_cast<const T*>(info.function->arity > 1 ? operands[1] : operands[0]);
    std::int64_t step_a = info.uniform & 1 ? 0 : 1, step_b = info.uniform & 2 ? 0 : 1;
    for (std::int64_t i = 0; i < count; ++i) {
        T values[2] = {a[i * step_a], b[i * step_b]};
        to[i] = body(values);
    }
}

void call_f32(void* out, const void* const* operands, std::int64_t count, const StepInfo& info) {
    call_each(info.function->f32, out, operands, count, info);
}
void call_f64(void* out, const void* const* operands, std::int64_t count, const StepInfo& info) {
    call_each(info.function->f64, out, operands, count, info);
}
void call_c64(void* out, const void* const* operands, std::int64_t count, const StepInfo& info) {
    call_each(info.function->c64, out, operands, count, info);
}
void call_c128(void* out, const void* const* operands, std::int64_t count, const StepInfo& info) {
    call_each(info.function->c128, out, operands, count, info);
}

}  // namespace

Step function_step(const Instruction& at) {
    switch (at.dtype) {
        case DType::float32: return call_f32;
        case DType::float64: return call_f64;
        case DType::complex64: return call_c64;
        case DType::complex128: return call_c128;
        default: return nullptr;
    }
}

}  // namespace weft::cpu::WEFT_ISA
