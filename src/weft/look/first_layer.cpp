#include "weft/look/first_layer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "weft/base/error.h"
#include "weft/look/example_picture.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/view.h"
#include "weft/train/checkpoint.h"

namespace weft::look {
namespace {

constexpr std::size_t most_weights = 128;

/// Rows of numbers that can be drawn, all in one shape.
struct Drawn {
    Array rows;
    PictureShape shape;
    const char* thing;
    const char* how = "";
};

/// Where each row of a matrix leads from the middle of the data as they were. Nothing if `prepare:` has no inverse, or changes nothing.
std::optional<Array> mapped_back(const train::Run& run, const Dims& example, const Array& matrix) {
    if (run.kept_phase().prepare.size() == 0) return std::nullopt;
    data::Preparation preparation(run.kept_phase().prepare);
    train::load_preparation(run.kept(), preparation);
    Dims dims{matrix.dims[0]};
    for (std::int64_t size : example) dims.push_back(size);
    try {
        Tensor there(preparation.invert(data::reshaped(matrix, dims)));
        dims[0] = 1;
        Tensor middle(preparation.invert(Array::zeros(DType::float32, dims)));
        return contiguous(astype(there - middle, DType::float32).array());
    } catch (const ValueError&) {
        return std::nullopt;
    }
}

std::optional<Drawn> of_matrix(const train::Run& run, const train::Network& network, const Array& matrix) {
    if (element_count(network.example) != matrix.dims[1]) return std::nullopt;
    if (std::optional<Array> back = mapped_back(run, network.example, matrix)) {
        std::optional<PictureShape> shape = picture_shape(Dims(back->dims.begin() + 1, back->dims.end()));
        if (shape && shape->planes == 1)
            return Drawn{data::reshaped(*back, {matrix.dims[0], back->size() / matrix.dims[0]}), *shape, "units",
                         ", through the inverse of `prepare:`"};
    }
    std::optional<PictureShape> shape = picture_shape(network.example);
    if (!shape || shape->height * shape->width != matrix.dims[1]) return std::nullopt;
    return Drawn{matrix, *shape, "units"};
}

/// Of the first weight: a row of a matrix as a picture, a kernel as itself.
std::optional<Drawn> first_weight(const train::Run& run, const train::Network& network, std::string& name) {
    for (const nn::NamedParameter& one : nn::named(network.model)) {
        if (one.parameter.shape().size() < 2 || !is_floating(one.parameter.dtype())) continue;
        name = one.name;
        Array weight = contiguous(one.parameter.value().astype(DType::float32).array());
        if (weight.ndim() == 2) return of_matrix(run, network, weight);
        if (weight.ndim() != 4) return std::nullopt;
        std::int64_t height = weight.dims[2], width = weight.dims[3];
        return Drawn{
            data::reshaped(weight, {weight.dims[0] * weight.dims[1], height * width}), {1, height, width}, "kernels"};
    }
    return std::nullopt;
}

}  // namespace

void add_first_layer(viz::Report& report, const train::Run& run, const train::Network& network) {
    std::string name;
    std::optional<Drawn> drawn = first_weight(run, network, name);
    if (!drawn) return;
    std::int64_t size = drawn->rows.dims[1], count = drawn->rows.dims[0];
    const float* values = std::as_const(drawn->rows).data<float>();
    for (std::int64_t unit = 0; unit < std::min<std::int64_t>(count, most_weights); ++unit) {
        std::span<const float> own(values + unit * size, static_cast<std::size_t>(size));
        float most = 0;
        for (float value : own) most = std::max(most, std::abs(value));
        report.weights.push_back(viz::signed_values(own, drawn->shape.width, drawn->shape.height, most));
    }
    report.weights_name = text(
        name, ", ", count > static_cast<std::int64_t>(most_weights) ? text("the first ", most_weights, " of ") : "",
        count, " ", drawn->thing, drawn->how, "; blue adds, orange takes away; each scaled to its own largest number");
}

}  // namespace weft::look
