// Numbers as unsigned keys, and the order of these: what sorts, and selections of the best few, are made of. Keys ascend as the numbers
// do, or as they descend, NaN last either way. The order of positions is stable. Callers: backend/cpu/sort.cpp.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>

#include "weft/backend/cpu/arithmetic.h"
#include "weft/backend/cpu/isa/sort_kernels.h"
#include "weft/base/unsigned_of.h"
#include "weft/core/dtype.h"

namespace weft::cpu {

/// Of keys of 4 or 8 bytes.
template <class Key>
const SortLoops& sort_loops() {
    static_assert(sizeof(Key) == 4 || sizeof(Key) == 8);
    return WEFT_OF_BEST_ISA(sort_loops_of_width[sizeof(Key) / 8]);
}

template <class T>
using KeyOf = UnsignedOf<sizeof(T)>;
template <class T>
inline constexpr NumberKind kind_of_number = std::is_unsigned_v<T>   ? NumberKind::unsigned_whole
                                             : std::is_integral_v<T> ? NumberKind::signed_whole
                                                                     : NumberKind::floating;

/// Of types of 1 or 2 bytes. A key of all ones is only NaN's among floating types.
template <class T>
KeyOf<T> key_of(T x, bool descending) {
    using Key = KeyOf<T>;
    constexpr Key top = static_cast<Key>(Key{1} << (8 * sizeof(Key) - 1));
    auto key = static_cast<Key>(std::bit_cast<Key>(x) ^ (std::is_unsigned_v<T> ? Key{0} : top));
    if constexpr (is_half_number<T>) {
        auto wide = static_cast<float>(x);
        if (wide != wide) return static_cast<Key>(~Key{0});
        if (wide < 0) key = static_cast<Key>(~std::bit_cast<Key>(x));
        if (wide == 0) key = top;  // -0 equals 0
    }
    return descending ? static_cast<Key>(~key) : key;
}
/// The number of such a key: 0 for -0, some NaN for each NaN.
template <class T>
T number_of(KeyOf<T> key, bool descending) {
    using Key = KeyOf<T>;
    constexpr Key top = static_cast<Key>(Key{1} << (8 * sizeof(Key) - 1));
    if (descending) key = static_cast<Key>(~key);
    if constexpr (std::is_same_v<T, bool>)
        return key & 1;
    else if constexpr (is_half_number<T>)
        return std::bit_cast<T>(static_cast<Key>(key & top ? key ^ top : ~key));
    else
        return std::bit_cast<T>(static_cast<Key>(key ^ (std::is_unsigned_v<T> ? Key{0} : top)));
}

template <class T>
MetNumbers write_keys(KeyOf<T>* to, const T* from, std::int64_t stride, std::int64_t count, bool descending) {
    MetNumbers met{};
    if constexpr (sizeof(T) >= 4)
        return sort_loops<KeyOf<T>>().keys(to, from, stride, count, kind_of_number<T>, descending);
    else
        for (std::int64_t i = 0; i < count; ++i) {
            T x = from[i * stride];
            to[i] = key_of(x, descending);
            if constexpr (is_half_number<T>) met.nan |= x != x, met.minus_zero |= std::bit_cast<KeyOf<T>>(x) == 0x8000;
        }
    return met;
}
template <class T>
void write_numbers(T* to, KeyOf<T>* keys, std::int64_t stride, std::int64_t count, bool descending) {
    if constexpr (sizeof(T) >= 4) {
        sort_loops<KeyOf<T>>().numbers(keys, count, kind_of_number<T>, descending);
        if (static_cast<void*>(to) == keys) return;
        for (std::int64_t i = 0; i < count; ++i) to[i * stride] = std::bit_cast<T>(keys[i]);
    } else {
        for (std::int64_t i = 0; i < count; ++i) to[i * stride] = number_of<T>(keys[i], descending);
    }
}

template <class Key>
bool keys_ascend(const Key* keys, std::int64_t count) {
    if constexpr (sizeof(Key) >= 4) return sort_loops<Key>().ascend(keys, count);
    return std::is_sorted(keys, keys + count);
}

/// SortLoops::below, of keys of any width.
template <class Key>
std::int64_t keys_below(const Key* keys, std::int64_t count, Key limit, std::int64_t first, Key* to,
                        std::int64_t* places) {
    if constexpr (sizeof(Key) >= 4) return sort_loops<Key>().below(keys, count, limit, first, to, places);
    std::int64_t found = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        to[found] = keys[i], places[found] = first + i;
        found += keys[i] < limit;
    }
    return found;
}

