#include "weft/nn/recurrent.h"

#include <cmath>

#include "weft/graph/node.h"
#include "weft/nn/given.h"
#include "weft/nn/initialize.h"
#include "weft/nn/keys.h"
#include "weft/nn/module.h"
#include "weft/nn/training.h"

namespace weft::nn {

using functional::Recurrence;

namespace {

Recurrence elman(std::string_view nonlinearity) {
    return nonlinearity == "relu" ? Recurrence::rnn_relu : Recurrence::rnn_tanh;
}
void check_nonlinearity(Recurrence kind, std::string_view name, std::string_view nonlinearity) {
    if (kind == Recurrence::rnn_relu || nonlinearity == "tanh") return;
    throw ValueError(text(name, ": the nonlinearity is '", nonlinearity, "'; it is for an RNN, and 'tanh' or 'relu'"));
}

}  // namespace

RNNBase::RNNBase(Recurrence kind, std::string_view name, std::int64_t input_size, std::int64_t hidden_size,
                 const RecurrentLayerOptions& options)
    : kind_(kind),
      name_(name),
      in_(input_size),
      hidden_(hidden_size),
      layers_(options.num_layers),
      projected_(options.proj_size),
      bias_(options.bias),
      batch_first_(options.batch_first),
      bidirectional_(options.bidirectional),
      dropout_(options.dropout) {
    check(options);
    std::vector<std::pair<std::string, Dims>> all = shapes();
    std::vector<Tensor> keys = keys_of(options.key, all.size());
    double bound = 1 / std::sqrt(static_cast<double>(hidden_));
    for (std::size_t i = 0; i < all.size(); ++i)
        weights_.emplace_back(all[i].first, init::uniform(all[i].second, -bound, bound, keys[i], options.dtype));
}

void RNNBase::check(const RecurrentLayerOptions& options) const {
    check_positive(name_, "input_size", in_);
    check_positive(name_, "hidden_size", hidden_);
    check_positive(name_, "num_layers", layers_);
    if (!(dropout_ >= 0 && dropout_ <= 1))
        throw ValueError(text(name_, ": dropout is ", dropout_, "; it is a probability, between 0 and 1"));
    if (projected_ < 0 || projected_ >= hidden_ || (projected_ && kind_ != Recurrence::lstm))
        throw ValueError(
            text(name_, ": proj_size is ", projected_, "; it is for an LSTM, and below hidden_size, ", hidden_));
    if (kind_ != Recurrence::rnn_relu && options.nonlinearity != "tanh")
        throw ValueError(
            text(name_, ": the nonlinearity is '", options.nonlinearity, "'; it is for an RNN, and 'tanh' or 'relu'"));
}

std::vector<std::pair<std::string, Dims>> RNNBase::shapes() const {
    std::int64_t gates = functional::gates_of(kind_) * hidden_, shown = projected_ ? projected_ : hidden_;
    std::vector<std::pair<std::string, Dims>> all;
    for (std::int64_t layer = 0; layer < layers_; ++layer) {
        std::int64_t in = layer == 0 ? in_ : shown * directions();
        for (std::int64_t direction = 0; direction < directions(); ++direction) {
            std::string end = text("_l", layer, direction ? "_reverse" : "");
            all.emplace_back("weight_ih" + end, Dims{gates, in});
            all.emplace_back("weight_hh" + end, Dims{gates, shown});
            if (bias_) all.emplace_back("bias_ih" + end, Dims{gates}), all.emplace_back("bias_hh" + end, Dims{gates});
            if (projected_) all.emplace_back("weight_hr" + end, Dims{shown, hidden_});
        }
    }
    return all;
}

functional::RecurrentResult RNNBase::operator()(const Operand& x, const functional::RecurrentState& state) const {
    LineScope line(x.where);
    ModuleScope scope(layer_name(weights_[0].second, name_));
    std::vector<functional::RecurrentWeights> weights;
    for (auto weight = weights_.begin(); weight != weights_.end();) {
        auto next = [&] { return (weight++)->second.value(); };
        functional::RecurrentWeights w{next(), next()};
        if (bias_) w.b_ih = next(), w.b_hh = next();
        if (projected_) w.w_hr = next();
        weights.push_back(std::move(w));
    }
    return functional::recurrent(x, state, weights,
                                 {.kind = kind_,
                                  .bidirectional = bidirectional_,
                                  .batch_first = batch_first_,
                                  .dropout = dropout_,
                                  .training = training(),
                                  .lengths = batch_first_ ? Given::lengths_for(x.as_tensor()) : Tensor()});
}

RNN::RNN(std::int64_t input_size, std::int64_t hidden_size, const RecurrentLayerOptions& options)
    : RNNBase(elman(options.nonlinearity), "RNN", input_size, hidden_size, options) {}
LSTM::LSTM(std::int64_t input_size, std::int64_t hidden_size, const RecurrentLayerOptions& options)
    : RNNBase(Recurrence::lstm, "LSTM", input_size, hidden_size, options) {}
GRU::GRU(std::int64_t input_size, std::int64_t hidden_size, const RecurrentLayerOptions& options)
    : RNNBase(Recurrence::gru, "GRU", input_size, hidden_size, options) {}

RNNCellBase::RNNCellBase(Recurrence kind, std::string_view name, std::int64_t input_size, std::int64_t hidden_size,
                         const CellOptions& options)
    : kind_(kind), name_(name) {
    check_positive(name_, "input_size", input_size);
    check_positive(name_, "hidden_size", hidden_size);
    check_nonlinearity(kind, name, options.nonlinearity);
    std::vector<Tensor> keys = keys_of(options.key, 4);
    double bound = 1 / std::sqrt(static_cast<double>(hidden_size));
    std::int64_t rows = functional::gates_of(kind) * hidden_size;
    auto drawn = [&](const Dims& shape, std::size_t i) {
        return Parameter(init::uniform(shape, -bound, bound, keys[i], options.dtype));
    };
    weight_ih = drawn({rows, input_size}, 0), weight_hh = drawn({rows, hidden_size}, 1);
    if (options.bias) bias_ih = drawn({rows}, 2), bias_hh = drawn({rows}, 3);
}

functional::RecurrentState RNNCellBase::operator()(const Operand& x, const functional::RecurrentState& state) const {
    LineScope line(x.where);
    ModuleScope scope(layer_name(weight_ih, name_));
    auto value = [](const std::optional<Parameter>& cell) { return cell ? cell->value() : Tensor(); };
    return functional::recurrent_cell(kind_, x, state,
                                      {weight_ih.value(), weight_hh.value(), value(bias_ih), value(bias_hh)});
}

RNNCell::RNNCell(std::int64_t input_size, std::int64_t hidden_size, const CellOptions& options)
    : RNNCellBase(elman(options.nonlinearity), "RNNCell", input_size, hidden_size, options) {}
LSTMCell::LSTMCell(std::int64_t input_size, std::int64_t hidden_size, const CellOptions& options)
    : RNNCellBase(Recurrence::lstm, "LSTMCell", input_size, hidden_size, options) {}
GRUCell::GRUCell(std::int64_t input_size, std::int64_t hidden_size, const CellOptions& options)
    : RNNCellBase(Recurrence::gru, "GRUCell", input_size, hidden_size, options) {}

}  // namespace weft::nn
