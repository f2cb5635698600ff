#include "workloads.h"

#include <random>

#include "networks.h"

namespace weft::bench {
namespace {

Tensor at(const Arrays& arrays, const std::string& name) {
    auto found = arrays.find(name);
    if (found == arrays.end()) throw ValueError(text("the workload needs the array '", name, "'"));
    return Tensor(found->second);
}

// Layers with the given weights ("0.weight", "0.bias", "1.weight", ...), relu (or tanh) between them.
struct Dense {
    std::vector<nn::Linear> layers;
    bool tanh = false;

    Dense(const Arrays& arrays, std::vector<std::int64_t> widths, bool tanh) : tanh(tanh) {
        for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
            layers.emplace_back(widths[i], widths[i + 1]);
            layers.back().weight.set(at(arrays, text("w", i)));
            layers.back().bias->set(at(arrays, text("b", i)));
        }
    }
    Tensor operator()(const Tensor& x) const {
        Tensor h = x;
        for (std::size_t i = 0; i < layers.size(); ++i) {
            h = layers[i](h);
            if (i + 1 < layers.size()) h = tanh ? weft::tanh(h) : relu(h);
        }
        return h;
    }
    template <class V>
    void members(V& visit) {
        visit("layers", layers);
    }
};

// A training step on one batch, again and again; the result is the loss.
template <class Model, class Optimizer>
Workload training(std::string name, const Arrays& arrays, std::shared_ptr<Model> model,
                  std::shared_ptr<Optimizer> optimizer) {
    auto step = train_step(*model, *optimizer, [](const Model& net, const Tensor& x, const Tensor& y) {
        return nn::cross_entropy(net(x), y);
    });
    return {std::move(name),
            [step, model, optimizer, x = at(arrays, "x"), y = at(arrays, "y")]() mutable { return step(x, y); }};
}

std::shared_ptr<ConvNet> convnet(const Arrays& arrays) {
    auto net = std::make_shared<ConvNet>();
    auto load = [&](auto& layer, int i) {
        layer.weight.set(at(arrays, text("w", i)));
        layer.bias->set(at(arrays, text("b", i)));
    };
    load(net->first, 0), load(net->second, 1), load(net->third, 2), load(net->fourth, 3);
    return net;
}

Workload mix(const Arrays& arrays) {
    auto f = compile([](const Tensor& x, const Tensor& y) { return sigmoid(x) * exp(-y) + x * y; });
    return {"mix", [f, x = at(arrays, "x"), y = at(arrays, "y")]() mutable { return f(x, y); }};
}

Workload gemm(const Arrays& arrays) {
    auto f = compile([](const Tensor& a, const Tensor& b) { return matmul(a, b); });
    return {"gemm", [f, a = at(arrays, "a"), b = at(arrays, "b")]() mutable { return f(a, b); }};
}

}  // namespace

std::vector<std::string> workload_names() { return {"mlp", "convnet", "tiny", "mix1k", "mix100k", "gemm"}; }

Workload make_workload(const std::string& name, const Arrays& arrays) {
    if (name == "mlp") {
        auto model = std::make_shared<Dense>(arrays, std::vector<std::int64_t>{784, 1024, 1024, 10}, false);
        return training(name, arrays, model,
                        std::make_shared<optim::SGD>(optim::SGDOptions{.lr = 0.01, .momentum = 0.9}));
    }
    if (name == "tiny") {
        auto model = std::make_shared<Dense>(arrays, std::vector<std::int64_t>{4, 8, 2}, true);
        return training(name, arrays, model, std::make_shared<optim::Adam>(optim::AdamOptions{.lr = 1e-3}));
    }
    if (name == "convnet") {
        auto model = convnet(arrays);
        return training(name, arrays, model,
                        std::make_shared<optim::SGD>(optim::SGDOptions{.lr = 0.01, .momentum = 0.9}));
    }
    if (name.starts_with("mix")) return mix(arrays);
    if (name == "gemm") return gemm(arrays);
    throw ValueError(text("there is no workload '", name, "'"));
}

Arrays default_arrays(const std::string& name) {
    std::mt19937 generator(1);
    Arrays arrays;
    auto normal = [&](const std::string& key, const Dims& dims, float scale) {
        std::normal_distribution<float> draw(0, scale);
        std::vector<float> values(static_cast<std::size_t>(element_count(dims)));
        for (float& v : values) v = draw(generator);
        arrays[key] = Array::from(values, dims);
    };
    auto dense = [&](const std::vector<std::int64_t>& widths, int first) {
        for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
            normal(text("w", first + static_cast<int>(i)), {widths[i + 1], widths[i]},
                   1 / std::sqrt(static_cast<float>(widths[i])));
            normal(text("b", first + static_cast<int>(i)), {widths[i + 1]}, 0.01f);
        }
    };
    auto labels = [&](std::int64_t count, std::int64_t classes) {
        std::vector<std::int64_t> values;
        for (std::int64_t i = 0; i < count; ++i) values.push_back(i * 7 % classes);
        arrays["y"] = Array::from(values, {count});
    };
    if (name == "mlp") dense({784, 1024, 1024, 10}, 0), normal("x", {128, 784}, 1), labels(128, 10);
    if (name == "tiny") dense({4, 8, 2}, 0), normal("x", {8, 4}, 1), labels(8, 2);
    if (name == "convnet") {
        normal("w0", {32, 1, 5, 5}, 0.2f), normal("b0", {32}, 0.01f), normal("w1", {64, 32, 5, 5}, 0.035f),
            normal("b1", {64}, 0.01f);
        dense({7 * 7 * 64, 512, 10}, 2), normal("x", {64, 1, 28, 28}, 1), labels(64, 10);
    }
    if (name == "mix1k") normal("x", {1000}, 1), normal("y", {1000}, 1);
    if (name == "mix100k") normal("x", {100000}, 1), normal("y", {100000}, 1);
    if (name == "gemm") normal("a", {128, 784}, 1), normal("b", {784, 1024}, 1);
    return arrays;
}

}  // namespace weft::bench
