// weft sample: examples that the model that a run has kept makes up, as a picture of pictures or as numbers; what a model of texts writes.
#include "weft/train/sample.h"

#include <iostream>

#include "weft/base/error.h"
#include "weft/cli/commands.h"
#include "weft/io/file.h"
#include "weft/look/samples.h"
#include "weft/train/sample_text.h"

namespace weft::cli {
namespace {

std::uint64_t seed_in(const Arguments& arguments) {
    return static_cast<std::uint64_t>(arguments.integer("seed", 0).value_or(1));
}

/// To a file, or the terminal, behind the prompt.
int write_text(const Arguments& arguments, const train::Run& run) {
    for (const char* flag : {"steps", "walk"})
        if (arguments.has(flag))
            throw ConfigError(text("--", flag, " is for models that make pictures and numbers; this one writes text"));
    train::TextSampleOptions options;
    options.count = arguments.integer("count", 1).value_or(options.count);
    options.seed = seed_in(arguments);
    options.temperature = arguments.number("temperature").value_or(1);
    options.prompt = arguments.value("prompt").value_or("");
    std::string written = train::sample_text(run, options);
    if (auto file = arguments.value("out")) {
        io::write_atomically(*file, options.prompt + written + "\n");
        std::cout << "samples " << *file << "\n";
    } else {
        std::cout << options.prompt << written << "\n";
    }
    return done;
}

int write_examples(const Arguments& arguments, const train::Run& run) {
    if (arguments.has("prompt")) throw ConfigError("--prompt is for models of texts; this run's data are no `text`");
    std::filesystem::path file = arguments.value("out").value_or((run.folder() / "samples.png").string());
    look::check_samples_name(file);
    train::SampleOptions options;
    options.count = arguments.integer("count", 1).value_or(options.count);
    options.seed = seed_in(arguments);
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

}  // namespace

int sample(const Arguments& arguments) {
    use_machine(arguments);
    train::Run run = train::Run::open(arguments.words()[0]);
    return train::is_text_model(run) ? write_text(arguments, run) : write_examples(arguments, run);
}

}  // namespace weft::cli
