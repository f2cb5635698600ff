#include "weft/optim/moments.h"

#include <cmath>

#include "weft/ops/elementwise.h"

namespace weft::optim {
namespace {

using Numbers = std::span<const Scalar>;
using Reals = std::span<const long double>;

/// Differentiated through the operations of its body.
Operation record(std::string_view name, int arity, std::string_view doc, Scalar (*body)(Numbers),
                 long double (*oracle)(Reals), std::vector<Domain> domain) {
    Operation operation;
    operation.name = name, operation.arity = arity, operation.doc = doc;
    operation.infer = infer_elementwise;
    operation.body = [body](Numbers x, const Attributes*) { return body(x); };
    operation.oracle = oracle;
    operation.composite = true;
    operation.meet = inexact, operation.takes = real_number;
    operation.domain = std::move(domain);
    operation.ulp = 4;
    return operation;
}

/// rate * average / (sqrt(squares) * root + eps)
template <class T>
auto step_of(std::span<const T> x) {
    using std::sqrt;
    return x[2] * x[0] / (sqrt(x[1]) * x[3] + x[4]);
}

}  // namespace

extern const Operation running_mean_operation, running_square_mean_operation, adam_step_operation, adamw_step_operation;

const Operation running_mean_operation = record(
    "running_mean", 4, "decay * mean + share * x: a mean over steps, which keeps `decay` of what it was.",
    [](Numbers x) { return x[0] * x[1] + x[2] * x[3]; }, [](Reals x) { return x[0] * x[1] + x[2] * x[3]; },
    {{0, 1}, {0.1, 3}, {0, 1}, {0.1, 3}});
WEFT_REGISTER(running_mean_operation);

const Operation running_square_mean_operation = record(
    "running_square_mean", 4, "decay * mean + share * x * x: a mean of squares over steps.",
    [](Numbers x) { return x[0] * x[1] + x[2] * (x[3] * x[3]); },
    [](Reals x) { return x[0] * x[1] + x[2] * (x[3] * x[3]); }, {{0, 1}, {0.1, 3}, {0, 1}, {-3, 3}});
WEFT_REGISTER(running_square_mean_operation);

const Operation adam_step_operation = record(
    "adam_step", 6,
    "value - rate * average / (sqrt(squares) * root + eps): a step of Adam (Kingma and Ba, 2015, algorithm 1), whose "
    "means' start at zero `rate` and `root` make up for.",
    [](Numbers x) { return x[0] - step_of(x.subspan(1)); }, [](Reals x) { return x[0] - step_of(x.subspan(1)); },
    {{5, 9}, {-1, 1}, {0.1, 2}, {0.1, 1}, {0.5, 2}, {0.1, 1}});
WEFT_REGISTER(adam_step_operation);

const Operation adamw_step_operation = record(
    "adamw_step", 7,
    "value * kept - rate * average / (sqrt(squares) * root + eps): a step of Adam with a decay apart from the gradient "
    "(Loshchilov and Hutter, 2019).",
    [](Numbers x) { return x[0] * x[1] - step_of(x.subspan(2)); },
    [](Reals x) { return x[0] * x[1] - step_of(x.subspan(2)); },
    {{5, 9}, {0.5, 1}, {-1, 1}, {0.1, 2}, {0.1, 1}, {0.5, 2}, {0.1, 1}});
WEFT_REGISTER(adamw_step_operation);

RunningMean::RunningMean(double decay, DType dtype)
    : decay_(constant(decay, dtype)), share_(constant(1 - decay, dtype)) {}

Tensor RunningMean::next(const Tensor& mean, const Tensor& x) const {
    return apply(running_mean_operation, {decay_, mean, share_, x});
}

Tensor RunningMean::next_of_squares(const Tensor& mean, const Tensor& x) const {
    return apply(running_square_mean_operation, {decay_, mean, share_, x});
}

Tensor adam_step(const Tensor& value, const Tensor& kept, const Tensor& average, const Tensor& squares,
                 const Tensor& rate, const Tensor& root, const Tensor& eps) {
    if (!kept) return apply(adam_step_operation, {value, average, squares, rate, root, eps});
    return apply(adamw_step_operation, {value, kept, average, squares, rate, root, eps});
}

}  // namespace weft::optim
