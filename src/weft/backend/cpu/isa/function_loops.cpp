// Calls of mathematical functions as loops over blocks: weft's own polynomials as vectors of this instruction set, all others
// one element at a time.
#include "weft/backend/cpu/block_loops.h"
#include "weft/kernel/elementary.h"
#include "weft/kernel/function.h"

namespace weft::cpu::WEFT_ISA {
namespace {

template <class T>
using Body = T (*)(const T*);

template <class T>
WEFT_ELEMENT void call_each(Body<T> body, void* out, const void* const* operands, std::int64_t count,
                            const StepInfo& info) {
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

#if defined(WEFT_ISA_avx512)
constexpr int width = 16;
#elif defined(WEFT_ISA_avx2)
constexpr int width = 8;
#else
constexpr int width = 4;
#endif
struct Tag;
using Floats = FloatVector<width, Tag>;

/// Calls Operation(before(a, b)): a vector at a time, the last one through a buffer.
template <class Operation, Opcode before>
WEFT_ELEMENT void polynomial_loop(float* to, const float* a, const float* b, std::int64_t count, bool uniform_a,
                                  bool uniform_b) {
    auto value = [&](const float* x, const float* y) __attribute__((always_inline)) {
        if constexpr (before == Opcode::negative)
            return -Floats::load(x);
        else if constexpr (before == Opcode::subtract) {
            return (uniform_a ? Floats::all(*a) : Floats::load(x)) - (uniform_b ? Floats::all(*b) : Floats::load(y));
        } else
            return Floats::load(x);
    };
    std::int64_t i = 0;
    for (; i + width <= count; i += width) Operation::of(value(a + i, b + i)).store(to + i);
    if (i == count) return;
    float rest_a[width] = {}, rest_b[width] = {};
    for (std::int64_t k = 0; i + k < count; ++k) {
        if (!uniform_a) rest_a[k] = a[i + k];
        if (before == Opcode::subtract && !uniform_b) rest_b[k] = b[i + k];
    }
    float rest[width];
    Operation::of(value(rest_a, rest_b)).store(rest);
    __builtin_memcpy(to + i, rest, static_cast<std::size_t>(count - i) * sizeof(float));
}

template <class Operation>
void polynomial(void* out, const void* const* operands, std::int64_t count, const StepInfo& info) {
    auto* to = static_cast<float*>(out);
    auto* a = static_cast<const float*>(operands[0]);
    auto* b = static_cast<const float*>(operands[1]);
    if (info.before == Opcode::negative)
        return polynomial_loop<Operation, Opcode::negative>(to, a, a, count, false, false);
    if (info.before == Opcode::subtract) {
        if (info.uniform == 0) return polynomial_loop<Operation, Opcode::subtract>(to, a, b, count, false, false);
        if (info.uniform == 1) return polynomial_loop<Operation, Opcode::subtract>(to, a, b, count, true, false);
        return polynomial_loop<Operation, Opcode::subtract>(to, a, b, count, false, true);
    }
    polynomial_loop<Operation, Opcode::call>(to, a, a, count, false, false);
}

#define WEFT_FUNCTION_1(name, ...)
#define WEFT_FUNCTION_2(name, ...)
#define WEFT_POLYNOMIAL_1(name, ...)                                            \
    struct name##_operation {                                                   \
        WEFT_ELEMENT static Floats of(Floats x) { return elementary::name(x); } \
    };
#include "weft/kernel/functions.inc"

Step polynomial_step(const Function* function) {
#define WEFT_POLYNOMIAL_1(name, ...) \
    if (function == &name##_function) return polynomial<name##_operation>;
#include "weft/kernel/functions.inc"
    return nullptr;
}
#undef WEFT_FUNCTION_1
#undef WEFT_FUNCTION_2

}  // namespace

bool takes_before(const Function* function) { return polynomial_step(function) != nullptr; }

Step function_step(const Instruction& at) {
    if (at.dtype == DType::float32) {
        if (Step own = polynomial_step(at.function)) return own;
    }
    switch (at.dtype) {
        case DType::float32:
            return call_f32;
        case DType::float64:
            return call_f64;
        case DType::complex64:
            return call_c64;
        case DType::complex128:
            return call_c128;
        default:
            return nullptr;
    }
}

}  // namespace weft::cpu::WEFT_ISA
