// Programs made at random from a seed, on float32 numbers that are small integers: every sum of them is exact in any order, so that
// whatever runs a program must give the same bits. Callers: tests/compile, tests/runtime.
#pragma once

#include <vector>

#include "weft/check/draw.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/scan.h"
#include "weft/ops/scatter.h"
#include "weft/ops/view.h"

namespace weft {

/// Integers of [-4, 4].
inline Array small_integers(const Dims& dims, Draw& draw) {
    Array array = Array::empty(DType::float32, dims);
    for (std::int64_t i = 0; i < array.size(); ++i) array.data<float>()[i] = static_cast<float>(draw.below(9) - 4);
    return array;
}

class RandomProgram {
  public:
    explicit RandomProgram(std::uint64_t seed) : draw_(text("program ", seed)) {}

    /// `steps` operations on the inputs and on what came out of earlier ones; all of it, the inputs first.
    std::vector<Tensor> run(const std::vector<Tensor>& inputs, int steps) {
        pool_ = inputs;
        for (int i = 0; i < steps; ++i) {
            Tensor made = step();
            if (made && made.size().value() <= 4000) pool_.push_back(clip(made, -8, 8));
        }
        return pool_;
    }
    Draw& draw() { return draw_; }
    const Tensor& any() {
        return pool_[static_cast<std::size_t>(draw_.below(static_cast<std::int64_t>(pool_.size())))];
    }

  private:
    std::int64_t axis_of(const Tensor& x) { return draw_.below(static_cast<std::int64_t>(x.ndim())); }

    Tensor step() {
        const Tensor& x = any();
        switch (draw_.below(18)) {
            case 0:
                return -x;
            case 1:
                return abs(x);
            case 2:
                return x + static_cast<double>(draw_.below(5));
            case 3:
            case 4:
            case 5:
                return binary(x, any());
            case 6:
                return reduction(x);
            case 7:
                return x.T();
            case 8:
                return reshape(x, {-1});
            case 9:
                return x.ndim() ? flip(x, {axis_of(x)}) : x * 2;
            case 10:
                return x.ndim() ? part(x) : x - 1;
            case 11:
                return broadcast_to(x, widened(x.shape()));
            case 12:
                return x.ndim() ? concatenate({x, any_like(x)}, axis_of(x)) : relu(x);
            case 13:
                return x.ndim() ? padded(x) : sign(x);
            case 14:
            case 15:
            case 16:
                return gathered(x);
            default:
                return x.ndim() == 2 ? matmul(x, x.T()) : where(x > 0, x, any_like(x));
        }
    }
    Tensor any_like(const Tensor& x) {
        for (int i = 0; i < 4; ++i) {
            const Tensor& y = any();
            if (y.shape() == x.shape()) return y;
        }
        return x;
    }
    Tensor binary(const Tensor& x, const Tensor& y) {
        const Tensor& b = broadcast(x.shape(), y.shape()) ? y : x;
        switch (draw_.below(5)) {
            case 0:
                return x - b;
            case 1:
                return x * b;
            case 2:
                return maximum(x, b);
            case 3:
                return where(x < b, x, b);
            default:
                return x + b;
        }
    }
    Tensor reduction(const Tensor& x) {
        bool keep = draw_.below(2);
        Axes axes;
        for (std::size_t i = 0; i < x.ndim(); ++i)
            if (draw_.below(2)) axes.push_back(static_cast<std::int64_t>(i));
        bool empty = x.size() == Size(0);
        switch (draw_.below(4)) {
            case 0:
                return empty ? sum(x, axes, keep) : max(x, axes, keep);
            case 1:
                return empty ? sum(x, axes, keep) : min(x, axes, keep);
            case 2:
                return x.ndim() ? cumulative_sum(x, axis_of(x)) : x;
            default:
                return sum(x, axes, keep);
        }
    }
    Tensor part(const Tensor& x) {
        Shape start, length;
        Dims step;
        for (Size size : x.shape()) {
            std::int64_t n = size.value(), first = n ? draw_.below(n) : 0, by = 1 + draw_.below(2);
            start.push_back(first), step.push_back(by);
            length.push_back(n == first ? 0 : 1 + draw_.below((n - first - 1) / by + 1));
        }
        return slice(x, start, length, step);
    }
    Shape widened(const Shape& shape) {
        Shape wide = shape;
        for (Size& size : wide)
            if (size == Size(1)) size = 1 + draw_.below(4);
        if (draw_.below(2)) wide.insert(0, 1 + draw_.below(3));
        return wide;
    }
    Tensor padded(const Tensor& x) {
        Dims before, after;
        for (std::size_t i = 0; i < x.ndim(); ++i) before.push_back(draw_.below(2)), after.push_back(draw_.below(3));
        return pad(x, before, after, 1);
    }
    Tensor gathered(const Tensor& x) {
        if (x.ndim() == 0) return x + 1;
        std::int64_t axis = axis_of(x), n = x.shape()[static_cast<std::size_t>(axis)].value();
        if (n == 0) return -x;
        auto indices = [&](const Dims& dims) {
            Tensor index(draw_.indices(draw_.below(3) ? DType::int64 : DType::int32, dims, n));
            return draw_.below(4) ? index : remainder(index + 1, n);  // computed, now and then
        };
        switch (draw_.below(6)) {
            case 0:
                return take(x, indices({2, 1 + draw_.below(3)}), axis);
            case 1:  // as much as there is, so that it meets others of its shape
                return take(x, indices({n}), axis);
            case 2: {
                Dims dims = x.dims();
                dims[static_cast<std::size_t>(axis)] = 1 + draw_.below(4);
                return take_along_axis(x, indices(dims), axis);
            }
            case 3:
                return scatter(x, indices({n}), any_like(x), axis, ScatterMode::add);
            default:
                return take(x, indices({1 + draw_.below(4)}), axis);
        }
    }

    Draw draw_;
    std::vector<Tensor> pool_;
};

}  // namespace weft
