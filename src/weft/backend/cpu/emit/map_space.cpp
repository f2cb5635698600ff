#include "weft/backend/cpu/emit/map_space.h"

#include <algorithm>

#include "weft/backend/cpu/block_kernel.h"
#include "weft/backend/cpu/caches.h"
#include "weft/backend/cpu/isa.h"

namespace weft::cpu::emit {
namespace {

// On a Zen 4 also fewer results than past_bytes, of maps that move more than its third-level cache holds, where who reads them next finds little of them anyway:
// products of two arrays of 12, 16 and 24 MB 850 to 540, 1220 to 870, 2500 to 1500 us (with a sum that reads them 1.0, 0.95, 0.85). Of 16 MB made
// of 16 MB the next reader finds all: three such maps, one after the other, took 1.25 times as long so.
constexpr std::size_t past_moved = std::size_t{36} << 20, past_bytes_of_moved = std::size_t{8} << 20;

// Of rows that begin anywhere in a line of memory. Shorter ones would mostly consist of their ends, which go through the caches.
constexpr std::int64_t ragged_row_bytes = 1024;

/// Whether the load picks, along the innermost axis, by indices that are the same all along the axis before it.
bool picks_alike(const Loop& loop, const MapSpace& space, std::size_t i) {
    std::size_t axes = space.dims.size();
    const Access& load = loop.loads[i];
    return !load.pointers.empty() &&
           std::all_of(load.pointers.begin(), load.pointers.end(), [&](const Pointer& pointer) {
               const Dims& strides = space.loads[static_cast<std::size_t>(pointer.load)].strides;
               return strides[axes - 2] == 0 && strides[axes - 1] != 0;
           });
}

// On a Zen 3 several arrays that are stored past the caches do not leave while much is computed: 2 x 16 MB of sine and cosine 9.4 ms, through the
// caches 4.4; the gradient of sigmoid(x) exp(-y) + x y 12 and 6; e^x and e^x + 1 5.0 and 3.3; but x + y and x - y 2.7 and 3.9, Adam's 4.2 and 6.4.
// (Not seen with AVX-512, whose vectors are lines.)
bool waits_for_stores(const Loop& loop) {
    return best_isa() == Isa::avx2 && loop.stores.size() > 1 && loop.program.computes_much();
}

}  // namespace

MapSpace space_of(const Loop& loop) {
    LoopLayout layout = layout_of(loop);
    MapSpace space;
    space.row = layout.kept.empty() ? 1 : layout.kept.back();
    auto fetched = std::count_if(loop.loads.begin(), loop.loads.end(), fetched_ahead);
    for (std::size_t i = 0; i < layout.loads.size(); ++i) {
        const Access& load = loop.loads[i];
        bool near = is_no_zen() && (load.soon || (fetched == 1 && !load.replaced));
        space.loads.push_back(
            {load.dtype, layout.loads[i], fetched_ahead(load), false, load.next, near, load.replaced});
    }
    for (std::size_t i = 0; i < layout.stores.size(); ++i)
        space.stores.push_back({loop.stores[i].dtype, layout.stores[i]});
    space.dims = std::move(layout.kept);
    return space;
}

void cut_picked_rows(const Loop& loop, MapSpace& space) {
    constexpr std::int64_t longest = 1024, least = 256;
    std::size_t axes = space.dims.size();
    if (axes < 2 || space.dims.back() <= longest) return;
    bool alike = false;
    for (std::size_t i = 0; i < space.loads.size(); ++i) {
        alike |= picks_alike(loop, space, i);
        if (loop.loads[i].source == Source::random) return;
    }
    std::int64_t row = space.dims.back(), piece = longest;
    while (piece > least && row % piece != 0) --piece;
    if (!alike || row % piece != 0) return;
    space.dims.back() = piece;
    space.dims.insert(axes - 2, row / piece);
    for (auto* streams : {&space.loads, &space.stores})
        for (Stream& stream : *streams) stream.strides.insert(axes - 2, stream.strides.back() * piece);
    space.row = piece;
}

bool stores_much(const Loop& loop, const MapSpace& space) {
    std::size_t bytes = 0, of_blocks = 0, read = 0;
    bool aligned = true, whole = true;
    auto elements = static_cast<std::size_t>(element_count(space.dims));
    for (const Stream& load : space.loads)
        if (load.contiguous(space.dims)) read += elements * size_of(load.memory);
    for (std::size_t i = 0; i < space.stores.size(); ++i) {
        const Dims& strides = space.stores[i].strides;
        bytes += elements * size_of(space.stores[i].memory), of_blocks += loop.stores[i].passes;
        auto size = static_cast<std::int64_t>(size_of(space.stores[i].memory));
        for (std::size_t axis = 0; axis + 1 < strides.size(); ++axis)
            aligned &= strides[axis] % 64 == 0, whole &= strides[axis] % size == 0;
    }
    if (space.stores.size() == 1 && whole && !space.dims.empty())
        aligned |= space.dims.back() * static_cast<std::int64_t>(size_of(space.stores[0].memory)) >= ragged_row_bytes;
    bool much_moved = is_zen4() && bytes >= past_bytes_of_moved && bytes + read >= past_moved;
    return aligned && !waits_for_stores(loop) && (bytes >= past_bytes || much_moved || go_past_caches(of_blocks));
}

bool is_of_blocks(const Loop& loop, const MapSpace& space) {
    auto elements = static_cast<std::size_t>(element_count(space.dims));
    return std::any_of(loop.stores.begin(), loop.stores.end(),
                       [&](const Access& store) { return store.passes > elements * size_of(store.dtype); });
}

bool may_go_past(const MapSpace& space, const void* const* loads, void* const* stores) {
    // The first elements of the one array's rows are stored by themselves, up to where a line begins.
    std::size_t unit = space.stores.size() == 1 ? size_of(space.stores[0].memory) : 64;
    for (std::size_t i = 0; i < space.stores.size(); ++i) {
        if (reinterpret_cast<std::uintptr_t>(stores[i]) % unit != 0) return false;
        if (std::find(loads, loads + space.loads.size(), stores[i]) != loads + space.loads.size()) return false;
    }
    return true;
}

}  // namespace weft::cpu::emit
