// Where the index tensors of a gather or scatter point: each index checked against its own axis, negative ones counted from the end,
// all of a place's summed into one offset. Callers: backend/cpu/gather.cpp, take_along.cpp, scatter.cpp.
#pragma once

#include <vector>

#include "weft/backend/cpu/strided.h"

namespace weft::cpu {

/// An index tensor and the axis that it points along.
struct IndexTensor {
    Box<1> indices;
    std::int64_t axis, size, stride;  // of the array that is pointed into
};

class Places {
  public:
    Places() = default;
    /// Index tensors pointing along axis, axis + 1, ... of an array that lies as `target`.
    Places(const Operation& operation, std::span<const Layout> indices, const Layout& target, std::int64_t axis);

    std::int64_t count() const { return count_; }
    std::size_t scratch_bytes() const { return static_cast<std::size_t>(count_) * sizeof(std::int64_t); }
    /// Offsets, in elements, of all places in row-major order. IndexError for the first index outside its axis.
    void resolve(void* const* indices, std::int64_t* offsets) const;
    /// The same errors, and nothing else.
    void check(void* const* indices) const;

  private:
    void resolve_block(void* const* indices, std::int64_t* offsets, std::int64_t first, std::int64_t last) const;
    const Operation* operation_ = nullptr;
    std::vector<IndexTensor> tensors_;
    std::int64_t count_ = 0;
};

[[noreturn]] void refuse_index(const Operation& operation, std::int64_t index, std::int64_t axis, std::int64_t size);

/// The index from the front; IndexError if the axis has no such element.
inline std::int64_t checked_index(const Operation& operation, std::int64_t index, std::int64_t axis,
                                  std::int64_t size) {
    std::int64_t from_front = index < 0 ? index + size : index;
    if (static_cast<std::uint64_t>(from_front) >= static_cast<std::uint64_t>(size))
        refuse_index(operation, index, axis, size);
    return from_front;
}

/// A tensor's indices without axes along which they repeat: what there is to check.
inline Box<1> different(const Layout& indices) {
    Dims dims = indices.dims;
    for (std::size_t axis = 0; axis < dims.size(); ++axis)
        if (indices.strides[axis] == 0 && dims[axis] > 1) dims[axis] = 1;
    return Box<1>(dims, {indices.strides});
}
/// Whether any of a box of indices is negative. IndexError for the first, in row-major order, that is outside an axis of this size.
bool any_negative(const Operation& operation, const Box<1>& box, const std::int64_t* indices, std::int64_t axis,
                  std::int64_t size);

/// Where `count` indices, `step` numbers apart, point along an axis, times its stride: written to `to`, or added. IndexError as above.
void resolve_indices(const Operation& operation, const std::int64_t* from, std::int64_t step, std::int64_t count,
                     std::int64_t axis, std::int64_t size, std::int64_t stride, std::int64_t* to, bool add = false);

}  // namespace weft::cpu
