#include "weft/nn/pca.h"

#include <algorithm>

#include "weft/nn/check.h"
#include "weft/nn/keys.h"
#include "weft/nn/module.h"
#include "weft/nn/notes.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/principal_axes.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"

namespace weft::nn {

PCA::PCA(std::int64_t features, std::int64_t kept, bool whiten) : whiten_(whiten) {
    check_positive("PCA", "features", features);
    check_positive("PCA", "components", kept);
    if (kept > features) throw ValueError(text("PCA: ", features, " features have no ", kept, " components"));
    if (features > linalg::most_principal_width)
        throw ValueError(text("PCA: the covariance of ", features, " features is too large; up to ",
                              linalg::most_principal_width, " are taken"));
    components = zero_state(DType::float32, {kept, features}), variances = zero_state(DType::float32, {kept});
    mean = zero_state(DType::float32, {features}), passes_ = zero_state(DType::int64, {});
    count_ = zero_state(DType::float64, {}), mean_ = zero_state(DType::float64, {features});
    scatter_ = zero_state(DType::float64, {features, features});
}

void PCA::members(Visitor& visit) {
    visit("components", components), visit("mean", mean), visit("variances", variances), visit("passes", passes_);
    if (held()) return;
    visit("pass.count", count_), visit("pass.mean", mean_), visit("pass.scatter", scatter_);
}

bool PCA::has_learned() const { return passes_.value().item<std::int64_t>() > 0; }

Tensor PCA::given(const Tensor& x) const {
    check_axis("PCA", x, 2, -1, mean.shape()[0].value(), "features");
    Tensor centred = x - mean, places = matmul(centred, components.value().T());
    if (Notes::current()) {
        Tensor rest = centred - matmul(places, components.value());
        Tensor residual = weft::mean(sum(square(rest), 1));
        add_cost("residual", residual, AddedCost::Part::reported);
        add_cost("residual_variance", residual, AddedCost::Part::told);
        add_cost("variance", weft::mean(sum(square(centred), 1)), AddedCost::Part::told);
    }
    if (!whiten_) return places;
    Tensor deviations = sqrt(variances.value());
    return where(deviations > 0.0, places / maximum(deviations, 1e-30), 0.0);
}

/// Counts, means and scatters of two parts joined (Chan, Golub and LeVeque, 1979).
void PCA::take_down(const Tensor& x) {
    Tensor rows = astype(x, DType::float64), middle = weft::mean(rows, 0), centred = rows - middle;
    Tensor count = size_as_tensor(x.shape()[0], DType::float64), before = count_.value(), all = before + count;
    Tensor shift = middle - mean_;
    Tensor between = matmul(expand_dims(shift, 1), expand_dims(shift, 0)) * (before * count / all);
    scatter_.set(scatter_.value() + matmul(centred.T(), centred) + between);
    mean_.set(mean_.value() + shift * (count / all));
    count_.set(all);
}

std::string PCA::end_pass() {
    auto count = count_.value().item<double>();
    if (count == 0) return {};
    linalg::PrincipalAxes axes = linalg::principal_axes((scatter_.value() / count).eval());
    Size kept = components.shape()[0], width = components.shape()[1];
    components.set(astype(slice(axes.vectors, {0, 0}, {kept, width}), DType::float32).eval());
    variances.set(astype(slice(axes.variances, {0}, {kept}), DType::float32).eval());
    mean.set(astype(mean_.value(), DType::float32).eval()), passes_.set((passes_.value() + 1).eval());
    for (Parameter* cell : {&count_, &mean_, &scatter_}) clear(*cell);
    return {};
}

}  // namespace weft::nn
