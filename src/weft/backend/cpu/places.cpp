#include "weft/backend/cpu/places.h"

namespace weft::cpu {

void refuse_index(const Operation& operation, std::int64_t index, std::int64_t axis, std::int64_t size) {
    throw IndexError(text(operation.name, ": index ", index, " is out of bounds for axis ", axis, " of size ", size));
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
    std::fill(offsets + first, offsets + last, 0);
    for (std::size_t k = 0; k < tensors_.size(); ++k) {
        const IndexTensor& p = tensors_[k];
        auto* from = static_cast<const std::int64_t*>(indices[k]);
        std::int64_t* to = offsets + first;
        p.indices.walk(first, last, [&](const std::array<std::int64_t, 1>& at, std::int64_t count) {
            for (std::int64_t i = 0; i < count; ++i) {
                *to++ += checked_index(*operation_, from[at[0] + i * p.indices.inner(0)], p.axis, p.size) * p.stride;
            }
        });
    }
}

}  // namespace weft::cpu
