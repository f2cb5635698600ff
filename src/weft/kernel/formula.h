// A Program as one reads mathematics: "where(0 < x, 1, y + 1.05)". Always one line; a value that is used twice gets a name behind
// "where", so what is long stays readable. Precedence is Python's. Callers: ops/formula.h, for documentation.
#pragma once

#include <span>
#include <string>

#include "weft/kernel/program.h"

namespace weft {

/// The program's first output in terms of its inputs, called by these names (one an input).
std::string formula(const Program& program, std::span<const std::string> inputs);

}  // namespace weft
