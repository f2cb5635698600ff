"""Linear classifiers with their losses."""
import collections
import math

from .. import _core
from . import functional as F
from ._containers import ModuleList, Sequential
from ._layers import Linear, keys_of
from ._module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss", "LinearCrossEntropyLoss"]

AdaptiveResult = collections.namedtuple("AdaptiveResult", "output loss")


class LinearCrossEntropyLoss(Module):
    """cross_entropy of a linear map's logits. `options`, how PyTorch cuts the work, means nothing here."""

    def __init__(self, in_features, num_classes, *, out_features=(), bias=False, device=None, dtype=None, reduction="mean", weight=None,
                 ignore_index=None, label_smoothing=0.0, options=None, key=None):
        super().__init__()
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise ValueError(f"LinearCrossEntropyLoss: the weight has shape {weight.shape}, not {(num_classes,)}")
        if not 0 <= label_smoothing <= 1:
            raise ValueError(f"LinearCrossEntropyLoss: label_smoothing is {label_smoothing}; it must be between 0 and 1")
        self.register_buffer("weight", weight)
        self.num_classes, self.out_features, self.reduction = num_classes, tuple(out_features), reduction
        self.ignore_index, self.label_smoothing, self.options = ignore_index, label_smoothing, options
        self.linear = Linear(in_features, math.prod(out_features, start=num_classes), bias, device, dtype, key=key)

    def forward(self, input, target):
        classes = (self.num_classes, *self.out_features)
        weight = _core.reshape(self.linear.weight, (*classes, self.linear.in_features))
        bias = None if self.linear.bias is None else _core.reshape(self.linear.bias, classes)
        return F.linear_cross_entropy(input, weight, target, linear_bias=bias, weight=self.weight, reduction=self.reduction,
                                      ignore_index=self.ignore_index, label_smoothing=self.label_smoothing)

    def extra_repr(self):
        return (f"in_features={self.linear.in_features}, num_classes={self.num_classes}, out_features={self.out_features}, "
                f"bias={self.linear.bias is not None}, reduction={self.reduction}, ignore_index={self.ignore_index}, "
                f"label_smoothing={self.label_smoothing}, options={self.options}")


class AdaptiveLogSoftmaxWithLoss(Module):
    """A softmax over many classes, the commonest first: those below cutoffs[0] have logits of their own, the others share a logit a
    cluster, within which smaller maps tell them apart (Grave et al., 2017). All clusters are computed for every example."""

    def __init__(self, in_features, n_classes, cutoffs, div_value=4.0, head_bias=False, device=None, dtype=None, *, key=None):
        super().__init__()
        cutoffs = list(cutoffs)
        if (not cutoffs or cutoffs != sorted(set(cutoffs)) or cutoffs[0] <= 0 or cutoffs[-1] > n_classes - 1
                or any(int(c) != c for c in cutoffs)):
            raise ValueError(f"AdaptiveLogSoftmaxWithLoss: cutoffs must be rising integers between 1 and {n_classes - 1}, not {cutoffs}")
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = cutoffs[0], len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        keys = keys_of(key, 1 + 2 * self.n_clusters)
        self.head = Linear(in_features, self.head_size, head_bias, device, dtype, key=keys[0])
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            narrow, classes = int(in_features // div_value ** (i + 1)), self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(Sequential(Linear(in_features, narrow, False, device, dtype, key=keys[2 * i + 1]),
                                        Linear(narrow, classes, False, device, dtype, key=keys[2 * i + 2])))

    def log_prob(self, input):
        """The log-probability of every class, (N, n_classes)."""
        return _core.nn.adaptive_log_softmax(self.head(input), [tail(input) for tail in self.tail])

    def forward(self, input, target):
        """(the log-probability of each target, minus their mean)."""
        single = len(input.shape) == 1
        x, y = (_core.expand_dims(input, 0), _core.expand_dims(target, 0)) if single else (input, target)
        output = -F.nll_loss(self.log_prob(x), y, reduction="none")
        return AdaptiveResult(_core.squeeze(output, 0) if single else output, -output.mean())

    def predict(self, input):
        """The likeliest class of each example."""
        return _core.argmax(self.log_prob(input), 1, False)
