#include "weft/search/search.h"

#include <chrono>
#include <deque>
#include <map>
#include <thread>

#include "weft/base/error.h"
#include "weft/base/thread_pool.h"
#include "weft/io/file.h"
#include "weft/io/folder_lock.h"
#include "weft/search/folder.h"
#include "weft/search/report.h"
#include "weft/train/folds.h"
#include "weft/train/log.h"
#include "weft/train/run.h"

namespace weft::search {
namespace {

namespace fs = std::filesystem;
using train::TrialResult, train::Trials;

constexpr auto between_looks = std::chrono::milliseconds(5);
constexpr int most_cuts = 3;

class Search {
  public:
    Search(const Folder& folder, const Trials& trials, const Options& options)
        : folder_(folder),
          trials_(trials),
          options_(options),
          results_(folder.results(options.retry)),
          workers_(options.command ? processes(options.command) : here(options.environment, options.stop)) {
        std::string lines;
        for (const TrialResult& result : results_) lines += json_text(train::line_of(result, trials_)) + "\n";
        io::write_atomically(folder_.file(".jsonl"), lines);
        log_.emplace(folder_.file(".jsonl"), static_cast<std::int64_t>(results_.size()));
    }

    Found run() {
        for (std::size_t rung = 0; rung < trials_.rungs.size(); ++rung)
            if (!run_rung(rung)) return {results_, true};
        folder_.write_page(results_);
        append_end();
        return {results_};
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
        auto most = static_cast<std::size_t>(options_.command ? options_.jobs : 1);
        bool stopping = false;
        while (workers_->size() > 0 || (!stopping && !waiting.empty())) {
            if (options_.stop() && !stopping) {
                stopping = true;
                workers_->stop();
            }
            while (!stopping && !waiting.empty() && workers_->size() < most) {
                start(waiting.front(), rung);
                waiting.pop_front();
            }
            std::optional<Ended> ended = workers_->ended();
            if (!ended) {
                std::this_thread::sleep_for(between_looks);
                continue;
            }
            if (ended->stopped && options_.stop()) continue;  // it goes on when the search does
            if (ended->stopped && ++cuts_[ended->trial] < most_cuts)
                waiting.push_front(ended->trial);
            else
                take(*ended, rung);
        }
        return !options_.stop();
    }

    void start(std::int64_t trial, std::size_t rung) {
        fs::path run = folder_.of_trial(trial), file = folder_.of_trial(trial, ".json");
        // What a process that was killed had begun to make of the folder is no run yet.
        if (!train::Run::exists(run)) fs::remove_all(run);
        const train::Trial& one = trials_.trials[static_cast<std::size_t>(trial - 1)];
        io::write_atomically(file, json_text(trials_.config(one, rung), 1) + "\n");
        std::int64_t threads = std::max<std::int64_t>(1, ThreadPool::instance().threads() / options_.jobs);
        workers_->start({trial, file, run, folder_.of_trial(trial, ".txt"), threads});
    }

    void take(const Ended& ended, std::size_t rung) {
        TrialResult result;
        if (ended.error.empty())
            result = train::result_of(folder_.of_trial(ended.trial), trials_.watch);
        else
            result.error = ended.error;
        result.trial = ended.trial, result.rung = static_cast<std::int64_t>(rung);
        log_->append(train::line_of(result, trials_));
        results_.push_back(result);
        folder_.write_page(results_);
        options_.ended(result, results_);
    }

    /// The last line: which trial is best, or what folds come to.
    void append_end() {
        std::optional<TrialResult> best = Found{results_}.best(trials_);
        if (!best) return;
        Json line;
        line["final"] = true;
        if (trials_.kind == "sweep") {
            line["trial"] = best->trial, line["figure"] = best->figure;
        } else {
            for (const train::Spread& spread : train::spreads(trials_.ranked(results_))) {
                line[spread.figure]["mean"] = spread.mean;
                line[spread.figure]["deviation"] = spread.deviation;
            }
        }
        log_->append(line);
    }

    const Folder& folder_;
    const Trials& trials_;
    const Options& options_;
    std::vector<TrialResult> results_;
    std::unique_ptr<Workers> workers_;
    std::optional<train::Log> log_;
    std::map<std::int64_t, int> cuts_;
};

/// That the training sets can be cut so is seen by cutting them, before a fold is trained.
void check_folds(const Trials& trials) {
    for (const train::Phase& phase : train::Experiment(trials.trials[0].config).phases) {
        try {
            (void)phase.set("train")->load();
        } catch (const ValueError& error) {
            throw ConfigError(text("cv: ", error.what()));
        }
    }
}

/// Other processes do not have what this one holds.
void check_shared(const Trials& trials) {
    if (data::held_in(trials.trials[0].config).empty()) return;
    throw ConfigError(text("the data are arrays of this program, which other processes do not have: train the ",
                           trials.kind,
                           "'s trials one after the other (jobs=1), or write the arrays to a file (.npz)"));
}

}  // namespace

std::optional<TrialResult> Found::best(const Trials& trials) const {
    if (results.empty()) return std::nullopt;
    TrialResult first = trials.ranked(results)[0];
    return first.error.empty() ? std::optional(first) : std::nullopt;
}

Found run(const Trials& trials, const fs::path& folder, const Options& options) {
    if (options.jobs < 1) throw ConfigError(text("jobs are at least 1, not ", options.jobs));
    if (options.command) check_shared(trials);
    (void)checked(trials);
    if (trials.kind == "cv") check_folds(trials);
    Folder opened(folder, trials);
    opened.open();
    io::FolderLock lock(folder);
    return Search(opened, trials, options).run();
}

std::vector<TrialResult> results_in(const Trials& trials, const fs::path& folder) {
    Folder opened(folder, trials);
    if (!opened.begun()) throw ConfigError(text("'", folder.string(), "' holds no ", trials.kind));
    return opened.results(false);
}

fs::path run_of(const Trials& trials, const fs::path& folder, std::int64_t trial) {
    return Folder(folder, trials).of_trial(trial);
}

}  // namespace weft::search
