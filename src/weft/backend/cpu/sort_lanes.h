// The lanes that sorts and selections work on, one at a time, each in a slot of scratch memory, and the order of one.
// Callers: backend/cpu/sort.cpp, backend/cpu/sorted_part.cpp, backend/cpu/search.cpp.
#pragma once

#include "weft/backend/cpu/families.h"
#include "weft/backend/cpu/sort_keys.h"
#include "weft/backend/cpu/strided.h"
#include "weft/ops/sort.h"

namespace weft::cpu {

template <class T>
inline constexpr bool kind_complex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

/// Runs along the axis of a sort, one at a time: each goes from its input to its output through a slot of scratch memory.
class SortedLanes {
  public:
    SortedLanes(std::int64_t axis, const Layout& input, const Layout& output, std::size_t scratch_a_lane)
        : slot_bytes_(scratch_a_lane) {
        auto at = static_cast<std::size_t>(axis);
        count = input.dims[at], stride = input.strides[at], result_stride = output.strides[at];
        Dims dims = input.dims, to = output.strides, from = input.strides;
        dims.erase(at), to.erase(at), from.erase(at);
        lanes_ = Box<2>(dims, {to, from});
        lanes_a_block_ = std::max<std::int64_t>(1, block_elements / 4 / std::max<std::int64_t>(1, count));
        std::int64_t threads = ThreadPool::instance().threads();
        slots_ = static_cast<int>(std::max<std::int64_t>(1, std::min(blocks(), threads)));
    }
    std::size_t scratch_bytes() const { return static_cast<std::size_t>(slots_) * slot_bytes_; }

    /// some(offset of the result, offset of the input, how many lanes follow each other from there, scratch).
    template <class F>
    void run(std::byte* scratch, F&& some) const {
        if (lanes_.size * count == 0) return;
        parallel_for(
            blocks(),
            [&](std::int64_t block, int slot) {
                std::byte* mine = scratch + static_cast<std::size_t>(slot) * slot_bytes_;
                std::int64_t first = block * lanes_a_block_, last = std::min(lanes_.size, first + lanes_a_block_);
                lanes_.walk(first, last, [&](const std::array<std::int64_t, 2>& at, std::int64_t lanes) {
                    some(at[0], at[1], lanes, mine);
                });
            },
            slots_);
    }
    /// one(offset of the result, offset of the input, scratch) for each lane.
    template <class F>
    void run_one_by_one(std::byte* scratch, F&& one) const {
        run(scratch, [&](std::int64_t result, std::int64_t input, std::int64_t lanes, std::byte* mine) {
            for (std::int64_t lane = 0; lane < lanes; ++lane)
                one(result + lane * lanes_.inner(0), input + lane * lanes_.inner(1), mine);
        });
    }
    /// Whether lanes are rows, of input and result, that lie one behind the other.
    bool dense() const {
        return stride == 1 && result_stride == 1 &&
               (lanes_.size == 1 || (lanes_.inner(0) == count && lanes_.inner(1) == count));
    }

    std::int64_t count, stride, result_stride;

  private:
    std::int64_t blocks() const { return (lanes_.size + lanes_a_block_ - 1) / lanes_a_block_; }
    std::size_t slot_bytes_;
    std::int64_t lanes_a_block_;
    int slots_;
    Box<2> lanes_;
};

/// Pieces of a lane's scratch memory: arrays of `count` words of 8 bytes each.
struct Words {
    std::byte* memory;
    std::int64_t count;
    template <class T>
    T* array(int number) const {
        return reinterpret_cast<T*>(memory + static_cast<std::size_t>(number * count) * sizeof(std::uint64_t));
    }
    static std::size_t bytes(int arrays, std::int64_t count) {
        return static_cast<std::size_t>(arrays * count) * sizeof(std::uint64_t);
    }
};

/// The order of a lane's elements, into `order`.
template <class T>
void write_order(std::uint64_t* order, const T* from, std::int64_t stride, bool descending, const Words& words) {
    auto* spare = words.array<std::uint64_t>(0);
    std::int64_t count = words.count;
    if constexpr (kind_complex<T>) {
        // By the imaginary part, then stably by the real part; NaN last in each.
        using Part = typename T::value_type;
        auto* parts = reinterpret_cast<const Part*>(from);
        auto *keys = words.array<KeyOf<Part>>(2), *turned = words.array<KeyOf<Part>>(3);
        auto* first = words.array<std::uint64_t>(4);
        write_keys(keys, parts + 1, 2 * stride, count, descending);
        order_keys(keys, first, spare, count);
        write_keys(keys, parts, 2 * stride, count, descending);
        for (std::int64_t i = 0; i < count; ++i) turned[i] = keys[first[i]];
        order_keys(turned, order, spare, count);
        for (std::int64_t i = 0; i < count; ++i) order[i] = first[order[i]];
    } else {
        auto* keys = words.array<KeyOf<T>>(2);
        write_keys(keys, from, stride, count, descending);
        order_keys(keys, order, spare, count);
    }
}
/// Arrays of scratch memory for that: the second is the order's, where it is not wanted elsewhere.
inline int arrays_to_order(DType dtype) { return is_complex(dtype) ? 5 : 3; }

/// Of a sort of which some places are wanted.
std::unique_ptr<Kernel> sorted_part_kernel(const SortAttributes& a, const Layout& input, const Layout& output);
std::unique_ptr<Kernel> search_kernel(const SearchAttributes& a, std::span<const Layout> inputs, const Layout& output);

}  // namespace weft::cpu
