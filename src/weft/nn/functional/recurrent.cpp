#include "weft/nn/functional/recurrent.h"

#include <utility>

#include "weft/autodiff/loop.h"
#include "weft/nn/functional/common.h"
#include "weft/nn/functional/dropout.h"
#include "weft/nn/functional/linear.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/join.h"
#include "weft/ops/random.h"

namespace weft::nn::functional {
namespace {

// Columns `i` of `count` equal parts of the last axis.
Tensor part(const Tensor& x, std::int64_t i, std::int64_t count) {
    Shape start(x.ndim(), Size(0)), length = x.shape();
    length.back() = length.back() / count;
    start.back() = length.back() * i;
    return slice(x, start, length);
}

// The state after a step, from what the input makes of the gates.
RecurrentState step(Recurrence kind, const Tensor& of_input, const RecurrentState& before, const RecurrentWeights& w) {
    Tensor of_state = linear(before.h, w.w_hh, w.b_hh);
    if (kind == Recurrence::rnn_tanh) return {tanh(of_input + of_state), {}};
    if (kind == Recurrence::rnn_relu) return {relu(of_input + of_state), {}};
    if (kind == Recurrence::gru) {
        Tensor reset = sigmoid(part(of_input, 0, 3) + part(of_state, 0, 3));
        Tensor update = sigmoid(part(of_input, 1, 3) + part(of_state, 1, 3));
        Tensor fresh = tanh(part(of_input, 2, 3) + reset * part(of_state, 2, 3));
        return {(1 - update) * fresh + update * before.h, {}};
    }
    Tensor gates = of_input + of_state;
    Tensor c = sigmoid(part(gates, 1, 4)) * before.c + sigmoid(part(gates, 0, 4)) * tanh(part(gates, 2, 4));
    Tensor h = sigmoid(part(gates, 3, 4)) * tanh(c);
    return {w.w_hr ? linear(h, w.w_hr) : h, c};
}

void check_weights(const Operand& x, Recurrence kind, Size in, const RecurrentWeights& w) {
    std::int64_t gates = gates_of(kind);
    bool fits =
        w.w_ih && w.w_hh && w.w_ih.ndim() == 2 && w.w_hh.ndim() == 2 && may_equal(w.w_ih.shape()[0], w.w_hh.shape()[0]);
    Size hidden = fits ? w.w_hh.shape()[0] / gates : Size(0);
    Size shown = w.w_hr ? w.w_hr.shape()[0] : hidden;
    if (!fits || !may_equal(hidden * gates, w.w_hh.shape()[0]) || !may_equal(w.w_hh.shape()[1], shown))
        refuse_shape(x, "recurrent: weights must be (gates * hidden, in) and (gates * hidden, hidden)");
    if (!may_equal(in, w.w_ih.shape()[1]))
        refuse_shape(x, text("recurrent: the input has ", in, " features, the weight of shape ", w.w_ih.shape(),
                             " takes ", w.w_ih.shape()[1]));
}

// Where a sequence has not ended, the state after the step, else the one before.
RecurrentState held(const Tensor& running, const RecurrentState& after, const RecurrentState& before) {
    if (!running) return after;
    return {where(running, after.h, before.h), after.c ? where(running, after.c, before.c) : Tensor()};
}

struct Direction {
    Tensor output;  // (T, N, hidden)
    RecurrentState last;
};
Direction run(const RecurrentOptions& options, const Tensor& x, const RecurrentState& begin, RecurrentWeights w,
              bool backward) {
    // Both biases are added at once, for all steps, where no gate comes between them: so their derivative is one sum.
    if (options.kind != Recurrence::gru && w.b_ih && w.b_hh) w.b_ih = w.b_ih + std::exchange(w.b_hh, {});
    Tensor of_inputs = linear(x, w.w_ih, w.b_ih);
    auto state_of = [](std::span<const Tensor> carry) {
        return RecurrentState{carry[0], carry.size() > 1 ? carry[1] : Tensor()};
    };
    auto carried = [](const RecurrentState& state) {
        std::vector<Tensor> carry{state.h};
        if (state.c) carry.push_back(state.c);
        return carry;
    };
    std::vector<Tensor> xs{of_inputs};
    if (options.lengths) xs.push_back(iota(x.shape()[0]));
    Scanned found = scan(
        [&](std::span<const Tensor> carry, std::span<const Tensor> now) -> ScanStep {
            RecurrentState before = state_of(carry);
            Tensor running = options.lengths ? expand_dims(options.lengths > now[1], -1) : Tensor();
            RecurrentState after = held(running, step(options.kind, now[0], before, w), before);
            return {carried(after), {running ? where(running, after.h, 0) : after.h}};
        },
        carried(begin), xs, {.reverse = backward});
    return {found.ys[0], state_of(found.carry)};
}

// State `i` of (layers * directions, N, hidden), or zeros.
Tensor state_at(const Operand& x, const Tensor& states, std::int64_t i, Size batch, Size hidden, std::size_t count,
                DType dtype) {
    if (!states) return zeros({batch, hidden}, dtype);
    if (states.ndim() != 3 || !may_equal(states.shape()[0], Size(count)) || !may_equal(states.shape()[1], batch) ||
        !may_equal(states.shape()[2], hidden))
        refuse_shape(x, text("recurrent: the state has shape ", states.shape(), ", but must be (", count, ", ", batch,
                             ", ", hidden, ')'));
    return squeeze(slice(states, {i, 0, 0}, {1, batch, hidden}), {0});
}

}  // namespace

std::int64_t gates_of(Recurrence kind) { return kind == Recurrence::lstm ? 4 : kind == Recurrence::gru ? 3 : 1; }

Recurrence recurrence_named(std::string_view name) {
    if (name == "RNN_TANH") return Recurrence::rnn_tanh;
    if (name == "RNN_RELU") return Recurrence::rnn_relu;
    if (name == "LSTM") return Recurrence::lstm;
    if (name == "GRU") return Recurrence::gru;
    throw ValueError(text("recurrent: the kind is RNN_TANH, RNN_RELU, LSTM or GRU, not '", name, "'"));
}

RecurrentState recurrent_cell(Recurrence kind, const Operand& x, const RecurrentState& state,
                              const RecurrentWeights& weights) {
    LineScope line(x.where);
    Tensor input = floating(x);
    if (input.ndim() != 1 && input.ndim() != 2)
        refuse_shape(x, text("recurrent cell: the input has shape ", input.shape(), ", but must be (N, in) or (in)"));
    check_weights(x, kind, input.shape().back(), weights);
    Shape shape = input.shape();
    shape.back() = weights.w_hh.shape()[1];
    RecurrentState before = state;
    if (!before.h) before.h = zeros(shape, input.dtype());
    if (!before.c && kind == Recurrence::lstm) before.c = zeros(shape, input.dtype());
    for (const Tensor& given : {before.h, before.c}) {
        if (given && given.shape() != shape)
            refuse_shape(x, text("recurrent cell: the state has shape ", given.shape(), ", but must be ", shape));
    }
    return step(kind, linear(input, weights.w_ih, weights.b_ih), before, weights);
}

RecurrentResult recurrent(const Operand& x, const RecurrentState& state, const std::vector<RecurrentWeights>& weights,
                          const RecurrentOptions& options) {
    LineScope line(x.where);
    Tensor input = floating(x);
    if (input.ndim() != 2 && input.ndim() != 3)
        refuse_shape(x, text("recurrent: the input has shape ", input.shape(), ", but must be (T, N, in) or (T, in)"));
    bool single = input.ndim() == 2;
    RecurrentState first = state;
    if (single) {
        input = expand_dims(input, 1);
        if (first.h) first.h = expand_dims(first.h, 1);
        if (first.c) first.c = expand_dims(first.c, 1);
    } else if (options.batch_first) {
        input = swapaxes(input, 0, 1);
    }
    if (input.shape()[0] == Size(0)) refuse_shape(x, "recurrent: the input has no steps");
    std::size_t directions = options.bidirectional ? 2 : 1, layers = weights.size() / directions;
    Tensor keys = options.key ? random::split(options.key, static_cast<std::int64_t>(std::max<std::size_t>(layers, 1)))
                              : Tensor();
    std::vector<Tensor> last_h, last_c;
    for (std::size_t layer = 0; layer < layers; ++layer) {
        if (layer > 0 && options.dropout > 0 && options.training) {
            auto i = static_cast<std::int64_t>(layer);
            Tensor key = keys ? reshape(slice(keys, {i, 0}, {1, 2}), {2}) : Tensor();
            input = dropout(input, options.dropout, true, key);
        }
        std::vector<Tensor> outputs;
        for (std::size_t direction = 0; direction < directions; ++direction) {
            std::size_t k = layer * directions + direction;
            const RecurrentWeights& w = weights[k];
            check_weights(x, options.kind, input.shape()[2], w);
            auto at_k = [&](const Tensor& states, Size hidden) {
                return state_at(x, states, static_cast<std::int64_t>(k), input.shape()[1], hidden, weights.size(),
                                input.dtype());
            };
            bool is_lstm = options.kind == Recurrence::lstm;
            RecurrentState begin{at_k(first.h, w.w_hh.shape()[1]),
                                 is_lstm ? at_k(first.c, w.w_hh.shape()[0] / 4) : Tensor()};
            Direction found = run(options, input, begin, w, direction == 1);
            outputs.push_back(found.output), last_h.push_back(found.last.h);
            if (is_lstm) last_c.push_back(found.last.c);
        }
        input = outputs.size() == 1 ? outputs[0] : concatenate(outputs, -1);
    }
    RecurrentResult result{input, {stack(last_h, 0), last_c.empty() ? Tensor() : stack(last_c, 0)}};
    if (single) {
        result.output = squeeze(result.output, {1}), result.last.h = squeeze(result.last.h, {1});
        if (result.last.c) result.last.c = squeeze(result.last.c, {1});
    } else if (options.batch_first) {
        result.output = swapaxes(result.output, 0, 1);
    }
    return result;
}

}  // namespace weft::nn::functional
