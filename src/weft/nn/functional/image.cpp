#include "weft/nn/functional/image.h"

#include <algorithm>

#include "weft/nn/functional/common.h"
#include "weft/ops/gather.h"
#include "weft/ops/join.h"
#include "weft/ops/pad_modes.h"

namespace weft::nn::functional {
namespace {

// Which element of an axis of `size` stands at `i`, which may lie outside.
std::int64_t source(std::string_view mode, std::int64_t i, std::int64_t size) {
    if (mode == "replicate") return std::clamp<std::int64_t>(i, 0, size - 1);
    if (mode == "circular") return (i % size + size) % size;
    if (size == 1) return 0;
    std::int64_t period = 2 * (size - 1), place = (i % period + period) % period;
    return place < size ? place : period - place;
}

void check_widths(const Operand& x, const Dims& widths, std::string_view mode, const Tensor& tensor) {
    std::size_t axes = widths.size() / 2;
    if (widths.size() % 2 != 0 || axes > tensor.ndim())
        refuse(x, text("pad: the widths ", widths, " are not a pair (before, after) for some of the ", tensor.ndim(),
                       " axes of shape ", tensor.shape()));
    if (mode == "constant") return;
    if (mode != "reflect" && mode != "replicate" && mode != "circular")
        refuse(x, text("pad: mode is 'constant', 'reflect', 'replicate' or 'circular', not '", mode, "'"));
    if (axes < 1 || axes > 3 || (tensor.ndim() != axes + 1 && tensor.ndim() != axes + 2))
        refuse(x, text("pad: mode '", mode, "' takes 1 to 3 axes behind (N, C) or (C); there are ", axes,
                       " pairs for shape ", tensor.shape()));
    for (std::size_t i = 0; i < axes; ++i) {
        std::int64_t size = known_size("pad", tensor, tensor.ndim() - 1 - i);
        std::int64_t most = mode == "reflect" ? size - 1 : size, widest = std::max(widths[2 * i], widths[2 * i + 1]);
        if (size == 0 || (mode != "replicate" && widest > most))
            refuse_shape(x, text("pad: mode '", mode, "' can add ", std::max<std::int64_t>(most, 0), " at each end of ",
                                 size, " elements, not ", widest));
    }
}

Tensor pad_constant(const Tensor& x, const Dims& widths, double value) {
    Dims before(x.ndim(), 0), after(x.ndim(), 0);
    Shape start(x.ndim(), Size(0)), length = x.shape();
    for (std::size_t i = 0; i < widths.size() / 2; ++i) {
        std::size_t axis = x.ndim() - 1 - i;
        std::int64_t low = widths[2 * i], high = widths[2 * i + 1];
        before[axis] = std::max<std::int64_t>(low, 0), after[axis] = std::max<std::int64_t>(high, 0);
        start[axis] = std::max<std::int64_t>(-low, 0);
        length[axis] = length[axis] - start[axis] - std::max<std::int64_t>(-high, 0);
        if (length[axis].known() && length[axis].value() < 0)
            throw ShapeError(text("pad: widths ", widths, " cut off more than there is of shape ", x.shape()));
    }
    Literal fill =
        is_floating(x.dtype()) || is_complex(x.dtype()) ? Literal(value) : Literal(static_cast<std::int64_t>(value));
    return weft::pad(slice(x, start, length), before, after, fill);
}

}  // namespace

Tensor pad(const Operand& x, const Dims& widths, std::string_view mode, double value) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    check_widths(x, widths, mode, tensor);
    if (mode == "constant") return pad_constant(tensor, widths, value);
    if (value != 0) refuse(x, text("pad: mode '", mode, "' takes no value, but it is ", value));
    for (std::size_t i = 0; i < widths.size() / 2; ++i) {
        std::size_t axis = tensor.ndim() - 1 - i;
        std::int64_t size = known_size("pad", tensor, axis), low = widths[2 * i], high = widths[2 * i + 1];
        std::vector<std::int64_t> from;
        // What is cut off does not come round again.
        std::int64_t cut = mode == "circular" ? std::max<std::int64_t>(-low, 0) : 0;
        std::int64_t left = mode == "circular" ? size - cut - std::max<std::int64_t>(-high, 0) : size;
        if (size + low + high < 0 || left < 1)
            refuse_shape(x, text("pad: widths ", widths, " cut off more than there is of shape ", tensor.shape()));
        for (std::int64_t k = -low; k < size + high; ++k) from.push_back(cut + source(mode, k - cut, left));
        tensor = take_stretches(tensor, from, static_cast<std::int64_t>(axis));
    }
    return tensor;
}

