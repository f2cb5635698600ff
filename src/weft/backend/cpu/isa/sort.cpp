// Keys of numbers and their order (sort_kernels.h): plain loops that the compiler turns into vector code, and sort_network.h.
#include "weft/backend/cpu/isa/sort_kernels.h"
#include "weft/backend/cpu/isa/sort_network.h"

namespace weft::cpu::WEFT_ISA {
namespace {

template <class Key>
struct Sorting {
    static constexpr int width = 8 * sizeof(Key), fraction = sizeof(Key) == 4 ? 23 : 52;
    static constexpr Key top = Key{1} << (width - 1), all_ones = static_cast<Key>(~Key{0});
    static constexpr Key infinity = ((top - 1) >> fraction) << fraction;

    /// All ones where the highest bit is set.
    WEFT_INLINE Key spread(Key bits) { return static_cast<Key>(Key{0} - (bits >> (width - 1))); }

    static MetNumbers floating_keys(Key* to, const Key* from, std::int64_t stride, std::int64_t count, Key turned) {
        Key nan = 0, minus_zero = 0;
        auto key = [&](std::int64_t i, Key bits) __attribute__((always_inline)) {
            Key is_nan = (bits & (top - 1)) > infinity ? all_ones : Key{0}, is_zero = bits == top ? all_ones : Key{0};
            nan |= is_nan, minus_zero |= is_zero;
            bits &= static_cast<Key>(~is_zero);
            to[i] = ((bits ^ (spread(bits) | top)) ^ turned) | is_nan;
        };
        if (stride == 1)
            for (std::int64_t i = 0; i < count; ++i) key(i, from[i]);
        else
            for (std::int64_t i = 0; i < count; ++i) key(i, from[i * stride]);
        return {nan != 0, minus_zero != 0};
    }

    static MetNumbers keys(void* out, const void* numbers, std::int64_t stride, std::int64_t count, NumberKind kind,
                           bool descending) {
        auto* to = static_cast<Key*>(out);
        auto* from = static_cast<const Key*>(numbers);
        Key turned = descending ? all_ones : Key{0};
        if (kind == NumberKind::floating) return floating_keys(to, from, stride, count, turned);
        if (kind == NumberKind::signed_whole) turned ^= top;
        if (stride == 1)
            for (std::int64_t i = 0; i < count; ++i) to[i] = from[i] ^ turned;
        else
            for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * stride] ^ turned;
        return {};
    }

    static void numbers(void* memory, std::int64_t count, NumberKind kind, bool descending) {
        auto* keys = static_cast<Key*>(memory);
        Key turned = descending ? all_ones : Key{0};
        if (kind == NumberKind::floating) {
            for (std::int64_t i = 0; i < count; ++i) {
                Key key = keys[i] ^ turned;
                keys[i] = key ^ (spread(static_cast<Key>(~key)) | top);
            }
        } else {
            if (kind == NumberKind::signed_whole) turned ^= top;
            for (std::int64_t i = 0; i < count; ++i) keys[i] ^= turned;
        }
    }

    static bool ascend(const void* memory, std::int64_t count) {
        auto* keys = static_cast<const Key*>(memory);
        constexpr std::int64_t at_once = 64;  // most rows are found out of order by the first of these
        std::int64_t i = 1;
        for (; i + at_once <= count; i += at_once) {
            Key descents = 0;
            for (std::int64_t k = i; k < i + at_once; ++k) descents |= static_cast<Key>(keys[k] < keys[k - 1]);
            if (descents) return false;
        }
        for (; i < count; ++i)
            if (keys[i] < keys[i - 1]) return false;
        return true;
    }

    static KeyRange range(const void* memory, std::int64_t count) {
        auto* keys = static_cast<const Key*>(memory);
        Key least = all_ones, most = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            least = keys[i] < least ? keys[i] : least;
            most = keys[i] > most ? keys[i] : most;
        }
        return {least, most};
    }

    static bool sort(void* keys, void* spare, std::int64_t count) {
#if defined(WEFT_ISA_avx512)
        int depth = 8;
        for (std::int64_t n = count; n > 0; n /= 2) depth += 2;
        return quicksort(static_cast<Key*>(keys), static_cast<Key*>(spare), count, depth);
#else
        return (void)keys, (void)spare, count <= 1;
#endif
    }

    static bool select(void* keys, void* spare, std::int64_t count, std::int64_t first, std::int64_t last) {
#if defined(WEFT_ISA_avx512)
        int depth = 8;
        for (std::int64_t n = count; n > 0; n /= 2) depth += 2;
        return quickselect(static_cast<Key*>(keys), static_cast<Key*>(spare), count, first, last, depth);
#else
        return (void)keys, (void)spare, (void)first, (void)last, count <= 1;
#endif
    }

    static void minima(const void* memory, std::int64_t count, void* out) {
        auto* keys = static_cast<const Key*>(memory);
        Key least[group_count];
        for (int k = 0; k < group_count; ++k) least[k] = keys[k];
        std::int64_t i = group_count;
        for (; i + group_count <= count; i += group_count)
            for (int k = 0; k < group_count; ++k) least[k] = keys[i + k] < least[k] ? keys[i + k] : least[k];
        for (int k = 0; i + k < count; ++k) least[k] = keys[i + k] < least[k] ? keys[i + k] : least[k];
        __builtin_memcpy(out, least, sizeof least);
    }

    static std::int64_t below(const void* memory, std::int64_t count, std::uint64_t limit, std::int64_t first,
                              void* out, std::int64_t* places) {
        auto* keys = static_cast<const Key*>(memory);
        auto* to = static_cast<Key*>(out);
        Key bound = static_cast<Key>(limit);
        constexpr std::int64_t at_once = 16;
        std::int64_t found = 0;
        for (std::int64_t i = 0; i < count; i += at_once) {
            std::int64_t end = i + at_once < count ? i + at_once : count;
            if (end == i + at_once) {
                Key any = 0;
                for (int k = 0; k < at_once; ++k) any |= static_cast<Key>(keys[i + k] < bound);
                if (!any) continue;
            }
            for (std::int64_t k = i; k < end; ++k) {
                to[found] = keys[k], places[found] = first + k;
                found += keys[k] < bound;
            }
        }
        return found;
    }

    static constexpr SortLoops loops{keys, numbers, ascend, range, sort, select, minima, below};
};

}  // namespace

const SortLoops sort_loops_of_width[2] = {Sorting<std::uint32_t>::loops, Sorting<std::uint64_t>::loops};

}  // namespace weft::cpu::WEFT_ISA
