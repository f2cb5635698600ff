#include "weft/check/derivatives.h"

#include <cmath>

#include "weft/autodiff/derivative.h"
#include "weft/check/cases.h"
#include "weft/check/compare.h"
#include "weft/graph/node.h"
#include "weft/kernel/builder.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"

namespace weft {
namespace {

using Map = std::function<std::vector<Tensor>(std::span<const Tensor>)>;  // of all inputs
using Vectors = std::vector<std::vector<double>>;

// The numbers of an array of float64 or complex128; of these the real and the imaginary parts in turn.
std::size_t count_of(const Array& array) {
    return static_cast<std::size_t>(array.size()) * (is_complex(array.dtype) ? 2 : 1);
}
double* numbers_of(Array& array) { return static_cast<double*>(array.address()); }

// Inputs of which those of float64 (complex128) move; the others (indices, conditions, what has no known derivative) are held.
struct Point {
    std::vector<Array> inputs;
    std::vector<std::size_t> moving;

    std::vector<Tensor> tensors() const { return tensors_of(inputs); }
    std::vector<Tensor> chosen(const std::vector<Tensor>& of) const {
        std::vector<Tensor> result;
        for (std::size_t i : moving) result.push_back(of[i]);
        return result;
    }
    std::vector<Tensor> moved(const std::vector<Array>& direction, double step) const {
        std::vector<Tensor> result = tensors();
        for (std::size_t k = 0; k < moving.size(); ++k) {
            const Array& at = inputs[moving[k]];
            Array to = Array::empty(at.dtype, at.dims);
            std::vector<double> from = as_doubles(at), along = as_doubles(direction[k]);
            for (std::size_t i = 0; i < count_of(to); ++i) numbers_of(to)[i] = from[i] + step * along[i];
            result[moving[k]] = Tensor(to);
        }
        return result;
    }
};

// Whether an operation says that it knows no derivative in one of its inputs, though it has a rule.
bool unknown_in(const Operation& operation, const Sample& sample, const Point& point, std::size_t input) {
    try {
        if (input < operation.partials.size()) {
            ProgramBuilder builder;
            std::vector<Scalar> operands;
            for (int i = 0; i <= operation.arity; ++i)
                operands.push_back(builder.input(operation.condition && i == 0 ? DType::bool_ : DType::float64));
            (void)operation.partials[input](operands);
        } else if (plain_elementwise(operation) && operation.jvp) {
            std::vector<Tensor> tangents(point.inputs.size());
            tangents[input] = Tensor(point.inputs[input]);
            (void)operation.jvp(sample.call(point.tensors()), tangents);
        }
        return false;
    } catch (const NotDifferentiable&) {
        return true;
    }
}

Point point_of(const Operation& operation, const Sample& sample, Draw& draw, DType dtype = DType::float64) {
    std::vector<DType> dtypes(sample.inputs.size(), dtype);
    for (std::size_t i = 0; i < sample.dtypes.size(); ++i)
        dtypes[i] = is_inexact(sample.dtypes[i]) ? dtype : sample.dtypes[i];
    if (operation.condition) dtypes[0] = DType::bool_;
    Point point;
    point.inputs = inputs_of(operation, sample, dtypes, draw);
    if (operation.domain
            .empty()) {  // at 0 are the kinks and poles of most functions, near which differences say nothing
        for (Array& input : point.inputs) {
            for (std::int64_t i = 0; input.dtype == DType::float64 && i < input.size(); ++i) {
                double& x = input.data<double>()[i];
                x += std::copysign(std::abs(x) < 0.25 ? 0.25 : 0.0, x);
            }
        }
    }
    for (std::size_t i = 0; i < dtypes.size(); ++i) {
        if (dtypes[i] == dtype && !unknown_in(operation, sample, point, i)) point.moving.push_back(i);
    }
    return point;
}

std::vector<Array> directions(const std::vector<Tensor>& like, Draw& draw) {
    const Domain unit{-1, 1};
    std::vector<Array> result;
    for (const Tensor& tensor : like) result.push_back(draw.array(tensor.dtype(), tensor.dims(), &unit));
    return result;
}

Vectors values_of(const std::vector<Tensor>& tensors) {
    eval(tensors);
    Vectors values;
    for (const Tensor& tensor : tensors) values.push_back(as_doubles(tensor.array()));
    return values;
}

// Central differences at two steps, joined so that the error of order step^2 falls out (Richardson, 1911). The difference of the
// two bounds what is left of the truncation, `noise` / step the rounding.
std::string against_differences(const Map& f, const Point& at, const std::vector<Array>& direction,
                                const Vectors& derivative, double noise) {
    constexpr double step = 0x1p-13;
    Vectors up = values_of(f(at.moved(direction, step))), down = values_of(f(at.moved(direction, -step)));
    Vectors half_up = values_of(f(at.moved(direction, step / 2))),
            half_down = values_of(f(at.moved(direction, -step / 2)));
    std::size_t kinks = 0, all = 0;
    for (std::size_t k = 0; k < up.size(); ++k) {
        all += up[k].size();
        for (std::size_t i = 0; i < up[k].size(); ++i) {
            double coarse = (up[k][i] - down[k][i]) / (2 * step), fine = (half_up[k][i] - half_down[k][i]) / step;
            double difference = (4 * fine - coarse) / 3, found = derivative[k][i];
            // Half the step gives quite another slope: a jump or a kink lies between, where there is no derivative to compare with.
            if (std::abs(fine - coarse) > 0.1 * (std::abs(fine) + std::abs(coarse)) + 1e-3) {
                ++kinks;
                continue;
            }
            double allowed = 4 * std::abs(fine - coarse) +
                             noise * (1 + std::abs(up[k][i]) + std::abs(down[k][i])) / step +
                             1e-12 * std::abs(difference);
            if (std::abs(found - difference) <= allowed) continue;
            return text("output ", k, " at ", i, ": derivative ", found, ", differences give ", difference,
                        " (allowed ", allowed, ")");
        }
    }
    // Few points lie so near a kink; were it many, the check would have compared nothing.
    if (kinks > all / 8 + 1) return text("differences settle on no slope at ", kinks, " of ", all, " elements");
    return "";
}

// The sum of Re(a b): what a cotangent and a tangent make of each other.
double dot(const std::vector<Array>& a, const Vectors& b, double* magnitude) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
        std::vector<double> x = as_doubles(a[k]);
        for (std::size_t i = 0; i < x.size(); ++i) {
            bool imaginary = is_complex(a[k].dtype) && i % 2 == 1;
            sum += imaginary ? -x[i] * b[k][i] : x[i] * b[k][i], *magnitude += std::abs(x[i] * b[k][i]);
        }
    }
    return sum;
}

