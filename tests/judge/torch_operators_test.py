"""weft.nn.functional against torch.nn.functional on the samples of arguments of PyTorch's own operator database: values, dtypes, shapes,
first derivatives, and second ones where PyTorch has them.

Every sample agrees, or is one of REFUSED, with the reason why weft refuses it. WEFT_JUDGE_ONLY=name tries one function.
"""
import os
import sys
import unittest
import warnings
from pathlib import Path

BUILD = Path(os.environ.get("WEFT_BUILD", Path(__file__).resolve().parents[2] / "build"))
sys.path.insert(0, str(BUILD / "python"))
try:
    import numpy as np
    import torch
    from torch.testing._internal.common_methods_invocations import op_db
    import weft as wf
    LACKS = None
except ImportError as error:
    LACKS, op_db = str(error), []

ONLY = os.environ.get("WEFT_JUDGE_ONLY", "")
PREFIX = "nn.functional."
MOST = 60       # samples of an operation, spread over all that there are

# What another test judges, or what weft does not have; the reason.
LEFT_OUT = {
    "dropout": "random", "dropout2d": "random", "dropout3d": "random", "alpha_dropout": "random", "feature_alpha_dropout": "random",
    "fractional_max_pool2d": "not in weft", "fractional_max_pool3d": "not in weft",
}
# Arguments that a sample of an operation must not have, for what it gives is drawn at random.
RANDOM = {"rrelu": ("training", True), "multi_head_attention_forward": ("training", True),
          "scaled_dot_product_attention": ("dropout_p", 0.5)}
# (function, part of weft's message): why a sample that PyTorch computes is refused.
REFUSED = [("batch_norm", "the input has shape (0,)", "an empty vector has no channels"),
           ("gaussian_nll_loss", "a loss does not broadcast", "PyTorch broadcasts the target")]
# Derivatives that are not compared, and why.
NO_DERIVATIVE = {
    "max_unpool1d": "indices that come twice: PyTorch's backward pass counts what was overwritten",
    "max_unpool2d": "as max_unpool1d", "max_unpool3d": "as max_unpool1d",
}
# Not compared in half precision, and why.
NO_HALF = {"soft_margin_loss": "PyTorch's exp overflows where weft's softplus does not"}
# Arguments that PyTorch refuses and weft takes, and why: (function, part of PyTorch's message).
TAKEN = []


def of_torch(value):
    """A value of PyTorch's as weft takes it."""
    if isinstance(value, torch.Tensor):
        return wf.asarray(value.detach().numpy().copy())
    if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        return type(value)(of_torch(item) for item in value)
    if isinstance(value, dict):
        return {key: of_torch(item) for key, item in value.items()}
    if isinstance(value, torch.dtype):
        return getattr(wf, str(value).rpartition(".")[2])
    if isinstance(value, torch.nn.PairwiseDistance):
        return lambda x, y: wf.nn.functional.pairwise_distance(x, y, value.norm, value.eps, value.keepdim)
    return tuple(value) if isinstance(value, torch.Size) else value


def adapted(name):
    """The function as the database calls it: embeddings with the table first."""
    function = getattr(wf.nn.functional, name)
    if name in ("embedding", "embedding_bag"):
        return lambda weight, indices, **named: function(indices, weight, **named)
    if name == "ctc_loss":
        return lambda x, *rest, **named: function(wf.nn.functional.log_softmax(x, -1), *rest, **named)
    return function


def theirs_of(op):
    """PyTorch's function. The derivative of its ctc_loss is that of the logits, so both are asked of logits."""
    if op.name == PREFIX + "ctc_loss":
        return lambda x, *rest, **named: op(torch.log_softmax(x, -1), *rest, **named)
    return op


class Arguments:
    """A sample's arguments, with the floating tensors among them, wherever they stand, as a flat list."""

    def __init__(self, sample):
        sample.kwargs.pop("sparse", None)       # how PyTorch lays derivatives out
        self.slots = [("input", sample.input)] + list(enumerate(sample.args)) + list(sample.kwargs.items())
        self.tensors = [value for value in self.flat() if isinstance(value, torch.Tensor) and value.is_floating_point()]

    def flat(self):
        for _, value in self.slots:
            yield from value if isinstance(value, (list, tuple)) else [value]

    def call(self, function, floats, convert):
        floats = iter(floats)

        def fill(value):
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                return next(floats)
            if isinstance(value, (list, tuple)) and any(isinstance(item, torch.Tensor) for item in value):
                return type(value)(fill(item) for item in value)
            return convert(value)
        filled = [(name, fill(value)) for name, value in self.slots]
        positional = [value for name, value in filled if name == "input" or isinstance(name, int)]
        return function(*positional, **{name: value for name, value in filled if isinstance(name, str) and name != "input"})


