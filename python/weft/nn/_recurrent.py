"""Recurrent cells and layers, with PyTorch's weights (weight_ih_l0, weight_hh_l0_reverse, ...) and gates. Layers are loops (wf.scan), small
programs for any number of steps."""
import math

from .. import _core
from ._layers import keys_of, uniform, whole
from ._module import Module
from .utils.rnn import PackedSequence, pack_padded_sequence, pad_sorted

__all__ = ["GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNBase", "RNNCell", "RNNCellBase"]

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def _mode(nonlinearity):
    if nonlinearity not in ("tanh", "relu"):
        raise ValueError(f"the nonlinearity is 'tanh' or 'relu', not {nonlinearity!r}")
    return "RNN_" + nonlinearity.upper()


class RNNBase(Module):
    """What recurrent layers hold. `mode`: RNN_TANH, RNN_RELU, LSTM, GRU."""

    def __init__(self, mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False,
                 proj_size=0, device=None, dtype=None, *, key=None):
        super().__init__()
        input_size, hidden_size, num_layers, proj_size = whole(input_size, hidden_size, num_layers, proj_size)
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout, self.bidirectional, self.proj_size = bias, batch_first, dropout, bidirectional, proj_size
        name = type(self).__name__
        if mode not in _GATES:
            raise ValueError(f"{name}: the mode is one of {', '.join(_GATES)}, not {mode!r}")
        if not 0 <= dropout <= 1:
            raise ValueError(f"{name}: dropout is {dropout}; it is a probability, between 0 and 1")
        if hidden_size <= 0 or num_layers <= 0:
            raise ValueError(f"{name}: hidden_size, {hidden_size}, and num_layers, {num_layers}, must be above 0")
        if proj_size < 0 or proj_size >= hidden_size or (proj_size and mode != "LSTM"):
            raise ValueError(f"{name}: proj_size is {proj_size}; it is for an LSTM, and below hidden_size")
        self._names = []
        shapes = dict(self._shapes())
        for (weight, shape), each in zip(shapes.items(), keys_of(key, len(shapes))):
            self.register_parameter(weight, uniform(shape, 1 / math.sqrt(hidden_size), each, device, dtype))
        object.__setattr__(self, "_names", tuple(shapes))

    def _shapes(self):
        """(name, shape) of the weights, in PyTorch's order."""
        gates, shown = _GATES[self.mode] * self.hidden_size, self.proj_size or self.hidden_size
        directions = ("", "_reverse") if self.bidirectional else ("",)
        for layer in range(self.num_layers):
            wide = self.input_size if layer == 0 else shown * len(directions)
            for direction in directions:
                end = f"_l{layer}{direction}"
                yield "weight_ih" + end, (gates, wide)
                yield "weight_hh" + end, (gates, shown)
                if self.bias:
                    yield "bias_ih" + end, (gates,)
                    yield "bias_hh" + end, (gates,)
                if self.proj_size:
                    yield "weight_hr" + end, (shown, self.hidden_size)

    @property
    def all_weights(self):
        """The weights, a list for each layer and direction."""
        weights = [getattr(self, name) for name in self._names]
        each = len(weights) // (self.num_layers * (2 if self.bidirectional else 1))
        return [weights[i:i + each] for i in range(0, len(weights), each)]

    def _run(self, input, h, c, batch_first, lengths, key):
        weights = [getattr(self, name) for name in self._names]
        return _core.nn.recurrent(self.mode, input, h, c, weights, self.bias, self.proj_size > 0, self.bidirectional, batch_first,
                                  self.dropout, self.training, lengths, key)

    def forward(self, input, hx=None, *, key=None):
        """(output, last state). input: (T, N, in), (N, T, in) with batch_first, (T, in), or a PackedSequence. `key`: for dropout."""
        h, c = (hx if hx is not None else (None, None)) if self.mode == "LSTM" else (hx, None)
        if not isinstance(input, PackedSequence):
            output, h, c = self._run(input, h, c, self.batch_first, None, key)
            return output, (h, c) if self.mode == "LSTM" else h
        padded, lengths = pad_sorted(input)

        def ordered(state, order):
            return state if state is None or order is None else _core.take(state, order, 1)
        h, c = ordered(h, input.sorted_indices), ordered(c, input.sorted_indices)
        output, h, c = self._run(padded, h, c, False, _core.asarray(lengths, _core.int64, None), key)
        packed = pack_padded_sequence(output, lengths)._replace(sorted_indices=input.sorted_indices,
                                                                unsorted_indices=input.unsorted_indices)
        h, c = ordered(h, input.unsorted_indices), ordered(c, input.unsorted_indices)
        return packed, (h, c) if self.mode == "LSTM" else h

    def extra_repr(self):
        usual = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0, "bidirectional": False}
        more = "".join(f", {name}={getattr(self, name)!r}" for name, value in usual.items() if getattr(self, name) != value)
        return f"{self.input_size}, {self.hidden_size}{more}"


