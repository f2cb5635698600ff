#include <algorithm>
#include <cmath>

#include "weft/optim/batch_method.h"

namespace weft::optim {
namespace {

using Vector = std::vector<double>;

double largest(const Vector& values) {
    double most = 0;
    for (double value : values) most = std::max(most, std::abs(value));
    return most;
}

double sum_of_sizes(const Vector& values) {
    double sum = 0;
    for (double value : values) sum += std::abs(value);
    return sum;
}

void add(Vector& to, double factor, const Vector& values) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * values[i];
}

constexpr std::size_t state_cells = 2, pairs_cell = 1, step_cell = 2;  // before the pairs; numbers of add_cell()

}  // namespace

/// What is known of the curvature: pairs of steps and the changes of the gradient over them, the oldest first.
struct LBFGS::Memory {
    std::vector<Vector> steps, changes;
    Vector direction, gradient;  // of the last iteration
    double step = 0;
    std::int64_t iterations = 0;

    /// A pair of the last iteration; one without positive curvature says nothing.
    void learn(const Vector& now, std::size_t most) {
        Vector change(now), moved(direction);
        add(change, -1, gradient);
        for (double& value : moved) value *= step;
        if (!(dot(change, moved) > 1e-10)) return;
        if (steps.size() == most) steps.erase(steps.begin()), changes.erase(changes.begin());
        steps.push_back(std::move(moved)), changes.push_back(std::move(change));
    }
    /// Minus the gradient times the inverse of the curvature: Nocedal and Wright, algorithm 7.4.
    Vector downhill(const Vector& now) const {
        Vector q(now);
        for (double& value : q) value = -value;
        if (steps.empty()) return q;
        std::vector<double> part(steps.size());
        for (std::size_t i = steps.size(); i-- > 0;) {
            part[i] = dot(steps[i], q) / dot(changes[i], steps[i]);
            add(q, -part[i], changes[i]);
        }
        double scale = dot(changes.back(), steps.back()) / dot(changes.back(), changes.back());
        for (double& value : q) value *= scale;
        for (std::size_t i = 0; i < steps.size(); ++i)
            add(q, part[i] - dot(changes[i], q) / dot(changes[i], steps[i]), steps[i]);
        return q;
    }
};

LBFGS::LBFGS(LBFGSOptions options) : BatchMethod("LBFGS"), options_(options) {
    add_rate("lr", options_.lr);
    auto at_least_one = [&](const char* name, std::int64_t value) {
        if (value < 1) refuse(name, static_cast<double>(value), "at least 1");
    };
    at_least_one("max_iter", options_.max_iter), at_least_one("history_size", options_.history_size);
    if (options_.max_eval == 0) options_.max_eval = options_.max_iter * 5 / 4;
    at_least_one("max_eval", options_.max_eval);
    if (!(options_.tolerance_grad >= 0)) refuse("tolerance_grad", options_.tolerance_grad, "at least 0");
    if (!(options_.tolerance_change >= 0)) refuse("tolerance_change", options_.tolerance_change, "at least 0");
    for (const char* name : {"iterations", "pairs", "step_size"}) add_cell(name, 0);
}

std::vector<Optimizer::SlotCell> LBFGS::slot_cells(const Parameter&) const {
    std::vector<SlotCell> cells{{"direction"}, {"previous_gradient"}};
    for (std::int64_t i = 0; i < options_.history_size; ++i) {
        cells.push_back({text("step", i)});
        cells.push_back({text("change", i)});
    }
    return cells;
}

LBFGS::Memory LBFGS::remembered() {
    Memory memory;
    memory.direction = read(0), memory.gradient = read(1);
    memory.iterations = static_cast<std::int64_t>(cell(0).value().item<double>());
    memory.step = cell(step_cell).value().item<double>();
    auto pairs = static_cast<std::size_t>(cell(pairs_cell).value().item<double>());
    for (std::size_t i = 0; i < pairs; ++i) {
        memory.steps.push_back(read(state_cells + 2 * i));
        memory.changes.push_back(read(state_cells + 2 * i + 1));
    }
    return memory;
}

void LBFGS::remember(const Memory& memory) {
    auto number = [](double value) { return Tensor(Array::scalar(value)); };
    write(0, memory.direction), write(1, memory.gradient);
    cell(0).set(number(static_cast<double>(memory.iterations)));
    cell(pairs_cell).set(number(static_cast<double>(memory.steps.size())));
    cell(step_cell).set(number(memory.step));
    for (std::size_t i = 0; i < memory.steps.size(); ++i) {
        write(state_cells + 2 * i, memory.steps[i]);
        write(state_cells + 2 * i + 1, memory.changes[i]);
    }
}

double LBFGS::last_step() const { return cell(step_cell).value().item<double>(); }

void LBFGS::iterate(Point& point, const Evaluate& evaluate) {
    Memory memory = remembered();
    std::int64_t evaluations = 1;
    Evaluate counted = [&](const Vector& x, Vector& gradient) {
        ++evaluations;
        return evaluate(x, gradient);
    };
    for (std::int64_t i = 0; i < options_.max_iter && largest(point.gradient) > options_.tolerance_grad; ++i) {
        if (memory.iterations > 0 && (i > 0 || options_.across_batches))
            memory.learn(point.gradient, static_cast<std::size_t>(options_.history_size));
        Vector direction = memory.downhill(point.gradient);
        if (dot(direction, point.gradient) > -options_.tolerance_change) break;
        double first = memory.iterations > 0 ? lr() : std::min(1.0, 1 / sum_of_sizes(point.gradient)) * lr();
        std::optional<LinePoint> found = search(options_.line_search, point, direction, first, counted);
        if (!found) {  // begun anew along the gradient, unless that was the direction
            bool steepest = memory.steps.empty();
            memory = Memory{{}, {}, std::move(direction), point.gradient, 0, 0};
            if (steepest) break;
            continue;
        }
        ++memory.iterations;
        memory.gradient = point.gradient, memory.direction = std::move(direction), memory.step = found->step;
        double before = point.loss;
        go(point, memory.direction, std::move(*found));
        bool still = largest(memory.direction) * memory.step <= options_.tolerance_change ||
                     std::abs(point.loss - before) < options_.tolerance_change;
        if (still || evaluations >= options_.max_eval) break;
    }
    remember(memory);
}

}  // namespace weft::optim
