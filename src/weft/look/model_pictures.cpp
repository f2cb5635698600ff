#include "weft/look/model_pictures.h"

#include <algorithm>

#include "weft/base/error.h"
#include "weft/look/originals.h"
#include "weft/look/run_report.h"
#include "weft/train/channel_sums.h"
#include "weft/train/reconstruct.h"
#include "weft/train/sample.h"

namespace weft::look {
namespace {

constexpr std::int64_t most_pairs = 36, samples = 48, sample_steps = 200, most_points = 2000, most_units = 512;
constexpr std::size_t most_classes = 100;

}  // namespace

void add_samples(viz::Report& report, const train::Run& run, const train::Network& network, const data::Dataset& set) {
    if (!train::makes_examples(network)) return;
    Originals originals(run, set.example(), set.x_name);
    Pictured made =
        originals.pictured(train::sample(run.kept_phase(), network, {.count = samples, .steps = sample_steps}).array());
    auto [low, high] = std::minmax_element(made.row(0), made.row(samples));
    for (std::int64_t i = 0; i < samples; ++i) report.samples.push_back(draw(made.row(i), made.shape, *low, *high));
}

void add_reconstructions(viz::Report& report, const train::Run& run, const train::Network& network,
                         const data::Dataset& set) {
    if (!is_floating(set.x_dtype())) return;
    std::int64_t count = std::min(most_pairs, set.size());
    std::optional<train::Reconstruction> back = train::reconstructed(run.kept_phase(), network, set.rows(0, count));
    if (!back) return;
    Originals originals(run, set.example(), set.x_name);
    Pictured wanted = originals.pictured(back->wanted), given = originals.pictured(back->given);
    for (std::int64_t i = 0; i < count; ++i) {
        auto [low, high] = std::minmax_element(wanted.row(i), wanted.row(i + 1));
        report.reconstructions.emplace_back(draw(wanted.row(i), wanted.shape, *low, *high),
                                            draw(given.row(i), given.shape, *low, *high));
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