def parts(result):
    return list(result) if isinstance(result, (list, tuple)) else [result]


def floating(results):
    return [r for r in results if r is not None and (r.is_floating_point() if isinstance(r, torch.Tensor) else r.dtype.kind == "f")]


def weights(shapes):
    """Cotangents that tell elements apart."""
    return [np.cos(np.arange(int(np.prod(shape)), dtype="float64") + 1).reshape(shape) for shape in shapes]


def takes_derivative(op, arguments, i):
    """Whether PyTorch gives the derivative with respect to floating tensor i."""
    leaves = [t.detach().clone().requires_grad_(k == i) for k, t in enumerate(arguments.tensors)]
    try:
        return any(r.requires_grad for r in floating(parts(arguments.call(op, leaves, lambda value: value))))
    except RuntimeError as error:
        if "not differentiable with respect to" in str(error):
            return False
        raise


def numbers(found, like):
    return [np.zeros(leaf.shape) if g is None else g.detach().numpy(force=True) for g, leaf in zip(found, like)]


def torch_derivatives(op, arguments, at, second):
    tensors = [t.detach().clone().requires_grad_(i in at) for i, t in enumerate(arguments.tensors)]
    leaves = [tensors[i] for i in at]
    results = floating(parts(arguments.call(op, tensors, lambda value: value)))
    factors = weights([r.shape for r in results])
    total = sum((r * torch.as_tensor(w, dtype=r.dtype)).sum() for r, w in zip(results, factors))
    first = torch.autograd.grad(total, leaves, allow_unused=True, create_graph=second)
    values = numbers(first, leaves)
    if not second or not any(g is not None and g.requires_grad for g in first):
        return values, None
    factors = weights([leaf.shape for leaf in leaves])
    total = sum((g * torch.as_tensor(w, dtype=g.dtype)).sum() for g, w in zip(first, factors) if g is not None and g.requires_grad)
    try:
        return values, numbers(torch.autograd.grad(total, leaves, allow_unused=True), leaves)
    except RuntimeError as error:
        if "is not implemented" in str(error):      # PyTorch has no second derivative
            return values, None
        raise


def weft_derivatives(function, arguments, at, second):
    fixed = [of_torch(t) for t in arguments.tensors]

    def total(leaves):
        tensors = list(fixed)
        for i, leaf in zip(at, leaves):
            tensors[i] = leaf
        results = floating(parts(arguments.call(function, tensors, of_torch)))
        factors = weights([r.shape for r in results])
        return sum((r * wf.asarray(w, dtype=r.dtype)).sum() for r, w in zip(results, factors))

    def slope(leaves):
        factors = weights([leaf.shape for leaf in leaves])
        return sum((g * wf.asarray(w, dtype=g.dtype)).sum() for g, w in zip(wf.grad(total)(leaves), factors))
    leaves = [fixed[i] for i in at]
    first = [np.asarray(g) for g in wf.grad(total)(leaves)]
    return first, [np.asarray(g) for g in wf.grad(slope)(leaves)] if second else None


def largest(arrays):
    """What rounding is measured by: the largest finite number among all, for terms of one size cancel in others."""
    return max([1.0, *(float(np.max(np.abs(a[np.isfinite(a)]), initial=0)) for a in map(np.asarray, arrays))])


def compare(mine, theirs, what, error, scale):
    theirs, mine = np.asarray(theirs), np.asarray(mine)
    assert mine.shape == theirs.shape, f"{what}: shape {mine.shape}, PyTorch's {theirs.shape}"
    np.testing.assert_allclose(mine, theirs, rtol=error, atol=error * scale, equal_nan=True, err_msg=what)


