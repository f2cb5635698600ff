// Running sums and products along rows of floating numbers, eight at a time: squares of them are turned in registers, so that one instruction adds a
// number to each of several rows. Caller: backend/cpu/scan.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "weft/backend/cpu/past_caches.h"
#include "weft/backend/cpu/square.h"

namespace weft::cpu {

inline constexpr std::int64_t rows_at_once = 8;
/// Bytes of the longest row that is short: eight of them, and what is stored of them, stay in the first-level cache.
inline constexpr std::int64_t most_behind = 2048;

/// What of eight rows comes next: so many numbers, and how far it is from row to row.
template <class T>
struct EightFrom {
    const T* at;
    std::int64_t row;
};
template <class T>
struct EightTo {
    T* at;
    std::int64_t row;
};

/// Backwards: what is handed points to the rows' last numbers.
template <class T, class Join, bool backwards>
class EightRows {
    using Vector = typename Square<T>::Vector;
    static constexpr std::int64_t side = Square<T>::side, squares = rows_at_once / side;

  public:
    EightRows(T start, Join join, bool exclusive) : join_(join), exclusive_(exclusive) {
        std::fill_n(running_, rows_at_once, start);
    }

    void join(const EightFrom<T>& from, const EightTo<T>& to, std::int64_t count) {
        join_squares(from, to, whole(count), [] {});
        join_rest(from, to, count);
    }

    /// Of rows that lie behind each other: read side by side, in which order a processor does not see what comes next, so that it is asked for.
    void join_asking(const EightFrom<T>& from, const EightTo<T>& to, std::int64_t count) {
        Asked read(first(from.at, count), count), write(first(to.at, count), count);
        join_squares(from, to, whole(count), [&] { read.template ask<0>(), write.template ask<1>(); });
        join_rest(from, to, count);
    }

    /// The same; what is stored, up to most_behind bytes a row, goes past the caches all at once: the rows may share lines of memory.
    void join_past(const T* from, T* to, std::int64_t count) {
        T block[rows_at_once * most_behind / sizeof(T)];
        EightFrom<T> rows{from, count};
        EightTo<T> out{block + (backwards ? count - 1 : 0), count};
        Asked read(first(from, count), count);
        join_squares(rows, out, whole(count), [&] { read.template ask<0>(); });
        join_rest(rows, out, count);
        copy_past_caches(block, rows_at_once * count, first(to, count));
    }

  private:
    /// What comes behind these rows, or is nobody's memory, as much with each column of squares as that takes of them.
    class Asked {
      public:
        Asked(const T* rows, std::int64_t count)
            : at_(reinterpret_cast<std::uintptr_t>(rows) + static_cast<std::size_t>(rows_at_once * count) * sizeof(T)) {
        }
        template <int to_write>
        void ask() {
            constexpr std::size_t line = 64, bytes = rows_at_once * side * sizeof(T);
            for (std::size_t k = 0; k < bytes; k += line)
                __builtin_prefetch(reinterpret_cast<const void*>(at_ + k), to_write);
            at_ += bytes;
        }

      private:
        std::uintptr_t at_;
    };
    static std::int64_t whole(std::int64_t count) { return count / side * side; }
    /// The first of `count` numbers in memory.
    template <class P>
    static P first(P at, std::int64_t count) {
        return backwards ? at + 1 - count : at;
    }

    /// A multiple of a square's side. `ask`: in front of each column of squares.
    template <class Ask>
    void join_squares(const EightFrom<T>& from, const EightTo<T>& to, std::int64_t count, Ask ask) {
        Vector sums[squares];
        std::memcpy(sums, running_, sizeof sums);
        for (std::int64_t i = 0; i < count; i += side) {
            ask();
            const std::int64_t at = backwards ? 1 - side - i : i;
            for (std::int64_t s = 0; s < squares; ++s) {
                Vector rows[side];
                for (std::int64_t k = 0; k < side; ++k)
                    std::memcpy(&rows[k], from.at + (s * side + k) * from.row + at, sizeof(Vector));
                Square<T>::turn(rows);
                for (std::int64_t k = 0; k < side; ++k) {
                    Vector& column = rows[backwards ? side - 1 - k : k];
                    Vector before = sums[s];
                    sums[s] = join_(before, column);
                    column = exclusive_ ? before : sums[s];
                }
                Square<T>::turn(rows);
                for (std::int64_t k = 0; k < side; ++k)
                    std::memcpy(to.at + (s * side + k) * to.row + at, &rows[k], sizeof(Vector));
            }
        }
        std::memcpy(running_, sums, sizeof sums);
    }

    void join_rest(const EightFrom<T>& from, const EightTo<T>& to, std::int64_t count) {
        for (std::int64_t k = 0; k < rows_at_once; ++k)
            for (std::int64_t i = whole(count); i < count; ++i) {
                const std::int64_t at = backwards ? -i : i;
                T next = join_(running_[k], from.at[k * from.row + at]);
                to.at[k * to.row + at] = exclusive_ ? running_[k] : next;
                running_[k] = next;
            }
    }

    T running_[rows_at_once];
    Join join_;
    bool exclusive_;
};

}  // namespace weft::cpu
