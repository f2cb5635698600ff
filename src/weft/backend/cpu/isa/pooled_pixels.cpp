#include "weft/backend/cpu/isa/pooled_pixels.h"

#include <limits>

#include "weft/backend/cpu/isa/vector.h"

namespace weft::cpu::WEFT_ISA {
namespace {

using V = Vec<float>;

struct Greatest {
    WEFT_INLINE V::Type begin() { return V::all(-std::numeric_limits<float>::infinity()); }
    WEFT_INLINE V::Type join(V::Type best, V::Type value) { return V::joined_greatest(best, value); }
    WEFT_INLINE V::Type end(V::Type best, float) { return best; }
};

struct Mean {
    WEFT_INLINE V::Type begin() { return V::zero(); }
    WEFT_INLINE V::Type join(V::Type sum, V::Type value) { return V::add(sum, value); }
    WEFT_INLINE V::Type end(V::Type sum, float divisor) { return V::divide(sum, V::all(divisor)); }
};

/// `wide` vectors of channels of a place, from number `c` on; of one that is not `whole`, all channels that there are.
template <class Join, int wide, bool whole = true>
WEFT_INLINE void join_channels(const PooledRow& row, const PooledPlace& place, std::int64_t c, float* result) {
    const int count = static_cast<int>(row.channels);
    typename V::Type joined[wide];
#pragma GCC unroll 4
    for (int v = 0; v < wide; ++v) joined[v] = Join::begin();
    for (std::int64_t l = 0; l < row.line_count; ++l) {
        const float* pixel = row.lines[l] + place.first + c;
        for (std::int64_t k = 0; k < place.count; ++k, pixel += row.pixel_step)
#pragma GCC unroll 4
            for (int v = 0; v < wide; ++v)
                joined[v] = Join::join(joined[v], whole ? V::load(pixel + v * V::lanes) : V::load(pixel, count));
    }
#pragma GCC unroll 4
    for (int v = 0; v < wide; ++v) {
        const typename V::Type value = Join::end(joined[v], place.divisor);
        whole ? V::store(result + c + v * V::lanes, value) : V::store(result, value, count);
    }
}

/// The last vector begins where it ends with the channels.
template <class Join>
void join_row(const PooledRow& row, float* result) {
    for (std::int64_t x = 0; x < row.place_count; ++x, result += row.result_step) {
        const PooledPlace& place = row.places[x];
        if (row.channels < V::lanes) {
            join_channels<Join, 1, false>(row, place, 0, result);
            continue;
        }
        std::int64_t c = 0;
        for (; c + 4 * V::lanes <= row.channels; c += 4 * V::lanes) join_channels<Join, 4>(row, place, c, result);
        for (; c + V::lanes <= row.channels; c += V::lanes) join_channels<Join, 1>(row, place, c, result);
        if (c < row.channels) join_channels<Join, 1>(row, place, row.channels - V::lanes, result);
    }
}

}  // namespace

const PooledPixels pooled_pixels{join_row<Greatest>, join_row<Mean>};

}  // namespace weft::cpu::WEFT_ISA
