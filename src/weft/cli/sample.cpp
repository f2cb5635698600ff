// weft sample: examples that the model that a run has kept makes up, as a picture of pictures or as numbers.
#include "weft/train/sample.h"

#include <iostream>

#include "weft/cli/commands.h"
#include "weft/look/samples.h"

namespace weft::cli {

int sample(const Arguments& arguments) {
    use_machine(arguments);
    train::Run run = train::Run::open(arguments.words()[0]);
    std::filesystem::path file = arguments.value("out").value_or((run.folder() / "samples.png").string());
    look::check_samples_name(file);
    train::SampleOptions options;
    options.count = arguments.integer("count", 1).value_or(options.count);
    options.seed = static_cast<std::uint64_t>(arguments.integer("seed", 0).value_or(1));
    options.steps = arguments.integer("steps", 1).value_or(options.steps);
    options.walk = arguments.integer("walk", 1).value_or(0);
    options.temperature = arguments.number("temperature").value_or(1);
    Array samples = train::sample(run, options);
    if (options.walk > 0)
        look::write_samples(file, samples, options.walk);
    else
        look::write_samples(file, samples);
    std::cout << "samples " << file.string() << "\n";
    return done;
}

}  // namespace weft::cli
