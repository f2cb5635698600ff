// Examples as pictures. Callers: cli/report.cpp, cli/sample.cpp.
#pragma once

#include <optional>

#include "weft/core/array.h"
#include "weft/viz/picture.h"

namespace weft::look {

/// How an example is drawn: 28 x 28 from (784,), (28, 28) or (1, 28, 28); colour from (3, h, w). Nothing: it is no picture.
struct PictureShape {
    std::int64_t planes = 1, height = 0, width = 0;
};
std::optional<PictureShape> picture_shape(const Dims& example, std::int64_t most = 128);

/// One example, of float32 without gaps: `low` black, `high` white.
viz::Picture draw(const float* example, const PictureShape& shape, double low, double high);
/// Its least number black, its greatest white.
viz::Picture draw(const Array& example, const PictureShape& shape);

}  // namespace weft::look
