// A Program made ready for blocks: each value has a slot (a pointer that is set before the steps run) and, where it must lie
// somewhere, a register (a block of scratch), shared by values that are never alive together. What depends on no index is
// computed once, not for every element. Caller: backend/cpu/block_evaluator.cpp.
#pragma once

#include <vector>

#include "weft/backend/cpu/block_loops.h"

namespace weft::cpu {

/// How an input comes into a block.
enum class Feed : std::uint8_t {
    uniform,    // one value, the same at every index
    direct,     // the block lies in memory as the steps want it
    copied,     // gathered into a register for every block
    stationary  // gathered into a register once: every block sees the same values
};

struct BlockProgram {
    struct At {
        Step step;
        StepInfo info;
        std::int32_t out;
        std::int32_t operands[3];
    };
    struct Constant {
        alignas(16) std::byte bytes[16];
    };
    struct Spread {
        std::int32_t from, to;  // slots
        std::size_t size;
    };
    struct Output {
        std::int32_t slot;
        DType dtype;
        std::int32_t made_by = -1;             // the step that computes it; -1: none does (an input, a uniform value)
        std::vector<std::int32_t> read_later;  // loads whose memory is read after that step
    };

    std::vector<At> once;              // uniform values
    std::vector<Spread> spreads;       // uniform values that a step wants as a block
    std::vector<At> steps;             // for every block
    std::vector<std::int32_t> inputs;  // slot of input i, or -1: nothing needs it
    std::vector<DType> input_types;
    std::vector<Output> outputs;
    std::vector<std::pair<std::int32_t, Constant>> constants;  // slot, value
    std::vector<std::int32_t> cells;  // slots of uniform inputs and values: 16 bytes of scratch each
    std::vector<std::int32_t> homes;  // register of a slot, or -1
    std::int32_t slots = 0, registers = 0;
    std::size_t widest = 1;  // bytes of the widest element among the registers
};

/// `copy_inputs`: an output that is an input gets a register of its own (for a map, whose stores may be its loads).
BlockProgram prepare(const Program& program, const std::vector<Feed>& feeds, const BlockLoops& loops, bool copy_inputs);

}  // namespace weft::cpu
