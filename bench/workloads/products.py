"""Matrix products: squares, tall ones, a batch of small ones."""
import math

import numpy as np

from .common import OnnxGraph, Statement, Workload, normal

SHAPES = {str(n): ((n, n), (n, n)) for n in (32, 64, 128, 256, 512, 1024, 2048)}
SHAPES.update({"128x784x1024": ((128, 784), (784, 1024)), "768x128x512": ((768, 128), (128, 512)), "48of64x32x64": ((48, 64, 32), (48, 32, 64))})


def arrays(shapes):
    rng = np.random.default_rng(1)
    return {"a": normal(rng, shapes[0]), "b": normal(rng, shapes[1])}


def weft(arrays, precision=None):
    import weft as wf
    f = wf.compile(lambda a, b: a @ b, matmul_precision=precision)
    return Statement("f(a, b)", {"f": f, "a": wf.asarray(arrays["a"]), "b": wf.asarray(arrays["b"])})


def torch(compiled):
    def make(arrays):
        import torch
        names = {name: torch.from_numpy(value) for name, value in arrays.items()}
        if not compiled:
            return Statement("a @ b", names)
        torch._dynamo.reset()
        return Statement("f(a, b)", {**names, "f": torch.compile(lambda a, b: a @ b, dynamic=False)})
    return make


def jax(arrays):
    import jax
    return Statement("f(a, b).block_until_ready()", {"f": jax.jit(lambda a, b: a @ b), **{k: jax.numpy.asarray(v) for k, v in arrays.items()}})


def ort(arrays):
    g = OnnxGraph()
    return g.run(arrays, g.add("MatMul", "a", "b"))


def numpy(arrays):
    return Statement("a @ b", dict(arrays))


MAKE = {"weft": weft, "torch": torch(False), "torch-compile": torch(True), "jax": jax, "ort": ort, "numpy": numpy}
WORKLOADS = {f"matmul.{name}": Workload(lambda shapes=shapes: arrays(shapes), MAKE, {"best": 0.8 if name in ("32", "64") else 1.0},
                                        operations=2.0 * math.prod(shapes[0]) * shapes[1][-1], threads=(1, 2) if name == "1024" else (1,))
             for name, shapes in SHAPES.items()}
