#include "weft/kernel/splice.h"

namespace weft {

std::vector<Scalar> splice(ProgramBuilder& builder, const Program& program, std::span<const Scalar> inputs) {
    std::vector<Scalar> values;
    values.reserve(program.code.size());
    for (const Instruction& at : program.code) {
        if (at.opcode == Opcode::input) {
            values.push_back(inputs[static_cast<std::size_t>(at.a)]);
        } else if (at.opcode == Opcode::constant) {
            values.push_back(builder.constant(at.dtype, at.literal()));
        } else {
            std::vector<Scalar> operands;
            for (std::int32_t operand : {at.a, at.b, at.c})
                if (operand >= 0) operands.push_back(values[static_cast<std::size_t>(operand)]);
            values.push_back(builder.emit(at.opcode, at.dtype, operands, at.function()));
        }
    }
    std::vector<Scalar> outputs;
    for (std::int32_t output : program.outputs) outputs.push_back(values[static_cast<std::size_t>(output)]);
    return outputs;
}

}  // namespace weft
