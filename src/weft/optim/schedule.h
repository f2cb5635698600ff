// Schedules: a rate as a function of when it is used. They are values, made once; whoever trains asks one before each step (or
// epoch) and hands the number to Optimizer::set, which compiles nothing anew. They keep nothing between calls that a resumed run
// would lack. PyTorch's formulas where it has them. Callers: train/, users.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace weft::optim {

/// When: updates done so far, and the number of the epoch that is running, from 1 (as logs count).
struct Moment {
    std::int64_t step = 0;
    std::int64_t epoch = 1;
    /// Figures of the epochs done, of one channel, for schedules that watch one (plateau).
    const std::function<std::vector<double>(const std::string& channel)>* history = nullptr;
    /// Whether more of a channel is better; without it less is.
    const std::function<bool(const std::string& channel)>* more = nullptr;
};

class Schedule {
  public:
    Schedule(double value);  ///< constant
    explicit Schedule(std::function<double(Moment)> value) : value_(std::move(value)) {}
    double operator()(Moment moment) const { return value_(moment); }

  private:
    std::function<double(Moment)> value_;
};

namespace schedule {

/// What time is counted in: epochs done, or steps done.
enum class Per { epoch, step };

/// `from`, multiplied by `factor` after every `every` epochs or steps.
Schedule step(double from, double factor, std::int64_t every, Per per = Per::epoch);
/// `from`, multiplied by `factor` at the start of each of these epochs.
Schedule milestones(double from, double factor, std::vector<std::int64_t> epochs);
/// `from`, multiplied by `factor` after each epoch or step; never below `least`.
Schedule exponential(double from, double factor, double least = 0, Per per = Per::epoch);
/// `from` up to epoch `first`, `to` from epoch `last` on, a straight line between; steps count from 0, epochs from 1.
Schedule linear(double from, double to, std::int64_t first, std::int64_t last, Per per = Per::epoch);
/// Half a cosine from `from` at first to `to` after `total` epochs or steps (Loshchilov and Hutter, 2017).
Schedule cosine(double from, double to, std::int64_t total, Per per = Per::epoch);
/// The same again and again, the first time over `period` epochs or steps, each time `factor` times as long as before.
Schedule cosine_restarts(double from, double to, std::int64_t period, std::int64_t factor = 1, Per per = Per::epoch);
/// to + (from - to) * (1 - t / total)**power, and `to` from then on.
Schedule polynomial(double from, double to, std::int64_t total, double power = 1, Per per = Per::epoch);
/// from / (1 + rate * t)**power.
Schedule inverse_time(double from, double rate, double power = 1, Per per = Per::epoch);

/// Smith and Topin, 2018: half a cosine (or a line) from most / start_divisor up to `most` in the first part of `total`, then down to
/// most / start_divisor / end_divisor at its end.
struct OneCycle {
    double most = 0;
    std::int64_t total = 0;
    double rising = 0.3;  ///< the part in which it rises
    double start_divisor = 25, end_divisor = 1e4;
    bool lines = false;
    Per per = Per::step;
};
Schedule one_cycle(const OneCycle& options);

/// `from`, multiplied by `factor` each time when a figure has not become better for more than `patience` epochs; for `cooldown` epochs after
/// that none are counted. Better: by more than `threshold`, relative to the best so far.
struct Plateau {
    double from = 0;
    std::string channel;
    std::optional<bool> more = {};  ///< more of the figure is better; nothing: as Moment::more says of its channel
    double factor = 0.1;
    std::int64_t patience = 10, cooldown = 0;
    double threshold = 1e-4, least = 0;
};
Schedule plateau(const Plateau& options);

/// `from`; after each epoch but the first times `shrink`, if the figure is above `high` times the one before, else times `grow`, if it is above
/// `low` times that: what falls fast keeps its rate (Pylearn2's MonitorBasedLRAdjuster).
struct Adjust {
    double from = 0;
    std::string channel;
    double high = 1, shrink = 0.99, low = 0.99, grow = 1.01;
    double least = 1e-7, most = 1;
};
Schedule adjust(const Adjust& options);

/// The schedule, risen to in a straight line over the first `steps` steps.
Schedule warm_up(Schedule after, std::int64_t steps);

}  // namespace schedule

}  // namespace weft::optim
