// weft explain FILE|RUN: how a training step of an experiment runs.
#include <filesystem>
#include <iostream>

#include "weft/cli/commands.h"
#include "weft/io/file.h"
#include "weft/train/run.h"
#include "weft/train/trainer.h"
#include "weft/viz/explanation.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

// One batch: the experiment's first, or zeros of the right shape where the data need not be read for that.
data::Batch batch_of(const train::Phase& phase, const data::Dataset& set) {
    data::Batches batches(set, std::min(phase.batch_size, set.size()), {.prefetch = 0});
    return *batches.begin();
}

data::Dataset training_set(const train::Phase& phase) {
    if (std::optional<data::Dataset> sample = train::sample_of(phase); sample && sample->size() >= phase.batch_size)
        return *sample;
    data::Dataset set = phase.set("train")->load();
    data::Preparation preparation(phase.prepare);
    preparation.fit(set);
    return preparation.apply(set);
}

}  // namespace

int explain(const Arguments& arguments) {
    use_machine(arguments);
    const std::string& named = arguments.words()[0];
    train::Experiment experiment =
        fs::is_directory(named) ? train::Run::open(named).experiment() : train::Experiment(read_description(arguments));
    const train::Phase& phase = experiment.phases[0];
    data::Dataset set = training_set(phase);
    train::Network network = train::make_network(phase, set);
    train::Objective objective(phase, network);
    Explanation explanation = objective.explain(batch_of(phase, set));
    if (auto file = arguments.value("html")) {
        io::write_atomically(*file, viz::html(explanation, text("A training step of ", named)));
        std::cout << *file << "\n";
    } else {
        std::cout << explanation;
    }
    return done;
}

}  // namespace weft::cli
