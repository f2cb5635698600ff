// A network made of a file's layers, for pictures of 784 numbers, and what a batch costs it. Callers: tests/train.
#pragma once

#include "weft/train/config.h"
#include "weft/train/dry_run.h"
#include "weft/train/measure.h"

namespace weft::train {

class Model {
  public:
    Model(const std::string& layers, const std::string& cost = "\"cross_entropy\"", const char* prepare = "\"flatten\"",
          const char* optimizer = "\"sgd\"", int size = 10)
        : experiment_(
              parse_config(text(R"({"data": {"train": {"digits": {"size": )", size, R"(}}, "prepare": [)", prepare,
                                R"(]}, "optimizer": )", optimizer, R"(, "model": )", layers, ", \"cost\": ", cost, "}"),
                           "f.json")),
          network(make_network(experiment_.phases[0], *sample_of(experiment_.phases[0]))) {}
    Tensor cell(const std::string& name) const { return parameter(name).value(); }
    Parameter parameter(const std::string& name) const {
        for (const nn::NamedParameter& one : nn::named(network.model))
            if (one.name == name) return one.parameter;
        throw ValueError("no parameter " + name);
    }
    const Phase& phase() const { return experiment_.phases[0]; }
    Measured measured(const Tensor& x) const {
        Tensor labels(Array::zeros(DType::int64, {x.shape()[0].value()}));
        std::vector<Parameter> parameters = nn::parameters(network.model);
        return measure(cost_terms(experiment_.phases[0]), network.model, x, labels, parameters);
    }

  private:
    Experiment experiment_;

  public:
    Network network;
};

inline Tensor pictures(std::int64_t count = 3) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < count * 784; ++i) values.push_back(static_cast<float>((i * 37) % 101) / 101);
    return Tensor::of(values, {count, 784});
}

}  // namespace weft::train
