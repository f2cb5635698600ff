#include "weft/optim/line_search.h"

#include <algorithm>
#include <cmath>

#include "weft/base/error.h"
#include "weft/base/nearest.h"

namespace weft::optim {
namespace {

constexpr double enough = 1e-4;  // of the fall that the slope promised: Armijo's condition
constexpr int most_tries = 30;

bool falls(const LinePoint& point, const LinePoint& start) {
    return std::isfinite(point.value) && point.value <= start.value + enough * point.step * start.slope;
}

/// The minimum of the cubic through two points and their slopes (Nocedal and Wright, 3.59), kept off both ends.
double between(const LinePoint& a, const LinePoint& b) {
    double low = std::min(a.step, b.step), width = std::abs(b.step - a.step), middle = low + width / 2;
    if (!std::isfinite(a.value + b.value + a.slope + b.slope)) return middle;
    double d1 = a.slope + b.slope - 3 * (a.value - b.value) / (a.step - b.step);
    double root = d1 * d1 - a.slope * b.slope;
    if (!(root >= 0)) return middle;
    double d2 = std::copysign(std::sqrt(root), b.step - a.step);
    double step = b.step - (b.step - a.step) * (b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2);
    return std::isfinite(step) ? std::clamp(step, low + 0.1 * width, low + 0.9 * width) : middle;
}

class Wolfe {
  public:
    Wolfe(const Along& along, const LinePoint& start, double c2) : along_(along), start_(start), c2_(c2) {}

    std::optional<LinePoint> search(double first) {
        LinePoint before = start_;
        for (double step = first; tries_ < most_tries;) {
            LinePoint point = at(step);
            if (!falls(point, start_) || (tries_ > 1 && point.value >= before.value)) return zoom(before, point);
            if (std::abs(point.slope) <= -c2_ * start_.slope) return point;
            if (point.slope >= 0) return zoom(point, before);
            before = point;
            step *= 2;
        }
        return best_;
    }

  private:
    /// The least value lies between: `low` has fallen, and the slope there points to `high`.
    std::optional<LinePoint> zoom(LinePoint low, LinePoint high) {
        while (tries_ < most_tries && std::abs(high.step - low.step) > 1e-12 * std::max(low.step, high.step)) {
            LinePoint point = at(between(low, high));
            if (!falls(point, start_) || point.value >= low.value) {
                high = point;
                continue;
            }
            if (std::abs(point.slope) <= -c2_ * start_.slope) return point;
            if (point.slope * (high.step - low.step) >= 0) high = low;
            low = point;
        }
        return best_;
    }
    LinePoint at(double step) {
        ++tries_;
        LinePoint point = along_(step);
        if (falls(point, start_) && (!best_ || point.value < best_->value)) best_ = point;
        return point;
    }

    const Along& along_;
    const LinePoint& start_;
    double c2_;
    std::optional<LinePoint> best_;  // what there is if both conditions cannot be met: losses are rounded
    int tries_ = 0;
};

}  // namespace

std::optional<LinePoint> armijo(const Along& along, const LinePoint& start, double first) {
    double step = first;
    for (int i = 0; i < most_tries; ++i) {
        LinePoint point = along(step);
        if (falls(point, start)) return point;
        // The parabola through the start, with its slope, and this point.
        double guess = -start.slope * step * step / (2 * (point.value - start.value - start.slope * step));
        step = std::isfinite(guess) ? std::clamp(guess, 0.1 * step, 0.5 * step) : 0.5 * step;
    }
    return {};
}

std::optional<LinePoint> strong_wolfe(const Along& along, const LinePoint& start, double first) {
    return Wolfe(along, start, 0.9).search(first);
}

std::optional<LinePoint> strict_wolfe(const Along& along, const LinePoint& start, double first) {
    return Wolfe(along, start, 0.1).search(first);
}

std::optional<LinePoint> exhaustive(const Along& along, const LinePoint& start, double first) {
    auto lower = [](const LinePoint& a, const LinePoint& b) { return std::isfinite(a.value) && a.value < b.value; };
    LinePoint left = start, middle = along(first), right;
    int tries = 1;
    if (lower(middle, start)) {
        for (right = along(2 * first); lower(right, middle) && tries < most_tries; ++tries)
            left = std::move(middle), middle = std::move(right), right = along(2 * middle.step);
    } else {
        for (; !lower(middle, start); ++tries) {
            if (tries == most_tries) return {};
            right = std::move(middle), middle = along(right.step / 2);
        }
    }
    const double golden = (3 - std::sqrt(5.0)) / 2;
    while (right.step - left.step > 0.1 * middle.step && ++tries < 2 * most_tries) {
        bool far_right = right.step - middle.step > middle.step - left.step;
        double end = far_right ? right.step : left.step;
        LinePoint point = along(middle.step + golden * (end - middle.step));
        LinePoint& beyond = far_right ? right : left;
        LinePoint& behind = far_right ? left : right;
        if (lower(point, middle))
            behind = std::move(middle), middle = std::move(point);
        else
            beyond = std::move(point);
    }
    return middle;
}

LineSearch line_search_named(std::string_view name, LineSearch wolfe) {
    const std::pair<std::string_view, LineSearch> all[] = {
        {"strong_wolfe", wolfe}, {"armijo", armijo}, {"exhaustive", exhaustive}, {"none", nullptr}};
    std::vector<std::string_view> names;
    for (const auto& [known, search] : all) {
        if (known == name) return search;
        names.push_back(known);
    }
    throw ValueError(text("there is no line search '", name, "'", did_you_mean(name, names)));
}

}  // namespace weft::optim
