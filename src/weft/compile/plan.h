// Plan: what to run when, made once for a graph's structure and good for every graph of that structure, whatever its sizes.
// Every entry of the graph has a Place: a leaf, a number, a view of another entry, a value that lives only inside a kernel's program
// (an elementwise one; or a gather's, which is a load through index tensors), one that loops make where they read it (made.h),
// or a slot of memory. Steps write slots, in order (a slot twice if again.h says so). Sizes come in with the Binding (compile/binding.h).
// Callers: runtime/ (through the plan cache), explain.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "weft/graph/graph.h"
#include "weft/kernel/loop.h"

namespace weft {

struct Place {
    enum Kind : std::uint8_t { leaf, literal, view, fused, made, slot } kind = fused;
    std::int32_t index = -1;  // slot: its number; leaf: its number among the graph's leaves; view: the entry viewed
    Literal value;            // literal
};

/// Memory that one step writes. Its dims are those of `entry`, lying in `order` (axes, slowest first; empty: row-major).
struct Slot {
    std::int32_t entry = -1;
    DType dtype = DType::float32;
    Axes order;
};

/// A load that others say more about, which no instruction reads: those behind it, `indices` of them. It stands for a gather's result, and
/// reads the gather's array where index tensors point; or for random bits, drawn with a key. Or it is the array that a scatter changes,
/// which no instruction reads either: index tensors say where its store points.
struct IndexedLoad {
    std::size_t load = 0;     // its number among the step's loads
    std::int32_t entry = -1;  // the gather, the random bits, the scatter
    std::size_t indices = 1;
};

struct Step {
    enum Kind : std::uint8_t { map, reduce, scan, scatter, copy, library, rows, loop } kind = map;
    std::vector<std::int32_t> members;  // entries computed here, inputs first (copy: none)
    std::vector<std::int32_t> loads;    // entries read from memory, one an input of the program (of the library kernel)
    std::vector<std::int32_t> stores;   // slots written
    /// The entry whose shape the loop runs over: of a scatter its updates; of a library kernel, the one that it makes; of a loop (a region,
    /// autodiff/loop.h), whose results it stores, itself.
    std::int32_t space = -1;
    Program program;                    // map, reduce, scan, scatter, copy
    std::vector<Reduction> reductions;  // reduce, scan
    Axes axes;                          // reduce, scan
    std::optional<Scan> running;        // scan
    std::vector<IndexedLoad> indexed;   // map, reduce, scan, scatter
    std::vector<Step> parts;            // rows: maps, reductions and products, in order, run a block of rows at a time;
                                        // nothing in the step reads a reduction of the rows themselves
    std::size_t leading = 0;           // rows: the axes that are rows; a part of fewer is a number, made for each block
    std::vector<std::int32_t> inside;  // rows: slots that live inside it alone
};

struct Plan {
    Hash128 structure;
    std::vector<Place> places;  // one an entry
    std::vector<Slot> slots;
    std::vector<Step> steps;
    std::vector<std::int32_t> outputs;  // slot of each output; -1: the output is a leaf or a view of one
    std::vector<bool> output_views;     // the output is the view of its entry (not the slot's plain layout)
    bool as_written = false;            // a kernel an operation, also within loops
    /// Where sizes say which steps over the same rows are better one (row_groups.h): the plan before any were, for bind(). Else nothing.
    std::shared_ptr<const Plan> by_steps = nullptr;
};

/// How kernels are made from entries.
struct PartitionOptions {
    bool fuse = true;           // false: a kernel an operation (the oracle of tests)
    std::size_t longest = 256;  // operations in one kernel
    bool numbers = false;       // numbers that need nothing of each other are one kernel's, too (of a step of a loop)
    bool rows = true;           // steps over the same rows run a block of rows at a time
    bool own_outputs =
        false;  // each output comes to dense memory that is no leaf's, nor a view's (of a step of a loop)
};

/// Whether a list of slots, or entries, has this one.
inline bool contains(const std::vector<std::int32_t>& numbers, std::int32_t number) {
    return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

/// The entry whose memory an entry shows, through views.
std::int32_t memory_below(const Plan& plan, std::int32_t entry);

/// The slot that an entry's numbers lie in, through views; -1 for leaves, numbers and what is made.
std::int32_t slot_below(const Plan& plan, std::int32_t entry);

/// Whether the step is a scatter, a loop or a library's, which may write over its first load.
bool scatters(const Step& step, const Graph& graph);

/// Whether a part of a step of rows reduces the rows away, and nothing else.
bool joins_rows(const Step& part, std::size_t leading);

/// Whether a load of a loop is not read point by point: index tensors say where, or it is one of them; or it is random bits or their key; or
/// the array that a scatter changes.
bool pointed(const Step& step, std::size_t load);

Plan make_plan(const Graph& graph, const PartitionOptions& options = {});

/// Why the entry `input` and the entry `reader`, which reads it, are not computed in one kernel (or that they are).
std::string why_apart(const Plan& plan, const Graph& graph, std::int32_t input, std::int32_t reader);

/// The steps: what they compute, read and write, and why they are not one with what they read.
std::string str(const Plan& plan, const Graph& graph);

}  // namespace weft
