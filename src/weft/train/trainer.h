// One stretch of a run in this process: the data, the network, the compiled step of a phase, the loop over epochs and batches that ends in
// a final line of the log, and the way from one phase to the next. Caller: train/run.cpp.
#pragma once

#include <chrono>
#include <map>

#include "weft/io/folder_lock.h"
#include "weft/train/run.h"
#include "weft/train/times.h"

namespace weft::train {

/// Adds the time of a scope to a sum, in seconds.
class Timed {
  public:
    explicit Timed(double& sum) : sum_(sum) {}
    ~Timed() { sum_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }
    Timed(const Timed&) = delete;
    Timed& operator=(const Timed&) = delete;

  private:
    double& sum_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

class Trainer {
  public:
    Trainer(const Run& run, Watcher& watcher, const std::function<bool()>& stop);
    Outcome train();

  private:
    using Clock = std::chrono::steady_clock;

    /// Data, network and step of a phase; what the phase before has already is taken over.
    void begin(std::size_t phase);
    void load_data(const Phase* before);
    void check_data() const;
    /// That the network and its costs take what is in the sets.
    void check_prepared() const;
    void restore();
    /// model.yaml: the network, and what its data were before they were prepared.
    Json description() const;
    void copy_log();
    /// A phase ends: its model is kept, the next one goes on from it.
    void hand_on();
    bool finished() const;
    /// False if it was interrupted within.
    bool epoch();
    void end_epoch();
    Json new_line() const;
    void log_step(const Judged& seen);
    Gathered of_steps() const;
    bool done_within() const;
    Standing standing() const;
    Json epoch_line();
    Json finish();
    void save(const std::filesystem::path& name);
    bool checkpoint_due() const;
    /// By the means over the steps, where the file asks for them; the figures go into the line.
    void evaluate(const std::string& set, Json& line);
    /// Of train what its steps gave, of the other sets what an evaluation gives, and what is of no set.
    void add_figures(Json& line, const Gathered& steps);
    void add_rate(Json& line) const;
    const std::vector<double>& figures(const std::string& channel);
    const data::Dataset& set(const std::string& name) const;
    double seconds() const { return earlier_seconds_ + since(start_); }
    static double since(Clock::time_point moment) {
        return std::chrono::duration<double>(Clock::now() - moment).count();
    }

    const Run& run_;
    io::FolderLock lock_;
    const Phase* phase_ = nullptr;
    Watcher& watcher_;
    std::function<bool()> stop_;
    Clock::time_point start_ = Clock::now(), last_checkpoint_ = Clock::now();
    double earlier_seconds_ = 0;
    data::Preparation preparation_;
    std::vector<std::pair<std::string, data::Dataset>> sets_;
    data::Dataset raw_;        // one example of train as it was before
    std::string fingerprint_;  // of train as it was before
    std::optional<Network> network_;
    std::unique_ptr<Objective> objective_;
    std::optional<Log> log_;
    Progress progress_;
    std::map<std::string, std::vector<double>> figures_;  // of the epochs done: what schedules ask before every step
    Gathered epoch_figures_, line_figures_;  // of the steps of this epoch; of those since the last line of steps
    Times times_;
};

}  // namespace weft::train
