#include "weft/ops/sort.h"

#include <bit>

#include "weft/backend/cpu/families.h"
#include "weft/backend/cpu/strided.h"
#include "weft/base/unsigned_of.h"

namespace weft::cpu {
namespace {

// A number as an unsigned key of its width: keys are ordered as the numbers are, NaN last. `descending` turns the order of all but
// NaN round; a key of all ones is only NaN's among floating types.
template <class Key, class T>
Key key_of(T x, bool descending) {
    if constexpr (std::is_same_v<T, bool>) {
        return static_cast<Key>(x != descending);
    } else if constexpr (std::is_unsigned_v<T>) {
        return descending ? static_cast<Key>(~x) : static_cast<Key>(x);
    } else if constexpr (std::is_integral_v<T>) {
        Key key = static_cast<Key>(x) ^ static_cast<Key>(Key{1} << (8 * sizeof(Key) - 1));
        return descending ? static_cast<Key>(~key) : key;
    } else {
        Key bits = std::bit_cast<Key>(x), top = static_cast<Key>(Key{1} << (8 * sizeof(Key) - 1));
        if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
            if (x != x) return static_cast<Key>(~Key{0});
            if (x == 0) bits = 0;  // -0 equals 0
        } else {
            float wide = static_cast<float>(x);
            if (wide != wide) return static_cast<Key>(~Key{0});
            if (wide == 0) bits = 0;
        }
        Key key = bits & top ? static_cast<Key>(~bits) : static_cast<Key>(bits | top);
        return descending ? static_cast<Key>(~key) : key;
    }
}

template <class Key>
struct Entry {
    Key key;
    std::int64_t position;
};

// Stable, least significant byte first; bytes that all keys share are skipped. The result lies in `entries`.
template <class Key>
void radix_sort(Entry<Key>* entries, Entry<Key>* spare, std::int64_t count) {
    Entry<Key>*from = entries, *to = spare;
    Key any = 0, all = static_cast<Key>(~Key{0});
    for (std::int64_t i = 0; i < count; ++i) any |= entries[i].key, all &= entries[i].key;
    for (std::size_t shift = 0; shift < 8 * sizeof(Key); shift += 8) {
        if (((any ^ all) >> shift & 0xff) == 0) continue;
        std::int64_t starts[256] = {};
        for (std::int64_t i = 0; i < count; ++i) ++starts[from[i].key >> shift & 0xff];
        std::int64_t next = 0;
        for (std::int64_t& start : starts) next += std::exchange(start, next);
        for (std::int64_t i = 0; i < count; ++i) to[starts[from[i].key >> shift & 0xff]++] = from[i];
        std::swap(from, to);
    }
    if (from != entries) std::copy(from, from + count, entries);
}

// Few entries are sorted in place, by key, then position: the same order.
template <class Key>
void sort_entries(Entry<Key>* entries, Entry<Key>* spare, std::int64_t count) {
    if (count > 64) return radix_sort(entries, spare, count);
    std::sort(entries, entries + count, [](const Entry<Key>& a, const Entry<Key>& b) {
        return a.key != b.key ? a.key < b.key : a.position < b.position;
    });
}

class Argsort final : public Kernel {
  public:
    Argsort(const ArgsortAttributes& a, const Layout& input, const Layout& output)
        : dtype_(input.dtype), descending_(a.descending) {
        auto axis = static_cast<std::size_t>(a.axis);
        count_ = input.dims[axis], stride_ = input.strides[axis], result_stride_ = output.strides[axis];
        Dims dims = input.dims, to = output.strides, from = input.strides;
        dims.erase(axis), to.erase(axis), from.erase(axis);
        lanes_ = Box<2>(dims, {to, from});
        lanes_a_block_ = std::max<std::int64_t>(1, block_elements / 4 / std::max<std::int64_t>(1, count_));
        std::int64_t blocks = (lanes_.size + lanes_a_block_ - 1) / lanes_a_block_;
        slots_ = static_cast<int>(
            std::max<std::int64_t>(1, std::min<std::int64_t>(blocks, ThreadPool::instance().threads())));
    }
    std::size_t scratch_bytes() const override { return static_cast<std::size_t>(slots_) * slot_bytes(); }
    std::string_view by() const override { return "radix sort"; }

