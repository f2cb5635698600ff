// The operation matrix as a library: every operation, weft's own or a user's, is checked from its record alone, so a new operation
// adds no test code. tests/ops walks all operations with it; a user's program ends with `return weft::check("mish");`.
// Always: deterministic (numbers drawn from the operation's name), nothing global is changed.
// Callers: tests/ops, users.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/graph/operation.h"

namespace weft {

/// What went wrong, a line each; empty when everything holds.
using Failures = std::vector<std::string>;

/// One column of the matrix.
struct Check {
    std::string_view name;   // "values"
    std::string_view holds;  // what holds when it passes
    bool (*applies)(const Operation& operation);
    Failures (*run)(const Operation& operation);
};

/// values, layouts, accuracy, promotion, fusion, derivatives, second and complex derivatives, maps (vmap), refusals.
std::span<const Check> all_checks();

/// Every check that applies to the operation of this name: prints what fails (and, in one line, what was checked) to standard
/// output. 0 when everything holds, 1 if not; ValueError that names the nearest operation if there is none of this name.
int check(std::string_view operation);

}  // namespace weft
