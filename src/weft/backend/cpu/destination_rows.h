// Rows of a convolution's product, a pixel each with its channels side by side, to and from where they lie: pixel by pixel where these hold their
// channels, turned where each channel has a plane of its own. Callers: backend/cpu/own_convolution.cpp.
#pragma once

#include "weft/backend/cpu/columns.h"

namespace weft::cpu {

/// Rows [begin, end) of `width` channels of what the windows' destination is: to `rows`, or from there.
template <class T>
void load_rows(const Windows& windows, std::int64_t begin, std::int64_t end, std::int64_t width, const T* destination,
               T* rows);
template <class T>
void store_rows(const Windows& windows, std::int64_t begin, std::int64_t end, std::int64_t width, const T* rows,
                T* destination);

}  // namespace weft::cpu
