// Boxes of elements that several operands hold under the same sizes and their own strides: sizes of one dropped, axes that lie
// together merged, so that the last axis is as long as it can be. A walk over part of a box hands out runs along that axis.
// Nothing here allocates while walking. Callers: the library kernels of backend/cpu.
#pragma once

#include <array>
#include <cstring>

#include "weft/base/thread_pool.h"
#include "weft/compile/device.h"

namespace weft::cpu {

template <std::size_t N>
struct Box {
    Dims dims;                    // at least one axis
    std::array<Dims, N> strides;  // elements
    std::int64_t size = 1;

    Box() = default;
    Box(const Dims& all, const std::array<Dims, N>& steps) {
        for (std::size_t axis = 0; axis < all.size(); ++axis) {
            size *= all[axis];
            if (all[axis] == 1) continue;
            if (!dims.empty() && mergeable(steps, axis, all[axis])) {
                dims.back() *= all[axis];
                for (std::size_t k = 0; k < N; ++k) strides[k].back() = steps[k][axis];
            } else {
                dims.push_back(all[axis]);
                for (std::size_t k = 0; k < N; ++k) strides[k].push_back(steps[k][axis]);
            }
        }
        if (!dims.empty()) return;
        dims.push_back(1);
        for (std::size_t k = 0; k < N; ++k) strides[k].push_back(1);
    }

    std::int64_t inner(std::size_t k) const { return strides[k].back(); }
    /// Operand k stays where it is.
    bool still(std::size_t k) const {
        for (std::size_t axis = 0; axis < dims.size(); ++axis)
            if (dims[axis] > 1 && strides[k][axis] != 0) return false;
        return true;
    }
    /// All of it is one run of neighbours in each operand.
    bool dense() const {
        if (dims.size() != 1) return false;
        for (std::size_t k = 0; k < N; ++k) {
            if (strides[k][0] != 1 && dims[0] != 1) return false;
        }
        return true;
    }

    /// f(offsets, count) for each run of elements [first, last), in row-major order: offsets in elements, one an operand.
    template <class F>
    void walk(std::int64_t first, std::int64_t last, F&& f) const {
        if (first >= last) return;
        SmallVector<std::int64_t, 12> at(dims.size());
        std::array<std::int64_t, N> offsets{};
        std::int64_t rest = first;
        for (std::size_t axis = dims.size(); axis-- > 0; rest /= dims[axis]) {
            at[axis] = rest % dims[axis];
            for (std::size_t k = 0; k < N; ++k) offsets[k] += at[axis] * strides[k][axis];
        }
        while (true) {
            std::int64_t count = std::min(last - first, dims.back() - at.back());
            f(offsets, count);
            first += count;
            if (first >= last) return;
            for (std::size_t k = 0; k < N; ++k) offsets[k] -= at.back() * strides[k].back();
            at.back() = 0;
            for (std::size_t axis = dims.size() - 1; axis-- > 0;) {
                for (std::size_t k = 0; k < N; ++k) offsets[k] += strides[k][axis];
                if (++at[axis] < dims[axis]) break;
                for (std::size_t k = 0; k < N; ++k) offsets[k] -= strides[k][axis] * dims[axis];
                at[axis] = 0;
            }
        }
    }
    template <class F>
    void walk(F&& f) const {
        walk(0, size, f);
    }

  private:
    bool mergeable(const std::array<Dims, N>& steps, std::size_t axis, std::int64_t count) const {
        for (std::size_t k = 0; k < N; ++k) {
            if (strides[k].back() != steps[k][axis] * count) return false;
        }
        return true;
    }
};

/// How much work a thread claims at once; a size alone decides it.
inline constexpr std::int64_t block_elements = 32768;

/// body(first, last) over [0, count) in blocks of `block`.
template <class Body>
void parallel_blocks(std::int64_t count, std::int64_t block, Body&& body) {
    if (count <= block) {
        if (count > 0) body(std::int64_t{0}, count);
        return;
    }
    parallel_for((count + block - 1) / block,
                 [&](std::int64_t i) { body(i * block, std::min(count, (i + 1) * block)); });
}

/// Sixteen bytes that are only moved.
struct Wide {
    std::uint64_t low, high;
};

/// f(TypeTag<U>) with a plain type U of this many bytes: what moving elements needs to know of their type.
template <class F>
decltype(auto) with_width(DType dtype, F&& f) {
    switch (size_of(dtype)) {
        case 1:
            return f(TypeTag<std::uint8_t>{});
        case 2:
            return f(TypeTag<std::uint16_t>{});
        case 4:
            return f(TypeTag<std::uint32_t>{});
        case 8:
            return f(TypeTag<std::uint64_t>{});
        default:
            return f(TypeTag<Wide>{});
    }
}

/// A few bytes, by loads and stores that may overlap; many as the library copies them.
template <class U>
void copy_ends(std::byte* to, const std::byte* from, std::size_t bytes) {
    U first, last;
    std::memcpy(&first, from, sizeof first);
    std::memcpy(&last, from + bytes - sizeof last, sizeof last);
    std::memcpy(to, &first, sizeof first);
    std::memcpy(to + bytes - sizeof last, &last, sizeof last);
}
inline void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
    if (bytes > 128) {
        std::memcpy(to, from, bytes);
    } else if (bytes >= sizeof(Wide)) {
        for (std::size_t at = sizeof(Wide); at < bytes; at += sizeof(Wide))
            std::memcpy(to + at - sizeof(Wide), from + at - sizeof(Wide), sizeof(Wide));
        std::memcpy(to + bytes - sizeof(Wide), from + bytes - sizeof(Wide), sizeof(Wide));
    } else if (bytes >= 8) {
        copy_ends<std::uint64_t>(to, from, bytes);
    } else if (bytes >= 4) {
        copy_ends<std::uint32_t>(to, from, bytes);
    } else {
        for (std::size_t i = 0; i < bytes; ++i) to[i] = from[i];
    }
}

template <class T>
void copy_run(T* to, std::int64_t to_stride, const T* from, std::int64_t from_stride, std::int64_t count) {
    if (to_stride == 1 && from_stride == 1) {
        std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
    } else {
        for (std::int64_t i = 0; i < count; ++i) to[i * to_stride] = from[i * from_stride];
    }
}

/// Elements [first, last) of a box of (to, from).
template <class T>
void copy_part(const Box<2>& box, T* to, const T* from, std::int64_t first, std::int64_t last) {
    box.walk(first, last, [&](const std::array<std::int64_t, 2>& at, std::int64_t count) {
        copy_run(to + at[0], box.inner(0), from + at[1], box.inner(1), count);
    });
}

/// All of a box of (to, from), by all threads.
inline void copy_box(const Box<2>& box, DType dtype, void* to, const void* from) {
    with_width(dtype, [&]<class T>(TypeTag<T>) {
        parallel_blocks(box.size, block_elements, [&](std::int64_t first, std::int64_t last) {
            copy_part(box, static_cast<T*>(to), static_cast<const T*>(from), first, last);
        });
    });
}

/// Dims or strides [first, last) of a list.
inline Dims part(const Dims& list, std::size_t first, std::size_t last) {
    return Dims(list.begin() + first, list.begin() + last);
}

}  // namespace weft::cpu
