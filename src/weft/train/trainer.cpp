#include "weft/train/trainer.h"

#include <algorithm>
#include <cmath>

#include "weft/base/error.h"
#include "weft/io/file.h"
#include "weft/io/folder.h"
#include "weft/ops/random.h"
#include "weft/train/event_file.h"
#include "weft/train/load.h"

namespace weft::train {
namespace {

bool same_shapes(const Feed& a, const Feed& b) {
    return std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(),
                      [](const Feed::Part& one, const Feed::Part& other) {
                          return one.name == other.name && one.example == other.example;
                      }) &&
           a.lengths == b.lengths;
}

/// The parameters are their means over the steps for as long as this lives.
class Averaged {
  public:
    explicit Averaged(optim::Optimizer& optimizer) : optimizer_(optimizer), before_(optimizer.uses_averages()) {
        optimizer_.use_averages(true);
    }
    ~Averaged() { optimizer_.use_averages(before_); }
    Averaged(const Averaged&) = delete;
    Averaged& operator=(const Averaged&) = delete;

  private:
    optim::Optimizer& optimizer_;
    bool before_;
};

/// Milliseconds are enough for people, and keep lines short.
double rounded(double seconds) { return std::round(seconds * 1000) / 1000; }

}  // namespace

Trainer::Trainer(const Run& run, Watcher& watcher, const std::function<bool()>& stop)
    : run_(run), lock_(run.folder()), watcher_(watcher), stop_(stop) {
    random::seed(run.experiment().phases[0].seed);
    io::recover_folder(run_.folder() / "last");
    io::recover_folder(run_.folder() / "best");
    bool goes_on = std::filesystem::exists(run_.folder() / "last");
    std::int64_t phase = goes_on ? load_progress(run_.folder() / "last").phase : 0;
    if (phase < 0 || phase >= static_cast<std::int64_t>(run.experiment().phases.size()))
        throw FileError(text("'", (run_.folder() / "last").string(), "' stands in phase ", phase + 1,
                             ", which the experiment does not have"));
    begin(static_cast<std::size_t>(phase));
    restore();
}

void Trainer::begin(std::size_t number) {
    figures_.clear();
    const Phase* before = std::exchange(phase_, &run_.experiment().phases[number]);
    objective_.reset();
    network_.reset();
    // What the file alone can tell is refused before data are read.
    std::optional<data::Dataset> sample = sample_of(*phase_);
    if (sample) network_ = make_network(*phase_, *sample);
    load_data(before);
    const data::Dataset& train = set("train");
    bool told = sample && same_shapes(network_->feed, Feed(train)) && sample->classes.empty() == train.classes.empty();
    if (!told) network_ = make_network(*phase_, train);
    check_prepared();
    objective_ = std::make_unique<Objective>(*phase_, *network_);
    epoch_figures_ = of_steps(), line_figures_ = of_steps();
    io::write_atomically(run_.folder() / "model.yaml", json_text(description(), 2) + "\n");
    watcher_.begun(*phase_, *network_, sets_);
}

Gathered Trainer::of_steps() const {
    using Of = Gathered::Of;
    const Monitor& monitor = phase_->monitor;
    if (!monitor.watches("train")) return Gathered(monitor, objective_->names(), {Of::run});
    return Gathered(monitor, objective_->names(), {Of::set, Of::run});
}

void Trainer::restore() {
    namespace fs = std::filesystem;
    if (fs::exists(run_.folder() / "last")) {
        {
            Averaged averaged(objective_->optimizer());  // as save() left them
            progress_ = load_checkpoint(run_.folder() / "last", network_->model, objective_->optimizer());
        }
        check_data();
        nn::NamedArrays gathered = load_monitor(run_.folder() / "last");
        if (progress_.batch) epoch_figures_.restore(gathered, "epoch.");
        if (phase_->monitor.every_steps && progress_.step) line_figures_.restore(gathered, "steps.");
        watcher_.resumed(progress_);
        // Stopped after a phase's first checkpoint, before the best model of the one before, which is in phases/ already, was removed as a
        // whole: where this phase has kept none yet, what lies there is not its own.
        if (!progress_.best) fs::remove_all(run_.folder() / "best");
    } else {
        load_parameters(*phase_, *network_);
        objective_->begin(set("train"), phase_->seed);
    }
    log_.emplace(run_.folder() / "log.jsonl", progress_.log_lines);
    copy_log();
    for (const Json& line : log_->lines()) {
        if (const Json* seconds = line.find("seconds")) earlier_seconds_ = seconds->as_number();
    }
}

