"""weft's functions against those of torch, torch.linalg, torch.fft and torch.special that have the same name, on the samples of arguments of
PyTorch's own operator database: values, shapes, first and second derivatives, of real and complex numbers and integers.

Arguments are NumPy's in weft: dim is axis, keepdim keepdims. Every sample agrees, or its function is in OTHER, with the reason. WEFT_JUDGE_ONLY=name
tries one function.
"""
import inspect
import os
import unittest
import warnings

from torch_operators_test import LACKS, compare, largest, of_torch, op_db

if not LACKS:
    import numpy as np
    import torch
    import weft as wf

ONLY = os.environ.get("WEFT_JUDGE_ONLY", "")
MOST = 12       # samples of an operation and dtype, spread over all that there are
# weft's names for PyTorch's arguments: the first that the function has.
ARGUMENTS = {"dim": ("axis", "axes"), "dims": ("axes", "axis"), "dim1": ("axis1",), "dim2": ("axis2",), "keepdim": ("keepdims",), "offset": ("offset", "k")}
# PyTorch's names for functions that weft has under NumPy's.
NAMES = {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "mul": "multiply",
         "sub": "subtract", "neg": "negative", "mm": "matmul", "bmm": "matmul", "mv": "matmul", "sgn": "sign", "matrix_exp": "linalg.expm",
         "igamma": "special.gammainc", "igammac": "special.gammaincc", "mvlgamma": "special.multigammaln", "logit": "special.logit",
         "softmax": "special.softmax", "log_softmax": "special.log_softmax", "movedim": "moveaxis", "unsqueeze": "expand_dims",
         "transpose": "swapaxes", "permute": "permute_dims", "unbind": "unstack", "clamp": "clip"}
# What the same name means otherwise, where NumPy and PyTorch differ: weft follows NumPy.
OTHER = {
    "add": "alpha=", "sub": "alpha=", "arange": "end=", "argsort": "descending, where NumPy has kind", "sort": "gives the places too",
    "bernoulli": "random", "cauchy": "random", "exponential": "random", "geometric": "random", "empty": "no numbers", "empty_like": "no numbers",
    "bfloat16": "a method", "bool": "a method", "cov": "correction=", "diff": "joined ends of another type", "einsum": "operands as a list", "equal": "one truth value",
    "frexp": "by NumPy's rounding of 0", "gradient": "spacing=", "histogram": "bin edges of their own", "histogramdd": "bin edges of their own",
    "isin": "elements=", "ldexp": "powers of any type", "linspace": "rounds towards 0", "logspace": "base stands fourth", "logaddexp": "of complex numbers",
    "max": "gives the places too", "min": "gives the places too", "median": "the lower middle number", "nanmedian": "the lower middle number",
    "nextafter": "derivatives", "quantile": "interpolation=", "nanquantile": "interpolation=", "repeat": "NumPy's tile", "select": "one index", "split": "the size of a part",
    "squeeze": "leaves other sizes", "std": "divides by n - 1", "var": "divides by n - 1", "take": "out of order", "tensordot": "dims=", "topk": "places of equal ones",
    "tril_indices": "sizes first", "triu_indices": "sizes first", "unique": "the inverse first", "where": "the condition second in samples",
    "linalg.eig": "phases of vectors", "linalg.eigh": "phases of vectors", "linalg.svd": "phases of vectors", "linalg.lstsq": "driver=", "linalg.norm": "of nothing",
    "linalg.cholesky": "what lies above the diagonal of a complex matrix's derivative", "linalg.solve": "vectors in batches (NumPy 2 took these away)",
    "nonzero": "a table", "linalg.matrix_norm": "ord stands second", "linalg.solve_triangular": "upper=", "linalg.diagonal": "of any two axes", "logit": "eps=",
    "special.polygamma": "the order stands second", "atleast_1d": "gives a tuple", "atleast_2d": "gives a tuple", "atleast_3d": "gives a tuple",
    "transpose": "of values without axes", "linalg.vector_norm": "of values without axes", "cumsum": "of values without axes", "cumprod": "of values without axes",
    "linalg.cond": "of no matrices", "linalg.pinv": "atol=", "linalg.matrix_rank": "atol=", "linalg.vander": "N=", "linalg.tensorsolve": "dims=",
    "searchsorted": "in batches", "meshgrid": "its arguments as a list", "cat": "joins no numbers to any shape",
}

# Functions of which complex samples are left out, and why.
NOT_COMPLEX = {"logsumexp": "complex numbers have no largest", "sinc": "not defined", "pow": "PyTorch's slope of 0**z in z is NaN"}


def theirs_in_weft(name):
    found = wf
    for part in NAMES.get(name, name).split("."):
        found = getattr(found, part, None)
    return found if callable(found) and name not in OTHER else None


def floats_of(value):
    """The tensors of a sample that have derivatives, in order."""
    if isinstance(value, torch.Tensor):
        return [value] if value.is_floating_point() or value.is_complex() else []
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in floats_of(part)]
    return floats_of(list(value.values())) if isinstance(value, dict) else []


def filled(value, floats, convert):
    """A sample's argument with these for its tensors of floating numbers."""
    if isinstance(value, torch.Tensor):
        return next(floats) if value.is_floating_point() or value.is_complex() else convert(value)
    if isinstance(value, (list, tuple)) and floats_of(value):
        return [filled(part, floats, convert) for part in value]
    return convert(value)


def array(value):
    return wf.asarray(value.detach().resolve_conj().resolve_neg().numpy()) if isinstance(value, torch.Tensor) else of_torch(value)


