// What sorts do over runs of numbers of 4 and 8 bytes, once an instruction set: numbers as unsigned keys in the order in which they stand,
// keys back as numbers, keys in order. Callers: backend/cpu/sort_keys.h.
#pragma once

#include <cstdint>

#include "weft/backend/cpu/isa.h"

namespace weft::cpu {

enum class NumberKind : std::uint8_t { unsigned_whole, signed_whole, floating };

/// What was met among the numbers of a run. A NaN's key has all bits set whatever NaN it is, and -0 has that of 0: who makes numbers of
/// keys again asks whether there were any.
struct MetNumbers {
    bool nan = false, minus_zero = false;
};

struct KeyRange {
    std::uint64_t least, most;
};

inline constexpr int group_count = 64;

struct SortLoops {
    /// Keys of `count` numbers that lie `stride` elements apart, such that they ascend as the numbers do, or as these descend; NaN last.
    MetNumbers (*keys)(void* to, const void* from, std::int64_t stride, std::int64_t count, NumberKind kind,
                       bool descending);
    /// The numbers of such keys, in place: 0 for -0, some NaN for each NaN.
    void (*numbers)(void* keys, std::int64_t count, NumberKind kind, bool descending);
    /// Whether they ascend already.
    bool (*ascend)(const void* keys, std::int64_t count);
    /// The least and the greatest of them.
    KeyRange (*range)(const void* keys, std::int64_t count);
    /// In place, equal keys in any order; `spare` holds as many. False if nothing was done: this set has no way better than others', or
    /// the keys are such that this one is no good.
    bool (*sort)(void* keys, void* spare, std::int64_t count);
    /// Those in places [first, last) of their order to these places, the others about them in any order. False as for sort.
    bool (*select)(void* keys, void* spare, std::int64_t count, std::int64_t first, std::int64_t last);
    /// The least of each group of keys, key i being one of group i % group_count. There are as many keys, or more.
    void (*minima)(const void* keys, std::int64_t count, void* to);
    /// Those of the keys that are below `limit`, in order, and where they stand, counted from `first`. Returns how many; the memory at `to`
    /// and `places` is written `count` elements far.
    std::int64_t (*below)(const void* keys, std::int64_t count, std::uint64_t limit, std::int64_t first, void* to,
                          std::int64_t* places);
};

#define WEFT_SORT_TABLE(isa)                       \
    namespace isa {                                \
    extern const SortLoops sort_loops_of_width[2]; \
    }
WEFT_FOR_EACH_COMPILED_ISA(WEFT_SORT_TABLE)
#undef WEFT_SORT_TABLE

}  // namespace weft::cpu
