// Schedules: a rate as a function of when it is used. They are values, made once; whoever trains asks one before each step (or
// epoch) and hands the number to Optimizer::set, which compiles nothing anew. Callers: train/, users.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace weft::optim {

/// When: updates done so far, and the number of the epoch that is running, from 1 (as logs count).
struct Moment {
    std::int64_t step = 0;
    std::int64_t epoch = 1;
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

/// `from`, multiplied by `factor` after every `every` epochs.
Schedule step(double from, double factor, std::int64_t every);
/// `from`, multiplied by `factor` at the start of each of these epochs.
Schedule milestones(double from, double factor, std::vector<std::int64_t> epochs);
/// `from`, multiplied by `factor` after each epoch; never below `least`.
Schedule exponential(double from, double factor, double least = 0);
/// `from` up to epoch `first`, `to` from epoch `last` on, a straight line between.
Schedule linear(double from, double to, std::int64_t first, std::int64_t last);
/// Half a cosine from `from` in epoch 1 to `to` after `epochs` epochs (Loshchilov and Hutter, 2017).
Schedule cosine(double from, double to, std::int64_t epochs);
/// The schedule, risen to in a straight line over the first `steps` steps.
Schedule warm_up(Schedule after, std::int64_t steps);

}  // namespace schedule

}  // namespace weft::optim
