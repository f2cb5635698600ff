// Loops whose steps join a few numbers (small matrices multiplied, short rows summed): written number by number (numbers.h), so that a step is one
// map of numbers, and many are computed at once in registers, as steps that are maps already are. Callers: compile/loop_kernel.cpp.
#pragma once

#include <optional>
#include <span>

#include "weft/autodiff/loop.h"
#include "weft/compile/binding.h"

namespace weft {

/// Where a number lies that an input or a result of a loop is: of which operand, from which byte on, and how many bytes from step to step.
struct OfArray {
    std::size_t array = 0;
    std::int64_t offset = 0, slice = 0;
};

struct LoopOfNumbers {
    LoopAttributes loop;  // its inputs and results are numbers
    std::vector<LoopResultAttributes> results;
    std::vector<OfArray> inputs, places;  // of each input; of each result
    std::int64_t instructions = 0;        // of a step, about
};

/// How many steps of so many instructions are computed at once.
std::int64_t numbers_at_once(std::int64_t instructions);

/// Nothing where a step cannot be written so, or takes longer by number than by kernels of whole arrays.
std::optional<LoopOfNumbers> loop_of_numbers(const LoopAttributes& loop, std::span<const Layout> inputs,
                                             std::span<const LoopResultAttributes> results, const BindOptions& options);

}  // namespace weft
