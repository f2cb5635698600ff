// Memory for the nodes of traced and rewritten programs, which come and go by the ten thousand: places side by side, filled in their order,
// in chunks that go back when the last of their nodes is gone. So nodes lie as they are met, in large pages where they are many, and no
// place is searched for. Any thread may give back what another took. Nodes that are computed come and go one by one; a thread keeps the
// places of a few for its next ones. Callers: graph/node.cpp.
#pragma once

#include <cstddef>

namespace weft {

constexpr std::size_t node_place = 160;  // bytes

/// A place for a node; std::bad_alloc.
void* take_node_place();
void give_node_place(void* place);
/// The same for a node that has its numbers behind it: `bytes`, always as many.
void* take_computed_place(std::size_t bytes);
void give_computed_place(void* place);
/// Of all chunks, in use or not.
std::size_t node_memory_bytes();

}  // namespace weft
