// What an experiment's `monitor:` asks for: which channels, of which sets, when; and what gathers them while a phase runs.
// Callers: train/phase.cpp (reads it), train/trainer.cpp (gathers), cli/.
#pragma once

#include <optional>

#include "weft/base/options.h"
#include "weft/nn/module.h"
#include "weft/train/channel.h"

namespace weft::train {

struct Monitor {
    /// `given`: checked against monitor_keys(), the defaults not filled in yet; `sets`: what `data:` has.
    Monitor() = default;
    Monitor(const Json& given, const std::vector<std::string>& sets, bool of_classes);

    Json config;                             // complete
    std::vector<Channel> channels;           // in the order of the file
    std::vector<std::string> sets;           // whose figures every epoch has
    bool every_step = false;                 // a line a step, of train.loss
    std::int64_t every_steps = 0;            // a line of all figures every so many steps; 0: none
    std::vector<std::string> only;           // globs; empty: all
    std::optional<std::string> tensorboard;  // a folder; "" is the run's own

    /// Whether a figure of this name stands in the log.
    bool keeps(const std::string& name) const;
    /// The names that rules can read: valid.error, gradient_norm.
    std::vector<std::string> names() const;
    /// Whether more of a figure is better, as its channel says; the set or what follows the channel's name does not matter.
    bool more(const std::string& name) const;
    bool watches(const std::string& set) const;
    Wants of_steps() const, of_sets() const;
};

const std::vector<Option>& monitor_keys();

/// The accumulators of one set, or of the steps since some moment.
class Gathered {
  public:
    enum class Of : std::uint8_t { set, run };
    Gathered() = default;
    Gathered(const Monitor& monitor, const Names& names, std::initializer_list<Of> of);
    void add(const Judged& batch);
    /// Adds to a line of the log what the monitor keeps; figures of sets stand under `set`.
    void write(Json& line, const Monitor& monitor, Of of, const std::string& set = "") const;
    void save(nn::NamedArrays& state, const std::string& prefix) const;
    /// FileError if something is missing.
    void restore(const nn::NamedArrays& state, const std::string& prefix);

  private:
    struct One {
        std::string name;
        Of of;
        std::unique_ptr<Accumulator> sums;
    };
    std::vector<One> all_;
};

}  // namespace weft::train