std::string against_transpose(const std::vector<Array>& u, const Vectors& forward, const std::vector<Array>& v,
                              const Vectors& backward, double noise) {
    double magnitude = 0;
    double left = dot(u, forward, &magnitude), right = dot(v, backward, &magnitude);
    double allowed = noise * 16 * (1 + magnitude);
    if (std::abs(left - right) <= allowed) return "";
    return text("<u, J v> = ", left, " but <J' u, v> = ", right, " (allowed ", allowed, ")");
}

// jvp and vjp of f against differences and each other.
std::string check_function(const Map& f, const Point& at, Draw& draw, double noise) {
    std::vector<Tensor> inputs = at.tensors(), wrt = at.chosen(inputs), outputs = f(inputs);
    std::vector<Array> v = directions(wrt, draw), u = directions(outputs, draw);
    Vectors forward = values_of(pushforward(outputs, wrt, tensors_of(v)));
    if (std::string wrong = against_differences(f, at, v, forward, noise); !wrong.empty()) return wrong;
    Vectors backward = values_of(pullback(f(inputs), tensors_of(u), wrt));
    return against_transpose(u, forward, v, backward, noise);
}

double noise_of(const Operation& operation, const Point& at) {
    double terms = 4;
    if (!plain_elementwise(operation))
        for (const Array& input : at.inputs) terms += static_cast<double>(input.size());
    return 0x1p-52 * 4 * (operation.ulp + 1) * terms;
}

bool defined(const Sample& sample, const Point& at) {
    try {
        (void)sample.call(at.tensors());
        return true;
    } catch (const DTypeError&) {
        return false;  // an operation on integers
    }
}

