// The arrays of a map as its machine code sees them. Callers: emitted_map.cpp, turned_map.cpp.
#pragma once

#include "weft/backend/cpu/loop_layout.h"

namespace weft::cpu::emit {

/// A load that is the same in every row.
struct Repeat {
    std::size_t load, size;
    std::int64_t stride;  // bytes from element to element
    bool counted;
    std::size_t at = 0;  // in a thread's scratch
};

struct MapSpace {
    Dims dims;
    std::vector<Stream> loads, stores;
    std::vector<Repeat> repeats;
    std::int64_t row = 1;  // a stretch holds whole rows, if they are not too long
};

MapSpace space_of(const Loop& loop);

/// Long rows that the same indices pick from are cut in pieces, each of all these rows before the next one: the indices, once read, serve
/// them all (indexed_load.h), and do not leave the first-level cache.
void cut_picked_rows(const Loop& loop, MapSpace& space);

/// Whether results are stored past the caches: there are many, and rows begin where vectors are aligned if the first does, or are those of one
/// array and not short.
bool stores_much(const Loop& loop, const MapSpace& space);
/// Whether it is one of several that make blocks of an array, after the last of which it is finished.
bool is_of_blocks(const Loop& loop, const MapSpace& space);
/// Whether these may be: vectors of all stores, if there are several, are aligned, and none lies where a load brings it into the caches anyway.
bool may_go_past(const MapSpace& space, const void* const* loads, void* const* stores);

}  // namespace weft::cpu::emit
