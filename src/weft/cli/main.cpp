// The weft program: finds the command, runs it, and turns errors into a message and an exit status: 0 done, 2 the input was wrong,
// 3 it failed while running, 130 interrupted (a checkpoint is written).
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <iostream>
#include <new>

#include "weft/backend/cpu/emit/kernel_cache.h"
#include "weft/backend/cpu/isa.h"
#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/base/thread_pool.h"
#include "weft/cli/commands.h"
#include "weft/found.h"

namespace weft::cli {
namespace {

/// Commands that weft's documentation names, for versions to come.
constexpr const char* to_come[] = {"onnx", "bench"};

const Flag device_flag{"device", "D", "where to compute; cpu is the only one in this version"};
const Flag threads_flag{"threads", "N", "how many threads compute; results do not depend on it"};
const Flag quiet_flag{"quiet", "", "print errors alone"};

// What is wrong with a variable of the environment is said before any work, and not where it happens to be read first.
void check_environment() {
    try {
        ThreadPool::instance(), cpu::best_isa(), cpu::emit::emission();
    } catch (const ValueError& error) {
        throw ConfigError(error.what());
    }
}

int run(std::vector<std::string> typed) {
    if (typed.empty() || typed[0] == "--help" || typed[0] == "-h") typed = {"help"};
    if (typed[0] == "--version") {
        std::cout << "weft " WEFT_VERSION "\n";
        return done;
    }
    std::vector<std::string_view> names;
    for (const Command& command : commands()) {
        names.push_back(command.name);
        if (command.name != typed[0]) continue;
        for (std::size_t i = 1; i < typed.size(); ++i) {
            if (typed[i] == "--help" || typed[i] == "-h") return std::cout << command.help(), done;
        }
        check_environment();
        return command.run(command.parse(std::span(typed).subspan(1)));
    }
    for (const char* name : to_come) {
        if (typed[0] == name) throw ConfigError(text("weft ", name, " is not built yet in this version of weft"));
    }
    throw ConfigError(text("weft: unknown command '", typed[0], "'", did_you_mean(typed[0], names)));
}

/// What a command has said counts only once it is written: a full disk is a failure. Whoever read it may have left.
int with_output_written(int status) {
    bool written = std::cout.flush() && std::fflush(stdout) == 0 && !std::ferror(stdout);
    pollfd output{STDOUT_FILENO, POLLOUT, 0};
    bool reader_left = ::poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLNVAL));
    if (written || reader_left || status != done) return status;
    std::cerr << "standard output could not be written: is the disk full?\n";
    return failed;
}

int report(const char* message, int status) {
    std::cout.flush();
    std::cerr << message << "\n";
    return status;
}

}  // namespace