/// All phases have one log, and so one file of events: that of the first phase that asks for it.
void Trainer::copy_log() {
    for (const Phase& phase : run_.experiment().phases) {
        if (!phase.monitor.tensorboard) continue;
        std::filesystem::path folder = *phase.monitor.tensorboard;
        folder = folder.empty() ? run_.folder() / "tensorboard"
                                : folder / std::filesystem::absolute(run_.folder()).lexically_normal().filename();
        auto file = std::make_shared<EventFile>(folder, log_->lines());
        log_->copy_to([file](const Json& line) { file->append(line); });
        return;
    }
}

void Trainer::hand_on() {
    save(std::filesystem::path("phases") / phase_->name);
    Network before = *network_;
    begin(static_cast<std::size_t>(progress_.phase) + 1);
    check_handed_on(before, *network_, *phase_);
    train::hand_on(before, *network_);
    load_parameters(*phase_, *network_);
    objective_->begin(set("train"), phase_->seed);
    Progress fresh;
    fresh.phase = progress_.phase + 1;
    progress_ = fresh;
    save("last");
    std::filesystem::remove_all(run_.folder() / "best");
}

const data::Dataset& Trainer::set(const std::string& name) const {
    for (const auto& [known, set] : sets_) {
        if (known == name) return set;
    }
    throw InternalError("no set " + name);
}

bool Trainer::finished() const { return phase_->stop.done(standing()); }

Standing Trainer::standing() const {
    return {progress_.epoch,
            progress_.step,
            seconds(),
            [this](const std::string& channel) { return phase_->monitor.more(channel); },
            [this](const std::string& channel) { return log_->history(phase_->name, channel); },
            [this](const std::string& phase, const std::string& channel) { return log_->kept(phase, channel); }};
}

/// Rules of steps and time are asked after every step; the figures that others read have not changed since the last epoch.
bool Trainer::done_within() const { return phase_->stop.within_epochs && finished(); }

void Trainer::save(const std::filesystem::path& name) {
    Timed timed(times_.checkpoints);
    std::filesystem::create_directories((run_.folder() / name).parent_path());
    progress_.log_lines = log_->size(), progress_.data = fingerprint_;
    Averaged averaged(objective_->optimizer());  // who uses the model need not know that it is a mean
    nn::NamedArrays gathered;
    if (progress_.batch) epoch_figures_.save(gathered, "epoch.");
    if (phase_->monitor.every_steps) line_figures_.save(gathered, "steps.");
    save_checkpoint(run_.folder() / name, network_->model, objective_->optimizer(), preparation_, progress_, gathered);
    last_checkpoint_ = Clock::now();
}

bool Trainer::checkpoint_due() const {
    if (phase_->checkpoint_steps && progress_.step % phase_->checkpoint_steps == 0) return true;
    return phase_->checkpoint_seconds > 0 && since(last_checkpoint_) >= phase_->checkpoint_seconds;
}

bool Trainer::epoch() {
    const data::Dataset& train = set("train");
    data::Batches batches(train, phase_->batch_size, phase_->batches(train, progress_.epoch, progress_.batch));
    if (batches.count() == 0) {
        throw ConfigError(text("batch_size: an epoch of ", set("train").size(), " examples has no full batch of ",
                               phase_->batch_size, ", and `last: drop` leaves the rest out"));
    }
    std::function<std::vector<double>(const std::string&)> history = [this](const std::string& channel) {
        return figures(channel);
    };
    std::function<bool(const std::string&)> more = [this](const std::string& channel) {
        return phase_->monitor.more(channel);
    };
    auto waiting = Clock::now();
    data::Batches::Iterator batch = batches.begin();
    while (!(batch == batches.end())) {
        auto begun = Clock::now();
        double waited = std::chrono::duration<double>(begun - waiting).count();
        times_.waiting += waited;
        Judged seen = objective_->step(*batch, {progress_.step, progress_.epoch + 1, &history, &more});
        seen.seconds = since(begun), seen.waited = waited;
        (progress_.step == 0 ? times_.compiling : times_.steps) += seen.seconds;
        ++progress_.batch, ++progress_.step, progress_.examples += seen.count;
        progress_.sums.add(seen), epoch_figures_.add(seen);
        log_step(seen);
        watcher_.batch(progress_, batches.count());
        bool goes_on = progress_.batch < batches.count();
        if (goes_on && done_within()) return true;
        if (goes_on && stop_()) return false;
        if (goes_on && checkpoint_due()) save("last");
        waiting = Clock::now();
        ++batch;
    }
    return true;
}

