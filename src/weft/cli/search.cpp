// weft sweep, weft cv: what search/search.h does, on a terminal, with a process of this program for each trial.
#include "weft/search/search.h"

#include <iostream>

#include "weft/base/error.h"
#include "weft/cli/commands.h"
#include "weft/cli/signals.h"
#include "weft/cli/terminal.h"
#include "weft/look/figures.h"
#include "weft/search/report.h"
#include "weft/train/compose.h"
#include "weft/train/dry_run.h"
#include "weft/train/folds.h"
#include "weft/train/sweep.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using train::TrialResult, train::Trials;

std::string this_program() {
    std::error_code error;
    fs::path program = fs::read_symlink("/proc/self/exe", error);
    if (error) throw FileError(text("the program does not find itself: ", error.message()));
    return program.string();
}

search::Command train_command(const Arguments& arguments) {
    return [program = this_program(), device = arguments.value("device")](const search::Order& order) {
        std::vector<std::string> words{
            program,   "train",     order.file.string(),          "--out", order.run.string(), "--resume",
            "--quiet", "--threads", std::to_string(order.threads)};
        if (device) words.insert(words.end(), {"--device", *device});
        return words;
    };
}

std::string counted(std::int64_t count, const char* thing) {
    return text(train::grouped(count), " ", thing, count == 1 ? "" : "s");
}

void print_plan(const Trials& trials) {
    print_rows(search::checked(trials));
    for (const train::Rung& rung : trials.rungs)
        std::cout << counted(rung.trials, "trial") << ", "
                  << (rung.epochs
                          ? "until " + counted(rung.epochs, "epoch") + (rung.epochs == 1 ? " is" : " are") + " done"
                          : "to the end")
                  << "\n";
    std::cout << "compared by " << trials.watch.channel << ", of which " << (trials.watch.more ? "more" : "less")
              << " is better\n\nthe first:\n"
              << train::dry_run(train::Experiment(trials.trials[0].config));
}

void print_result(const Trials& trials, const TrialResult& result, const std::vector<TrialResult>& results) {
    const train::Trial& trial = trials.trials[static_cast<std::size_t>(result.trial - 1)];
    std::string name = trials.watch.channel;
    std::cout << "trial " << result.trial << " of " << trials.trials.size();
    for (std::size_t i = 0; i < trials.keys.size(); ++i)
        std::cout << "  " << trials.keys[i] << " " << train::value_text(trial.values[i]);
    std::cout << ": " << (result.error.empty() ? name + " " + look::cell_of(name, result.figure) : result.error);
    TrialResult best = trials.ranked(results)[0];
    if (trials.kind == "sweep" && best.error.empty() && best.trial != result.trial)
        std::cout << "  (best: trial " << best.trial << ", " << look::cell_of(name, best.figure) << ")";
    std::cout << std::endl;
}

/// The exit status.
int print_end(const Trials& trials, const fs::path& folder, const search::Found& found, bool quiet) {
    if (!quiet) {
        std::cout << "\n";
        print_rows(search::table_of(trials, found.results));
    }
    std::optional<TrialResult> best = found.best(trials);
    if (!best) {
        TrialResult first = trials.ranked(found.results)[0];
        std::cerr << "no trial ended well; trial " << first.trial << ": " << first.error << "; --retry tries again"
                  << std::endl;
        return failed;
    }
    if (quiet) return done;
    std::cout << "\n";
    if (trials.kind == "sweep") std::cout << "best    " << search::run_of(trials, folder, best->trial).string() << "\n";
    std::cout << "page    " << (folder / (trials.kind + ".html")).string() << std::endl;
    return done;
}

int search(const Arguments& arguments, const Trials& trials) {
    std::int64_t jobs = std::min<std::int64_t>(arguments.integer("jobs", 1).value_or(1), 256);
    bool quiet = arguments.has("quiet");
    use_machine(arguments);
    fs::path usual = fs::path("runs") / text(fs::path(arguments.words()[0]).stem().string(), "-", trials.kind);
    fs::path folder = arguments.value("out").value_or(usual.string());
    if (arguments.has("dry-run")) {
        print_plan(trials);
        return done;
    }
    if (arguments.has("table")) {
        print_rows(search::table_of(trials, search::results_in(trials, folder)));
        return done;
    }
    catch_signals();
    search::Options options{
        .command = train_command(arguments), .jobs = jobs, .retry = arguments.has("retry"), .stop = asked_to_stop};
    if (!quiet) options.ended = [&](const TrialResult& result, const auto& all) { print_result(trials, result, all); };
    search::Found found = search::run(trials, folder, options);
    if (!found.interrupted) return print_end(trials, folder, found, quiet);
    if (!quiet) std::cout << "interrupted; the same command goes on" << std::endl;
    return interrupted;
}

}  // namespace

int sweep(const Arguments& arguments) {
    Json written = as_input([&] { return train::written_in(arguments.words()[0], assignments_of(arguments)); });
    return search(arguments, train::sweep_of(written));
}

int cross_validate(const Arguments& arguments) {
    std::vector<std::string> assignments = assignments_of(arguments);
    for (const char* flag : {"folds", "repeats"})
        if (auto value = arguments.value(flag)) assignments.push_back(text("cv.", flag, "=", *value));
    Json description = as_input([&] { return train::compose_file(arguments.words()[0], assignments); });
    return search(arguments, train::cross_validation_of(description));
}

}  // namespace weft::cli
