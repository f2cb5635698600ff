// Calls of mathematical functions as loops over blocks: weft's own programs on registers of this instruction set, all others
// one element at a time.
#include "weft/backend/cpu/block_loops.h"
#include "weft/backend/cpu/isa/vector_bytes.h"
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

struct Tag;
template <class T>
using Register = Lanes<T, vector_bytes / sizeof(T), Tag>;

/// to[i] = of(a[i], &b[i]), a register at a time, the last one through a buffer. A uniform operand is a register full of it, read again and
/// again. `of` stands here once, and what differs between calls is decided within it: it is up to thousands of instructions, of a hundred
/// functions, and with a loop for each case these were megabytes. A branch that always goes the same way is hidden behind them.
template <class T, class Of>
WEFT_ELEMENT void register_loop(T* to, const T* a, const T* b, std::int64_t count, unsigned uniform, Of of) {
    using V = Register<T>;
    constexpr int width = V::lanes;
    T all_a[width], all_b[width], rest_a[width] = {}, rest_b[width] = {}, rest_to[width];
    if (uniform & 1) V::all(*a).store(all_a), a = all_a;
    if (uniform & 2) V::all(*b).store(all_b), b = all_b;
    const std::int64_t step_a = uniform & 1 ? 0 : width, step_b = uniform & 2 ? 0 : width, rest = count % width;
    T* last = nullptr;
    for (std::int64_t whole = count / width;; whole = 1) {
        for (; whole > 0; --whole, to += width, a += step_a, b += step_b) of(V::load(a), b).store(to);
        if (last || rest == 0) break;
        __builtin_memcpy(rest_a, a, (step_a ? static_cast<std::size_t>(rest) : width) * sizeof(T));
        __builtin_memcpy(rest_b, b, (step_b ? static_cast<std::size_t>(rest) : width) * sizeof(T));
        last = to, to = rest_to, a = rest_a, b = rest_b;
    }
    if (last) __builtin_memcpy(last, rest_to, static_cast<std::size_t>(rest) * sizeof(T));
}

/// A function of one operand; of float32, after a negation or a subtraction if info says so.
template <class Operation, class T>
void unary(void* out, const void* const* operands, std::int64_t count, const StepInfo& info) {
    using V = Register<T>;
    auto* to = static_cast<T*>(out);
    auto* a = static_cast<const T*>(operands[0]);
    if constexpr (sizeof(T) == 4) {
        const bool negates = info.before == Opcode::negative, subtracts = info.before == Opcode::subtract;
        auto* b = subtracts ? static_cast<const T*>(operands[1]) : a;
        register_loop(
            to, a, b, count, subtracts ? info.uniform : 0, [=](V x, const T* y) __attribute__((always_inline)) {
                if (subtracts) x = x - V::load(y);
                if (negates) x = -x;
                return Operation::of(x);
            });
    } else {
        register_loop(
            to, a, a, count, 0, [](V x, const T*) __attribute__((always_inline)) { return Operation::of(x); });
    }
}

template <class Operation, class T>
void binary(void* out, const void* const* operands, std::int64_t count, const StepInfo& info) {
    using V = Register<T>;
    register_loop(
        static_cast<T*>(out), static_cast<const T*>(operands[0]), static_cast<const T*>(operands[1]), count,
        info.uniform, [](V x, const T* y) __attribute__((always_inline)) { return Operation::of(x, V::load(y)); });
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
            if (Step own = program_step<float>(at.function())) return own;
            return call_f32;
        case DType::float64:
            if (Step own = program_step<double>(at.function())) return own;
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
