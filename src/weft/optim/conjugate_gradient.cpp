#include <algorithm>
#include <cmath>

#include "weft/optim/batch_method.h"

namespace weft::optim {

ConjugateGradient::ConjugateGradient(ConjugateGradientOptions options)
    : BatchMethod(options.formula == Conjugate::none ? "BatchGradientDescent" : "ConjugateGradient"),
      options_(options) {
    if (!(options_.lr > 0)) refuse("lr", options_.lr, "above 0");
    add_rate("lr", options_.lr);
    if (options_.iterations < 1) refuse("iterations", static_cast<double>(options_.iterations), "at least 1");
    if (!options_.line_search) throw ValueError(text(name(), ": it needs a line search"));
    for (const char* cell : {"begun", "slope"}) add_cell(cell, 0);
}

std::vector<Optimizer::SlotCell> ConjugateGradient::slot_cells(const Parameter&) const {
    return {{"direction"}, {"previous_gradient"}};
}

double ConjugateGradient::beta(const Vector& gradient, const Vector& before) const {
    if (options_.formula == Conjugate::none) return 0;
    double all = dot(before, before), now = dot(gradient, gradient);
    if (options_.formula == Conjugate::fletcher_reeves) return now / all;
    return std::max(0.0, (now - dot(gradient, before)) / all);
}

void ConjugateGradient::iterate(Point& point, const Evaluate& evaluate) {
    Vector direction = read(0), before = read(1);
    bool begun = cell(0).value().item<double>() != 0, goes_on = begun && options_.across_batches;
    double step = lr(), slope_before = cell(1).value().item<double>();
    for (std::int64_t i = 0; i < options_.iterations; ++i) {
        double steepest = dot(point.gradient, point.gradient);
        if (!(steepest > 0)) break;
        double kept = goes_on ? beta(point.gradient, before) : 0;
        for (std::size_t n = 0; n < direction.size(); ++n) direction[n] = kept * direction[n] - point.gradient[n];
        double slope = dot(direction, point.gradient);
        if (!(slope < 0)) {  // no way down: along the gradient, then
            for (std::size_t n = 0; n < direction.size(); ++n) direction[n] = -point.gradient[n];
            kept = 0, slope = -steepest;
        }
        // As much lower as the last step made it, to first order (Nocedal and Wright, 3.60).
        double first = begun ? std::min(step * slope_before / slope, 10 * step) : step;
        std::optional<LinePoint> found = search(options_.line_search, point, direction, first, evaluate);
        if (!found && kept == 0) break;
        goes_on = found.has_value();
        if (!found) continue;
        before = point.gradient, slope_before = slope, step = found->step, begun = true;
        go(point, direction, std::move(*found));
    }
    write(0, direction), write(1, before);
    set("lr", step);
    cell(0).set(Tensor(Array::scalar(begun ? 1.0 : 0.0)));
    cell(1).set(Tensor(Array::scalar(slope_before)));
}

}  // namespace weft::optim