    void run(void* const* operands, std::byte* scratch) const override {
        if (lanes_.size * count_ == 0) return;
        with_dtype(dtype_, [&]<class T>(TypeTag<T>) {
            parallel_for(
                (lanes_.size + lanes_a_block_ - 1) / lanes_a_block_,
                [&](std::int64_t block, int slot) {
                    std::byte* mine = scratch + static_cast<std::size_t>(slot) * slot_bytes();
                    std::int64_t first = block * lanes_a_block_, last = std::min(lanes_.size, first + lanes_a_block_);
                    lanes_.walk(first, last, [&](const std::array<std::int64_t, 2>& at, std::int64_t lanes) {
                        for (std::int64_t lane = 0; lane < lanes; ++lane) {
                            sort_lane(static_cast<std::int64_t*>(operands[1]) + at[0] + lane * lanes_.inner(0),
                                      static_cast<const T*>(operands[0]) + at[1] + lane * lanes_.inner(1), mine);
                        }
                    });
                },
                slots_);
        });
    }

  private:
    std::size_t slot_bytes() const { return 2 * static_cast<std::size_t>(count_) * sizeof(Entry<std::uint64_t>); }

    template <class T>
    void sort_lane(std::int64_t* to, const T* from, std::byte* scratch) const {
        if constexpr (kind_complex<T>) {
            // By the imaginary part, then stably by the real part. What holds a NaN comes last, as NumPy's does.
            using Part = typename T::value_type;
            using Key = UnsignedOf<sizeof(Part)>;
            auto* entries = reinterpret_cast<Entry<Key>*>(scratch);
            for (std::int64_t i = 0; i < count_; ++i)
                entries[i] = {key_of<Key>(from[i * stride_].imag(), descending_), i};
            sort_entries(entries, entries + count_, count_);
            for (std::int64_t i = 0; i < count_; ++i)
                entries[i].key = key_of<Key>(from[entries[i].position * stride_].real(), descending_);
            radix_sort(entries, entries + count_, count_);
            for (std::int64_t i = 0; i < count_; ++i) to[i * result_stride_] = entries[i].position;
        } else {
            using Key = UnsignedOf<sizeof(T)>;
            auto* entries = reinterpret_cast<Entry<Key>*>(scratch);
            for (std::int64_t i = 0; i < count_; ++i) entries[i] = {key_of<Key>(from[i * stride_], descending_), i};
            sort_entries(entries, entries + count_, count_);
            for (std::int64_t i = 0; i < count_; ++i) to[i * result_stride_] = entries[i].position;
        }
    }
    template <class T>
    static constexpr bool kind_complex =
        std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

    DType dtype_;
    bool descending_;
    std::int64_t count_, stride_, result_stride_, lanes_a_block_;
    int slots_;
    Box<2> lanes_;
};

// Whether a stands before b, in the order of Argsort.
template <class T>
bool before(T a, T b) {
    if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
        if (before(a.real(), b.real())) return true;
        return !before(b.real(), a.real()) && before(a.imag(), b.imag());
    } else if constexpr (std::is_integral_v<T>) {
        return a < b;
    } else {
        return a < b || (b != b && a == a);
    }
}

class Search final : public Kernel {
  public:
    Search(const SearchAttributes& a, std::span<const Layout> inputs, const Layout& output)
        : dtype_(inputs[0].dtype),
          right_(a.right),
          count_(inputs[0].dims[0]),
          stride_(inputs[0].strides[0]),
          box_(output.dims, {output.strides, inputs[1].strides}) {}
    std::string_view by() const override { return "binary search"; }

    void run(void* const* operands, std::byte*) const override {
        with_dtype(dtype_, [&]<class T>(TypeTag<T>) {
            auto* row = static_cast<const T*>(operands[0]);
            auto* values = static_cast<const T*>(operands[1]);
            auto* to = static_cast<std::int64_t*>(operands[2]);
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

std::unique_ptr<Kernel> sort_kernel(const Node& node, std::span<const Layout> inputs, const Layout& output) {
    if (auto* sorted = attributes_if<ArgsortAttributes>(node))
        return std::make_unique<Argsort>(*sorted, inputs[0], output);
    if (auto* search = attributes_if<SearchAttributes>(node)) return std::make_unique<Search>(*search, inputs, output);
    throw InternalError(text(node.operation->name, ": the CPU has no kernel for this sort"));
}

}  // namespace weft::cpu
