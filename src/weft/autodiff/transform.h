// Functions of functions: derivatives of C++ callables that take and return Tensors. Each argument enters the callable as a fresh
// leaf, so what is differentiated is exactly what the callable does with it. They nest: grad(grad(f)) is the second derivative.
// Callers: users.
#pragma once

#include <array>
#include <utility>

#include "weft/autodiff/derivative.h"
#include "weft/graph/node.h"

namespace weft {

/// The same numbers as a new leaf-like node of the graph: derivatives are taken with respect to it and stop there.
Tensor fresh(const Tensor& x);

/// (x, ...) -> (f(x, ...), d f / d x_argnum). f returns a 0-d floating Tensor.
template <class F>
auto value_and_grad(F f, std::size_t argnum = 0) {
    return [f = std::move(f), argnum](const auto&... arguments) -> std::pair<Tensor, Tensor> {
        KeepPending keep;
        std::array<Tensor, sizeof...(arguments)> xs{fresh(Operand(arguments).as_tensor())...};
        Tensor value = std::apply(f, xs);
        if (argnum >= xs.size())
            throw ValueError(text("grad: argnum ", argnum, " of a function of ", xs.size(), " arguments"));
        return {value, gradient(value, xs[argnum])};
    };
}

/// x, ... -> d f / d x_argnum.
template <class F>
auto grad(F f, std::size_t argnum = 0) {
    return [both = value_and_grad(std::move(f), argnum)](const auto&... arguments) -> Tensor {
        return both(arguments...).second;
    };
}

/// (f(x), the function from a cotangent of f(x) to that of x).
template <class F>
auto vjp(F f, const Operand& x) {
    KeepPending keep;
    Tensor at = fresh(x.as_tensor());
    Tensor value = f(at);
    auto pull = [at, value](const Tensor& cotangent) { return detail::pull_one(value, cotangent, at); };
    // The caller gets a node of its own, so that asking it for its value leaves `value` with its inputs.
    return std::pair<Tensor, decltype(pull)>(fresh(value), pull);
}

/// (f(x), the derivative of f at x in direction t).
template <class F>
std::pair<Tensor, Tensor> jvp(F f, const Operand& x, const Operand& t) {
    KeepPending keep;
    Tensor at = fresh(x.as_tensor());
    Tensor value = f(at);
    return {value, detail::push_one(value, at, t.as_tensor())};
}

}  // namespace weft