Tensor pixel_shuffle(const Operand& x, std::int64_t r) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    std::size_t n = tensor.ndim();
    if (r < 1) refuse(x, text("pixel_shuffle: upscale_factor is ", r, "; it must be at least 1"));
    if (n < 3 || (tensor.shape()[n - 3].known() && tensor.shape()[n - 3].value() % (r * r) != 0))
        refuse_shape(x, text("pixel_shuffle: the input has shape ", tensor.shape(), "; it must be (..., C * ", r * r,
                             ", H, W)"));
    Shape front(tensor.shape().begin(), tensor.shape().end() - 3), split = front, joined = front;
    Size channels = tensor.shape()[n - 3] / (r * r), rows = tensor.shape()[n - 2], columns = tensor.shape()[n - 1];
    for (Size size : {channels, Size(r), Size(r), rows, columns}) split.push_back(size);
    for (Size size : {channels, rows * r, columns * r}) joined.push_back(size);
    Axes order;
    for (std::size_t axis = 0; axis < front.size(); ++axis) order.push_back(static_cast<std::int64_t>(axis));
    auto k = static_cast<std::int64_t>(front.size());
    for (std::int64_t axis : {k, k + 3, k + 1, k + 4, k + 2}) order.push_back(axis);
    return reshape(permute_dims(reshape(tensor, split), order), joined);
}

Tensor pixel_unshuffle(const Operand& x, std::int64_t r) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    std::size_t n = tensor.ndim();
    if (r < 1) refuse(x, text("pixel_unshuffle: downscale_factor is ", r, "; it must be at least 1"));
    auto divides = [&](std::size_t axis) {
        return !tensor.shape()[axis].known() || tensor.shape()[axis].value() % r == 0;
    };
    if (n < 3 || !divides(n - 2) || !divides(n - 1))
        refuse_shape(x, text("pixel_unshuffle: the input has shape ", tensor.shape(), "; it must be (..., C, H * ", r,
                             ", W * ", r, ")"));
    Shape front(tensor.shape().begin(), tensor.shape().end() - 3), split = front, joined = front;
    Size channels = tensor.shape()[n - 3], rows = tensor.shape()[n - 2] / r, columns = tensor.shape()[n - 1] / r;
    for (Size size : {channels, rows, Size(r), columns, Size(r)}) split.push_back(size);
    for (Size size : {channels * (r * r), rows, columns}) joined.push_back(size);
    Axes order;
    for (std::size_t axis = 0; axis < front.size(); ++axis) order.push_back(static_cast<std::int64_t>(axis));
    auto k = static_cast<std::int64_t>(front.size());
    for (std::int64_t axis : {k, k + 2, k + 4, k + 1, k + 3}) order.push_back(axis);
    return reshape(permute_dims(reshape(tensor, split), order), joined);
}

Tensor channel_shuffle(const Operand& x, std::int64_t groups) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    if (tensor.ndim() < 3)
        refuse_shape(x, text("channel_shuffle: the input has shape ", tensor.shape(), ", but must be (N, C, ...)"));
    Size channels = tensor.shape()[1];
    if (groups < 1 || (channels.known() && channels.value() % groups != 0))
        refuse(x, text("channel_shuffle: ", channels, " channels do not make ", groups, " groups"));
    Shape split = tensor.shape();
    split[1] = channels / groups;
    split = {split[0], Size(groups), split[1]};
    for (std::size_t axis = 2; axis < tensor.ndim(); ++axis) split.push_back(tensor.shape()[axis]);
    return reshape(swapaxes(reshape(tensor, split), 1, 2), tensor.shape());
}

}  // namespace weft::nn::functional