def renamed(function, positional, named):
    """The arguments as NumPy's functions have them."""
    known = inspect.signature(function).parameters
    if len(positional) == 3 and isinstance(positional[2], bool) and "keepdims" in known:
        named["keepdims"] = positional.pop()
    return {next((mine for mine in ARGUMENTS.get(name, ()) if mine in known), name): value for name, value in named.items()}


def call(function, sample, tensors, convert, rename=False):
    floats = iter(tensors)
    positional = [filled(value, floats, convert) for value in (sample.input, *sample.args)]
    named = {name: filled(value, floats, convert) for name, value in sample.kwargs.items()}
    if rename:
        named = renamed(function, positional, named)
    found = function(*positional, **named)
    return list(found) if isinstance(found, (list, tuple)) else [found]


def weights(shape, complex_too):
    place = np.arange(int(np.prod(shape))).reshape(shape)
    return np.cos(place + 1.0) + (1j * np.sin(1.7 * place) if complex_too else 0)


def numbers(gradients, like):
    """PyTorch's derivatives by JAX's convention, which is weft's: the conjugates."""
    return [np.zeros(tuple(t.shape)) if g is None else g.detach().conj().resolve_conj().resolve_neg().numpy(force=True) for g, t in zip(gradients, like)]


def torch_slopes(op, sample, tensors, second):
    leaves = [t.detach().clone().requires_grad_() for t in tensors]
    results = call(op, sample, leaves, lambda value: value)
    use = [i for i, r in enumerate(results) if isinstance(r, torch.Tensor) and r.requires_grad]
    if not use:
        return [], None, None

    def total(values):
        return sum((v * torch.as_tensor(weights(tuple(v.shape), v.is_complex()), dtype=v.dtype)).sum().real for v in values)
    first = torch.autograd.grad(total([results[i] for i in use]), leaves, allow_unused=True, create_graph=second)
    again = [g.conj() for g in first if g is not None and g.requires_grad] if second else []
    rest = torch.autograd.grad(total(again), leaves, allow_unused=True) if again else None
    at = [i for i, g in enumerate(first) if g is not None and g.requires_grad]
    return use, numbers(first, leaves), (at, numbers(rest, leaves)) if rest else None


def weft_slopes(function, sample, tensors, use, at):
    def total(values):
        return sum(wf.real((v * wf.asarray(weights(v.shape, v.dtype.kind == "c"), dtype=v.dtype)).sum()) for v in values)

    def value(leaves):
        results = call(function, sample, leaves, array, True)
        return total([results[i] for i in use])
    leaves = [array(t) for t in tensors]
    first = [np.asarray(g) for g in wf.grad(value)(leaves)]
    again = [np.asarray(g) for g in wf.grad(lambda x: total([wf.grad(value)(x)[i] for i in at]))(leaves)] if at else None
    return first, again


@unittest.skipIf(LACKS, f"PyTorch's operator database: {LACKS}")
class Functions(unittest.TestCase):
    def judge(self, op, function, sample, dtype):
        tensors = floats_of([sample.input, *sample.args, sample.kwargs])
        exact = not (dtype.is_floating_point or dtype.is_complex)
        theirs = call(op, sample, tensors, lambda value: value)
        mine = call(function, sample, [array(t) for t in tensors], array, True)
        self.assertEqual(len(mine), len(theirs))
        for a, b in zip(mine, theirs):
            if isinstance(b, torch.Tensor):
                b = b.detach().resolve_conj().resolve_neg().numpy()
                compare(a, b, "value", 1e-5 if exact else 1e-9, largest([np.abs(b)]) if b.size else 1)
            else:
                self.assertEqual(a, b)
        if exact or not op.supports_autograd or not tensors:
            return
        use, first, second = torch_slopes(op, sample, tensors, op.supports_gradgrad)
        if not use:
            return
        my_first, my_second = weft_slopes(function, sample, tensors, use, second[0] if second else [])
        for i, (a, b) in enumerate(zip(my_first, first)):
            compare(a, b, f"derivative {i}", 1e-7, largest(map(np.abs, first)))
        for i, (a, b) in enumerate(zip(my_second or [], second[1] if second else [])):
            compare(a, b, f"second derivative {i}", 1e-6, largest(map(np.abs, [*first, *second[1]])))

    def check(self, op):
        function = theirs_in_weft(op.name)
        for dtype in (torch.float64, torch.complex128, torch.int64):
            if not op.supports_dtype(dtype, "cpu") or dtype.is_complex and op.name in NOT_COMPLEX:
                continue
            torch.manual_seed(0)
            samples = list(op.sample_inputs("cpu", dtype))
            for number, sample in enumerate(samples[::max(1, len(samples) // MOST)]):
                for name in ("layout", "pin_memory", "requires_grad", "device", "memory_format"):
                    sample.kwargs.pop(name, None)
                with self.subTest(function=op.name, variant=op.variant_test_name, sample=number, dtype=str(dtype)):
                    try:
                        self.judge(op, function, sample, dtype)
                    except (ArithmeticError, AssertionError, LookupError, NotImplementedError, TypeError, ValueError) as error:
                        raise AssertionError(f"{error}\n{sample.summary()}") from error


def add_tests():
    for op in op_db:
        if op.variant_test_name != "with_dtype" and not op.name.startswith("nn.functional.") and (not ONLY or op.name == ONLY) and theirs_in_weft(op.name):
            title = f"test_{op.name}_{op.variant_test_name}".replace(".", "_").replace("-", "_").rstrip("_")
            setattr(Functions, title, lambda self, op=op: self.check(op))


if not LACKS:
    add_tests()

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    unittest.main()
