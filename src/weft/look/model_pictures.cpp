#include "weft/look/model_pictures.h"

#include <algorithm>

#include "weft/base/error.h"
#include "weft/look/example_picture.h"
#include "weft/look/run_report.h"
#include "weft/train/channel_sums.h"
#include "weft/train/reconstruct.h"
#include "weft/train/sample.h"

namespace weft::look {
namespace {

constexpr std::int64_t most_pairs = 36, samples = 48, sample_steps = 200, most_points = 2000, most_units = 512;
constexpr std::size_t most_classes = 100;

std::optional<PictureShape> shape_drawn(const data::Dataset& set) {
    return is_floating(set.x_dtype()) ? picture_shape(set.example()) : std::nullopt;
}

}  // namespace

void add_samples(viz::Report& report, const train::Phase& phase, const train::Network& network,
                 const data::Dataset& set) {
    std::optional<PictureShape> shape = shape_drawn(set);
    if (!shape) return;
    if (!train::makes_examples(network)) return;
    Array made = contiguous(
        train::sample(phase, network, {.count = samples, .steps = sample_steps}).astype(DType::float32).array());
    std::int64_t size = shape->planes * shape->height * shape->width;
    if (made.size() != samples * size) return;
    const float* numbers = made.data<float>();
    auto [low, high] = std::minmax_element(numbers, numbers + made.size());
    for (std::int64_t i = 0; i < samples; ++i) report.samples.push_back(draw(numbers + i * size, *shape, *low, *high));
}

void add_reconstructions(viz::Report& report, const train::Phase& phase, const train::Network& network,
                         const data::Dataset& set) {
    std::optional<PictureShape> shape = shape_drawn(set);
    if (!shape) return;
    std::int64_t count = std::min(most_pairs, set.size());
    if (std::optional<train::Reconstruction> back = train::reconstructed(phase, network, set.rows(0, count))) {
        std::int64_t size = shape->planes * shape->height * shape->width;
        const float *wanted = back->wanted.data<float>(), *given = back->given.data<float>();
        for (std::int64_t i = 0; i < count; ++i, wanted += size, given += size) {
            auto [low, high] = std::minmax_element(wanted, wanted + size);
            report.reconstructions.emplace_back(draw(wanted, *shape, *low, *high), draw(given, *shape, *low, *high));
        }
    }
}

void add_embedding(viz::Report& report, train::Objective& objective, const data::Dataset& set) {
    bool classes = is_integer(set.y.dtype) && set.y.dtype != DType::bool_ && set.y.ndim() == 1;
    if (!classes || set.size() < 3) return;
    data::Dataset first = set.rows(0, std::min(most_points, set.size()));
    std::vector<Array> parts;
    objective.outputs(first, [&](std::int64_t, const Array& values) { parts.push_back(values); });
    if (parts[0].ndim() != 2 || parts[0].dims[1] < 2 || parts[0].dims[1] > most_units) return;
    if (parts[0].dtype != float32 || parts[0].dims[1] == element_count(set.example()))
        return;  // it gives back examples
    std::int64_t units = parts[0].dims[1], row = 0;
    Array codes = Array::empty(float32, {first.size(), units});
    for (const Array& part : parts) {
        std::copy_n(part.data<float>(), part.size(), codes.data<float>() + row * units);
        row += part.dims[0];
    }
    Array points = train::in_the_plane(codes);
    std::vector<double> labels = train::as_doubles(first.y);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (labels[i] < 0) continue;  // none
        auto label = static_cast<std::size_t>(labels[i]);
        report.embedding.x.push_back(points.data<float>()[2 * i]);
        report.embedding.y.push_back(points.data<float>()[2 * i + 1]);
        report.embedding.classes.push_back(label);
        while (report.embedding.names.size() <= label && label < most_classes)
            report.embedding.names.push_back(class_name(set, static_cast<std::int64_t>(report.embedding.names.size())));
    }
    if (report.embedding.names.size() < 2) report.embedding = {};
    report.embedding_name =
        text("What the model gives of ", first.size(), " examples",
             units > 2 ? text(", ", units, " numbers each, along their first two principal axes") : "", ".");
}

}  // namespace weft::look
