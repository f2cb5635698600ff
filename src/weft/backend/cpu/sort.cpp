#include "weft/ops/sort.h"

#include "weft/backend/cpu/families.h"
#include "weft/backend/cpu/sort_keys.h"
#include "weft/backend/cpu/strided.h"

namespace weft::cpu {
namespace {

template <class T>
constexpr bool kind_complex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

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
int arrays_to_order(DType dtype) { return is_complex(dtype) ? 5 : 3; }

class Argsort final : public Kernel {
  public:
    Argsort(const ArgsortAttributes& a, const Layout& input, const Layout& output)
        : dtype_(input.dtype),
          descending_(a.descending),
          whole_(input.dims[static_cast<std::size_t>(a.axis)]),
          wanted_(wanted_positions(a, whole_)),
          room_(std::min(whole_, std::max<std::int64_t>(2 * wanted_, 128) + at_once())),
          lanes_(a.axis, input, output,
                 selects() ? Words::bytes(5, room_) : Words::bytes(arrays_to_order(dtype_), whole_)) {}
    std::size_t scratch_bytes() const override { return lanes_.scratch_bytes(); }
    std::string_view by() const override { return selects() ? "selection" : "sort"; }

    void run(void* const* operands, std::byte* scratch) const override {
        if (wanted_ == 0) return;
        with_dtype(dtype_, [&]<class T>(TypeTag<T>) {
            lanes_.run_one_by_one(scratch, [&](std::int64_t result, std::int64_t input, std::byte* memory) {
                auto* to = static_cast<std::int64_t*>(operands[1]) + result;
                auto* from = static_cast<const T*>(operands[0]) + input;
                if constexpr (!kind_complex<T>)
                    if (selects()) return select(to, from, Words{memory, room_});
                Words words{memory, whole_};
                if (wanted_ == whole_ && lanes_.result_stride == 1)
                    return write_order(reinterpret_cast<std::uint64_t*>(to), from, lanes_.stride, descending_, words);
                auto* order = words.array<std::uint64_t>(1);
                write_order(order, from, lanes_.stride, descending_, words);
                for (std::int64_t i = 0; i < wanted_; ++i)
                    to[i * lanes_.result_stride] = static_cast<std::int64_t>(order[i]);
            });
        });
    }

  private:
    /// Whether there are so many more elements than wanted positions that few of them need be sorted.
    bool selects() const { return room_ < whole_ && !is_complex(dtype_); }
    std::int64_t at_once() const { return whole_ < 65536 ? 128 : 1024; }

    /// The best so far, and what came since and is better than the last of them; both are sorted when there is no more room.
    template <class T>
    void select(std::int64_t* to, const T* from, const Words& words) const {
        using Key = KeyOf<T>;
        auto *keys = words.array<Key>(2), *next = words.array<Key>(4);
        auto* places = words.array<std::int64_t>(3);
        std::int64_t held = 0;
        bool full = false;  // the best are known, of what was seen
        for (std::int64_t first = 0; first < whole_; first += at_once()) {
            std::int64_t count = std::min(at_once(), whole_ - first);
            if (held + count > room_) held = keep_best(words, keys, places, held), full = true;
            Key* fresh = full ? next : keys + held;
            write_keys(fresh, from + first * lanes_.stride, lanes_.stride, count, descending_);
            if (full) {
                held += keys_below(next, count, keys[wanted_ - 1], first, keys + held, places + held);
            } else {
                for (std::int64_t i = 0; i < count; ++i) places[held + i] = first + i;
                held += count;
            }
        }
        keep_best(words, keys, places, held);
        for (std::int64_t i = 0; i < wanted_; ++i) to[i * lanes_.result_stride] = places[i];
    }
    /// The best, in order, to the front; of equal ones the first, for later ones stand behind them.
    template <class Key>
    std::int64_t keep_best(const Words& words, Key* keys, std::int64_t* places, std::int64_t held) const {
        auto *order = words.array<std::uint64_t>(0), *spare = words.array<std::uint64_t>(1);
        order_keys(keys, order, spare, held);
        auto* moved = reinterpret_cast<Key*>(spare);
        for (std::int64_t i = 0; i < wanted_; ++i) moved[i] = keys[order[i]];
        std::copy(moved, moved + wanted_, keys);
        for (std::int64_t i = 0; i < wanted_; ++i) spare[i] = static_cast<std::uint64_t>(places[order[i]]);
        std::copy(spare, spare + wanted_, places);
        return wanted_;
    }

