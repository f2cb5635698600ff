// The prebuilt loops of the block evaluator: one table an instruction set, all alike to the bit. A loop never knows where its
// operands come from; in place (out is an operand of the same width) is allowed everywhere.
// Callers: backend/cpu/block_program.cpp and block_evaluator.cpp; defined under backend/cpu/isa/.
#pragma once

#include <cstdint>

#include "weft/backend/cpu/isa.h"
#include "weft/kernel/loop.h"

namespace weft::cpu {

/// What a step knows besides its operands. Bit k of `uniform`: operand k is one value, the same for every element.
struct StepInfo {
    unsigned uniform = 0;
    const Function* function = nullptr;
    Opcode before = Opcode::call;  // of a call: negative or subtract, if it is first done to the operands
};
/// out[i] = opcode(operands[0][i], operands[1][i], operands[2][i]) for i < count.
using Step = void (*)(void* out, const void* const* operands, std::int64_t count, const StepInfo& info);

/// Whether the loops of an opcode take uniform operands as they are; if not, the caller spreads the value over a block.
inline bool takes_uniform(const Instruction& at, DType operand) {
    bool common =
        operand == DType::float32 || operand == DType::float64 || operand == DType::int32 || operand == DType::int64;
    if (at.opcode == Opcode::call)
        return true;  // a call of one operand never has a uniform one here: it would be uniform itself
    return operand_count(at) == 2 && at.opcode != Opcode::make_complex && common;
}

/// Elements of `size` bytes in memory; strides in bytes.
struct MoveLoops {
    void (*gather)(void* to, const void* from, std::int64_t stride, std::int64_t count, std::size_t size);
    void (*scatter)(void* to, std::int64_t stride, const void* from, std::int64_t count, std::size_t size);
    /// A tile whose columns each lie side by side, `column` bytes apart, to rows `to_row` elements apart.
    void (*turn)(void* to, const void* from, std::int64_t column, std::int64_t rows, std::int64_t columns,
                 std::int64_t to_row, std::size_t size);
    void (*widen)(float* to, const void* from, DType half, std::int64_t count);
    void (*narrow)(void* to, DType half, const float* from, std::int64_t count);
    /// Numbers that lie side by side onto as many others, one each: to[i] = to[i] + from[i].
    void (*add_floats)(float* to, const float* from, std::int64_t count);
    void (*add_doubles)(double* to, const double* from, std::int64_t count);
};

/// How the values of one output are joined. `at` is the position of the best value, for argmax and argmin alone.
/// Rows of up to 64 elements are joined by halves; longer ones in 64 lanes, element i in lane i % 64, and these by halves.
struct ReduceLoops {
    void (*begin)(void* lanes);
    /// Values [first, first + count) of a row; first is a multiple of 64.
    void (*lanes)(void* lanes, const void* values, std::int64_t count, std::int64_t first);
    void (*fold)(void* lanes, void* out, std::int64_t* at);
    /// Each of `rows` rows of `length` by itself.
    void (*rows)(void* out, std::int64_t* at, const void* values, std::int64_t rows, std::int64_t length);
    /// Joins `rows` rows of `width` columns to out[0 .. width), in order; from row to row are `stride` elements. The first is row
    /// number `first` of its column. `fresh`: out holds nothing yet. `by_fours`: rows that lie pages apart come from memory:
    /// they are asked for ahead, and of large tiles four lines of each are read at once.
    void (*columns)(void* out, std::int64_t* at, const void* values, std::int64_t rows, std::int64_t width,
                    std::int64_t stride, std::int64_t first, bool fresh, bool by_fours);
    /// out[i] = partials[i], partials[stride + i], ... joined in order, for i < count (floating sums in double).
    void (*join)(void* out, std::int64_t* at, const void* partials, const std::int64_t* partial_at, std::int64_t chunks,
                 std::int64_t stride, std::int64_t count);
};
/// Whether columns of so many bytes are so few that they are joined in registers, all rows of some at a time.
inline constexpr std::int64_t few_columns_bytes = 512;
inline bool few_columns(std::int64_t bytes) { return bytes <= few_columns_bytes; }
/// Whether rows of columns are joined several at a time. Rows that share a page are read one after another: several at once would
/// hide from the processor that memory is read in order. Measured on 256^3 floats along the middle axis: 3.3 ms, and 7 to 12 ms by
/// 8, 4 or 2 rows at a time; along the first one 6.6, and 3.3 ms by 8.
inline bool lie_far_apart(std::int64_t row_step) { return row_step >= 4096 || row_step <= -4096; }
inline constexpr std::size_t lanes_bytes = 64 * 16 + 64;

struct BlockLoops {
    Step (*step)(const Instruction& at,
                 DType operand);  // operand: the type of the first (of select: the second) operand
    /// Two opcodes in one pass, each rounded: second(first(a, b), c), or second(c, first(a, b)) if reversed; float32. Null if there
    /// is none.
    Step (*pair)(Opcode first, Opcode second, bool reversed);
    /// Whether a call of the float32 function takes info.before.
    bool (*takes_before)(const Function* function);
    MoveLoops move;
    const ReduceLoops* (*reduce)(Reduction reduction, DType dtype);
};

#define WEFT_DECLARE(isa)                                              \
    namespace isa {                                                    \
    Step element_step(const Instruction& at, DType operand);           \
    Step function_step(const Instruction& at);                         \
    bool takes_before(const Function* function);                       \
    Step pair_step(Opcode first, Opcode second, bool reversed);        \
    const ReduceLoops* reduce_loops(Reduction reduction, DType dtype); \
    extern const MoveLoops move_loops;                                 \
    }
WEFT_FOR_EACH_COMPILED_ISA(WEFT_DECLARE)
#undef WEFT_DECLARE

BlockLoops block_loops(Isa isa);

}  // namespace weft::cpu
