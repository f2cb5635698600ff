// Expressions of real numbers, made at random from a seed: the same seed gives the same expression in every dtype, so that one dtype can
// judge another. Values stay within a few tens, since what a rewritten program does near overflow is another test's subject.
// Callers: tests/random.
#pragma once

#include <cmath>
#include <vector>

#include "weft/check/draw.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/scan.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"

namespace weft {

class RandomExpression {
  public:
    explicit RandomExpression(std::uint64_t seed) : draw_(text("expression ", seed)) {}

    /// `steps` operations on the inputs and on what came out of earlier ones; what nothing else reads, the inputs apart.
    std::vector<Tensor> build(const std::vector<Tensor>& inputs, int steps) {
        pool_ = inputs;
        used_.assign(inputs.size(), true);
        for (int i = 0; i < steps; ++i) {
            Tensor made = bounded(step());
            if (made.size().value() > 600) continue;
            pool_.push_back(made), used_.push_back(false);
        }
        std::vector<Tensor> open;
        for (std::size_t i = inputs.size(); i < pool_.size(); ++i)
            if (!used_[i]) open.push_back(pool_[i]);
        return open;
    }

  private:
    const Tensor& any() {
        auto i = static_cast<std::size_t>(draw_.below(static_cast<std::int64_t>(pool_.size())));
        if (draw_.below(2)) i = pool_.size() - 1 - i / 3;  // rather a late one: deep expressions
        used_[i] = true;
        return pool_[i];
    }
    Tensor beside(const Tensor& x) {  // what x can meet
        for (int i = 0; i < 6; ++i) {
            const Tensor& y = any();
            if (auto shape = broadcast(x.shape(), y.shape()); shape && elements(*shape) <= 600) return y;
        }
        return x;
    }
    static std::int64_t elements(const Shape& shape) {
        std::int64_t count = 1;
        for (Size size : shape) count *= size.value();
        return count;
    }
    double number() { return 0.25 * static_cast<double>(draw_.below(17) - 8); }
    std::int64_t axis_of(const Tensor& x) { return draw_.below(static_cast<std::int64_t>(x.ndim())); }

    // Nothing grows without end: every fourth result goes through a bounded function, and products are halved.
    Tensor bounded(const Tensor& x) { return draw_.below(4) ? x : x / sqrt(1 + square(x) / 64.0); }

    Tensor step() {
        Tensor x = any();
        switch (draw_.below(8)) {
            case 0:
            case 1:
                return unary(x);
            case 2:
            case 3:
                return binary(x, beside(x));
            case 4:
                return family(x);
            case 5:
                return x.ndim() ? reduction(x) : plain_form(x);
            case 6:
                return moved(x);
            default:
                return plain_form(x);
        }
    }

    Tensor unary(const Tensor& x) {
        switch (draw_.below(16)) {
            case 0:
                return -x;
            case 1:
                return abs(x) * number();
            case 2:
                return tanh(x);
            case 3:
                return sin(x);
            case 4:
                return cos(x * 0.5);
            case 5:
                return sigmoid(x);
            case 6:
                return softplus(x);
            case 7:
                return gelu(x) + x;  // gelu alone loses digits far below 0, by its formula
            case 8:
                return erf(x);
            case 9:
                return relu(x);
            case 10:
                return square(x) / 8.0;
            case 11:
                return sqrt(square(x) + 0.5);
            case 12:
                return atan(x);
            case 13:
                return log1p(square(x));
            case 14:
                return exp(minimum(x, 2.0));
            default:
                return pow(1 + square(x) / 16.0, number());
        }
    }
    Tensor binary(const Tensor& x, const Tensor& y) {
        switch (draw_.below(10)) {
            case 0:
                return x + y;
            case 1:
                return x - y;
            case 2:
                return x * y / 2.0;
            case 3:
                return x / (1 + square(y));
            case 4:
                return maximum(x, y);
            case 5:
                return minimum(x, y);
            case 6:
                return where(x < y, x, y * number());
            case 7:
                return logaddexp(x, y);
            case 8:
                return hypot(x, y + 3.0);
            default:
                return x * number() + y * number();
        }
    }
    // Formulas as they stand in a paper, for which rewriting knows better ones.
    Tensor plain_form(const Tensor& x) {
        switch (draw_.below(12)) {
            case 0:
                return log(1 + exp(x));
            case 1:
                return 1 / (1 + exp(-x));
            case 2:
                return log(1 / (1 + exp(-x)));
            case 3:
                return exp(x / 4.0) / (1 + exp(x / 4.0));
            case 4:
                return 1 - sigmoid(x);
            case 5:
                return (x * 3.0) / (2.0 * (1 + square(x))) * (1 + square(x));
            case 6:
                return x * x * x / 32.0;
            case 7:
                return pow(x / 2.0, 3.0) / 4.0;
            case 8:
                return log(exp(x / 2.0) * 2.0);
            case 9:
                return x.ndim() ? log(sum(exp(x), axis_of(x), true)) : -(-x);
            case 10:
                return x.ndim() ? exp(x) / sum(exp(x), axis_of(x), true) : x - x / 3.0;
            default:
                return sqrt(square(x)) + (x - x * 0.5);
        }
    }
    Tensor family(const Tensor& x) {
        if (x.ndim() == 0) return x * number() + 1.0;
        std::int64_t axis = axis_of(x), n = x.shape()[static_cast<std::size_t>(axis)].value();
        switch (draw_.below(6)) {
            case 0:
                return softmax(x, axis);
            case 1:
                return log_softmax(x, axis);
            case 2:
                return cumulative_sum(x, axis) / std::sqrt(static_cast<double>(n));
            case 3:
                return take(x, Tensor(draw_.indices(DType::int64, {1 + draw_.below(5)}, n)), axis);
            case 4:
                return concatenate({x, x * number()}, axis);
            default:
                return x.ndim() >= 2 ? matmul(x, matrix_transpose(x)) / 16.0 : outer(x, x) / 4.0;
        }
    }
    Tensor reduction(const Tensor& x) {
        bool keep = draw_.below(2);
        std::int64_t axis = axis_of(x);
        double n = static_cast<double>(x.shape()[static_cast<std::size_t>(axis)].value());
        switch (draw_.below(6)) {
            case 0:
                return sum(x, axis, keep) / n;
            case 1:
                return mean(x, axis, keep);
            case 2:
                return max(x, axis, keep);
            case 3:
                return logsumexp(x, axis, keep);
            case 4:
                return var(x, Axes{axis}, 0, keep);
            default:
                return sum(x) / static_cast<double>(x.size().value());
        }
    }
    Tensor moved(const Tensor& x) {
        if (x.ndim() == 0) return broadcast_to(x, {3});
        std::int64_t axis = axis_of(x);
        switch (draw_.below(6)) {
            case 0:
                return x.T();
            case 1:
                return reshape(x, {-1});
            case 2:
                return flip(x, {axis});
            case 3:
                return expand_dims(x, axis);
            case 4:
                return pad(x, Dims(x.ndim(), 1), Dims(x.ndim(), 0), 0.5);
            default: {
                Shape start(x.ndim(), 0), length = x.shape();
                auto at = static_cast<std::size_t>(axis);
                std::int64_t n = length[at].value(), first = draw_.below(n);
                start[at] = first, length[at] = 1 + draw_.below(n - first);
                return slice(x, start, length);
            }
        }
    }

    Draw draw_;
    std::vector<Tensor> pool_;
    std::vector<bool> used_;
};

}  // namespace weft
