// weft train, weft resume, weft show.
#include <iostream>

#include "weft/backend/machine.h"
#include "weft/base/environment.h"
#include "weft/base/error.h"
#include "weft/base/thread_pool.h"
#include "weft/cli/commands.h"
#include "weft/cli/signals.h"
#include "weft/cli/terminal.h"
#include "weft/look/run_report.h"
#include "weft/train/compose.h"
#include "weft/train/dry_run.h"
#include "weft/train/run.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

/// runs/digits, or the first of runs/digits-2, runs/digits-3, ... that is not there yet.
fs::path free_folder(const fs::path& file) {
    fs::path folder = fs::path("runs") / file.stem();
    for (int k = 2; fs::exists(folder); ++k) folder = fs::path("runs") / text(file.stem().string(), "-", k);
    return folder;
}

train::Run open_or_create(const Arguments& arguments, const train::Experiment& experiment) {
    std::string named = arguments.value("out").value_or("");
    if (named.empty() && arguments.has("resume"))
        named = (fs::path("runs") / fs::path(arguments.words()[0]).stem()).string();
    fs::path folder = named.empty() ? free_folder(arguments.words()[0]) : fs::path(named);
    return arguments.has("resume") ? train::Run::begun_or_new(folder, experiment)
                                   : train::Run::create(folder, experiment);
}

/// The run has ended and its model is kept, whether or not it can be shown: empty if it cannot, and standard error says why.
std::string written_report(const train::Run& run) {
    try {
        return look::write_report(run, machine()).string();
    } catch (const std::exception& error) {
        std::cerr << "the report cannot be written: " << error.what() << "; `weft show " << run.folder().string()
                  << "` tries again" << std::endl;
        return "";
    }
}

void print_files(const train::Run& run, const std::string& report) {
    std::cout << "model   " << (run.kept() / "model.safetensors").string() << "\n"
              << "log     " << (run.folder() / "log.jsonl").string() << "\n";
    if (!report.empty()) std::cout << "report  " << report << "\n";
    std::cout.flush();
}

int train_run(train::Run& run, bool quiet) {
    catch_signals();
    Terminal terminal(quiet);
    train::Outcome outcome = run.train(terminal, asked_to_stop);
    std::string folder = run.folder().string();
    if (outcome.interrupted) {
        if (!quiet)
            std::cout << "\ninterrupted; a checkpoint is written, and `weft resume " << folder << "` goes on"
                      << std::endl;
        return interrupted;
    }
    std::string report = written_report(run);
    if (!quiet) print_files(run, report);
    if (!outcome.divergence) return done;
    std::cerr << outcome.divergence->said << std::endl;
    return outcome.divergence->kept_finite ? done : failed;
}

}  // namespace

std::vector<std::string> assignments_of(const Arguments& arguments) {
    std::vector<std::string> assignments = arguments.values("set");
    if (auto seed = arguments.integer("seed", 0)) assignments.push_back(text("seed=", *seed));
    return assignments;
}

Json read_description(const Arguments& arguments) {
    return as_input([&] { return train::compose_file(arguments.words()[0], assignments_of(arguments)); });
}

void use_machine(const Arguments& arguments) {
    if (auto threads = arguments.integer("threads", 1))
        ThreadPool::instance().set_threads(static_cast<int>(std::min<std::int64_t>(*threads, 1024)));
    std::string device = arguments.value("device").value_or(environment("WEFT_DEVICE").value_or("cpu"));
    if (device == "cpu" || device == "cpu:0") return;
    throw DeviceError(text("there is no device '", device,
                           "': this version of weft computes on the CPU alone (cpu); "
                           "its backends for CUDA and OpenCL are not built yet"));
}

int train(const Arguments& arguments) {
    use_machine(arguments);
    Json written = as_input([&] { return train::written_in(arguments.words()[0], assignments_of(arguments)); });
    train::Experiment experiment(train::compose(written), written);
    if (arguments.has("dry-run")) {
        std::cout << train::dry_run(experiment);
        return done;
    }
    (void)train::networks_of(experiment);
    train::Run run = open_or_create(arguments, experiment);
    return train_run(run, arguments.has("quiet"));
}

int resume(const Arguments& arguments) {
    use_machine(arguments);
    train::Run run = train::Run::open(arguments.words()[0]);
    return train_run(run, arguments.has("quiet"));
}

int show(const Arguments& arguments) {
    use_machine(arguments);
    std::cout << look::write_report(train::Run::open(arguments.words()[0]), machine()).string() << "\n";
    return done;
}

}  // namespace weft::cli
