// weft sweep, weft cv: trials of one experiment, each a run of its own in a process of its own. The folder holds sweep.json (what is tried),
// sweep.jsonl (a line a trial that has ended), sweep.html, and trials/001, ...: their runs, beside what each was told and has said. A search
// that was stopped or killed goes on when it is started again: what has ended is not run again, what was cut goes on from its checkpoint.
#include <chrono>
#include <deque>
#include <iostream>
#include <map>
#include <thread>

#include "weft/base/error.h"
#include "weft/base/thread_pool.h"
#include "weft/cli/commands.h"
#include "weft/cli/jobs.h"
#include "weft/cli/search_plan.h"
#include "weft/cli/signals.h"
#include "weft/cli/trial_report.h"
#include "weft/io/file.h"
#include "weft/io/folder_lock.h"
#include "weft/look/figures.h"
#include "weft/train/compose.h"
#include "weft/train/dry_run.h"
#include "weft/train/folds.h"
#include "weft/train/log.h"
#include "weft/train/sweep.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using train::TrialResult, train::Trials;

constexpr auto between_looks = std::chrono::milliseconds(5);
constexpr int most_cuts = 3;

/// Its results so far, and its files.
class SearchFolder {
  public:
    SearchFolder(fs::path folder, const Trials& trials) : folder_(std::move(folder)), trials_(trials) {}

    /// A new folder, or one in which the same search was begun.
    void open() {
        std::error_code error;
        fs::path description = file(".json");
        std::string wanted = json_text(trials_.description, 1) + "\n";
        if (fs::exists(description)) {
            if (io::read_file(description) != wanted)
                throw ConfigError(text("the ", trials_.kind, " in '", folder_.string(),
                                       "' was begun with another experiment, or other values to try; --out names "
                                       "another folder"));
            return;
        }
        if (fs::exists(folder_, error) && !(fs::is_directory(folder_, error) && fs::is_empty(folder_, error)))
            throw ConfigError(text("'", folder_.string(), "' is no empty folder, and no ", trials_.kind,
                                   "; --out names another one"));
        fs::create_directories(folder_ / "trials", error);
        if (error) throw FileError(text("'", folder_.string(), "' cannot be made: ", error.message()));
        io::write_atomically(description, wanted);
    }
    /// What has ended; without what failed, if that shall be tried again.
    std::vector<TrialResult> results(bool retry) const {
        std::vector<TrialResult> all;
        if (!fs::exists(file(".jsonl"))) return all;
        for (const Json& line : train::read_log(file(".jsonl"))) {
            if (line.find("final")) continue;
            TrialResult result = train::result_in(line);
            bool fits = result.trial >= 1 && result.trial <= static_cast<std::int64_t>(trials_.trials.size()) &&
                        result.rung >= 0 && result.rung < static_cast<std::int64_t>(trials_.rungs.size());
            if (!fits) throw FileError(text("'", file(".jsonl").string(), "' has a trial that there is not"));
            if (!retry || result.error.empty()) all.push_back(std::move(result));
        }
        return all;
    }
    void write_page(const std::vector<TrialResult>& results) const {
        std::string title = fs::absolute(folder_).lexically_normal().filename().string();
        io::write_atomically(file(".html"), page_of(title, trials_, results));
    }
    fs::path file(const char* ending) const { return folder_ / (trials_.kind + ending); }
    /// trials/007, and the files beside it.
    fs::path of_trial(std::int64_t number, const char* ending = "") const {
        std::string digits = std::to_string(number);
        return folder_ / "trials" / (std::string(digits.size() < 3 ? 3 - digits.size() : 0, '0') + digits + ending);
    }
    const fs::path& path() const { return folder_; }

  private:
    fs::path folder_;
    const Trials& trials_;
};

struct Means {
    std::int64_t jobs = 1, threads = 1;  // threads of each job
    std::optional<std::string> device;
    bool quiet = false, retry = false;
};