/// SortLoops::minima, of keys of any width.
template <class Key>
void keys_minima(const Key* keys, std::int64_t count, Key* to) {
    if constexpr (sizeof(Key) >= 4) return sort_loops<Key>().minima(keys, count, to);
    std::copy(keys, keys + group_count, to);
    for (std::int64_t i = group_count; i < count; ++i) to[i % group_count] = std::min(to[i % group_count], keys[i]);
}

/// How often digits came becomes where each begins. A function at the beginning of a line of the cache: this is most of what sorting a row of 100
/// takes, and across two lines it makes that 1.15 to 1.2 times as long.
__attribute__((noinline, aligned(64))) inline void begin_digits(std::int64_t (&starts)[256]) {
    std::int64_t next = 0;
    for (std::int64_t& start : starts) next += std::exchange(start, next);
}

/// In order of `bits` bits from `first` on, stable; bytes that all keys share are skipped. The result lies in `keys`.
template <class Key>
void radix_sort(Key* keys, Key* spare, std::int64_t count, int first, int bits) {
    int digits = (bits + 7) / 8;
    std::int64_t starts[sizeof(Key)][256] = {};
    for (std::int64_t i = 0; i < count; ++i)
        for (int d = 0; d < digits; ++d) ++starts[d][keys[i] >> (first + 8 * d) & 0xff];
    Key *from = keys, *to = spare;
    for (int d = 0; d < digits; ++d) {
        int shift = first + 8 * d;
        if (count == 0 || starts[d][from[0] >> shift & 0xff] == count) continue;
        begin_digits(starts[d]);
        for (std::int64_t i = 0; i < count; ++i) to[starts[d][from[i] >> shift & 0xff]++] = from[i];
        std::swap(from, to);
    }
    if (from != keys) std::copy(from, from + count, keys);
}

inline constexpr std::int64_t few_keys = 64;

template <class Key>
void sort_keys(Key* keys, Key* spare, std::int64_t count) {
    if constexpr (sizeof(Key) >= 4)
        if (sort_loops<Key>().sort(keys, spare, count)) return;
    if (count <= few_keys) return std::sort(keys, keys + count);
    radix_sort(keys, spare, count, 0, 8 * sizeof(Key));
}

/// Those of the keys whose byte from `shift` on is in [low, high], in their order, to the front of `to`: how many.
template <class Key>
std::int64_t keys_of_bytes(const Key* keys, std::int64_t count, int shift, Key low, Key high, Key* to) {
    std::int64_t found = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        to[found] = keys[i];
        found += static_cast<Key>(static_cast<Key>(keys[i] >> shift & 0xff) - low) <= static_cast<Key>(high - low);
    }
    return found;
}
/// Where the keys of places [first, last) of their order then lie, in order. Byte by byte, those are kept that stand with the wanted ones.
template <class Key>
Key* keys_of_places(Key* keys, Key* spare, std::int64_t count, std::int64_t first, std::int64_t last) {
    if constexpr (sizeof(Key) >= 4)
        if (sort_loops<Key>().select(keys, spare, count, first, last)) return keys + first;
    for (int shift = 8 * sizeof(Key) - 8; shift >= 0 && count > few_keys; shift -= 8) {
        std::int64_t counts[256] = {}, before = 0;
        for (std::int64_t i = 0; i < count; ++i) ++counts[keys[i] >> shift & 0xff];
        int low = 0, high;
        while (before + counts[low] <= first) before += counts[low++];
        std::int64_t end = before + counts[high = low];
        while (end < last) end += counts[++high];
        if (end - before < count)
            count = keys_of_bytes(keys, count, shift, static_cast<Key>(low), static_cast<Key>(high), keys);
        first -= before, last -= before;
        if (low == high) continue;
        radix_sort(keys, spare, count, 0, 8 * sizeof(Key));
        return keys + first;
    }
    std::sort(keys, keys + count);
    return keys + first;
}

/// Positions by their keys, equal ones in order. A key's first bits and the position are one word, so that words are all there is to sort;
/// where the bits that this leaves out differ among words that begin alike, neighbours change places.
template <class Key>
class KeyOrder {
  public:
    /// order and spare: `count` words each.
    KeyOrder(const Key* keys, std::uint64_t* order, std::uint64_t* spare, std::int64_t count)
        : keys_(keys), order_(order), spare_(spare), count_(count) {}

