#include "weft/backend/cpu/block_loops.h"

namespace weft::cpu {

BlockLoops block_loops(Isa isa) {
    switch (isa) {
#define WEFT_TABLE(name)                                                                                          \
    case Isa::name:                                                                                               \
        return {[](const Instruction& at, DType operand) {                                                        \
                    return at.opcode == Opcode::call ? name::function_step(at) : name::element_step(at, operand); \
                },                                                                                                \
                name::pair_step, name::takes_before, name::move_loops, name::reduce_loops};
        WEFT_FOR_EACH_ISA(WEFT_TABLE)
#undef WEFT_TABLE
    }
    __builtin_unreachable();
}

}  // namespace weft::cpu
