#include "weft/compile/stages.h"

#include <algorithm>
#include <iostream>
#include <sstream>

#include "weft/base/environment.h"
#include "weft/base/nearest.h"
#include "weft/compile/binding.h"
#include "weft/kernel/print_c.h"
#include "weft/rewrite/rewrite.h"

namespace weft {
namespace {

using Member = std::string Stages::*;
struct Name {
    std::string_view name;
    Member member;
};
constexpr Name stage_names[] = {{"graph", &Stages::graph},
                                {"rewrites", &Stages::rewrites},
                                {"plan", &Stages::plan},
                                {"kernels", &Stages::kernels},
                                {"memory", &Stages::memory}};

std::string graph_text(const Graph& graph) {
    std::istringstream lines(str(graph));
    std::ostringstream out;
    std::string line;
    while (std::getline(lines, line)) {
        out << line;
        // "%12 = ...": the entry's own line in the user's program follows it.
        std::size_t entry = 0;
        if (std::sscanf(line.c_str(), " %%%zu", &entry) == 1 && entry < graph.entries.size()) {
            const std::source_location& where = graph.entries[entry].node->where;
            if (where.line()) out << "    " << where.file_name() << ":" << where.line();
        }
        out << '\n';
    }
    return out.str();
}

// The loop as C, which people read more easily than its Program; where a function has no text, the Program.
std::string as_c(const Loop& loop, const std::string& name) {
    try {
        return print_c(loop, Dialect::c, name);
    } catch (const CompileError&) {
        return text(loop);
    }
}

// What runs in each step of a loop follows it: "step 2.0" is the first step of the loop that is step 2, "step 2.true.0" of a conditional's
// branch.
void add_kernels(std::ostream& out, const Binding& binding, const std::string& before) {
    for (std::size_t s = 0; s < binding.steps.size(); ++s) {
        const BoundStep& step = binding.steps[s];
        std::string number = text(before, s), name = "step" + number;
        std::replace(name.begin(), name.end(), '.', '_');
        out << "step " << number << ": " << (step.operation ? step.operation->name : "copy") << ", by "
            << step.kernel->by() << place(step.where) << '\n';
        for (std::size_t i = 0; i < step.loops.size(); ++i)
            out << accesses_text(step.loops[i]) << as_c(step.loops[i], text(name, "_", i));
        for (const auto& [part, body] : step.kernel->bodies())
            add_kernels(out, *body, text(number, '.', part, part.empty() ? "" : "."));
    }
}

std::string kernels_text(const Binding& binding) {
    std::ostringstream out;
    add_kernels(out, binding, "");
    return out.str();
}

std::string memory_text(const Binding& binding) {
    std::ostringstream out;
    out << "arena " << binding.arena_bytes << " bytes, " << binding.arena_bytes - binding.scratch_offset
        << " of them scratch; outputs " << output_bytes(binding) << " bytes\n";
    for (const Placement& placement : binding.placements) {
        out << "  %" << placement.entry << ": " << placement.bytes << " bytes at " << placement.offset << ", steps "
            << placement.first << " to " << placement.last << (placement.in_place ? ", in place of another" : "")
            << '\n';
    }
    for (std::size_t i = 0; i < binding.outputs.size(); ++i) {
        const BoundOutput& output = binding.outputs[i];
        out << "  output " << i << ": " << output.bytes << " bytes";
        if (output.donor >= 0) out << ", in the memory of leaf " << output.donor << " if nobody else holds it";
        out << '\n';
    }
    return out.str();
}

std::set<std::string>& wanted() {
    static std::set<std::string> names;
    return names;
}

}  // namespace

Stages describe(const Graph& written, const std::vector<Rewrite>& rewrites, const Graph& graph,
                const Binding& binding) {
    Stages stages;
    stages.graph = graph_text(written);
    for (const Rewrite& rewrite : rewrites) stages.rewrites += str(rewrite) + "\n";
    if (rewrites.empty())
        stages.rewrites = "nothing was rewritten\n";
    else
        stages.rewrites += "which gives\n" + graph_text(graph);
    stages.plan = str(*binding.plan, graph);
    stages.kernels = kernels_text(binding);
    stages.memory = memory_text(binding);
    return stages;
}

void show_stages(std::string_view names) {
    std::set<std::string> chosen;
    std::istringstream list{std::string(names)};
    for (std::string name; std::getline(list, name, ',');) {
        bool known = false;
        std::vector<std::string_view> candidates{"all"};
        for (const Name& stage : stage_names) {
            candidates.push_back(stage.name);
            if (name != stage.name && name != "all") continue;
            chosen.insert(std::string(stage.name)), known = true;
        }
        if (!known) throw ValueError(text("WEFT_SHOW: there is no stage '", name, "'", did_you_mean(name, candidates)));
    }
    wanted() = std::move(chosen);
}

const std::set<std::string>& shown_stages() {
    static const bool read = [] {
        if (auto names = environment("WEFT_SHOW")) show_stages(*names);
        return true;
    }();
    (void)read;
    return wanted();
}

void show(const Stages& stages) {
    std::ostringstream out;
    for (const Name& stage : stage_names) {
        if (shown_stages().contains(std::string(stage.name)))
            out << "-- " << stage.name << '\n' << stages.*stage.member;
    }
    std::cerr << out.str();
}

}  // namespace weft
