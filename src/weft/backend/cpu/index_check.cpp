#include "weft/backend/cpu/index_check.h"

#include <atomic>

#include "weft/base/error.h"

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
        throw IndexError(text(pointer.operation, ": index ", index, " is out of bounds for axis ", pointer.axis,
                              " of size ", pointer.size));
    }
}

}  // namespace

IndexCheck::IndexCheck(const Loop& loop) {
    for (const Access& load : loop.loads) {
        for (const Pointer& pointer : load.pointers) {
            const Access& from = loop.loads[static_cast<std::size_t>(pointer.load)];
            Dims dims, strides;  // of the axes along which there are other indices
            for (std::size_t axis = 0; axis < loop.dims.size(); ++axis) {
                if (from.strides[axis] == 0) continue;
                dims.push_back(loop.dims[axis]);
                strides.push_back(from.strides[axis]);
            }
            tensors_.push_back({from.dtype, Box<1>(dims, {strides}), pointer});
        }
    }
}

void IndexCheck::check(const IndexTensor& tensor, const void* const* loads) {
    const Box<1>& box = tensor.box;
    with_dtype(tensor.dtype, [&]<class T>(TypeTag<T>) {
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
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

}  // namespace weft::cpu
