#include "weft/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "weft/base/error.h"

namespace weft::optim {

Schedule::Schedule(double value) : value_([value](Moment) { return value; }) {}

namespace schedule {
namespace {

void at_least_one(const char* name, const char* what, std::int64_t value) {
    if (value < 1) throw ValueError(text(name, ": ", what, " is ", value, "; it must be at least 1"));
}

}  // namespace

Schedule step(double from, double factor, std::int64_t every) {
    at_least_one("step", "the number of epochs between changes", every);
    return Schedule([=](Moment m) { return from * std::pow(factor, static_cast<double>((m.epoch - 1) / every)); });
}

Schedule milestones(double from, double factor, std::vector<std::int64_t> epochs) {
    return Schedule([=, epochs = std::move(epochs)](Moment m) {
        auto passed = std::count_if(epochs.begin(), epochs.end(), [&](std::int64_t epoch) { return epoch <= m.epoch; });
        return from * std::pow(factor, static_cast<double>(passed));
    });
}

Schedule exponential(double from, double factor, double least) {
    return Schedule(
        [=](Moment m) { return std::max(least, from * std::pow(factor, static_cast<double>(m.epoch - 1))); });
}

Schedule linear(double from, double to, std::int64_t first, std::int64_t last) {
    if (last < first) throw ValueError(text("linear: the last epoch, ", last, ", is before the first, ", first));
    return Schedule([=](Moment m) {
        if (m.epoch >= last) return to;
        if (m.epoch <= first) return from;
        return from + (to - from) * static_cast<double>(m.epoch - first) / static_cast<double>(last - first);
    });
}

Schedule cosine(double from, double to, std::int64_t epochs) {
    at_least_one("cosine", "the number of epochs", epochs);
    return Schedule([=](Moment m) {
        double part = std::clamp(static_cast<double>(m.epoch - 1) / static_cast<double>(epochs), 0.0, 1.0);
        return to + (from - to) * 0.5 * (1 + std::cos(std::numbers::pi * part));
    });
}

Schedule warm_up(Schedule after, std::int64_t steps) {
    at_least_one("warm_up", "the number of steps", steps);
    return Schedule([=, after = std::move(after)](Moment m) {
        return after(m) * std::min(1.0, static_cast<double>(m.step + 1) / static_cast<double>(steps));
    });
}

}  // namespace schedule
}  // namespace weft::optim