class Search {
  public:
    Search(const SearchFolder& folder, const Trials& trials, const Means& means)
        : folder_(folder), trials_(trials), means_(means), results_(folder.results(means.retry)) {
        std::string lines;
        for (const TrialResult& result : results_) lines += json_text(train::line_of(result, trials_)) + "\n";
        io::write_atomically(folder_.file(".jsonl"), lines);
        log_.emplace(folder_.file(".jsonl"), static_cast<std::int64_t>(results_.size()));
    }

    /// The exit status.
    int run() {
        for (std::size_t rung = 0; rung < trials_.rungs.size(); ++rung) {
            if (!run_rung(rung)) {
                if (!means_.quiet) std::cout << "interrupted; the same command goes on" << std::endl;
                return interrupted;
            }
        }
        folder_.write_page(results_);
        return end();
    }

  private:
    bool has_ended(std::int64_t trial, std::size_t rung) const {
        for (const TrialResult& result : results_)
            if (result.trial == trial && result.rung == static_cast<std::int64_t>(rung)) return true;
        return false;
    }

    /// False if it was asked to stop, and may have left some.
    bool run_rung(std::size_t rung) {
        std::deque<std::int64_t> waiting;
        for (std::int64_t trial : trials_.members(rung, results_))
            if (!has_ended(trial, rung)) waiting.push_back(trial);
        bool stopping = false;
        while (jobs_.size() > 0 || (!stopping && !waiting.empty())) {
            if (asked_to_stop() && !stopping) {
                stopping = true;
                jobs_.stop();
            }
            while (!stopping && !waiting.empty() && jobs_.size() < static_cast<std::size_t>(means_.jobs)) {
                start(waiting.front(), rung);
                waiting.pop_front();
            }
            std::optional<Jobs::Ended> ended = jobs_.ended();
            if (!ended) {
                std::this_thread::sleep_for(between_looks);
                continue;
            }
            bool cut = ended->status < 0 || ended->status == interrupted;
            if (cut && asked_to_stop()) continue;  // it goes on when the search does
            if (cut && ++cuts_[ended->id] < most_cuts)
                waiting.push_front(ended->id);
            else
                take(*ended, rung);
        }
        return !asked_to_stop();
    }

    void start(std::int64_t trial, std::size_t rung) {
        fs::path run = folder_.of_trial(trial), file = folder_.of_trial(trial, ".json");
        // What a process that was killed had begun to make of the folder is no run yet.
        if (!train::Run::exists(run)) fs::remove_all(run);
        const train::Trial& one = trials_.trials[static_cast<std::size_t>(trial - 1)];
        io::write_atomically(file, json_text(trials_.config(one, rung), 1) + "\n");
        std::vector<std::string> words{"train",    file.string(), "--out",     run.string(),
                                       "--resume", "--quiet",     "--threads", std::to_string(means_.threads)};
        if (means_.device) words.insert(words.end(), {"--device", *means_.device});
        jobs_.start(trial, words, folder_.of_trial(trial, ".txt"));
    }

    /// What it said last.
    std::string last_words(std::int64_t trial) const {
        std::string said = io::read_file(folder_.of_trial(trial, ".txt"));
        said.erase(said.find_last_not_of('\n') + 1);
        return said.substr(said.rfind('\n') + 1);
    }

    void take(const Jobs::Ended& ended, std::size_t rung) {
        TrialResult result;
        if (ended.status == done)
            result = train::result_of(folder_.of_trial(ended.id), trials_.watch);
        else
            result.error = ended.status < 0 ? text("ended by signal ", -ended.status) : last_words(ended.id);
        if (result.error.empty() && ended.status != done) result.error = text("ended with status ", ended.status);
        result.trial = ended.id, result.rung = static_cast<std::int64_t>(rung);
        log_->append(train::line_of(result, trials_));
        results_.push_back(result);
        folder_.write_page(results_);
        if (!means_.quiet) print(result);
    }

