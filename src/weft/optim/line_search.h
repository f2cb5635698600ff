// Line searches: how far to go in a direction in which a function falls. Each walks along numbers, so methods in any number of
// dimensions share them. Callers: batch_method.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace weft::optim {

/// A place on the line: how far, the function there, its slope along the line and its whole gradient.
struct LinePoint {
    double step = 0, value = 0, slope = 0;
    std::vector<double> gradient = {};
};
using Along = std::function<LinePoint(double step)>;

/// How a step is chosen. Each gives a point whose value is below the start's, or nothing if there is none to be found. Values that are
/// not finite count as too far. `first` is the step that is tried first.
using LineSearch = std::optional<LinePoint> (*)(const Along& along, const LinePoint& start, double first);

/// Backtracking until the value has fallen by 1e-4 of what the slope promised (Armijo, 1966); steps by quadratic interpolation.
std::optional<LinePoint> armijo(const Along& along, const LinePoint& start, double first);
/// Also |slope| <= c2 |slope at the start|: Nocedal and Wright, "Numerical Optimization", algorithms 3.5 and 3.6, with c2 = 0.9, as
/// quasi-Newton methods want it, or 0.1, as conjugate gradients do.
std::optional<LinePoint> strong_wolfe(const Along& along, const LinePoint& start, double first);
std::optional<LinePoint> strict_wolfe(const Along& along, const LinePoint& start, double first);
/// Doubles or halves the step until the value rises again, then closes in by golden section to a tenth of the step: the smallest value along
/// the line, nearly (Pylearn2's exhaustive search).
std::optional<LinePoint> exhaustive(const Along& along, const LinePoint& start, double first);

/// "strong_wolfe" (as strict as `wolfe` is), "armijo", "exhaustive", "none" (null); ValueError names the nearest.
LineSearch line_search_named(std::string_view name, LineSearch wolfe = strong_wolfe);

}  // namespace weft::optim
