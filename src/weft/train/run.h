// A run: a folder in which an experiment becomes a trained network. In it lie config.yaml (complete), model.yaml, log.jsonl, last/ and
// best/ (checkpoints), phases/NAME/ (what a phase handed on), times.json and report.html. Same experiment, same bytes in last/ and best/, and the same log but for "seconds",
// for any number of threads, and whether or not the run was stopped and resumed. Callers: cli/.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "weft/train/checkpoint.h"
#include "weft/train/divergence.h"
#include "weft/train/experiment.h"
#include "weft/train/log.h"

namespace weft::train {

/// Who watches a run: what a terminal shows. Every call comes from the thread that trains.
class Watcher {
  public:
    virtual ~Watcher() = default;
    /// A phase begins, or goes on.
    virtual void begun(const Phase&, const Network&, const std::vector<std::pair<std::string, data::Dataset>>&) {}
    virtual void resumed(const Progress&) {}
    /// After each batch of `batches`.
    virtual void batch(const Progress&, std::int64_t /*batches*/) {}
    virtual void evaluating(const std::string& /*set*/) {}
    /// What a layer says of what it has learned in an epoch.
    virtual void remark(const std::string& /*text*/) {}
    /// The line that the log has got; `kept`: best/ is this epoch's model now.
    virtual void epoch(const Json& /*line*/, bool /*kept*/) {}
    /// The phase has ended: its final line.
    virtual void ended(const Json& /*line*/) {}
};

struct Outcome {
    bool interrupted = false;  // a checkpoint was written
    Json final_line;           // the log's last, unless interrupted
    std::optional<Divergence> divergence = {};
};

class Run {
  public:
    /// A new folder. ConfigError if it holds a run already, or anything else; FileError if it cannot be made.
    static Run create(const std::filesystem::path& folder, const Experiment& experiment);
    /// The run that was begun in the folder, or a new one. ConfigError if that was begun as another experiment: only when it stops may change.
    static Run begun_or_new(const std::filesystem::path& folder, const Experiment& experiment);
    /// A folder that holds a run. ConfigError if it does not.
    static Run open(const std::filesystem::path& folder);
    /// The same, with sets of arrays that the program holds again (data/held.h), by name. ConfigError unless the run was begun with these.
    static Run open(const std::filesystem::path& folder, const Json& sets);
    /// Whether the folder holds a run.
    static bool exists(const std::filesystem::path& folder);

    const std::filesystem::path& folder() const { return folder_; }
    const Experiment& experiment() const { return experiment_; }
    /// best/ if there is one, else last/; ConfigError if the run has no checkpoint yet.
    std::filesystem::path kept() const;

    /// The phase whose model is kept.
    const Phase& kept_phase() const;

    /// Trains from where the run stands to its end, or until `stop` is true after a step. ConfigError if another process, or thread, does so.
    /// A new folder goes again if an error leaves nothing in it from which the run could go on.
    Outcome train(Watcher& watcher, const std::function<bool()>& stop);

    /// A set of the kept phase, prepared as its training set was. ConfigError if it has no set of this name.
    data::Dataset prepared(std::string_view set) const;
    /// The network of the kept checkpoint, for examples like these.
    Network network(const data::Dataset& like) const;

  private:
    Run(std::filesystem::path folder, Experiment experiment)
        : folder_(std::move(folder)), experiment_(std::move(experiment)) {}
    void forget_if_empty() const;

    std::filesystem::path folder_;
    Experiment experiment_;
    bool fresh_ = false;  // made by this object
};

}  // namespace weft::train
