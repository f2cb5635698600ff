#include "weft/cli/time_left.h"

#include <cmath>

#include "weft/base/error.h"

namespace weft::cli {
namespace {

constexpr double least_share = 0.02, least_seconds = 0.2;  // of an epoch, before a guess is worth anything

std::string two_digits(std::int64_t number) { return text(number < 10 ? "0" : "", number); }

}  // namespace

void TimeLeft::at(double position, double seconds) {
    if (!started_) started_ = true, first_position_ = position, first_seconds_ = seconds;
    double done = position - first_position_, spent = seconds - first_seconds_;
    epoch_left_ = run_left_ = -1;
    if (done < least_share || spent < least_seconds) return;
    double whole = std::floor(position) + 1, an_epoch = spent / done;
    epoch_left_ = (whole - position) * an_epoch;
    if (static_cast<double>(epochs_) > whole) run_left_ = (static_cast<double>(epochs_) - position) * an_epoch;
}

std::string TimeLeft::words() const {
    if (epoch_left_ < 0) return "";
    return text(duration(epoch_left_), " left", run_left_ < 0 ? "" : ", " + duration(run_left_) + " to the end");
}

std::string duration(double seconds) {
    auto whole = static_cast<std::int64_t>(std::ceil(seconds));
    if (whole < 60) return text(whole, " s");
    if (whole < 3600) return text(whole / 60, " min ", two_digits(whole % 60), " s");
    return text(whole / 3600, " h ", two_digits(whole / 60 % 60), " min");
}

}  // namespace weft::cli
