// Steps that turn examples onto the axes along which the training data vary: pca, zca. Products and eigenvectors are weft's own operations,
// in float64.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "weft/base/error.h"
#include "weft/data/steps.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/principal_axes.h"

namespace weft::data {
namespace {

constexpr std::int64_t rows_of_product = 512;

struct PrincipalAxes {
    std::vector<double> variances;  // descending
    Array vectors;                  // (width, width), an axis a row
};

/// Of the covariance (over n) of the training data.
PrincipalAxes axes_of(const Dataset& train, const char* step, std::vector<double>& means) {
    auto width = static_cast<std::int64_t>(width_of(train.x));
    if (width > linalg::most_principal_width)
        throw ShapeError(
            text(step, ": examples of ", width, " numbers have too large a covariance; make them smaller"));
    auto n = static_cast<double>(train.size());
    means.assign(static_cast<std::size_t>(width), 0);
    for_each_row(train, [&](const double* row) {
        for (std::size_t i = 0; i < means.size(); ++i) {
            if (!std::isfinite(row[i])) throw ValueError(text(step, ": the training data hold the value ", row[i]));
            means[i] += row[i] / n;
        }
    });
    Tensor mean(array_of(means)), covariance(Array::zeros(float64, {width, width}));
    for (std::int64_t first = 0; first < train.size(); first += rows_of_product) {
        Tensor centred = Tensor(block_of(train, first, std::min(rows_of_product, train.size() - first))) - mean;
        covariance = Tensor((covariance + matmul(centred.T(), centred) / n).array());
    }
    linalg::PrincipalAxes found = linalg::principal_axes(covariance);
    return {found.variances.to_vector<double>(), contiguous(found.vectors.array())};
}

/// rows of `axes`, each times its factor: diag(factors) axes
Array scaled_rows(const Array& axes, const std::vector<double>& factors) {
    Array result = Array::empty(float64, axes.dims);
    std::int64_t width = axes.dims[1];
    for (std::int64_t i = 0; i < axes.size(); ++i)
        result.data<double>()[i] = axes.data<double>()[i] * factors[static_cast<std::size_t>(i / width)];
    return result;
}

/// (x - before) forward + after, with matrices that are learned once and kept: what both steps are.
struct AffineMap {
    std::vector<double> before, after;
    Array matrix;  // (width, other width)

    std::int64_t from() const { return matrix.dims[0]; }
    std::int64_t to() const { return matrix.dims[1]; }

    /// Rows that are in memory go through products of matrices, others one at a time.
    Dataset operator()(const Dataset& set, const Dims& example, const char* step) const {
        if (static_cast<std::int64_t>(width_of(set.x)) != from())
            throw ShapeError(text(step, ": fitted on examples of ", from(), " numbers, these have ", width_of(set.x)));
        if (set.source) return mapped(set, example, [map = *this](const double* x, double* y) { map.row(x, y); });
        Dataset result = set;
        Dims dims{set.size()};
        for (std::int64_t extent : example) dims.push_back(extent);
        result.x = Array::empty(set.x.dtype == float64 ? float64 : float32, dims);
        result.affine.reset(), result.range.reset(), result.names.clear();
        std::size_t row_bytes = static_cast<std::size_t>(to()) * size_of(result.x.dtype);
        Tensor weights(matrix), less(array_of(before)), more(array_of(after));
        for (std::int64_t first = 0; first < set.size(); first += rows_of_product) {
            Tensor block(block_of(set, first, std::min(rows_of_product, set.size() - first)));
            Array made = contiguous(astype(matmul(block - less, weights) + more, result.x.dtype).array());
            std::memcpy(static_cast<std::byte*>(result.x.address()) + static_cast<std::size_t>(first) * row_bytes,
                        made.address(), made.bytes());
        }
        return result;
    }
    Array operator()(const Array& x, const Dims& example, const char* step) const {
        Dataset set;
        set.x = x;
        return (*this)(set, example, step).x;
    }

  private:
    void row(const double* x, double* y) const {
        std::copy(after.begin(), after.end(), y);
        const double* weights = matrix.data<double>();
        for (std::int64_t i = 0; i < from(); ++i, weights += to()) {
            double value = x[i] - before[static_cast<std::size_t>(i)];
            for (std::int64_t k = 0; k < to(); ++k) y[k] += value * weights[k];
        }
    }
};

Array turned(const Array& matrix) { return contiguous(Tensor(matrix).T().array()); }

/// A step that is such a map and its inverse, learned from axes.
class Whitening : public Step {
  public:
    explicit Whitening(const char* name) : name_(name) {}

    void fit(const Dataset& train) override {
        std::vector<double> means;
        PrincipalAxes axes = axes_of(train, name_, means);
        forward_.matrix = Array(), example_ = train.example();
        learn(axes);
        forward_.before = backward_.after = std::move(means);
        forward_.after.assign(static_cast<std::size_t>(forward_.to()), 0);
        backward_.before = forward_.after;
    }
    Dataset apply(const Dataset& set) const override { return forward_(set, shape(), name_); }
    Array invert(const Array& x) const override { return backward_(x, example_, name_); }
    NamedState state() const override {
        NamedState state;
        state.emplace("mean", array_of(forward_.before)), state.emplace("forward", forward_.matrix);
        state.emplace("backward", backward_.matrix),
            state.emplace("example", array_of({example_.begin(), example_.end()}));
        return state;
    }
    void restore(const NamedState& state) override {
        forward_.matrix = part(state, "forward"), backward_.matrix = part(state, "backward");
        forward_.before = backward_.after = numbers_in(state, "mean");
        example_ = {};
        double count = 1;
        for (double extent : numbers_in(state, "example"))
            example_.push_back(static_cast<std::int64_t>(extent)), count *= extent;
        bool fits = forward_.matrix.ndim() == 2 && backward_.matrix.ndim() == 2 && forward_.from() == backward_.to() &&
                    forward_.to() == backward_.from() &&
                    forward_.before.size() == static_cast<std::size_t>(forward_.from()) &&
                    count == static_cast<double>(forward_.from());
        if (!fits) throw FileError(text("prepare: the saved state of '", name_, "' does not fit"));
        forward_.after.assign(static_cast<std::size_t>(forward_.to()), 0);
        backward_.before = forward_.after;
    }

