// In which numbers products of matrices of float32 are made. Callers: ops/contraction.h, runtime/function.h, compile/, train/, python/.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "weft/core/dtype.h"

namespace weft {

class MatmulPrecision {
  public:
    enum Value : std::uint8_t {
        float32,
        /// Operands are rounded to bfloat16 (8 significant bits), their products summed in float32.
        bfloat16,
        /// Where the processor multiplies tiles of bfloat16 (AMX) operands are taken for sums of two or three bfloat16, which are all of float32's 24 bits,
        /// and the 3 or 6 largest of the products of such parts are summed in float32; elsewhere float32 itself.
        bfloat16x3,
        bfloat16x6
    };
    static constexpr std::array<std::string_view, 4> names{"float32", "bfloat16", "bfloat16x3", "bfloat16x6"};

    constexpr MatmulPrecision(Value value) : value_(value) {}
    /// float32 and bfloat16; ValueError for other types.
    constexpr MatmulPrecision(DType dtype)
        : value_(dtype == DType::float32    ? float32
                 : dtype == DType::bfloat16 ? bfloat16
                                            : value_named(name_of(dtype))) {}
    /// One of `names`; ValueError for other texts.
    explicit MatmulPrecision(std::string_view name) : value_(value_named(name)) {}

    constexpr operator Value() const { return value_; }
    /// Of an operand: how many bfloat16 it is taken for; 0: it is multiplied as it is.
    constexpr int parts() const { return value_; }

  private:
    static Value value_named(std::string_view name);

    Value value_;
};

constexpr std::string_view name_of(MatmulPrecision::Value value) { return MatmulPrecision::names[value]; }

}  // namespace weft
