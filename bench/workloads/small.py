"""What a call costs from Python: operations on a few numbers. weft's tensors are computed (eval) where the others' are; a slice is a view in all."""
import numpy as np

from .common import Statement, Workload

CHAIN = "((((((((((a + b) * a) - b) * b) + a) * b) - a) * a) + b) * a)"
# Name, weft, the others, and goals.
ROWS = [
    ("add", "(a + b).eval()", "a + b", {"best": 1.2}),
    ("chain", f"{CHAIN}.eval()", CHAIN, {"best": 1.0}),
    ("add.float64", "(d + d).eval()", "d + d", {}),
    ("add.int64", "(i + i).eval()", "i + i", {}),
    ("scale", "(a * 2.5).eval()", "a * 2.5", {}),
    ("exp", "lib.exp(a).eval()", "lib.exp(a)", {}),
    ("row", "(m + r).eval()", "m + r", {}),
    ("product", "(s @ s).eval()", "s @ s", {}),
    ("slice", "m[1:3]", "m[1:3]", {"torch": 0.4}),
    ("item", "z.item()", "z.item()", {"torch": 0.4}),
]


def arrays():
    rng = np.random.default_rng(1)
    numbers = {"a": rng.random(4), "b": rng.random(4), "m": rng.random((10, 10)), "r": rng.random(10), "s": rng.random((2, 2)), "z": np.array(3.25)}
    return {**{name: value.astype("float32") for name, value in numbers.items()}, "d": rng.random(4), "i": np.arange(4)}


def weft(text):
    def make(arrays):
        import weft as wf
        return Statement(text, {"lib": wf, **{k: wf.asarray(v) for k, v in arrays.items()}})
    return make


def torch(text):
    def make(arrays):
        import torch
        return Statement(text, {"lib": torch, **{k: torch.from_numpy(v) for k, v in arrays.items()}})
    return make


def numpy(text):
    return lambda arrays: Statement(text, {"lib": np, **arrays})


chain = eval(f"lambda a, b: {CHAIN}")


def compiled(system):
    """The chain as one program."""
    def make(arrays):
        a, b = arrays["a"], arrays["b"]
        if system == "weft":
            import weft as wf
            f, a, b = wf.compile(chain), wf.asarray(a), wf.asarray(b)
        elif system == "jax":
            import jax
            f, a, b = jax.jit(chain), jax.numpy.asarray(a), jax.numpy.asarray(b)
        else:
            import torch
            f, a, b = torch.compile(chain), torch.from_numpy(a), torch.from_numpy(b)
        return Statement("f(a, b)", {"f": f, "a": a, "b": b})
    return make


WORKLOADS = {f"small.{name}": Workload(arrays, {"weft": weft(mine), "torch": torch(theirs), "numpy": numpy(theirs)}, goals, more=i > 1)
             for i, (name, mine, theirs, goals) in enumerate(ROWS)}
WORKLOADS["small.chain.compiled"] = Workload(arrays, {s: compiled(s) for s in ("weft", "torch-compile", "jax")}, {"compiled": 0.3})