  protected:
    /// Sets both matrices.
    virtual void learn(const PrincipalAxes& axes) = 0;
    /// Of an example that was mapped.
    virtual Dims shape() const = 0;

    const char* name_;
    AffineMap forward_, backward_;
    Dims example_;
};

/// V diag(1 / sqrt(variance + bias)) V^T, the whitening that stays nearest to the data (Bell & Sejnowski, 1997; Krizhevsky, 2009).
class Zca : public Whitening {
  public:
    explicit Zca(double bias) : Whitening("zca"), bias_(bias) {}
    std::optional<Dataset> sample(const Dataset& one) override {
        return mapped(one, one.example(), [](const double*, double*) {});
    }

  protected:
    void learn(const PrincipalAxes& axes) override {
        std::vector<double> narrow, wide;
        double least = axes.variances.back() + bias_, most = axes.variances.front() + bias_;
        if (!(least > most * 1e-13))
            throw ValueError(text("zca: the training data do not vary along some axis (variances from ",
                                  axes.variances.back(), " to ", axes.variances.front(),
                                  "); set bias: 0.1, or go on from pca, which can drop such axes"));
        for (double variance : axes.variances)
            wide.push_back(std::sqrt(variance + bias_)), narrow.push_back(1 / wide.back());
        Tensor turned_axes(turned(axes.vectors));
        forward_.matrix = contiguous(matmul(turned_axes, Tensor(scaled_rows(axes.vectors, narrow))).array());
        backward_.matrix = contiguous(matmul(turned_axes, Tensor(scaled_rows(axes.vectors, wide))).array());
    }
    Dims shape() const override { return example_; }

  private:
    double bias_;
};

/// The places along the axes of most variance (Pearson, 1901), each over its deviation if that is wanted.
class Pca : public Whitening {
  public:
    Pca(std::int64_t components, double variance, bool whiten)
        : Whitening("pca"), components_(components), variance_(variance), whiten_(whiten) {}
    std::optional<Dataset> sample(const Dataset& one) override {
        if (!components_) return std::nullopt;
        if (components_ > static_cast<std::int64_t>(width_of(one.x)))
            refuse(static_cast<std::int64_t>(width_of(one.x)));
        return mapped(one, {components_}, [](const double*, double*) {});
    }

  protected:
    void learn(const PrincipalAxes& axes) override {
        auto width = static_cast<std::int64_t>(axes.variances.size()), kept = components_;
        if (kept > width) refuse(width);
        double total = 0, sum = 0;
        for (double variance : axes.variances) total += variance;
        while (!components_ && kept < width && (kept == 0 || sum < variance_ * total))
            sum += axes.variances[static_cast<std::size_t>(kept++)];
        std::vector<double> wide(static_cast<std::size_t>(kept), 1), narrow = wide;
        for (std::size_t i = 0; whiten_ && i < wide.size(); ++i) {
            if (!(axes.variances[i] > axes.variances[0] * 1e-13))
                throw ValueError(text("pca: the training data vary along ", i,
                                      " axes alone, so no more can be whitened; keep fewer components"));
            wide[i] = std::sqrt(axes.variances[i]), narrow[i] = 1 / wide[i];
        }
        Array first = rows_of(axes.vectors, 0, kept);
        forward_.matrix = turned(scaled_rows(first, narrow));
        backward_.matrix = scaled_rows(first, wide);
    }
    Dims shape() const override { return {forward_.to()}; }

  private:
    [[noreturn]] void refuse(std::int64_t width) const {
        throw ShapeError(text("pca: examples of ", width, " numbers have no ", components_, " components"));
    }
    std::int64_t components_;
    double variance_;
    bool whiten_;
};

}  // namespace

std::vector<StepKind> whitening_steps() {
    auto number = [](const char* name, double fallback, const char* doc, double most) {
        return Option{name, fallback, doc, false, Json::Kind::null, {}, 0, most};
    };
    Option components{
        "components", 0, "how many axes are kept; 0: as many as `variance` asks for", false, Json::Kind::null, {}, 0};
    return {
        {"pca",
         "principal components of the training data",
         "",
         [](const Json& o) {
             if (o.at("components").as_integer() && o.at("variance").as_number() < 1)
                 o.at("variance")
                     .refuse("pca: `components` says how many axes are kept already; leave one of the two out");
             return std::make_unique<Pca>(o.at("components").as_integer(), o.at("variance").as_number(),
                                          o.at("whiten").as_bool());
         },
         {components,
          number("variance", 1.0, "the least part of the variance that the kept axes hold", 1),
          {"whiten", false, "each has variance 1"}}},
        {"zca",
         "whitening that leaves pictures pictures: covariance of the training data nearly 1",
         "",
         [](const Json& o) { return std::make_unique<Zca>(o.at("bias").as_number()); },
         {number("bias", 0.1, "is added to each axis' variance", std::numeric_limits<double>::infinity())}},
    };
}

}  // namespace weft::data
