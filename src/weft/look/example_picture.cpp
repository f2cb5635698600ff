#include "weft/look/example_picture.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "weft/ops/elementwise.h"

namespace weft::look {

std::optional<PictureShape> picture_shape(const Dims& example, std::int64_t most) {
    std::optional<PictureShape> shape;
    if (example.size() == 1) {
        auto side = static_cast<std::int64_t>(std::lround(std::sqrt(static_cast<double>(example[0]))));
        if (side >= 4 && side * side == example[0]) shape = PictureShape{1, side, side};
    }
    if (example.size() == 2) shape = PictureShape{1, example[0], example[1]};
    if (example.size() == 3 && (example[0] == 1 || example[0] == 3))
        shape = PictureShape{example[0], example[1], example[2]};
    bool fits = shape && shape->height >= 3 && shape->width >= 3 && shape->height <= most && shape->width <= most;
    return fits ? shape : std::nullopt;
}

viz::Picture draw(const float* example, const PictureShape& shape, double low, double high) {
    std::span<const float> values(example, static_cast<std::size_t>(shape.planes * shape.height * shape.width));
    return shape.planes == 3 ? viz::colour(values, shape.width, shape.height, low, high)
                             : viz::grey(values, shape.width, shape.height, low, high);
}

viz::Picture draw(const Array& example, const PictureShape& shape) {
    Array numbers = contiguous(Tensor(example).astype(DType::float32).array());
    const float* first = std::as_const(numbers).data<float>();
    auto [low, high] = std::minmax_element(first, first + numbers.size());
    return draw(first, shape, *low, *high);
}

}  // namespace weft::look