    DType dtype_;
    bool descending_;
    std::int64_t whole_, wanted_, room_;
    SortedLanes lanes_;
};

class Sort final : public Kernel {
  public:
    Sort(const SortAttributes& a, const Layout& input, const Layout& output)
        : dtype_(input.dtype),
          descending_(a.descending),
          lanes_(a.axis, input, output,
                 Words::bytes(is_complex(dtype_) ? arrays_to_order(dtype_) : 2,
                              input.dims[static_cast<std::size_t>(a.axis)])) {}
    std::size_t scratch_bytes() const override { return lanes_.scratch_bytes(); }
    std::string_view by() const override { return "sort"; }

    void run(void* const* operands, std::byte* scratch) const override {
        with_dtype(dtype_, [&]<class T>(TypeTag<T>) {
            auto* to = static_cast<T*>(operands[1]);
            auto* from = static_cast<const T*>(operands[0]);
            auto one = [&](std::int64_t result, std::int64_t input, std::byte* memory) {
                sort_lane(to + result, from + input, Words{memory, lanes_.count});
            };
            if (lanes_.count > few_keys || !lanes_.dense() || is_complex(dtype_))
                return lanes_.run_one_by_one(scratch, one);
            lanes_.run(scratch, [&](std::int64_t result, std::int64_t input, std::int64_t rows, std::byte* memory) {
                if constexpr (!kind_complex<T>)
                    if (sort_rows(to + result, from + input, rows, memory)) return;
                for (std::int64_t row = 0; row < rows * lanes_.count; row += lanes_.count)
                    one(result + row, input + row, memory);
            });
        });
    }

  private:
    /// Short rows: numbers are made keys, and keys numbers, of all of them at once. False if some must be told apart that keys do not.
    template <class T>
    bool sort_rows(T* to, const T* from, std::int64_t rows, std::byte* memory) const {
        auto *keys = reinterpret_cast<KeyOf<T>*>(to), *spare = reinterpret_cast<KeyOf<T>*>(memory);
        std::int64_t count = lanes_.count;
        MetNumbers met = write_keys(keys, from, 1, rows * count, descending_);
        if (met.nan || met.minus_zero) return false;
        for (std::int64_t row = 0; row < rows; ++row) sort_keys(keys + row * count, spare, count);
        write_numbers(to, keys, 1, rows * count, descending_);
        return true;
    }
    template <class T>
    void sort_lane(T* to, const T* from, const Words& words) const {
        if constexpr (kind_complex<T>) {
            auto* order = words.array<std::uint64_t>(1);
            write_order(order, from, lanes_.stride, descending_, words);
            for (std::int64_t i = 0; i < lanes_.count; ++i)
                to[i * lanes_.result_stride] = from[static_cast<std::int64_t>(order[i]) * lanes_.stride];
        } else {
            sort_numbers(to, from, words);
        }
    }
    template <class T>
    void sort_numbers(T* to, const T* from, const Words& words) const {
        using Key = KeyOf<T>;
        std::int64_t count = lanes_.count;
        // Where results are neighbours, keys lie in their place.
        Key* keys = lanes_.result_stride == 1 ? reinterpret_cast<Key*>(to) : words.array<Key>(0);
        MetNumbers met = write_keys(keys, from, lanes_.stride, count, descending_);
        if (keys_ascend(keys, count)) return copy_run(to, lanes_.result_stride, from, lanes_.stride, count);
        sort_keys(keys, words.array<Key>(1), count);
        std::int64_t zeros = 0;
        if (met.minus_zero) {
            Key zero;
            T number{};
            write_keys(&zero, &number, 1, 1, descending_);
            zeros = std::lower_bound(keys, keys + count, zero) - keys;
        }
        write_numbers(to, keys, lanes_.result_stride, count, descending_);
        if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double> || is_half_number<T>)
            if (met.nan || met.minus_zero) restore(to, from, zeros, met);
    }
    /// What keys do not tell apart, zeros of either sign and each NaN, in the order in which they stood.
    template <class T>
    void restore(T* to, const T* from, std::int64_t zeros, MetNumbers met) const {
        std::int64_t nans = lanes_.count;
        for (std::int64_t i = 0; met.nan && i < lanes_.count; ++i)
            nans -= from[i * lanes_.stride] != from[i * lanes_.stride];
        for (std::int64_t i = 0; i < lanes_.count; ++i) {
            T x = from[i * lanes_.stride];
            if (x != x) to[nans++ * lanes_.result_stride] = x;
            if (met.minus_zero && x == T{}) to[zeros++ * lanes_.result_stride] = x;
        }
    }

    DType dtype_;
    bool descending_;
    SortedLanes lanes_;
};

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
    if (auto* sorted = attributes_if<SortAttributes>(node)) return std::make_unique<Sort>(*sorted, inputs[0], output);
    if (auto* search = attributes_if<SearchAttributes>(node)) return std::make_unique<Search>(*search, inputs, output);
    throw InternalError(text(node.operation->name, ": the CPU has no kernel for this sort"));
}

}  // namespace weft::cpu
