// Stages: what becomes of a graph on its way to kernels, as text. WEFT_SHOW=graph,rewrites,plan,kernels,memory (or "all") prints those
// named to standard error whenever a program is prepared; explain (runtime/explain.h) hands them out.
// Callers: compile/plan_cache.cpp, runtime/.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

struct Binding;
struct Graph;
struct Rewrite;

struct Stages {
    std::string graph;     // as written, an entry a line, with the user's line
    std::string rewrites;  // each with its name, its place, before and after
    std::string plan;      // steps, and why neighbours are not one
    std::string kernels;   // what is run, each with its text
    std::string memory;    // the arena: who lies where, from which step to which
};

Stages describe(const Graph& written, const std::vector<Rewrite>& rewrites, const Graph& graph, const Binding& binding);

/// The stages to print for a running program; at first those of WEFT_SHOW. ValueError for a name that is none.
const std::set<std::string>& shown_stages();
void show_stages(std::string_view names);
/// Prints those that are wanted.
void show(const Stages& stages);

}  // namespace weft
