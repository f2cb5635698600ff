// Recurrent layers: Elman's (1990), LSTM (Hochreiter & Schmidhuber, 1997), GRU (Cho et al., 2014). Names, defaults, first values, gates and
// weights are PyTorch's: weight_ih_l0 (gates * hidden, in), weight_hh_l0 (gates * hidden, hidden), both biases, for each layer and direction.
// A layer is a loop (functional/recurrent.h): one program for any number of steps.
// Callers: users' models, train/.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/graph/parameter.h"
#include "weft/nn/functional/recurrent.h"

namespace weft::nn {

struct RecurrentLayerOptions {
    std::int64_t num_layers = 1;
    bool bias = true;
    bool batch_first = false;  ///< x and the output are (N, T, ...), else (T, N, ...)
    double dropout = 0;        ///< behind every layer but the last, while training
    bool bidirectional = false;
    std::int64_t proj_size = 0;  ///< of an LSTM alone: its h has so many numbers (Sak et al., 2014); 0: hidden_size
    std::string_view nonlinearity = "tanh";  ///< of an RNN alone: or "relu"
    Tensor key = {};                         ///< of the first values; empty: the global generator's next
    DType dtype = DType::float32;
};

/// What recurrent layers hold. layer(x, {h, c}) gives {output, {h, c}}: x (T, N, in), (N, T, in) with batch_first, or (T, in); output the
/// same with directions * hidden features; states (layers * directions, N, hidden), zeros where none is given, c an LSTM's alone.
/// ShapeError names both shapes; ValueError for options that make no layer. First values are uniform within +-1/sqrt(hidden_size).
class RNNBase {
  public:
    functional::RecurrentResult operator()(const Operand& x, const functional::RecurrentState& state = {}) const;

    functional::Recurrence kind() const { return kind_; }
    bool bidirectional() const { return bidirectional_; }
    /// The shapes of h, and of an LSTM's c, for a batch of N.
    Shape shape_of_h(Size batch) const { return {layers_ * directions(), batch, projected_ ? projected_ : hidden_}; }
    Shape shape_of_c(Size batch) const { return {layers_ * directions(), batch, hidden_}; }

    template <class V>
    void members(V& visit) {
        visit("input_size", in_), visit("hidden_size", hidden_), visit("num_layers", layers_);
        for (auto& [name, weight] : weights_) visit(name, weight);
    }

  protected:
    RNNBase(functional::Recurrence kind, std::string_view name, std::int64_t input_size, std::int64_t hidden_size,
            const RecurrentLayerOptions& options);

  private:
    std::int64_t directions() const { return bidirectional_ ? 2 : 1; }
    void check(const RecurrentLayerOptions& options) const;
    std::vector<std::pair<std::string, Dims>> shapes() const;

    functional::Recurrence kind_;
    std::string_view name_;
    std::int64_t in_, hidden_, layers_, projected_;
    bool bias_, batch_first_, bidirectional_;
    double dropout_;
    std::vector<std::pair<std::string, Parameter>> weights_;  // in PyTorch's order
};

/// h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu of it.
class RNN : public RNNBase {
  public:
    RNN(std::int64_t input_size, std::int64_t hidden_size, const RecurrentLayerOptions& options = {});
};

/// i, f, o = sigmoid, g = tanh of W_ih x + b_ih + W_hh h + b_hh (rows in the order i f g o); c' = f c + i g; h' = o tanh(c').
class LSTM : public RNNBase {
  public:
    LSTM(std::int64_t input_size, std::int64_t hidden_size, const RecurrentLayerOptions& options = {});
};

/// r, z = sigmoid of W_ih x + b_ih + W_hh h + b_hh; n = tanh(W_in x + b_in + r (W_hn h + b_hn)) (rows r z n); h' = (1 - z) n + z h.
class GRU : public RNNBase {
  public:
    GRU(std::int64_t input_size, std::int64_t hidden_size, const RecurrentLayerOptions& options = {});
};

struct CellOptions {
    bool bias = true;
    std::string_view nonlinearity = "tanh";  ///< of an RNNCell alone: or "relu"
    Tensor key = {};
    DType dtype = DType::float32;
};

/// What cells hold: one step of a layer, cell(x, {h, c}) gives {h', c'}. x (N, in) or (in); states (N, hidden) or (hidden), zeros where none
/// is given. weight_ih (gates * hidden, in), weight_hh (gates * hidden, hidden), both biases.
class RNNCellBase {
  public:
    functional::RecurrentState operator()(const Operand& x, const functional::RecurrentState& state = {}) const;

    Parameter weight_ih, weight_hh;
    std::optional<Parameter> bias_ih, bias_hh;

    template <class V>
    void members(V& visit) {
        visit("weight_ih", weight_ih), visit("weight_hh", weight_hh);
        visit("bias_ih", bias_ih), visit("bias_hh", bias_hh);
    }

  protected:
    RNNCellBase(functional::Recurrence kind, std::string_view name, std::int64_t input_size, std::int64_t hidden_size,
                const CellOptions& options);

  private:
    functional::Recurrence kind_;
    std::string_view name_;
};
struct RNNCell : RNNCellBase {
    RNNCell(std::int64_t input_size, std::int64_t hidden_size, const CellOptions& options = {});
};
struct LSTMCell : RNNCellBase {
    LSTMCell(std::int64_t input_size, std::int64_t hidden_size, const CellOptions& options = {});
};
struct GRUCell : RNNCellBase {
    GRUCell(std::int64_t input_size, std::int64_t hidden_size, const CellOptions& options = {});
};

}  // namespace weft::nn
