// Region: the expressions of a function, frozen: what an operation holds that runs a program of its own (a loop's step, a branch). Its placeholders
// stand first; whatever the function read from outside is one of them, so nothing in a region points out of it. Immutable, shared.
// Callers: autodiff/loop*.cpp, while.cpp, cond*.cpp, compile/loop_kernel.cpp, cond_kernel.cpp.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "weft/graph/node.h"

namespace weft {

/// The names of placeholders.
inline constexpr std::string_view step_value_name = "a value of one step of a loop",
                                  turn_value_name = "a value of one step of while_loop",
                                  branch_value_name = "a value of a branch of cond";

/// What an error says of a function that asks for a number of a placeholder of this name, or whose values leave it by another way than its
/// results.
struct FrozenFunction {
    std::string_view name, function, part, within, written;
};
/// The one whose placeholders have this name; null: it is another input.
const FrozenFunction* frozen_function(std::string_view name);

struct Region {
    std::size_t inputs = 0;             // placeholders: the first so many nodes
    std::vector<Tensor> nodes;          // inputs before uses; equal expressions are one
    std::vector<std::int32_t> outputs;  // numbers of nodes
    KeyParts key;                       // of all that is in it

    const Tensor& output(std::size_t i) const { return nodes[static_cast<std::size_t>(outputs[i])]; }
};

struct Frozen {
    std::shared_ptr<const Region> region;
    /// What `outputs` are made of beside `placeholders`: the region's further inputs, in this order. Numbers that are written down, and views
    /// of these, stay inside.
    std::vector<Tensor> captured;
};
/// `own`: nodes that stay inside even where they depend on no placeholder (of what is computed only if it is wanted); others that do not are
/// read from outside.
Frozen freeze(std::span<const Tensor> placeholders, std::span<const Tensor> outputs, std::span<const Tensor> own = {});
/// What freeze() would read from outside.
std::vector<Tensor> captured_by(std::span<const Tensor> placeholders, std::span<const Tensor> outputs,
                                std::span<const Tensor> own);

/// The same with named sizes replaced; nodes keep their numbers.
std::shared_ptr<const Region> substitute(const Region& region, const SizeLookup& lookup);

/// "a, b, %2 = add(a, b); %3 = ...": the expressions of a region, as an attribute prints them.
void print(std::ostream& out, const Region& region);

/// The number of each node.
std::unordered_map<const Node*, std::size_t> numbers_of(const Region& region);

/// Marks, beside the nodes that are marked, those that they are made of.
void mark_below(const Region& region, std::vector<bool>& marked);

/// Of each node whether it depends on one of those that `from` marks (its own mark included).
std::vector<bool> depends_on(const Region& region, std::vector<bool> from);

}  // namespace weft
