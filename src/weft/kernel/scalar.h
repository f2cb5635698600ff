// A Scalar stands for one element while an operation's body is written down: ordinary C++ arithmetic on Scalars is recorded by a
// ScalarBuilder. One builder makes Programs (kernel/builder.h), another makes graph nodes (graph/, for derivatives): so value and
// derivative are written once, as mathematics. Plain C++ numbers beside a Scalar take its type.
#pragma once

#include <span>
#include <type_traits>

#include "weft/core/dtype.h"
#include "weft/core/literal.h"
#include "weft/kernel/program.h"

namespace weft {

class ScalarBuilder;

class Scalar {
  public:
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    Scalar(T number) : literal_(number) {}
    Scalar(ScalarBuilder* builder, DType dtype, std::int32_t id) : builder_(builder), dtype_(dtype), id_(id) {}

    /// Null for a plain number that no builder has seen yet.
    ScalarBuilder* builder() const { return builder_; }
    DType dtype() const { return dtype_; }
    std::int32_t id() const { return id_; }
    const Literal& literal() const { return literal_; }
    /// Of a condition: the type of what was compared, which a choice between plain numbers takes (select(x < 0, -1, 1)).
    DType compared() const { return compared_; }
    Scalar comparing(DType dtype) const {
        Scalar copy = *this;
        copy.compared_ = dtype;
        return copy;
    }

  private:
    ScalarBuilder* builder_ = nullptr;
    DType dtype_ = DType::float32;
    DType compared_ = DType::float32;
    std::int32_t id_ = -1;
    Literal literal_;
};

class ScalarBuilder {
  public:
    virtual ~ScalarBuilder() = default;
    virtual Scalar constant(DType dtype, const Literal& value) = 0;
    virtual Scalar emit(Opcode opcode, DType dtype, std::span<const Scalar> operands,
                        const Function* function = nullptr) = 0;
};

/// Records an opcode on operands of one type (plain numbers take it). The result has their type, or bool for a comparison.
Scalar apply(Opcode opcode, std::span<const Scalar> operands);
Scalar call(const Function& function,
            std::span<const Scalar> operands);  // operands of one type that the function takes

Scalar operator+(Scalar a, Scalar b);
Scalar operator-(Scalar a, Scalar b);
Scalar operator*(Scalar a, Scalar b);
Scalar operator/(Scalar a, Scalar b);  // true division: inexact types
Scalar operator-(Scalar a);
Scalar operator&(Scalar a, Scalar b);
Scalar operator|(Scalar a, Scalar b);
Scalar operator^(Scalar a, Scalar b);
Scalar operator~(Scalar a);  // logical not on bool
Scalar operator!(Scalar a);  // of a bool
Scalar operator<<(Scalar a, Scalar b);
Scalar operator>>(Scalar a, Scalar b);
Scalar operator==(Scalar a, Scalar b);
Scalar operator!=(Scalar a, Scalar b);
Scalar operator<(Scalar a, Scalar b);
Scalar operator<=(Scalar a, Scalar b);
Scalar operator>(Scalar a, Scalar b);
Scalar operator>=(Scalar a, Scalar b);

Scalar abs(Scalar a);
Scalar sqrt(Scalar a);
Scalar floor(Scalar a);
Scalar ceil(Scalar a);
Scalar trunc(Scalar a);
Scalar round(Scalar a);  // to nearest, ties to even
Scalar floor_divide(Scalar a, Scalar b);
Scalar remainder(Scalar a, Scalar b);
Scalar min(Scalar a, Scalar b);  // NaN if either is
Scalar max(Scalar a, Scalar b);
Scalar select(Scalar condition, Scalar yes, Scalar no);
Scalar fma(Scalar a, Scalar b, Scalar c);
Scalar cast(Scalar a, DType dtype);
Scalar bitcast(Scalar a, DType dtype);
Scalar real(Scalar a);
Scalar imag(Scalar a);
Scalar make_complex(Scalar re, Scalar im);
// exp, log, tanh, ...: kernel/function.h

}  // namespace weft
