// Recurrent cells and layers: Elman (1990), LSTM (Hochreiter & Schmidhuber, 1997; projections: Sak et al., 2014), GRU (Cho et al., 2014),
// with PyTorch's weights, gates and layouts. A layer is a loop (autodiff/loop.h).
// Callers: nn/, the Python package.
#pragma once

#include <string_view>
#include <vector>

#include "weft/graph/tensor.h"

namespace weft::nn::functional {

enum class Recurrence : std::uint8_t { rnn_tanh, rnn_relu, lstm, gru };
/// "RNN_TANH", "RNN_RELU", "LSTM", "GRU"; ValueError for another name.
Recurrence recurrence_named(std::string_view name);
/// How many rows of weights a hidden unit has: 4 of an LSTM, 3 of a GRU, else 1.
std::int64_t gates_of(Recurrence kind);

struct RecurrentState {
    Tensor h, c;  ///< c: of an LSTM alone
};
/// Weights of one direction of one layer: w_ih (gates * hidden, in), w_hh (gates * hidden, hidden), biases, or none; w_hr (projection,
/// hidden), or none.
struct RecurrentWeights {
    Tensor w_ih, w_hh, b_ih = {}, b_hh = {}, w_hr = {};
};
/// One step: x (N, in) or (in), the state before of shape (N, hidden) or (hidden). Gates in PyTorch's order (LSTM: i, f, g, o; GRU: r, z, n).
RecurrentState recurrent_cell(Recurrence kind, const Operand& x, const RecurrentState& state,
                              const RecurrentWeights& weights);

struct RecurrentOptions {
    Recurrence kind = Recurrence::rnn_tanh;
    bool bidirectional = false, batch_first = false;
    double dropout = 0;  ///< behind every layer but the last, while training
    bool training = false;
    Tensor lengths = {};  ///< (N) integers: steps of each sequence; what follows is 0 and changes no state
    Tensor key = {};      ///< for dropout
};
struct RecurrentResult {
    Tensor output;  ///< (T, N, directions * hidden), or (N, T, ...) with batch_first
    RecurrentState last;
};
/// x (T, N, in), or (N, T, in), or (T, in). State: (layers * directions, N, hidden), or zeros where it is empty. Weights: layer by layer,
/// forward then backward.
RecurrentResult recurrent(const Operand& x, const RecurrentState& state, const std::vector<RecurrentWeights>& weights,
                          const RecurrentOptions& options);

}  // namespace weft::nn::functional
