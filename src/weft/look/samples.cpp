#include "weft/look/samples.h"

#include <algorithm>

#include "weft/base/error.h"
#include "weft/io/file.h"
#include "weft/io/npy.h"
#include "weft/look/example_picture.h"

namespace weft::look {
namespace {

void write_sheet(const std::filesystem::path& file, const Array& samples, std::int64_t columns) {
    Dims example(samples.dims.begin() + 1, samples.dims.end());
    std::optional<PictureShape> shape = picture_shape(example);
    if (!shape)
        throw ConfigError(text("examples of shape ", example,
                               " are no pictures, (height, width) or (1 or 3, height, width) up to 128; a file that is "
                               "called .npy holds numbers"));
    const float* numbers = samples.data<float>();
    auto [low, high] = std::minmax_element(numbers, numbers + samples.size());
    std::vector<viz::Picture> pictures;
    for (std::int64_t i = 0; i < samples.dims[0]; ++i)
        pictures.push_back(draw(numbers + i * element_count(example), *shape, *low, *high));
    io::write_atomically(file, viz::png(viz::sheet(pictures, columns)));
}

}  // namespace

void check_samples_name(const std::filesystem::path& file) {
    if (file.extension() != ".png" && file.extension() != ".npy")
        throw ConfigError(text("'", file.string(), "': samples are written as .png or .npy"));
}

void write_samples(const std::filesystem::path& file, const Array& samples, std::int64_t columns) {
    check_samples_name(file);
    if (file.extension() == ".npy")
        io::save_npy(file, samples);
    else
        write_sheet(file, samples, columns);
}

}  // namespace weft::look
