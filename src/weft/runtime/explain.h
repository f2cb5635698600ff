// Explanation: everything between an expression and its numbers, made visible: the graph as written, each rewrite, the plan and why
// its steps are what they are, the kernels, the memory, and where the time goes, held against what this machine can do.
// Callers: users, `weft explain`, viz/explanation.cpp (as a page).
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "weft/compile/quantities.h"
#include "weft/compile/stages.h"
#include "weft/graph/tensor.h"

namespace weft {

struct BindOptions;

struct StepTime {
    std::string what, by, where;  // the operation, what runs it, the user's line
    double seconds = 0;           // of the fastest of several runs
    Work work;
};

struct Explanation : Stages {
    std::vector<StepTime> steps;
    std::vector<Placement> placements;  // of the arena
    std::size_t arena_bytes = 0, output_bytes = 0;
    Limits limits;

    /// The table of steps: time, share, bytes and operations a second, share of the machine's limits.
    std::string timings() const;
    /// All of it.
    std::string str() const;
};
std::ostream& operator<<(std::ostream& out, const Explanation& explanation);

/// How these are computed together. Runs them a few times; the tensors themselves stay as they are.
Explanation explain(std::span<const Tensor> tensors);
Explanation explain(const Tensor& tensor);
/// The same of a graph whose leaves lie at these addresses, one a leaf.
Explanation explain_graph(const Graph& graph, std::span<void* const> leaves);
Explanation explain_graph(const Graph& graph, std::span<void* const> leaves, BindOptions options);

}  // namespace weft
