#include "weft/backend/cpu/places.h"

#include <atomic>
#include <type_traits>

namespace weft::cpu {

void refuse_index(const Operation& operation, std::int64_t index, std::int64_t axis, std::int64_t size) {
    throw IndexError(text(operation.name, ": index ", index, " is out of bounds for axis ", axis, " of size ", size));
}

// Without a branch in the loop; the index to blame is looked for afterwards.
void resolve_indices(const Operation& operation, const std::int64_t* from, std::int64_t step, std::int64_t count,
                     std::int64_t axis, std::int64_t size, std::int64_t stride, std::int64_t* to, bool add) {
    bool outside = false;
    auto resolve = [&](auto by_one, auto adds) {
        for (std::int64_t i = 0; i < count; ++i) {
            std::int64_t index = from[by_one() ? i : i * step];
            std::uint64_t front =
                static_cast<std::uint64_t>(index) + (index < 0 ? static_cast<std::uint64_t>(size) : 0);
            outside |= front >= static_cast<std::uint64_t>(size);
            auto offset =
                static_cast<std::int64_t>(front * static_cast<std::uint64_t>(stride));  // wraps where it is none
            to[i] = adds() ? to[i] + offset : offset;
        }
    };
    if (add)
        resolve(std::false_type{}, std::true_type{});
    else if (step == 1)
        resolve(std::true_type{}, std::false_type{});
    else
        resolve(std::false_type{}, std::false_type{});
    for (std::int64_t i = 0; outside && i < count; ++i) (void)checked_index(operation, from[i * step], axis, size);
}

namespace {

/// In the highest bits: whether any index may lie outside an axis of sizes that memory has, and whether any is negative.
struct Signs {
    std::uint64_t outside = 0, negative = 0;
};

// By additions alone, of locals alone, which become vectors on every processor.
template <class Step>
Signs signs_of(const std::int64_t* indices, Step step, std::int64_t count, std::int64_t size) {
    Signs signs;
    auto end = static_cast<std::uint64_t>(size);
    for (std::int64_t i = 0; i < count; ++i) {
        auto index = static_cast<std::uint64_t>(indices[i * step]);
        signs.outside |= (index + end) | (end - 1 - index), signs.negative |= index;
    }
    return signs;
}

}  // namespace

// The index to blame is looked for afterwards.
bool any_negative(const Operation& operation, const Box<1>& box, const std::int64_t* indices, std::int64_t axis,
                  std::int64_t size) {
    std::atomic<bool> outside{false}, negative{false};
    parallel_blocks(box.size, block_elements, [&](std::int64_t first, std::int64_t last) {
        Signs all;
        box.walk(first, last, [&](const std::array<std::int64_t, 1>& at, std::int64_t count) {
            constexpr std::integral_constant<std::int64_t, 1> one;
            Signs some = box.inner(0) == 1 ? signs_of(indices + at[0], one, count, size)
                                           : signs_of(indices + at[0], box.inner(0), count, size);
            all.outside |= some.outside, all.negative |= some.negative;
        });
        if (all.outside >> 63) outside.store(true, std::memory_order_relaxed);
        if (all.negative >> 63) negative.store(true, std::memory_order_relaxed);
    });
    if (outside.load(std::memory_order_relaxed))
        box.walk([&](const std::array<std::int64_t, 1>& at, std::int64_t count) {
            for (std::int64_t i = 0; i < count; ++i)
                (void)checked_index(operation, indices[at[0] + i * box.inner(0)], axis, size);
        });
    return negative.load(std::memory_order_relaxed);
}

Places::Places(const Operation& operation, std::span<const Layout> indices, const Layout& target, std::int64_t axis)
    : operation_(&operation), count_(indices[0].size()) {
    for (const Layout& layout : indices) {
        auto at = static_cast<std::size_t>(axis);
        tensors_.push_back({Box<1>(layout.dims, {layout.strides}), axis, target.dims[at], target.strides[at]});
        ++axis;
    }
}

void Places::resolve(void* const* indices, std::int64_t* offsets) const {
    parallel_blocks(count_, block_elements,
                    [&](std::int64_t first, std::int64_t last) { resolve_block(indices, offsets, first, last); });
}

void Places::check(void* const* indices) const {
    parallel_blocks(count_, block_elements, [&](std::int64_t first, std::int64_t last) {
        for (std::size_t k = 0; k < tensors_.size(); ++k) {
            const IndexTensor& p = tensors_[k];
            auto* from = static_cast<const std::int64_t*>(indices[k]);
            p.indices.walk(first, last, [&](const std::array<std::int64_t, 1>& at, std::int64_t count) {
                for (std::int64_t i = 0; i < count; ++i)
                    (void)checked_index(*operation_, from[at[0] + i * p.indices.inner(0)], p.axis, p.size);
            });
        }
    });
}

void Places::resolve_block(void* const* indices, std::int64_t* offsets, std::int64_t first, std::int64_t last) const {
    for (std::size_t k = 0; k < tensors_.size(); ++k) {
        const IndexTensor& p = tensors_[k];
        auto* from = static_cast<const std::int64_t*>(indices[k]);
        std::int64_t* to = offsets + first;
        p.indices.walk(first, last, [&](const std::array<std::int64_t, 1>& at, std::int64_t count) {
            resolve_indices(*operation_, from + at[0], p.indices.inner(0), count, p.axis, p.size, p.stride, to, k > 0);
            to += count;
        });
    }
}

}  // namespace weft::cpu
