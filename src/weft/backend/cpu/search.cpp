// Where values belong in a sorted row (searchsorted; through it digitize and histograms). A search alone is a chain of loads and of
// branches that no processor foresees, so several values are searched for in step, each by the same number of halvings without a branch.
// They compare keys (sort_keys.h), which order NaN as well as numbers.
#include "weft/backend/cpu/sort_lanes.h"

namespace weft::cpu {
namespace {

constexpr std::int64_t in_step = 8, block_keys = 256;

// Whether a stands before b, in the order of Argsort.
template <class T>
bool before(T a, T b) {
    if constexpr (kind_complex<T>) {
        if (before(a.real(), b.real())) return true;
        return !before(b.real(), a.real()) && before(a.imag(), b.imag());
    } else if constexpr (std::is_integral_v<T>) {
        return a < b;
    } else {
        return a < b || (b != b && a == a);
    }
}

/// Whether the place of a value is behind this element of the row.
template <bool right, class Key>
bool behind(Key there, Key key) {
    return right ? there <= key : there < key;
}

/// The places of `in_step` keys in a row of `count`, at least one. Written so that compilers choose without a branch.
template <bool right, class Key>
void places_in_step(std::int64_t* to, const Key* row, std::int64_t count, const Key* keys) {
    const Key* low[in_step];
    std::fill(low, low + in_step, row);
    for (; count > 1; count -= count / 2) {
        std::int64_t half = count / 2;
#pragma GCC unroll 8
        for (std::int64_t k = 0; k < in_step; ++k) {
            const Key* next = low[k] + half;
            bool further = behind<right>(next[-1], keys[k]);
            low[k] = further ? next : low[k];
        }
    }
    for (std::int64_t k = 0; k < in_step; ++k) to[k] = low[k] - row + behind<right>(*low[k], keys[k]);
}

class Search final : public Kernel {
  public:
    Search(const SearchAttributes& a, std::span<const Layout> inputs, const Layout& output)
        : dtype_(inputs[0].dtype),
          right_(a.right),
          count_(inputs[0].dims[0]),
          stride_(inputs[0].strides[0]),
          box_(output.dims, {output.strides, inputs[1].strides}) {}
    // The row's keys cost a pass over it, so there must be values enough.
    bool by_keys() const { return !is_complex(dtype_) && count_ > 0 && box_.size >= std::max(in_step, count_ / 4); }
    std::size_t scratch_bytes() const override {
        return by_keys() ? static_cast<std::size_t>(count_) * size_of(dtype_) : 0;
    }
    std::string_view by() const override { return "binary search"; }

    void run(void* const* operands, std::byte* scratch) const override {
        with_dtype(dtype_, [&]<class T>(TypeTag<T>) {
            auto* row = static_cast<const T*>(operands[0]);
            auto* values = static_cast<const T*>(operands[1]);
            auto* to = static_cast<std::int64_t*>(operands[2]);
            if constexpr (!kind_complex<T>) {
                auto* keys = reinterpret_cast<KeyOf<T>*>(scratch);
                if (by_keys()) return (void)write_keys(keys, row, stride_, count_, false), search(to, keys, values);
            }
            parallel_blocks(box_.size, block_elements / 8, [&](std::int64_t first, std::int64_t last) {
                box_.walk(first, last, [&](const std::array<std::int64_t, 2>& at, std::int64_t count) {
                    for (std::int64_t i = 0; i < count; ++i)
                        to[at[0] + i * box_.inner(0)] = place_of(row, values[at[1] + i * box_.inner(1)]);
                });
            });
        });
    }

  private:
    template <class T>
    void search(std::int64_t* to, const KeyOf<T>* row, const T* values) const {
        parallel_blocks(box_.size, block_elements / 8, [&](std::int64_t first, std::int64_t last) {
            box_.walk(first, last, [&](const std::array<std::int64_t, 2>& at, std::int64_t count) {
                for (std::int64_t i = 0; i < count; i += block_keys)
                    search_some(to + at[0] + i * box_.inner(0), row, values + at[1] + i * box_.inner(1),
                                std::min(count - i, block_keys));
            });
        });
    }
    template <class T>
    void search_some(std::int64_t* to, const KeyOf<T>* row, const T* values, std::int64_t count) const {
        KeyOf<T> keys[block_keys];
        std::int64_t places[in_step];
        write_keys(keys, values, box_.inner(1), count, false);
        std::fill(keys + count, keys + (count + in_step - 1) / in_step * in_step, KeyOf<T>{0});
        for (std::int64_t i = 0; i < count; i += in_step) {
            if (right_)
                places_in_step<true>(places, row, count_, keys + i);
            else
                places_in_step<false>(places, row, count_, keys + i);
            copy_run(to + i * box_.inner(0), box_.inner(0), places, 1, std::min(count - i, in_step));
        }
    }

    template <class T>
    std::int64_t place_of(const T* row, T value) const {
        std::int64_t low = 0, high = count_;
        while (low < high) {
            std::int64_t middle = low + (high - low) / 2;
            T there = row[middle * stride_];
            if (right_ ? !before(value, there) : before(there, value))
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }

    DType dtype_;
    bool right_;
    std::int64_t count_, stride_;
    Box<2> box_;
};

}  // namespace

std::unique_ptr<Kernel> search_kernel(const SearchAttributes& a, std::span<const Layout> inputs, const Layout& output) {
    return std::make_unique<Search>(a, inputs, output);
}

}  // namespace weft::cpu
