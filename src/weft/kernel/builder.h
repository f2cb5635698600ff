// A ProgramBuilder records what is written with Scalars as a Program: equal instructions are one (value numbering), what no
// output needs is left out, inputs keep their numbers. Callers: compile/ (lowering), tests.
#pragma once

#include <vector>

#include "weft/kernel/scalar.h"

namespace weft {

class ProgramBuilder : public ScalarBuilder {
  public:
    /// A hint, at first: about so many instructions will come.
    void expect(std::size_t instructions);
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
    Scalar record(const Instruction& instruction);
    std::size_t slot_of(const Instruction& instruction, std::uint32_t hash) const;
    void widen();

    struct Slot {
        std::int32_t at = -1;    // in the program's code
        std::uint32_t hash = 0;  // of what stands there
    };
    Program program_;
    std::vector<Slot> slots_;  // open addressing
};

/// The literal as the type holds it: rounded, wrapped, of the type's kind. So 1 and 1.0 are one constant of a float32.
Literal literal_as(DType dtype, const Literal& value);

}  // namespace weft
