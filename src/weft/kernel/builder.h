// A ProgramBuilder records what is written with Scalars as a Program: equal instructions are one (value numbering), what no
// output needs is left out, inputs keep their numbers. Callers: compile/ (lowering), tests.
#pragma once

#include <unordered_map>

#include "weft/kernel/scalar.h"

namespace weft {

class ProgramBuilder : public ScalarBuilder {
  public:
    /// The next input: the first has number 0.
    Scalar input(DType dtype);
    /// The next output. A value may leave more than once.
    void output(Scalar value);
    /// The verified Program; the builder is empty afterwards.
    Program take();

    Scalar constant(DType dtype, const Literal& value) override;
    Scalar emit(Opcode opcode, DType dtype, std::span<const Scalar> operands,
                const Function* function = nullptr) override;

  private:
    struct SameContent {
        bool operator()(const Instruction& a, const Instruction& b) const;
    };
    struct ContentHash {
        std::size_t operator()(const Instruction& instruction) const;
    };
    Scalar record(const Instruction& instruction);

    Program program_;
    std::unordered_map<Instruction, std::int32_t, ContentHash, SameContent> numbers_;
};

/// The literal as the type holds it: rounded, wrapped, of the type's kind. So 1 and 1.0 are one constant of a float32.
Literal literal_as(DType dtype, const Literal& value);

}  // namespace weft