/// What `monitor: every:` asks for besides epochs.
void Trainer::log_step(const Judged& seen) {
    const Monitor& monitor = phase_->monitor;
    if (monitor.every_steps) line_figures_.add(seen);
    if (!monitor.every_step && (!monitor.every_steps || progress_.step % monitor.every_steps != 0)) return;
    Json line = new_line();
    line["step"] = progress_.step, line["examples"] = progress_.examples;
    if (monitor.every_step) {
        line["train.loss"] = seen.loss / static_cast<double>(seen.count);
    } else {
        add_figures(line, line_figures_);
        add_rate(line);
        line_figures_ = of_steps();
    }
    log_->append(line);
}

void Trainer::evaluate(const std::string& name, Json& line) {
    Timed timed(times_.evaluation);
    watcher_.evaluating(name);
    Averaged averaged(objective_->optimizer());
    Gathered gathered(phase_->monitor, objective_->names(), {Gathered::Of::set});
    objective_->evaluate(set(name), [&](const Judged& batch) { gathered.add(batch); });
    gathered.write(line, phase_->monitor, Gathered::Of::set, name);
}

void Trainer::add_figures(Json& line, const Gathered& steps) {
    for (const std::string& name : phase_->monitor.sets) {
        if (name == "train")
            steps.write(line, phase_->monitor, Gathered::Of::set, name);
        else
            evaluate(name, line);
    }
    steps.write(line, phase_->monitor, Gathered::Of::run);
}

void Trainer::add_rate(Json& line) const {
    if (!phase_->by_gradients()) return;
    for (const auto& [rate, value] : objective_->rates()) line[rate] = value;
}

const std::vector<double>& Trainer::figures(const std::string& channel) {
    auto known = figures_.find(channel);
    if (known == figures_.end()) known = figures_.emplace(channel, log_->history(phase_->name, channel)).first;
    return known->second;
}

/// A line of the log, which names the phase where there are several.
Json Trainer::new_line() const {
    Json line;
    if (!phase_->name.empty()) line["phase"] = phase_->name;
    return line;
}

/// train.* are means over the epoch's own steps, taken while the network learned by them; the other sets are evaluated at its end.
Json Trainer::epoch_line() {
    Json line = new_line();
    line["epoch"] = progress_.epoch, line["step"] = progress_.step, line["examples"] = progress_.examples;
    line["seconds"] = 0;  // its place among the others; the time is taken at the end
    add_figures(line, epoch_figures_);
    // What is learned at an epoch's end alone is judged behind it.
    if (!phase_->by_gradients() && phase_->monitor.watches("train")) evaluate("train", line);
    add_rate(line);
    line["seconds"] = rounded(seconds());
    return line;
}

void Trainer::end_epoch() {
    ++progress_.epoch;
    progress_.batch = 0;
    for (const std::string& remark : objective_->end_pass()) watcher_.remark(remark);
    Json line = epoch_line();
    progress_.sums = {}, epoch_figures_ = of_steps();
    log_->append(line);
    figures_.clear();
    bool better = false;
    if (phase_->keep_best) {
        double figure = line.at(phase_->keep_best->channel).as_number();
        better = std::isfinite(figure) && (!progress_.best || phase_->keep_best->better(figure, *progress_.best));
        if (better) progress_.best = figure, progress_.best_epoch = progress_.epoch;
        if (better) save("best");
    }
    save("last");
    watcher_.epoch(line, better);
}

Json Trainer::finish() {
    bool best = phase_->keep_best && progress_.best;
    objective_->optimizer().use_averages(true);  // for good: this phase takes no more steps
    if (best) (void)load_model(run_.folder() / "best", network_->model);
    Json line = new_line();
    line["final"] = true, line["epoch"] = best ? progress_.best_epoch : progress_.epoch;
    line["step"] = progress_.step, line["examples"] = progress_.examples, line["seconds"] = 0;
    for (const auto& [name, set] : sets_) {
        if (name != "train" || sets_.size() == 1) evaluate(name, line);
    }
    line["seconds"] = rounded(seconds());
    log_->append(line);
    return line;
}

Outcome Trainer::train() {
    for (;;) {
        while (!finished()) {
            if (!epoch() || (end_epoch(), stop_() && !finished())) {
                if (progress_.batch) save("last");
                add_times(run_.folder() / "times.json", times_, since(start_));
                return {true, {}};
            }
        }
        Json line = finish();
        watcher_.ended(line);
        if (phase_ == &run_.experiment().phases.back()) {
            add_times(run_.folder() / "times.json", times_, since(start_));
            return {false, line, divergence_in(log_->lines())};
        }
        hand_on();
    }
}

}  // namespace weft::train
