// Values that need no memory: counted positions (iota) and random bits, which the loops that read them make where they read
// (kernel/loop.h's sources). Counting is cheaper than memory for any number of readers. A random word costs a nanosecond, as much as
// writing and reading it: so bits that one kernel alone reads are made there, unless it joins columns (gathers.h), and those of several
// kernels once, for all.
// What is read otherwise than by loops, or asked for itself, is a step that writes it down. Callers: compile/.
#pragma once

#include <memory>
#include <vector>

#include "weft/compile/device.h"
#include "weft/graph/graph.h"
#include "weft/kernel/loop.h"

namespace weft {

/// Whether the operation's values come from their place, and a key, alone.
bool is_made(const Node& node);

/// One an entry: made entries that only loops read, directly or through views; random bits each once.
std::vector<bool> made_in_loops(const Graph& graph);

/// Whether the entry's numbers lie in memory, or will: neither constants nor views of them.
bool in_memory(const Graph& graph, std::int32_t entry);

/// The load of a made node's values in a loop; `key`: the number of the load that the key is (its strides are none), which lies so.
Access made_access(const Node& node, Dims strides, std::int32_t key, const Layout& key_layout);

/// A step that writes them down: operands are the node's inputs, then the output.
Loop made_loop(const Node& node, std::span<const Layout> inputs, const Layout& output);
std::unique_ptr<Kernel> made_kernel(const KernelCompiler& compiler, Loop loop);

}  // namespace weft
