// The arithmetic of Programs in terms of vector lines: what each opcode, cast and comparison of each type comes down to on an
// instruction set. Whole numbers narrower than 4 bytes lie in lanes of 4, extended by their sign, and are wrapped after every
// operation that may leave their range. Caller: lowering.cpp.
#pragma once

#include <optional>
#include <vector>

#include "weft/backend/cpu/emit/vector_code.h"
#include "weft/kernel/function_program.h"

namespace weft::cpu::emit {

Lane lane_of(DType dtype);
/// Of a lane of 4 or 8 bytes.
inline std::uint64_t sign_bit(Lane lane) { return width_of(lane) == 8 ? 1ull << 63 : 1ull << 31; }

class VectorArithmetic {
  public:
    using Value = std::int32_t;
    VectorArithmetic(VectorBuilder& builder, Scaling scaling)
        : builder_(builder), avx512_(scaling != Scaling::steps), masks_(scaling == Scaling::masked) {}

    Value constant(DType dtype, const Literal& literal);
    /// Opcodes of one and two operands whose result has their type; nothing where only the block evaluator's loop does it.
    std::optional<Value> unary(Opcode opcode, DType dtype, Value a);
    std::optional<Value> binary(Opcode opcode, DType dtype, Value a, Value b);
    Value compare(Opcode opcode, DType dtype, Value a, Value b);
    Value select(Value condition, Value yes, Value no);
    Value fma(DType dtype, Value a, Value b, Value c);
    std::optional<Value> cast(Value a, DType from, DType to);
    /// Of types of one width, bool and the complex types apart.
    Value bitcast(Value a, DType from, DType to);
    /// Float32 from the bits of a half type, and back.
    Value widen(Value a, DType half);
    Value round_to(Value a, DType half);
    /// The square root of float32, and of float64, by multiplications, on AVX-512, and where it is not that: elsewhere its bits are those of
    /// Opcode::square_root.
    struct Root {
        Value value, otherwise;
    };
    Root root_by_steps(Value a);
    Root double_root_by_steps(Value a);
    /// x = a * 2^n written as a * 2^(n/2) * 2^(n - n/2), as elementary functions do, in one instruction where there is one.
    Value multiply_in_function(DType dtype, Value a, Value b);
    std::optional<Value> scaled_in_steps(Lane lane, Value a, Value n);

  private:
    Value line(VectorOp op, Lane lane, Value a, Value b = -1, Value c = -1, std::uint64_t immediate = 0);
    Value conversion(VectorOp op, Lane to, Lane from, Value a);
    Value bits(Lane lane, std::uint64_t pattern);
    Value number(Lane lane, double value);
    Value truth(bool value);

    Value beyond_roots(Lane whole, Value x, std::uint64_t least, std::uint64_t infinity);
    Value magnitude(Lane lane, Value a);
    Value floating_unary(Opcode opcode, Lane lane, Value a);
    std::optional<Value> integer_unary(Opcode opcode, DType dtype, Value a);
    std::optional<Value> floating_binary(Opcode opcode, Lane lane, Value a, Value b);
    std::optional<Value> integer_binary(Opcode opcode, DType dtype, Value a, Value b);
    Value floating_extreme(bool greatest, Lane lane, Value a, Value b);
    Value integer_extreme(bool greatest, Lane lane, bool is_unsigned, Value a, Value b);
    Value integer_multiply(Lane lane, Value a, Value b);
    Value integer_compare(IntPredicate predicate, Lane lane, bool is_unsigned, Value a, Value b);
    Value shift(Opcode opcode, DType dtype, Value a, Value b);
    Value arithmetic_shift_64(Value a, Value b);
    Value wrapped(Value a, DType dtype);

    Value float_compare(Predicate predicate, Lane lane, Value a, Value b);
    Value below_least(Value condition) const;
    Value gated(Value condition, Value yes, Value no);
    std::optional<Value> float_to_integer(Value a, DType from, DType to);
    Value float_to_narrow(Value a, Lane from, DType to);
    Value float_to_int32(Value a, Lane from);
    Value float_to_uint32(Value a, Lane from);
    std::optional<Value> float_to_int64(Value a, Lane from, bool is_unsigned);
    std::optional<Value> integer_to_float(Value a, DType from, Lane to);
    Value integer_to_integer(Value a, DType from, DType to);
    bool is_constant(Value a) const { return builder_.line(a).op == VectorOp::constant; }
    double constant_number(Value a) const;

    VectorBuilder& builder_;
    bool avx512_, masks_;
    std::vector<Value> rounded_;  // to bfloat16, by round_to
};

}  // namespace weft::cpu::emit
