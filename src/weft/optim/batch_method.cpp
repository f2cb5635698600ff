#include "weft/optim/batch_method.h"

#include <cmath>

#include "weft/ops/elementwise.h"

namespace weft::optim {
namespace {

void append(std::vector<double>& all, const Tensor& values) {
    Array array = contiguous(astype(values, DType::float64).array());
    const double* from = array.data<double>();
    all.insert(all.end(), from, from + array.size());
}

/// The numbers of a cell, taken from `values`, which moves behind them.
void set_from(Parameter cell, const double*& values) {
    Array array = Array::empty(DType::float64, dims_of(cell.shape()));
    std::copy_n(values, array.size(), array.data<double>());
    values += array.size();
    cell.set(astype(Tensor(array), cell.dtype()).eval());
}

}  // namespace

double dot(std::span<const double> a, std::span<const double> b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

double BatchMethod::minimise(std::span<const Parameter> parameters, const Measure& measure) {
    if (!options().plain() || !groups().empty()) {
        throw ValueError(
            text(name(),
                 ": no clipping, accumulation, constraint, mean or group is known to a method that searches along "
                 "lines; leave it out"));
    }
    prepare(parameters);
    if (slots().size() != parameters.size())
        throw ValueError(text(name(), ": every step is given the same parameters"));
    auto put = [&](const Vector& x) {
        const double* at = x.data();
        for (const auto& slot : slots()) set_from(slot->parameter, at);
    };
    std::vector<Tensor> gradients;
    Evaluate evaluate = [&](const Vector& x, Vector& gradient) {
        put(x);
        double loss = measure(gradients);
        if (gradients.size() != parameters.size()) {
            throw ValueError(text(name(), ": ", parameters.size(), " parameters, but ", gradients.size(),
                                  " gradients; there must be one for each"));
        }
        gradient.clear();
        for (const auto& slot : slots()) {  // slots may stand in another order than the parameters
            for (std::size_t i = 0; i < parameters.size(); ++i) {
                if (parameters[i].cell() != slot->parameter.cell()) continue;
                if (!(gradients[i].shape() == parameters[i].shape())) {
                    throw ShapeError(text(name(), ": the parameter '", parameters[i].name(), "' has shape ",
                                          parameters[i].shape(), ", its gradient ", gradients[i].shape()));
                }
                append(gradient, gradients[i]);
            }
        }
        return loss;
    };
    Point point;
    for (const auto& slot : slots()) append(point.x, slot->parameter.value());
    const Vector start = point.x;
    try {
        double before = point.loss = evaluate(point.x, point.gradient);
        if (std::isfinite(before)) iterate(point, evaluate);
        put(point.x);
        return before;
    } catch (...) {  // of the loss: no parameter stays at a point that was only tried
        put(start);
        throw;
    }
}

BatchMethod::Vector BatchMethod::read(std::size_t number) const {
    Vector all;
    for (const auto& slot : slots()) append(all, slot->state[number].value());
    return all;
}

void BatchMethod::write(std::size_t number, const Vector& values) {
    const double* at = values.data();
    for (const auto& slot : slots()) set_from(slot->state[number], at);
}

std::optional<LinePoint> BatchMethod::search(LineSearch search, const Point& point, const Vector& direction,
                                             double first, const Evaluate& evaluate) {
    LinePoint start{0, point.loss, dot(point.gradient, direction), {}};
    Vector x(point.x.size());
    Along along = [&](double step) {
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = point.x[i] + step * direction[i];
        LinePoint there;
        there.step = step;
        there.value = evaluate(x, there.gradient);
        there.slope = dot(there.gradient, direction);
        return there;
    };
    if (search) return search(along, start, first);
    LinePoint there = along(first);
    return std::isfinite(there.value) ? std::optional(there) : std::nullopt;
}

void BatchMethod::go(Point& point, const Vector& direction, LinePoint to) {
    for (std::size_t i = 0; i < point.x.size(); ++i) point.x[i] += to.step * direction[i];
    point.loss = to.value;
    point.gradient = std::move(to.gradient);
}

void BatchMethod::update(DType, std::span<Slot*>) {
    throw ValueError(text(name(),
                          ": one gradient is not enough for it; minimise() (in Python: step with a closure) asks for "
                          "the loss at several points"));
}

}  // namespace weft::optim
