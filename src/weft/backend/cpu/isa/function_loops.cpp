// Calls of mathematical functions as loops over blocks: weft's own programs on registers of this instruction set, all others
// one element at a time.
#include "weft/backend/cpu/block_loops.h"
#include "weft/kernel/elementary.h"
#include "weft/kernel/function.h"
#include "weft/kernel/lanes.h"

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
    auto* c = static_cast<const T*>(info.function->arity > 2 ? operands[2] : operands[0]);
    std::int64_t step_a = info.uniform & 1 ? 0 : 1, step_b = info.uniform & 2 ? 0 : 1,
                 step_c = info.uniform & 4 ? 0 : 1;
    for (std::int64_t i = 0; i < count; ++i) {
        T values[3] = {a[i * step_a], b[i * step_b], c[i * step_c]};
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
constexpr int register_bytes = 64;
#elif defined(WEFT_ISA_avx2)
constexpr int register_bytes = 32;
#else
constexpr int register_bytes = 16;
#endif
struct Tag;
template <class T>
using Register = Lanes<T, register_bytes / sizeof(T), Tag>;

/// to[i] = of(a[i], b[i]), a register at a time, the last one through a buffer. A uniform operand is one value for all.
template <bool uniform_a, bool uniform_b, class T, class Of>
WEFT_ELEMENT void register_loop(T* to, const T* a, const T* b, std::int64_t count, Of of) {
    using V = Register<T>;
    constexpr int width = V::lanes;
    V all_a = V::all(*a), all_b = V::all(*b);
    auto value = [&](const T* x, const T* y) __attribute__((always_inline)) {
        V first = all_a, second = all_b;
        if constexpr (!uniform_a) first = V::load(x);
        if constexpr (!uniform_b) second = V::load(y);
        return of(first, second);
    };
    std::int64_t i = 0;
    for (; i + width <= count; i += width) value(a + i, b + i).store(to + i);
    if (i == count) return;
    T rest_a[width] = {}, rest_b[width] = {};
    for (std::int64_t k = 0; i + k < count; ++k) {
        if (!uniform_a) rest_a[k] = a[i + k];
        if (!uniform_b) rest_b[k] = b[i + k];
    }
    T rest[width];
    value(rest_a, rest_b).store(rest);
    __builtin_memcpy(to + i, rest, static_cast<std::size_t>(count - i) * sizeof(T));
}

template <class T, class Of>
WEFT_ELEMENT void binary_loop(T* to, const T* a, const T* b, std::int64_t count, unsigned uniform, Of of) {
    if (uniform == 0) return register_loop<false, false>(to, a, b, count, of);
    if (uniform == 1) return register_loop<true, false>(to, a, b, count, of);
    register_loop<false, true>(to, a, b, count, of);
}

/// A function of one operand; of float32, after a negation or a subtraction if info says so.
template <class Operation, class T>
void unary(void* out, const void* const* operands, std::int64_t count, const StepInfo& info) {
    using V = Register<T>;
    auto* to = static_cast<T*>(out);
    auto* a = static_cast<const T*>(operands[0]);
    if constexpr (sizeof(T) == 4) {
        if (info.before == Opcode::negative)
            return register_loop<false, true>(
                to, a, a, count, [](V x, V) __attribute__((always_inline)) { return Operation::of(-x); });
        if (info.before == Opcode::subtract)
            return binary_loop(
                to, a, static_cast<const T*>(operands[1]), count, info.uniform,
                [](V x, V y) __attribute__((always_inline)) { return Operation::of(x - y); });
    }
    register_loop<false, true>(
        to, a, a, count, [](V x, V) __attribute__((always_inline)) { return Operation::of(x); });
}

template <class Operation, class T>
void binary(void* out, const void* const* operands, std::int64_t count, const StepInfo& info) {
    using V = Register<T>;
    binary_loop(
        static_cast<T*>(out), static_cast<const T*>(operands[0]), static_cast<const T*>(operands[1]), count,
        info.uniform, [](V x, V y) __attribute__((always_inline)) { return Operation::of(x, y); });
}

#define WEFT_FUNCTION_1(name, ...)
#define WEFT_FUNCTION_2(name, ...)
#define WEFT_PROGRAM_1(name, ...)       \
    struct name##_operation {           \
        template <class V>              \
        WEFT_ELEMENT static V of(V x) { \
            return elementary::name(x); \
        }                               \
    };
#define WEFT_PROGRAM_2(name, ...)            \
    struct name##_operation {                \
        template <class V>                   \
        WEFT_ELEMENT static V of(V x, V y) { \
            return elementary::name(x, y);   \
        }                                    \
    };
#include "weft/kernel/functions.inc"

/// Null for a function that is no program.
template <class T>
Step program_step(const Function* function) {
#define WEFT_PROGRAM_1(name, ...) \
    if (function == &name##_function) return unary<name##_operation, T>;
#define WEFT_PROGRAM_2(name, ...) \
    if (function == &name##_function) return binary<name##_operation, T>;
#include "weft/kernel/functions.inc"
    return nullptr;
}
#undef WEFT_FUNCTION_1
#undef WEFT_FUNCTION_2

}  // namespace

bool takes_before(const Function* function) { return function->arity == 1 && program_step<float>(function) != nullptr; }

Step function_step(const Instruction& at) {
    switch (at.dtype) {
        case DType::float32:
            if (Step own = program_step<float>(at.function)) return own;
            return call_f32;
        case DType::float64:
            if (Step own = program_step<double>(at.function)) return own;
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