def judge(op, function, sample, dtype):
    """None, or what differs."""
    arguments = Arguments(sample)
    error = {torch.float64: 1e-9, torch.float32: 1e-4, torch.int64: 0, torch.float16: 2e-2}[dtype]
    theirs = parts(arguments.call(theirs_of(op), arguments.tensors, lambda value: value))
    mine = parts(arguments.call(function, [of_torch(t) for t in arguments.tensors], of_torch))
    assert len(mine) == len(theirs), f"{len(mine)} results, PyTorch's {len(theirs)}"
    for i, (a, b) in enumerate(zip(mine, theirs)):
        assert (a is None) == (b is None), f"result {i} is None"
        if a is None:
            continue
        assert str(a.dtype) == "weft." + str(b.dtype).rpartition(".")[2].replace("bool", "bool"), f"dtype {a.dtype}, PyTorch's {b.dtype}"
        compare(a, b.detach().numpy(), f"result {i}", error, largest([b.detach().double()]))
    if dtype != torch.float64 or (op.name[len(PREFIX):] in NO_DERIVATIVE and op.variant_test_name != "grad"):
        return
    at = [i for i in range(len(arguments.tensors)) if takes_derivative(theirs_of(op), arguments, i)]
    if op.variant_test_name.startswith("chunked"):
        at = at[:2]     # PyTorch's piecewise loss has no derivative with respect to the classes' weights
    if not at:
        return
    first, second = torch_derivatives(theirs_of(op), arguments, at, op.supports_gradgrad)
    my_first, my_second = weft_derivatives(function, arguments, at, second is not None)
    for i, (a, b) in enumerate(zip(my_first, first)):
        compare(a, b, f"derivative {i}", 1e-8, largest(first))
    for i, (a, b) in enumerate(zip(my_second or [], second or [])):
        compare(a, b, f"second derivative {i}", 1e-7, largest([*first, *second]))


def spread(op, dtype):
    """Samples of arguments, as many as are tried."""
    name, value = RANDOM.get(op.name[len(PREFIX):], (None, None))
    samples = [s for s in op.sample_inputs("cpu", dtype) if name is None or s.kwargs.get(name) != value]
    step = max(1, len(samples) // (MOST if dtype != torch.float16 else MOST // 4))
    return samples[::step]


def dtypes_of(op):
    if op.name == "nn.functional.one_hot":
        return [torch.int64]
    half = [torch.float16] * (op.supports_dtype(torch.float16, "cpu") and op.name[len(PREFIX):] not in NO_HALF)
    return [torch.float64, torch.float32, *half]


def refusal(name, error):
    return next((reason for function, part, reason in REFUSED if function == name and part in str(error)), None)


@unittest.skipIf(LACKS, f"PyTorch's operator database: {LACKS}")
class Operators(unittest.TestCase):
    def check(self, op):
        name = op.name[len(PREFIX):]
        function = adapted(name)
        for dtype in dtypes_of(op):
            torch.manual_seed(0)
            for number, sample in enumerate(spread(op, dtype)):
                with self.subTest(function=name, variant=op.variant_test_name, sample=number, dtype=str(dtype)):
                    try:
                        judge(op, function, sample, dtype)
                    except (ValueError, TypeError) as error:
                        if refusal(name, error) is None:
                            raise AssertionError(f"{error}\n{sample.summary()}") from error
                    except AssertionError as error:
                        raise AssertionError(f"{error}\n{sample.summary()}") from error


    def check_refusals(self, op):
        function = adapted(op.name[len(PREFIX):])
        for wrong in op.error_inputs("cpu"):
            if any(op.name == PREFIX + name and part in wrong.error_regex for name, part, _ in TAKEN):
                continue
            with self.subTest(function=op.name, error=wrong.error_regex):
                arguments = Arguments(wrong.sample_input)
                kind = wrong.error_type if wrong.error_type in (ValueError, TypeError, IndexError) else (ValueError, TypeError, IndexError)
                with self.assertRaises(kind) as refused:
                    results = arguments.call(function, [of_torch(t) for t in arguments.tensors], of_torch)
                    wf.eval([r for r in parts(results) if r is not None])
                self.assertLess(str(refused.exception).count("\n"), 5)


def add_tests():
    for op in op_db:
        name = op.name[len(PREFIX):]
        if not op.name.startswith(PREFIX) or name in LEFT_OUT or (ONLY and name != ONLY) or "complex" in op.variant_test_name:
            continue
        title = "test_" + name + ("_" + op.variant_test_name.replace("-", "_").replace(" ", "_") if op.variant_test_name else "")
        setattr(Operators, title, lambda self, op=op: self.check(op))
        if op.error_inputs_func is not None and not op.variant_test_name:
            setattr(Operators, title.replace("test_", "test_wrong_arguments_of_"), lambda self, op=op: self.check_refusals(op))


add_tests()

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    unittest.main()
