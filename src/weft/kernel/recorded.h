// An arithmetic type that writes down what is done with it: kernel/elementary/ instantiated with Recorded<float> leaves a Program
// of plain opcodes. Where a template asks any(), a common path may be left out or kept: a Recording says which.
// What a value is here is a number, and what is done with it a call, for
// the templates come to hundreds of thousands of operations: inlined into each, they were 3 MB. Callers: kernel/function_program.cpp alone.
#pragma once

#include <optional>

#include "weft/base/unsigned_of.h"
#include "weft/kernel/builder.h"
#include "weft/kernel/function_program.h"

namespace weft {

/// What is being recorded on this thread. `complete`: any() says yes, so every path is in the Program and all inputs are served.
/// Otherwise any() says no, and `rare` gathers where that was wrong. `scaling`: what scaled_by will be.
class Recording {
  public:
    Recording(bool complete, Scaling scaling) : complete_(complete), scaling_(scaling), outer_(current) {
        current = this;
    }
    ~Recording() { current = outer_; }
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    // Values are told by their numbers: of the next input, a constant, and what an opcode makes of operands of one type.
    static std::int32_t input(DType dtype);
    static std::int32_t constant(DType dtype, float value);
    static std::int32_t constant(DType dtype, double value);
    static std::int32_t constant(DType dtype, std::uint64_t value);
    static std::int32_t record(Opcode opcode, DType dtype, std::int32_t a);
    static std::int32_t record(Opcode opcode, DType dtype, std::int32_t a, std::int32_t b);
    static std::int32_t fused(DType dtype, std::int32_t a, std::int32_t b, std::int32_t c);
    static std::int32_t choice(DType dtype, std::int32_t condition, std::int32_t yes, std::int32_t no);
    static std::int32_t bits_as(DType to, DType from, std::int32_t a);
    static bool any(std::int32_t condition);
    static Scaling scaling() { return current->scaling_; }
    /// The Program whose output this value is, and `rare` if there is such.
    Program take(DType dtype, std::int32_t output);

  private:
    static Scalar value(DType dtype, std::int32_t number) { return Scalar(&current->builder_, dtype, number); }

    static thread_local Recording* current;
    ProgramBuilder builder_;
    bool complete_;
    Scaling scaling_;
    std::optional<Scalar> rare_;
    Recording* outer_;
};

struct RecordedMask {
    static constexpr DType dtype = DType::bool_;
    std::int32_t number;
    friend bool any(RecordedMask mask) { return Recording::any(mask.number); }
    friend RecordedMask operator&(RecordedMask a, RecordedMask b) {
        return {Recording::record(Opcode::bit_and, dtype, a.number, b.number)};
    }
    friend RecordedMask operator|(RecordedMask a, RecordedMask b) {
        return {Recording::record(Opcode::bit_or, dtype, a.number, b.number)};
    }
    friend RecordedMask operator^(RecordedMask a, RecordedMask b) {
        return {Recording::record(Opcode::bit_xor, dtype, a.number, b.number)};
    }
    friend RecordedMask operator~(RecordedMask a) { return {Recording::record(Opcode::bit_not, dtype, a.number)}; }
};

#define WEFT_RECORDED(Type, operation, opcode)                                       \
    friend Type operator operation(Type a, Type b) {                                 \
        return {Recording::record(Opcode::opcode, Type::dtype, a.number, b.number)}; \
    }

/// The unsigned integer as wide as T.
template <class T>
struct RecordedInt {
    using Element = UnsignedOf<sizeof(T)>;
    static constexpr DType dtype = dtype_of<Element>;
    std::int32_t number;

    static RecordedInt all(Element value) { return {Recording::constant(dtype, std::uint64_t{value})}; }
    WEFT_RECORDED(RecordedInt, +, add)
    WEFT_RECORDED(RecordedInt, -, subtract)
    WEFT_RECORDED(RecordedInt, *, multiply)
    WEFT_RECORDED(RecordedInt, &, bit_and)
    WEFT_RECORDED(RecordedInt, |, bit_or)
    WEFT_RECORDED(RecordedInt, ^, bit_xor)
    WEFT_RECORDED(RecordedInt, <<, shift_left)
    WEFT_RECORDED(RecordedInt, >>, shift_right)
    friend RecordedInt operator<<(RecordedInt a, int bits) { return a << all(static_cast<Element>(bits)); }
    friend RecordedInt operator>>(RecordedInt a, int bits) { return a >> all(static_cast<Element>(bits)); }
    friend RecordedMask equal(RecordedInt a, RecordedInt b) {
        return {Recording::record(Opcode::equal, dtype, a.number, b.number)};
    }
    friend RecordedInt select(RecordedMask mask, RecordedInt yes, RecordedInt no) {
        return {Recording::choice(dtype, mask.number, yes.number, no.number)};
    }
};

template <class T>
struct Recorded {
    using Element = T;
    using Int = RecordedInt<T>;
    using Mask = RecordedMask;
    static constexpr DType dtype = dtype_of<T>;
    std::int32_t number;

    static Recorded all(T value) { return {Recording::constant(dtype, value)}; }
    static Recorded from_bits(Int a) { return {Recording::bits_as(dtype, Int::dtype, a.number)}; }
    friend Int bits(Recorded a) { return {Recording::bits_as(Int::dtype, dtype, a.number)}; }

    WEFT_RECORDED(Recorded, +, add)
    WEFT_RECORDED(Recorded, -, subtract)
    WEFT_RECORDED(Recorded, *, multiply)
    WEFT_RECORDED(Recorded, /, divide)
    friend Recorded operator-(Recorded a) { return {Recording::record(Opcode::negative, dtype, a.number)}; }
    friend Recorded fma(Recorded a, Recorded b, Recorded c) {
        return {Recording::fused(dtype, a.number, b.number, c.number)};
    }
    friend Recorded sqrt(Recorded a) { return {Recording::record(Opcode::square_root, dtype, a.number)}; }
    friend Mask less(Recorded a, Recorded b) { return {Recording::record(Opcode::less, dtype, a.number, b.number)}; }
    friend Mask equal(Recorded a, Recorded b) { return {Recording::record(Opcode::equal, dtype, a.number, b.number)}; }
    friend Recorded select(Mask mask, Recorded yes, Recorded no) {
        return {Recording::choice(dtype, mask.number, yes.number, no.number)};
    }
    friend Recorded at_most(Recorded x, T limit) { return select(less(all(limit), x), all(limit), x); }
    friend Recorded at_least(Recorded x, T limit) { return select(less(x, all(limit)), all(limit), x); }
    static bool scales_by_instruction() { return Recording::scaling() != Scaling::steps; }
    friend Recorded at_most_in_steps(Recorded x, T limit) {
        return Recording::scaling() == Scaling::steps ? at_most(x, limit) : x;
    }
    friend Recorded at_least_in_steps(Recorded x, T limit) {
        return Recording::scaling() == Scaling::masked ? x : at_least(x, limit);
    }
    template <class Steps>
    friend Recorded scaled_by(Recorded a, Recorded n, Steps steps) {
        return steps(a, n);
    }
};
#undef WEFT_RECORDED

}  // namespace weft