const std::vector<Command>& commands() {
    static const Flag set{"set", "KEY=VALUE", "replaces a value of the file, as in optimizer.momentum.lr=0.02", true};
    static const Flag out{"out", "DIR", "the run's folder; runs/FILE, or the next free runs/FILE-2, ... if left out"};
    static const Flag seed{"seed", "N", "replaces the file's seed"};
    static const Flag goes_on{"resume", "", "goes on with the run in --out, if there is one"};
    static const Flag dry{
        "dry-run", "",
        "checks the file and shows the network; data are looked at only where nothing else tells their shape"};
    static const Flag html{"html", "FILE", "writes a page instead of text"};
    static const Flag set_name{"data", "SET", "which set of the experiment: test, if left out, or else valid"};
    static const Flag draws{"draws", "N", "of a variational layer, for each example; 100 if left out"};
    static const Flag chains{"chains", "N",
                             "of the annealing by which log Z of an rbm or a dbm is estimated; 100 if left out"};
    static const Flag temperatures{"temperatures", "N", "between no weights and all of them; 1000 if left out"};
    static const Flag reverse{"reverse", "", "anneals back too, from what the machine makes: log Z from above"};
    static const Flag search_out{"out", "DIR", "the folder; runs/FILE-sweep or runs/FILE-cv if left out"};
    static const Flag jobs{"jobs", "N",
                           "how many are trained at a time, each by its share of the threads; 1 if left out"};
    static const Flag retry{"retry", "", "tries again what failed"};
    static const Flag table{"table", "", "prints what has ended so far, and trains nothing"};
    static const Flag dry_search{
        "dry-run", "",
        "checks all that would be trained and lists it; data are looked at only where nothing else tells their shape"};
    static const Flag folds{"folds", "N", "replaces the file's cv.folds, or 5"};
    static const Flag repeats{"repeats", "N", "replaces the file's cv.repeats, or 1"};
    static const Flag input{"input", "FILE",
                            "the examples: .npy, .npz, .h5 or .mat (the array x, or the only one; of several inputs "
                            "each by its name), .csv or IDX"};
    static const Flag output{"output", "FILE",
                             ".npy: what the network gives; .csv: the class and the probabilities, or the numbers; "
                             "lines on the terminal if left out"};
    static const Flag count{"count", "N", "how many; 100 if left out, of a text 400 symbols"};
    static const Flag sheet{"out", "FILE",
                            ".png: one picture of all; .npy: numbers; RUN/samples.png if left out. Of a text any name; "
                            "the terminal if left out"};
    static const Flag seed_of_draws{"seed", "N", "of the draws; 1 if left out"};
    static const Flag steps{"steps", "N", "of the chains of an rbm or a dbm; 1000 if left out"};
    static const Flag temperature{
        "temperature", "T",
        "the deviation of the code's numbers, or what a text's scores are divided by, 1 if left out; "
        "below it samples are surer and more alike"};
    static const Flag prompt{"prompt", "TEXT", "what a text goes on from"};
    static const Flag walk{"walk", "N", "so many steps from one draw of the code to the next, a row of the picture"};
    static const Flag glob{"channel", "GLOB", "the figures that match, as in 'valid.*'; all if left out"};
    static const Flag picture{"out", "FILE", "the file: its name ends with .svg, .png or .html"};
    static const Flag port{"port", "N", "of 127.0.0.1; 8642 if left out, 0 any that is free"};
    constexpr std::size_t most_runs = 1000;
    static const std::vector<Command> all{
        {"train",
         "FILE",
         "Trains the network that an experiment file describes.",
         {set, out, device_flag, threads_flag, seed, goes_on, dry, quiet_flag},
         1,
         1,
         train},
        {"resume",
         "RUN",
         "Goes on where a run stopped, bit for bit as if it had not.",
         {device_flag, threads_flag, quiet_flag},
         1,
         1,
         resume},
        {"sweep",
         "FILE",
         "Trains an experiment with the values that its `sweep:` tries; started again, it goes on.",
         {set, search_out, jobs, device_flag, threads_flag, seed, retry, table, dry_search, quiet_flag},
         1,
         1,
         sweep},
        {"cv",
         "FILE",
         "Cross-validates an experiment: each fold of its training set is held out once; started again, it goes on.",
         {folds, repeats, set, search_out, jobs, device_flag, threads_flag, seed, retry, table, dry_search, quiet_flag},
         1,
         1,
         cross_validate},
        {"eval",
         "RUN",
         "Evaluates the model that a run has kept.",
         {set_name, device_flag, threads_flag},
         1,
         1,
         evaluate},
        {"likelihood",
         "RUN",
         "Says how probable the model that a run has kept takes a set to be: rbm, dbm and variational.",
         {set_name, draws, chains, temperatures, reverse, device_flag, threads_flag},
         1,
         1,
         likelihood},
        {"predict",
         "RUN",
         "Says what the model that a run has kept answers to the examples of a file, prepared as the training set was.",
         {input, output, device_flag, threads_flag},
         1,
         1,
         predict},
        {"sample",
         "RUN",
         "Draws examples from the model that a run has kept: adversarial, variational, rbm, dbm, or a text symbol by "
         "symbol.",
         {count, sheet, seed_of_draws, steps, temperature, walk, prompt, device_flag, threads_flag},
         1,
         1,
         sample},
        {"show",
         "RUN",
         "Writes the run's report, one HTML file, and prints its name.",
         {device_flag, threads_flag},
         1,
         1,
         show},
        {"monitor",
         "RUN...",
         "Prints the figures of runs, an epoch a line: a table, or lines with tabs where a program reads them.",
         {glob},
         1,
         most_runs,
         monitor},
        {"plot",
         "RUN...",
         "Draws the figures of runs over their epochs, in one file.",
         {picture, glob},
         1,
         most_runs,
         plot},
        {"diff",
         "RUN RUN",
         "Shows in what two runs differ: configurations key by key, figures side by side, where the logs part.",
         {},
         2,
         2,
         diff},
        {"serve",
         "RUN...",
         "Shows runs on a page that follows their logs, on this machine alone (127.0.0.1).",
         {port, glob},
         1,
         most_runs,
         serve},
        {"data",
         "list | info NAME|FILE|FOLDER | get NAME",
         "Lists the data sets; info loads one, or a file, checks it and says what it holds; of a folder, which files; "
         "get fetches a published "
         "one into weft's cache.",
         {},
         1,
         2,
         data},
        {"explain",
         "FILE|RUN",
         "Shows how a training step runs: graph, rewrites, plan, kernels, memory, where the time goes.",
         {set, html, device_flag, threads_flag, seed},
         1,
         1,
         explain},
        {"doctor",
         "",
         "Says what was found on this machine, what was not, what that costs, and how to mend it.",
         {},
         0,
         0,
         doctor},
        {"schema",
         "",
         "Prints the JSON schema of experiments, by which editors check and complete them.",
         {},
         0,
         0,
         schema},
        {"help",
         "[COMMAND | KIND [NAME]]",
         "Explains a command, or what an experiment file can name: `weft help model linear`.",
         {},
         0,
         2,
         help},
    };
    return all;
}

}  // namespace weft::cli

int main(int count, char** words) {
    using namespace weft;
    // A limit on file sizes is an error of the write; who reads the output may leave, and a run still goes on to its end.
    std::signal(SIGXFSZ, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return cli::with_output_written(cli::run(std::vector<std::string>(words + 1, words + count)));
    } catch (const ConfigError& error) {
        return cli::report(error.what(), cli::wrong_input);
    } catch (const DeviceError& error) {
        return cli::report(error.what(), cli::wrong_input);
    } catch (const std::bad_alloc&) {
        return cli::report("there is not enough memory", cli::failed);
    } catch (const std::exception& error) {
        return cli::report(error.what(), cli::failed);
    }
}