    void find() {
        if (count_ == 0) return;
        if (keys_ascend(keys_, count_)) {
            for (std::int64_t i = 0; i < count_; ++i) order_[i] = static_cast<std::uint64_t>(i);
            return;
        }
        place_bits_ = std::bit_width(static_cast<std::uint64_t>(count_ - 1));
        key_bits_ = 8 * sizeof(Key);
        if (place_bits_ + key_bits_ > 64) cut_keys();
        for (std::int64_t i = 0; i < count_; ++i)
            order_[i] = relative(keys_[i]) >> left_out_ << place_bits_ | static_cast<std::uint64_t>(i);
        sort_words(key_bits_ - left_out_);
        if (left_out_ > 0 && !mend()) sort_twice();
        for (std::int64_t i = 0; i < count_; ++i) order_[i] &= place_mask();
    }

  private:
    std::uint64_t place_mask() const { return (std::uint64_t{1} << place_bits_) - 1; }
    std::uint64_t relative(Key key) const { return static_cast<std::uint64_t>(key) - least_; }
    std::uint64_t key_at(std::uint64_t word) const { return relative(keys_[word & place_mask()]); }

    /// Keys that leave too few bits for places: counted from the least, and cut.
    void cut_keys() {
        std::uint64_t least = keys_[0], most = least;
        if constexpr (sizeof(Key) == 8) {
            KeyRange range = sort_loops<std::uint64_t>().range(keys_, count_);
            least = range.least, most = range.most;
        } else {
            for (std::int64_t i = 1; i < count_; ++i)
                least = std::min<std::uint64_t>(least, keys_[i]), most = std::max<std::uint64_t>(most, keys_[i]);
        }
        least_ = least, key_bits_ = std::bit_width(most - least);
        left_out_ = std::max(0, place_bits_ + key_bits_ - 64);
    }

    void sort_words(int bits) {
        constexpr std::int64_t worth_tables = 1024;
        constexpr int worth_passes = 32;
        bool by_digits = count_ >= worth_tables && (bits <= worth_passes || varying_bytes() <= worth_passes / 8);
        if (!by_digits && sort_loops<std::uint64_t>().sort(order_, spare_, count_)) return;
        if (count_ <= few_keys) return std::sort(order_, order_ + count_);
        // A sort that was given up leaves words in some order, so places are sorted by too.
        radix_sort(order_, spare_, count_, by_digits ? place_bits_ : 0, by_digits ? bits : place_bits_ + bits);
    }
    /// How many bytes of keys are not the same in all words.
    int varying_bytes() const {
        std::uint64_t varying = 0;
        for (std::int64_t i = 0; i < count_; ++i) varying |= order_[i] ^ order_[0];
        int bytes = 0;
        for (varying >>= place_bits_; varying > 0; varying >>= 8) bytes += (varying & 0xff) != 0;
        return bytes;
    }
    /// Insertion by whole keys. False once that takes more moves than there are words, a few times over.
    bool mend() {
        std::int64_t moves = 8 * count_;
        for (std::int64_t i = 1; i < count_; ++i) {
            std::uint64_t word = order_[i], start = word >> place_bits_;
            if (order_[i - 1] >> place_bits_ != start) continue;
            std::uint64_t key = key_at(word);
            std::int64_t to = i;
            for (; to > 0 && order_[to - 1] >> place_bits_ == start && key_at(order_[to - 1]) > key; --to)
                order_[to] = order_[to - 1];
            order_[to] = word;
            if ((moves -= i - to) < 0) return false;
        }
        return true;
    }
    /// By the bits that were left out, then, stable, by the others.
    void sort_twice() {
        std::uint64_t low = (std::uint64_t{1} << left_out_) - 1;
        for (std::int64_t i = 0; i < count_; ++i)
            order_[i] = (relative(keys_[i]) & low) << place_bits_ | static_cast<std::uint64_t>(i);
        radix_sort(order_, spare_, count_, place_bits_, left_out_);
        for (std::int64_t i = 0; i < count_; ++i)
            order_[i] = key_at(order_[i]) >> left_out_ << place_bits_ | (order_[i] & place_mask());
        radix_sort(order_, spare_, count_, place_bits_, key_bits_ - left_out_);
    }

    const Key* keys_;
    std::uint64_t *order_, *spare_;
    std::int64_t count_;
    int place_bits_ = 0, key_bits_ = 0, left_out_ = 0;
    std::uint64_t least_ = 0;
};

template <class Key>
void order_keys(const Key* keys, std::uint64_t* order, std::uint64_t* spare, std::int64_t count) {
    KeyOrder<Key>(keys, order, spare, count).find();
}

}  // namespace weft::cpu