// Calls f(sample, point, draw) for every sample that has a derivative at all; what it returns or throws is a failure.
template <class F>
Failures over_points(const Operation& operation, DType dtype, F&& f) {
    Failures failures;
    Draw draw(text(operation.name, " derivative"));
    for (const Sample& sample : samples_of(operation, Shapes::layouts)) {
        Point at = point_of(operation, sample, draw, dtype);
        if (at.moving.empty()) continue;
        std::string wrong;
        try {
            if (!defined(sample, at) || !is_inexact(sample.call(at.tensors()).dtype())) continue;
            if (size_of(real_of(sample.call(at.tensors()).dtype())) < sizeof(double)) continue;
            wrong = f(sample, at, draw);
        } catch (const std::exception& error) {
            wrong = text("threw ", error.what());
        }
        if (!wrong.empty()) failures.push_back(text(described(operation, at.inputs), ": ", wrong));
    }
    return failures;
}

}  // namespace

bool has_derivative(const Operation& operation) {
    bool rule = operation.composite || !operation.partials.empty() || operation.transpose || operation.jvp;
    return rule && operation.differentiable;
}

namespace {

Failures check_first(const Operation& operation, DType dtype) {
    if (&operation == &stop_gradient_operation) return {};  // not the derivative of its value: that is what it is for
    return over_points(operation, dtype, [&](const Sample& sample, const Point& at, Draw& draw) {
        Map f = [&](std::span<const Tensor> x) { return std::vector<Tensor>{sample.call(x)}; };
        return check_function(f, at, draw, noise_of(operation, at));
    });
}

Failures check_second(const Operation& operation, DType dtype) {
    if (&operation == &stop_gradient_operation) return {};
    return over_points(operation, dtype, [&](const Sample& sample, const Point& at, Draw& draw) -> std::string {
        std::vector<Array> u = directions({sample.call(at.tensors())}, draw);
        Map gradient_of = [&](std::span<const Tensor> x) {
            std::vector<Tensor> inputs(x.begin(), x.end()), outputs{sample.call(x)}, seeds = tensors_of(u);
            return pullback(outputs, seeds, at.chosen(inputs));
        };
        try {
            return check_function(gradient_of, at, draw, 16 * noise_of(operation, at));
        } catch (const NotDifferentiable& error) {  // a derivative may call what has none itself, if it says so
            if (std::string_view(error.what()).starts_with(text(operation.name, ":"))) throw;
            return "";
        }
    });
}

}  // namespace

Failures check_derivatives(const Operation& operation) { return check_first(operation, DType::float64); }
Failures check_second_derivatives(const Operation& operation) { return check_second(operation, DType::float64); }
Failures check_complex_derivatives(const Operation& operation) {
    Failures failures = check_first(operation, DType::complex128);
    for (std::string& failure : check_second(operation, DType::complex128))
        failures.push_back(text("second: ", failure));
    return failures;
}

Failures check_missing_derivative(const Operation& operation) {
    Failures failures;
    Draw draw(operation.name);
    for (const Sample& sample : samples_of(operation, Shapes::few)) {
        Point at = point_of(operation, sample, draw);
        if (at.moving.empty()) continue;
        std::string wrong = "its derivative was not refused";
        try {
            std::vector<Tensor> inputs = at.tensors();
            Tensor result = sample.call(inputs), loss = sum(result.astype(DType::float64));
            std::vector<Tensor> gradients = gradient(loss, at.chosen(inputs));
            if (!is_inexact(result.dtype())) {
                wrong.clear();
                for (const auto& values : values_of(gradients)) {
                    for (double value : values)
                        if (value != 0) wrong = "the derivative of integers is not 0";
                }
            }
        } catch (const NotDifferentiable& error) {
            if (std::string_view(error.what()).starts_with(text(operation.name, ": ")))
                wrong.clear();
            else
                wrong = text("the message does not name it: ", error.what());
        } catch (const DTypeError&) {  // not defined for floating numbers at all
            wrong.clear();
        }
        if (!wrong.empty()) failures.push_back(text(described(operation, at.inputs), ": ", wrong));
    }
    return failures;
}

}  // namespace weft
