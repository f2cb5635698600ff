// A picture of bytes in another size. Caller: data/pictures.cpp.
#pragma once

#include <cstdint>

#include "weft/core/array.h"

namespace weft::data {

/// Bytes (channels, height, width) -> (channels, to_height, to_width): along each axis a mean weighted by a triangle around the new pixel's
/// middle, as wide as two of the coarser grid's pixels (bilinear where it grows, without aliases where it shrinks).
Array resized(const Array& picture, std::int64_t to_height, std::int64_t to_width);

/// (3, h, w) -> (1, h, w): round(0.299 R + 0.587 G + 0.114 B) (ITU-R BT.601); (1, h, w) as it is.
Array grey_bytes(const Array& picture);

}  // namespace weft::data
