// Covariances, weighted means, ranges (statistics.h).
#include <limits>

#include "weft/graph/node.h"
#include "weft/ops/arrange.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/half_types.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"

namespace weft {

Tensor average(const Operand& x, const Axes& axes, const Tensor& weights, bool keepdims) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    if (!weights) return mean(x, axes, keepdims);
    Tensor each = weights;
    if (weights.shape() != tensor.shape()) {
        Axes along = checked(x, [&] { return normalize_axes(axes, tensor.ndim(), "average"); });
        Shape shape(tensor.ndim(), 1);
        bool fits = weights.ndim() == along.size();
        for (std::size_t i = 0; fits && i < along.size(); ++i) {
            auto axis = static_cast<std::size_t>(along[i]);
            fits = may_equal(weights.shape()[i], tensor.shape()[axis]);
            shape[axis] = weights.shape()[i];
        }
        if (!fits)
            throw ShapeError(text("average: weights of shape ", weights.shape(), " for axes ", axes, " of ",
                                  tensor.shape(), place(x.where)));
        each = reshape(weights, shape);
    }
    DType meet = inexact(promote(tensor.dtype(), weights.dtype())), kept = is_half(meet) ? DType::float32 : meet;
    tensor = astype(tensor, kept), each = astype(each, kept);
    Tensor found = sum(tensor * each, axes, keepdims) / sum(broadcast_to(each, tensor.shape()), axes, keepdims);
    return astype(found, meet);
}

Tensor ptp(const Operand& x, const Axes& axes, bool keepdims) {
    LineScope line(x.where);
    return max(x, axes, keepdims) - min(x, axes, keepdims);
}

Tensor cov(const Operand& x, const CovOptions& options) {
    LineScope line(x.where);
    if (is_narrow(x)) return narrowed(cov(widened(x), options), x);
    Tensor tensor = x.as_tensor();
    if (tensor.ndim() > 2)
        throw ShapeError(text("cov: takes a vector or a matrix, not the shape ", tensor.shape(), place(x.where)));
    bool single = tensor.ndim() < 2;
    tensor = astype(tensor, inexact(tensor.dtype()));
    if (single) tensor = reshape(tensor, {1, -1});
    if (!options.rows && !single) tensor = matrix_transpose(tensor);
    Size count = tensor.shape()[1];
    Tensor weights = ones({count}, real_of(tensor.dtype()));
    auto weighted = [&](const Tensor& given, std::string_view name) {
        if (!given) return;
        if (given.ndim() != 1 || !may_equal(given.shape()[0], count))
            throw ShapeError(
                text("cov: ", name, " of shape ", given.shape(), " for ", count, " observations", place(x.where)));
        weights = weights * astype(given, weights.dtype());
    };
    weighted(options.frequencies, "frequencies"), weighted(options.reliabilities, "reliabilities");
    Tensor total = sum(weights), freedom = total - options.correction;
    if (options.reliabilities)
        freedom = total - options.correction * sum(weights * astype(options.reliabilities, weights.dtype())) / total;
    Tensor centred = tensor - sum(tensor * weights, {1}, true) / total;
    Tensor other = is_complex(centred.dtype()) ? conj(centred) : centred;
    Tensor found = matmul(centred * weights, matrix_transpose(other)) / maximum(freedom, 0);
    return single || found.shape() == Shape{1, 1} ? reshape(found, {}) : found;
}

Tensor corrcoef(const Operand& x, bool rows) {
    LineScope line(x.where);
    Tensor covariance = cov(x, {.rows = rows});
    if (covariance.ndim() == 0) {  // not covariance / covariance, which rewriting takes for 1 also where nothing varies
        double nan = std::numeric_limits<double>::quiet_NaN();
        return astype(where(greater(real(covariance), 0), 1.0, nan), covariance.dtype());
    }
    Tensor deviation = sqrt(real(diagonal(covariance)));
    Tensor found = covariance / expand_dims(deviation, 1) / deviation;
    return is_complex(found.dtype()) ? found : clip(found, -1, 1);
}

WEFT_RECORD(average, "The weighted mean along axes.", "average", "",
            {{{{3, 4}},
              [](auto x) {
                  return average(x[0], {1}, Tensor::of<float>({1, 2, 0.5, 3}));
              },
              "np.average(x0, 1, [1, 2, 0.5, 3])"}})
WEFT_RECORD(ptp, "The largest minus the smallest along axes.", "ptp", "",
            {{{{3, 4}}, [](auto x) { return ptp(x[0], {0}); }, "np.ptp(x0, 0)"}})
WEFT_RECORD(
    cov, "The covariance matrix.", "cov", "cov",
    {{{{3, 6}}, [](auto x) { return cov(x[0]); }, "np.cov(x0)"},
     {{{5, 2}},
      [](auto x) {
          return cov(x[0], {.rows = false, .correction = 0, .reliabilities = Tensor::of<float>({1, 2, 1, 0.5, 3})});
      },
      "np.cov(x0, rowvar=False, bias=True, aweights=[1, 2, 1, 0.5, 3])"}})
WEFT_RECORD(corrcoef, "Pearson's correlation coefficients.", "corrcoef", "corrcoef",
            {{{{3, 6}}, [](auto x) { return corrcoef(x[0]); }, "np.corrcoef(x0)"}})

}  // namespace weft
