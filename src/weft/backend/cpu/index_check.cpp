#include "weft/backend/cpu/index_check.h"

#include <algorithm>
#include <atomic>
#include <span>

#include "weft/base/error.h"
#include "weft/base/integers.h"

namespace weft::cpu {
namespace {

/// Whether one of the indices may lie outside [-size, size): for axes of sensible sizes exactly, else a guess that is never too low.
template <class T>
bool any_outside(const T* from, std::int64_t step, std::int64_t count, std::int64_t size) {
    auto end = static_cast<std::uint64_t>(size);
    std::uint64_t sign = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        auto index = static_cast<std::uint64_t>(static_cast<std::int64_t>(from[i * step]));
        sign |= (index + end) | (end - 1 - index);
    }
    return sign >> 63;
}

template <class T>
void refuse_first_outside(const T* from, std::int64_t step, std::int64_t count, const Pointer& pointer) {
    for (std::int64_t i = 0; i < count; ++i) {
        auto index = static_cast<std::int64_t>(from[i * step]);
        if (index >= -pointer.size && index < pointer.size) continue;
        refuse_index(pointer, index);
    }
}

bool moves(const Loop& loop, const Pointer& pointer, std::size_t axis) {
    return loop.loads[static_cast<std::size_t>(pointer.load)].strides[axis] != 0;
}

/// The indices of a load over those axes of the loop along which one of `pointers` changes.
LoopIndex index_over(const Loop& loop, const Pointer& pointer, std::span<const Pointer> pointers) {
    const Access& from = loop.loads[static_cast<std::size_t>(pointer.load)];
    Dims dims, strides;
    for (std::size_t axis = 0; axis < loop.dims.size(); ++axis) {
        bool moving = std::any_of(pointers.begin(), pointers.end(),
                                  [&](const Pointer& other) { return moves(loop, other, axis); });
        if (!moving) continue;
        dims.push_back(loop.dims[axis]);
        strides.push_back(from.strides[axis]);
    }
    return {from.dtype, Box<1>(dims, {strides}), pointer};
}

void check(const LoopIndex& tensor, const void* const* loads) {
    const Box<1>& box = tensor.box;
    with_dtype(tensor.dtype, [&]<class T>(TypeTag<T>) {
        if constexpr (std::is_integral_v<T>) {
            auto* from = static_cast<const T*>(loads[tensor.pointer.load]);
            std::atomic<bool> outside{false};
            parallel_blocks(box.size, block_elements, [&](std::int64_t first, std::int64_t last) {
                box.walk(first, last, [&](const std::array<std::int64_t, 1>& at, std::int64_t count) {
                    if (any_outside(from + at[0], box.inner(0), count, tensor.pointer.size))
                        outside.store(true, std::memory_order_relaxed);
                });
            });
            if (!outside.load(std::memory_order_relaxed)) return;
            box.walk([&](const std::array<std::int64_t, 1>& at, std::int64_t count) {
                refuse_first_outside(from + at[0], box.inner(0), count, tensor.pointer);
            });
        }
    });
}

/// to[i] += the place that index number `first + i` points to, `unit` a step.
void add_places(const LoopIndex& tensor, std::int64_t unit, const void* const* loads, std::int64_t* to,
                std::int64_t first, std::int64_t last) {
    with_dtype(tensor.dtype, [&]<class T>(TypeTag<T>) {
        if constexpr (std::is_integral_v<T>) {
            auto* from = static_cast<const T*>(loads[tensor.pointer.load]);
            tensor.box.walk(first, last, [&](const std::array<std::int64_t, 1>& at, std::int64_t count) {
                for (std::int64_t i = 0; i < count; ++i) {
                    auto index = static_cast<std::int64_t>(from[at[0] + i * tensor.box.inner(0)]);
                    *to++ += (index + (index < 0 ? tensor.pointer.size : 0)) * unit;
                }
            });
        }
    });
}

/// Whether places would be the same numbers, but for what counts from the end, which costs a loop that picks little (indexed_load.cpp): to write
/// them was a quarter of a picture of three channels sampled anywhere.
bool lie_as_places(const LoopIndex& tensor) { return tensor.dtype == DType::int64 && tensor.box.inner(0) == 1; }

/// Loads that nothing reads any more move nowhere, so that they stand in no axis' way.
void still_unread(Loop& loop, std::size_t loads) {
    std::vector<bool> read = loads_read(loop);
    for (std::size_t i = 0; i < loads; ++i)
        if (!read[i]) loop.loads[i].strides = Dims(loop.dims.size());
}

}  // namespace

IndexCheck::IndexCheck(const Loop& loop) {
    for (const auto* accesses : {&loop.loads, &loop.stores})
        for (const Access& access : *accesses)
            for (const Pointer& pointer : access.pointers) tensors_.push_back(index_over(loop, pointer, {&pointer, 1}));
}

void IndexCheck::run(const void* const* loads) const {
    for (const LoopIndex& tensor : tensors_) check(tensor, loads);
}

IndexPlaces::IndexPlaces(Loop& loop) : loads_(loop.loads.size()) {
    std::int64_t elements = element_count(loop.dims);
    for (std::size_t i = 0; i < loads_; ++i) {
        const std::vector<Pointer> pointers = loop.loads[i].pointers;
        if (pointers.empty()) continue;
        Places places;
        for (const Pointer& pointer : pointers) places.indices.push_back(index_over(loop, pointer, pointers));
        places.count = places.indices[0].box.size;
        if (places.count == 0 || places.count > elements / 2) continue;
        bool alone = pointers.size() == 1;  // then a place is the number of an element along the axis
        if (alone && lie_as_places(places.indices[0])) continue;
        Access load{DType::int64, Dims(loop.dims.size())};
        std::int64_t step = 1;
        for (std::size_t axis = loop.dims.size(); axis-- > 0;) {
            bool moving = std::any_of(pointers.begin(), pointers.end(),
                                      [&](const Pointer& pointer) { return moves(loop, pointer, axis); });
            if (moving) load.strides[axis] = step, step *= loop.dims[axis];
        }
        for (const Pointer& pointer : pointers) places.units.push_back(alone ? 1 : pointer.stride);
        loop.loads[i].pointers = {{static_cast<std::int32_t>(loop.loads.size()), 0, alone ? pointers[0].stride : 1,
                                   alone ? 0 : -1, "places"}};
        loop.loads.push_back(std::move(load));
        loop.program.inputs.push_back(DType::int64);
        places_.push_back(std::move(places));
    }
    if (places_.empty()) return;
    still_unread(loop, loads_);
    bytes_ = aligned(loop.loads.size() * sizeof(void*));
    for (Places& places : places_) {
        places.at = bytes_;
        bytes_ += aligned(static_cast<std::size_t>(places.count) * sizeof(std::int64_t));
    }
}

const void* const* IndexPlaces::resolve(const void* const* loads, std::byte* scratch) const {
    auto** table = reinterpret_cast<const void**>(scratch);
    std::copy(loads, loads + loads_, table);
    for (std::size_t k = 0; k < places_.size(); ++k) {
        const Places& places = places_[k];
        auto* to = reinterpret_cast<std::int64_t*>(scratch + places.at);
        parallel_blocks(places.count, block_elements, [&](std::int64_t first, std::int64_t last) {
            std::fill(to + first, to + last, 0);
            for (std::size_t i = 0; i < places.indices.size(); ++i)
                add_places(places.indices[i], places.units[i], loads, to + first, first, last);
        });
        table[loads_ + k] = to;
    }
    return table;
}

}  // namespace weft::cpu
