// weft sample: examples that the model that a run has kept makes up, as a picture of pictures or as numbers.
#include "weft/train/sample.h"

#include <algorithm>
#include <iostream>

#include "weft/base/error.h"
#include "weft/cli/commands.h"
#include "weft/cli/example_picture.h"
#include "weft/io/file.h"
#include "weft/io/npy.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t side_by_side = 10;

void write_sheet(const fs::path& file, const Array& samples, std::int64_t columns) {
    Dims example(samples.dims.begin() + 1, samples.dims.end());
    std::optional<PictureShape> shape = picture_shape(example);
    if (!shape)
        throw ConfigError(text("examples of shape ", example,
                               " are no pictures, (height, width) or (1 or 3, height, width) up to 128; --out "
                               "FILE.npy writes numbers"));
    const float* numbers = samples.data<float>();
    auto [low, high] = std::minmax_element(numbers, numbers + samples.size());
    std::vector<viz::Picture> pictures;
    for (std::int64_t i = 0; i < samples.dims[0]; ++i)
        pictures.push_back(draw(numbers + i * element_count(example), *shape, *low, *high));
    io::write_atomically(file, viz::png(viz::sheet(pictures, columns)));
}

}  // namespace

int sample(const Arguments& arguments) {
    use_machine(arguments);
    train::Run run = train::Run::open(arguments.words()[0]);
    fs::path file = arguments.value("out").value_or((run.folder() / "samples.png").string());
    std::string ending = file.extension().string();
    if (ending != ".png" && ending != ".npy")
        throw ConfigError(text("--out ", file.string(), ": samples are written as .png or .npy"));
    train::SampleOptions options;
    options.count = arguments.integer("count", 1).value_or(options.count);
    options.seed = static_cast<std::uint64_t>(arguments.integer("seed", 0).value_or(1));
    options.steps = arguments.integer("steps", 1).value_or(options.steps);
    options.walk = arguments.integer("walk", 1).value_or(0);
    options.temperature = arguments.number("temperature").value_or(1);
    Array samples = train::sample(run, options);
    if (ending == ".npy")
        io::save_npy(file, samples);
    else
        write_sheet(file, samples, options.walk > 0 ? options.walk : side_by_side);
    std::cout << "samples " << file.string() << "\n";
    return done;
}

}  // namespace weft::cli