    void print(const TrialResult& result) const {
        const train::Trial& trial = trials_.trials[static_cast<std::size_t>(result.trial - 1)];
        std::string name = trials_.watch.channel;
        std::cout << "trial " << result.trial << " of " << trials_.trials.size();
        for (std::size_t i = 0; i < trials_.keys.size(); ++i)
            std::cout << "  " << trials_.keys[i] << " " << train::value_text(trial.values[i]);
        std::cout << ": " << (result.error.empty() ? name + " " + look::cell_of(name, result.figure) : result.error);
        TrialResult best = trials_.ranked(results_)[0];
        if (trials_.kind == "sweep" && best.error.empty() && best.trial != result.trial)
            std::cout << "  (best: trial " << best.trial << ", " << look::cell_of(name, best.figure) << ")";
        std::cout << std::endl;
    }

    int end() {
        TrialResult best = trials_.ranked(results_)[0];
        if (!means_.quiet) {
            std::cout << "\n";
            print_rows(table_of(trials_, results_));
        }
        if (!best.error.empty()) {
            std::cerr << "no trial ended well; trial " << best.trial << ": " << best.error << "; --retry tries again"
                      << std::endl;
            return failed;
        }
        append_end(best);
        if (means_.quiet) return done;
        if (trials_.kind == "sweep")
            std::cout << "\nbest    " << folder_.of_trial(best.trial).string() << "\n";
        else
            std::cout << "\n";
        std::cout << "page    " << folder_.file(".html").string() << std::endl;
        return done;
    }

    /// The last line: which trial is best, or what folds come to.
    void append_end(const TrialResult& best) {
        Json line;
        line["final"] = true;
        if (trials_.kind == "sweep") {
            line["trial"] = best.trial, line["figure"] = best.figure;
        } else {
            for (const train::Spread& spread : train::spreads(trials_.ranked(results_))) {
                line[spread.figure]["mean"] = spread.mean;
                line[spread.figure]["deviation"] = spread.deviation;
            }
        }
        log_->append(line);
    }

    const SearchFolder& folder_;
    const Trials& trials_;
    Means means_;
    std::vector<TrialResult> results_;
    std::optional<train::Log> log_;
    Jobs jobs_;
    std::map<std::int64_t, int> cuts_;
};

Means means_of(const Arguments& arguments) {
    Means means;
    means.jobs = std::min<std::int64_t>(arguments.integer("jobs", 1).value_or(1), 256);
    use_machine(arguments);
    means.threads = std::max<std::int64_t>(1, ThreadPool::instance().threads() / means.jobs);
    means.device = arguments.value("device");
    means.quiet = arguments.has("quiet"), means.retry = arguments.has("retry");
    return means;
}

int search(const Arguments& arguments, const Trials& trials) {
    Means means = means_of(arguments);
    Rows plan = checked_trials(trials);
    if (arguments.has("dry-run")) {
        print_plan(trials, plan);
        return done;
    }
    fs::path file = arguments.words()[0];
    SearchFolder folder(
        arguments.value("out").value_or((fs::path("runs") / text(file.stem().string(), "-", trials.kind)).string()),
        trials);
    if (arguments.has("table")) {
        if (!fs::exists(folder.file(".json")))
            throw ConfigError(text("'", folder.path().string(), "' holds no ", trials.kind));
        print_rows(table_of(trials, folder.results(false)));
        return done;
    }
    folder.open();
    io::FolderLock lock(folder.path());
    catch_signals();
    return Search(folder, trials, means).run();
}

/// A file that is not there is the input's mistake.
template <class F>
auto as_input(F f) {
    try {
        return f();
    } catch (const FileError& error) {
        throw ConfigError(error.what());
    }
}

/// That the training sets can be cut so is seen by cutting them, before a process is started for each fold.
void check_folds(const Trials& trials) {
    for (const train::Phase& phase : train::Experiment(trials.trials[0].config).phases) {
        try {
            (void)phase.set("train")->load();
        } catch (const ValueError& error) {
            throw ConfigError(text("cv: ", error.what()));
        }
    }
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
    train::Trials trials = train::cross_validation_of(description);
    if (!arguments.has("dry-run") && !arguments.has("table")) check_folds(trials);
    return search(arguments, trials);
}

}  // namespace weft::cli
