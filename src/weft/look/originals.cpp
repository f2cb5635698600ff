#include "weft/look/originals.h"

#include "weft/base/error.h"
#include "weft/ops/elementwise.h"
#include "weft/train/checkpoint.h"

namespace weft::look {
namespace {

Array in_float32(const Array& x) { return contiguous(Tensor(x).astype(DType::float32).array()); }

std::optional<Pictured> drawable(const Array& x, bool inverted) {
    std::optional<PictureShape> shape = picture_shape(Dims(x.dims.begin() + 1, x.dims.end()));
    if (!shape) return std::nullopt;
    return Pictured{data::reshaped(x, {x.dims[0], shape->planes * shape->height * shape->width}), *shape, inverted};
}

}  // namespace

Originals::Originals(const train::Run& run, Dims example, const std::string& input)
    : preparation_(run.kept_phase().prepare), example_(std::move(example)) {
    const Json& steps = run.kept_phase().prepare;
    prepares_ = steps.size() > 0;
    train::load_preparation(run.kept(), preparation_);
    // Preparation::invert is of "x", or of the only input that has steps of its own.
    if (steps.is_object() && input != "x" && !(steps.size() == 1 && steps.find(input)))
        knows_no_inverse_ = text("`prepare:` is by input, and '", input, "' is not the only one");
}

Array Originals::shaped(const Array& x) const {
    Dims dims{x.dims[0]};
    for (std::int64_t size : example_) dims.push_back(size);
    if (element_count(dims) != x.size())
        throw ShapeError(text("they have ", x.size() / std::max<std::int64_t>(1, x.dims[0]),
                              " numbers each, and an example ", example_));
    return data::reshaped(in_float32(x), dims);
}

std::optional<Array> Originals::inverted(const Array& x, std::string& why) const {
    why = knows_no_inverse_;
    if (!prepares_ || !why.empty()) return std::nullopt;
    try {
        return in_float32(preparation_.invert(x));
    } catch (const ValueError& error) {
        why = error.what();
    } catch (const ShapeError& error) {
        why = error.what();
    }
    return std::nullopt;
}

Pictured Originals::chosen(const Array& x, const std::optional<Array>& before, const std::string& why) const {
    if (before) {
        if (std::optional<Pictured> found = drawable(*before, true)) return *found;
    }
    if (std::optional<Pictured> found = drawable(x, false)) return *found;
    throw ShapeError(text("examples of shape ", before ? Dims(before->dims.begin() + 1, before->dims.end()) : example_,
                          " are no pictures", why.empty() ? "" : ", and what they were made of cannot be told: ", why));
}

Pictured Originals::pictured(const Array& x) const {
    std::string why;
    Array numbers = shaped(x);
    std::optional<Array> before = inverted(numbers, why);
    return chosen(numbers, before, why);
}

Pictured Originals::pictured_directions(const Array& rows) const {
    std::string why;
    Array numbers = shaped(rows);
    Dims one = numbers.dims;
    one[0] = 1;
    std::optional<Array> there = inverted(numbers, why), middle = inverted(Array::zeros(DType::float32, one), why);
    if (there && middle) there = in_float32((Tensor(*there) - Tensor(*middle)).array());
    return chosen(numbers, there, why);
}

}  // namespace weft::look
