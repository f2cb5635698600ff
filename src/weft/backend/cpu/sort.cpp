#include "weft/ops/sort.h"

#include "weft/backend/cpu/families.h"
#include "weft/backend/cpu/sort_lanes.h"

namespace weft::cpu {
namespace {

class Argsort final : public Kernel {
  public:
    Argsort(const ArgsortAttributes& a, const Layout& input, const Layout& output)
        : dtype_(input.dtype),
          descending_(a.descending),
          whole_(input.dims[static_cast<std::size_t>(a.axis)]),
          wanted_(wanted_positions(a, whole_)),
          room_(std::min(whole_, std::max<std::int64_t>(2 * wanted_, few() ? at_once() : 128) + at_once())),
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
                if constexpr (!kind_complex<T>)
                    if (wanted_ == 1) return (void)(*to = place_of_best(from, words.array<KeyOf<T>>(2)));
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
    bool selects() const { return (room_ < whole_ || few()) && !is_complex(dtype_); }
    /// Whether so few are wanted that the least of some groups bound them.
    bool few() const { return wanted_ <= group_count / 2 && whole_ >= 4 * group_count; }
    std::int64_t at_once() const { return whole_ < 65536 && !few() ? 128 : 1024; }

    /// The first of the best, of a short row.
    template <class T>
    std::int64_t place_of_best(const T* from, KeyOf<T>* keys) const {
        write_keys(keys, from, lanes_.stride, whole_, descending_);
        std::int64_t place = 0;
        KeyOf<T> best = keys[0];
        for (std::int64_t i = 1; i < whole_; ++i) {
            bool better = keys[i] < best;
            place = better ? i : place, best = better ? keys[i] : best;
        }
        return place;
    }
    /// The best so far, and what came since and is better than the last of them; both are sorted when there is no more room.
    template <class T>
    void select(std::int64_t* to, const T* from, const Words& words) const {
        using Key = KeyOf<T>;
        auto *keys = words.array<Key>(2), *next = words.array<Key>(4);
        auto* places = words.array<std::int64_t>(3);
        std::int64_t held = 0, begin = 0;
        bool full = false;  // the best are known, of what was seen
        if (few()) {
            begin = std::min(at_once(), whole_);
            held = begin_with_few(from, begin, next, keys, places);
            held = keep_best(words, keys, places, held), full = true;
        }
        for (std::int64_t first = begin; first < whole_; first += at_once()) {
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
    /// Of the first elements those at or below as many groups' least as there are wanted: these are among them, and few others.
    template <class T, class Key>
    std::int64_t begin_with_few(const T* from, std::int64_t count, Key* all, Key* keys, std::int64_t* places) const {
        Key least[group_count], spare[group_count];
        write_keys(all, from, lanes_.stride, count, descending_);
        keys_minima(all, count, least);
        sort_keys(least, spare, group_count);
        Key limit = static_cast<Key>(least[wanted_ - 1] + 1);
        if (limit > 0) return keys_below(all, count, limit, 0, keys, places);
        std::copy(all, all + count, keys);
        for (std::int64_t i = 0; i < count; ++i) places[i] = i;
        return count;
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

}  // namespace

std::unique_ptr<Kernel> sort_kernel(const Node& node, std::span<const Layout> inputs, const Layout& output) {
    if (auto* sorted = attributes_if<ArgsortAttributes>(node))
        return std::make_unique<Argsort>(*sorted, inputs[0], output);
    if (auto* sorted = attributes_if<SortAttributes>(node); sorted && sorted->wanted >= 0)
        return sorted_part_kernel(*sorted, inputs[0], output);
    if (auto* sorted = attributes_if<SortAttributes>(node)) return std::make_unique<Sort>(*sorted, inputs[0], output);
    if (auto* search = attributes_if<SearchAttributes>(node)) return search_kernel(*search, inputs, output);
    throw InternalError(text(node.operation->name, ": the CPU has no kernel for this sort"));
}

}  // namespace weft::cpu
