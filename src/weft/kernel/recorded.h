// An arithmetic type that writes down what is done with it: kernel/elementary/ instantiated with Recorded<float> leaves a Program
// of plain opcodes. Where a template asks any(), a common path may be left out or kept: a Recording says which.
// Callers: kernel/function_program.cpp alone.
#pragma once

#include <optional>
#include <type_traits>

#include "weft/base/unsigned_of.h"
#include "weft/kernel/builder.h"

namespace weft {

/// What is being recorded on this thread. `complete`: any() says yes, so every path is in the Program and all inputs are served.
/// Otherwise any() says no, and `rare` gathers where that was wrong. `scales`: scaled_by will be an instruction.
class Recording {
  public:
    Recording(bool complete, bool scales) : complete_(complete), scales_(scales), outer_(current) { current = this; }
    ~Recording() { current = outer_; }
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    static Recording& now() { return *current; }
    ProgramBuilder& builder() { return builder_; }
    bool any(const Scalar& condition) {
        if (!complete_) rare_ = rare_ ? *rare_ | condition : condition;
        return complete_;
    }
    const std::optional<Scalar>& rare() const { return rare_; }
    bool scales() const { return scales_; }

  private:
    static inline thread_local Recording* current = nullptr;
    ProgramBuilder builder_;
    bool complete_, scales_;
    std::optional<Scalar> rare_;
    Recording* outer_;
};

struct RecordedMask {
    Scalar s;
    friend bool any(RecordedMask mask) { return Recording::now().any(mask.s); }
    friend RecordedMask operator&(RecordedMask a, RecordedMask b) { return {a.s & b.s}; }
    friend RecordedMask operator|(RecordedMask a, RecordedMask b) { return {a.s | b.s}; }
    friend RecordedMask operator^(RecordedMask a, RecordedMask b) { return {a.s ^ b.s}; }
    friend RecordedMask operator~(RecordedMask a) { return {!a.s}; }
};

/// The unsigned integer as wide as T.
template <class T>
struct RecordedInt {
    using Element = UnsignedOf<sizeof(T)>;
    static constexpr DType dtype = dtype_of<Element>;
    Scalar s;

    static RecordedInt all(Element value) { return {Recording::now().builder().constant(dtype, value)}; }
    friend RecordedInt operator+(RecordedInt a, RecordedInt b) { return {a.s + b.s}; }
    friend RecordedInt operator-(RecordedInt a, RecordedInt b) { return {a.s - b.s}; }
    friend RecordedInt operator*(RecordedInt a, RecordedInt b) { return {a.s * b.s}; }
    friend RecordedInt operator&(RecordedInt a, RecordedInt b) { return {a.s & b.s}; }
    friend RecordedInt operator|(RecordedInt a, RecordedInt b) { return {a.s | b.s}; }
    friend RecordedInt operator^(RecordedInt a, RecordedInt b) { return {a.s ^ b.s}; }
    friend RecordedInt operator<<(RecordedInt a, RecordedInt bits) { return {a.s << bits.s}; }
    friend RecordedInt operator<<(RecordedInt a, int bits) { return {a.s << bits}; }
    friend RecordedInt operator>>(RecordedInt a, int bits) { return {a.s >> bits}; }
    friend RecordedMask equal(RecordedInt a, RecordedInt b) { return {a.s == b.s}; }
    friend RecordedInt select(RecordedMask mask, RecordedInt yes, RecordedInt no) {
        return {weft::select(mask.s, yes.s, no.s)};
    }
};

template <class T>
struct Recorded {
    using Element = T;
    using Int = RecordedInt<T>;
    using Mask = RecordedMask;
    static constexpr DType dtype = dtype_of<T>;
    Scalar s;

    static Recorded all(T value) { return {Recording::now().builder().constant(dtype, value)}; }
    static Recorded from_bits(Int a) { return {bitcast(a.s, dtype)}; }
    friend Int bits(Recorded a) { return {bitcast(a.s, Int::dtype)}; }

    friend Recorded operator+(Recorded a, Recorded b) { return {a.s + b.s}; }
    friend Recorded operator-(Recorded a, Recorded b) { return {a.s - b.s}; }
    friend Recorded operator*(Recorded a, Recorded b) { return {a.s * b.s}; }
    friend Recorded operator/(Recorded a, Recorded b) { return {a.s / b.s}; }
    friend Recorded operator-(Recorded a) { return {-a.s}; }
    friend Recorded fma(Recorded a, Recorded b, Recorded c) { return {weft::fma(a.s, b.s, c.s)}; }
    friend Recorded sqrt(Recorded a) { return {weft::sqrt(a.s)}; }
    friend Mask less(Recorded a, Recorded b) { return {a.s < b.s}; }
    friend Mask equal(Recorded a, Recorded b) { return {a.s == b.s}; }
    friend Recorded select(Mask mask, Recorded yes, Recorded no) { return {weft::select(mask.s, yes.s, no.s)}; }
    friend Recorded at_most(Recorded x, T limit) { return select(less(all(limit), x), all(limit), x); }
    friend Recorded at_least(Recorded x, T limit) { return select(less(x, all(limit)), all(limit), x); }
    friend Recorded at_most_in_steps(Recorded x, T limit) { return Recording::now().scales() ? x : at_most(x, limit); }
    template <class Steps>
    friend Recorded scaled_by(Recorded a, Recorded n, Steps steps) {
        return steps(a, n);
    }
};

}  // namespace weft
