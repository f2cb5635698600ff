// The kernels that every system is asked for by itself: elementwise functions, their derivatives, an optimizer's update, reductions,
// running sums. The same formulas stand in bench/peer_kernels.py.
#include "weft/weft.h"
#include "workloads.h"

namespace weft::bench {
namespace {

using Tensors = std::vector<Tensor>;
using Inputs = std::span<const Tensor>;

Tensor mix(const Tensor& x, const Tensor& y) { return sigmoid(x) * exp(-y) + x * y; }

Tensor chain(const Tensor& x) {
    Tensor y = x;
    for (int i = 0; i < 100; ++i) y = (i % 3 == 0 ? y * x : i % 3 == 1 ? y + 0.5 : y - x * 0.25) * 0.99;
    return y;
}

Tensors adam(const Tensor& p, const Tensor& g, const Tensor& m0, const Tensor& v0) {
    Tensor m = m0 * 0.9 + g * 0.1, v = v0 * 0.999 + g * 0.001 * g;
    return {p - m * 0.001 / (sqrt(v) + 1e-8), m, v};
}

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias) {
    Tensor centred = x - mean(x, -1, true);
    return centred * rsqrt(mean(centred * centred, -1, true) + 1e-5) * weight + bias;
}

/// Arrays in the order of their names.
const std::map<std::string, CompiledFunction::Body>& bodies() {
    static const std::map<std::string, CompiledFunction::Body> all{
        {"gelu", [](Inputs a) { return Tensors{gelu_tanh(a[0])}; }},
        {"gelu_grad", [](Inputs a) { return Tensors{gradient(sum(gelu_tanh(a[0])), a[0])}; }},
        {"mix", [](Inputs a) { return Tensors{mix(a[0], a[1])}; }},
        {"mix_grad",
         [](Inputs a) {
             return gradient(sum(mix(a[0], a[1])), {a[0], a[1]});
         }},
        {"adam", [](Inputs a) { return adam(a[0], a[1], a[2], a[3]); }},
        {"chain", [](Inputs a) { return Tensors{chain(a[0])}; }},
        {"softmax", [](Inputs a) { return Tensors{softmax(a[0])}; }},
        {"logsumexp", [](Inputs a) { return Tensors{logsumexp(a[0], -1)}; }},
        {"argmax", [](Inputs a) { return Tensors{argmax(a[0], -1)}; }},
        {"layernorm", [](Inputs a) { return Tensors{layer_norm(a[0], a[1], a[2])}; }},
        {"layernorm_grad",
         [](Inputs a) {
             return gradient(sum(layer_norm(a[0], a[1], a[2]) * a[3]), {a[0], a[1], a[2]});
         }},
        {"sum0", [](Inputs a) { return Tensors{sum(a[0], 0)}; }},
        {"sum1", [](Inputs a) { return Tensors{sum(a[0], 1)}; }},
        {"sum2", [](Inputs a) { return Tensors{sum(a[0], 2)}; }},
        {"cumsum0", [](Inputs a) { return Tensors{cumulative_sum(a[0], 0)}; }},
        {"cumsum1", [](Inputs a) { return Tensors{cumulative_sum(a[0], 1)}; }},
    };
    return all;
}

}  // namespace

std::optional<Workload> kernel_workload(const std::string& name, const Arrays& arrays) {
    auto found = bodies().find(name.substr(0, name.find('.')));
    if (found == bodies().end()) return std::nullopt;
    Tensors inputs;
    for (const auto& entry : arrays) inputs.emplace_back(entry.second);
    auto function = std::make_shared<CompiledFunction>(found->second, found->first);
    return Workload{name, [function, inputs, results = Tensors()]() mutable {
                        function->call(inputs, results);
                        return results[0];
                    }};
}

}  // namespace weft::bench