class RNN(RNNBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or with nonlinearity="relu" its relu.

    >>> layer = wf.nn.RNN(4, 3, batch_first=True)
    >>> output, h = layer(wf.ones((5, 7, 4)))
    >>> output.shape, h.shape
    ((5, 7, 3), (1, 5, 3))
    """

    def __init__(self, input_size, hidden_size, num_layers=1, nonlinearity="tanh", bias=True, batch_first=False, dropout=0.0,
                 bidirectional=False, device=None, dtype=None, *, key=None):
        super().__init__(_mode(nonlinearity), input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0, device,
                         dtype, key=key)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Long short-term memory: (output, (h, c)). Gates i, f, g, o.

    >>> layer = wf.nn.LSTM(4, 3, num_layers=2, batch_first=True)
    >>> output, (h, c) = layer(wf.ones((5, 7, 4)))
    >>> output.shape, h.shape, c.shape
    ((5, 7, 3), (2, 5, 3), (2, 5, 3))
    >>> wf.allclose(output[:, -1], h[-1])
    True
    """

    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False, proj_size=0,
                 device=None, dtype=None, *, key=None):
        super().__init__("LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size, device, dtype,
                         key=key)


class GRU(RNNBase):
    """Gated recurrent unit: (output, h). Gates r, z, n.

    >>> layer = wf.nn.GRU(4, 3, bidirectional=True)
    >>> output, h = layer(wf.ones((7, 5, 4)))
    >>> output.shape, h.shape
    ((7, 5, 6), (2, 5, 3))
    """

    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False, device=None,
                 dtype=None, *, key=None):
        super().__init__("GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0, device, dtype, key=key)


class RNNCellBase(Module):
    """What cells hold: weight_ih (chunks * hidden, in), weight_hh (chunks * hidden, hidden), biases."""

    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None, *, key=None):
        super().__init__()
        input_size, hidden_size = whole(input_size, hidden_size)
        if hidden_size <= 0:
            raise ValueError(f"{type(self).__name__}: hidden_size is {hidden_size}; it must be above 0")
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        keys, bound, rows = keys_of(key, 4), 1 / math.sqrt(hidden_size), num_chunks * hidden_size
        self.weight_ih = uniform((rows, input_size), bound, keys[0], device, dtype)
        self.weight_hh = uniform((rows, hidden_size), bound, keys[1], device, dtype)
        self.register_parameter("bias_ih", uniform((rows,), bound, keys[2], device, dtype) if bias else None)
        self.register_parameter("bias_hh", uniform((rows,), bound, keys[3], device, dtype) if bias else None)

    def _step(self, mode, input, h, c=None):
        return _core.nn.recurrent_cell(mode, input, h, c, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)

    def extra_repr(self):
        usual = {"bias": True, "nonlinearity": "tanh"}
        more = "".join(f", {name}={getattr(self, name)!r}" for name, value in usual.items() if getattr(self, name, value) != value)
        return f"{self.input_size}, {self.hidden_size}{more}"


class RNNCell(RNNCellBase):
    """One step of an RNN: h' of input (N, in) or (in)."""

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None, *, key=None):
        super().__init__(input_size, hidden_size, bias, 1, device, dtype, key=key)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        return self._step(_mode(self.nonlinearity), input, hx)[0]


class LSTMCell(RNNCellBase):
    """One step of an LSTM: (h', c')."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None, *, key=None):
        super().__init__(input_size, hidden_size, bias, 4, device, dtype, key=key)

    def forward(self, input, hx=None):
        h, c = hx if hx is not None else (None, None)
        return self._step("LSTM", input, h, c)


class GRUCell(RNNCellBase):
    """One step of a GRU: h'."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None, *, key=None):
        super().__init__(input_size, hidden_size, bias, 3, device, dtype, key=key)

    def forward(self, input, hx=None):
        return self._step("GRU", input, hx)[0]
