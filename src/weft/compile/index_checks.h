// Indices that lie outside their axis are found before anything is written that its owner would miss. Kernels that read indices check
// them before they write; where a donated array is written over, the indices of later steps are checked, too, before it is.
// Callers: compile/binding.cpp.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "weft/compile/device.h"
#include "weft/compile/plan.h"

namespace weft {

/// The steps behind step `first` that may refuse an index which no step up to `first` has checked. None at all (nullopt) if one of
/// them reads indices that are not in memory before `first`: `ready` says whether an entry is.
std::optional<std::vector<std::int32_t>> late_checks(const Plan& plan, const Graph& graph, std::int32_t first,
                                                     const std::function<bool(std::int32_t)>& ready);

/// A kernel, and whose indices are checked before it runs: check() of each is handed operands from number `operands` on.
/// Errors name the line that they belong to.
struct CheckBefore {
    std::unique_ptr<Kernel> kernel;
    std::source_location where;
    std::size_t operands = 0;
};
std::unique_ptr<Kernel> checked_first(std::vector<CheckBefore> checks, std::shared_ptr<const Kernel> kernel,
                                      std::source_location where);

}  // namespace weft
