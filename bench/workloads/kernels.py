"""Elementwise expressions with their gradients, an optimizer's update, reductions, normalisations, running sums: each by itself.

Inputs are handed over in the order of their names. A formula stands once where NumPy, PyTorch, JAX and weft write it alike."""
import math

import numpy as np

from .common import OnnxGraph, Workload

SIZES = {"1k": (1000,), "100k": (100_000,), "4M": (4_194_304,), "rows": (4096, 1024), "cube": (256, 256, 256), "square": (2048, 2048)}
GELU = 0.7978845608028654   # sqrt(2 / pi)


def arrays(kernel, size, dtype="float32"):
    rng, shape = np.random.default_rng(1), SIZES[size]

    def normal(shape):
        return rng.standard_normal(shape, dtype="float32").astype(dtype)

    if kernel == "mix":
        return {"a": normal(shape), "b": normal(shape)}
    if kernel == "adam":
        return {"a": normal(shape), "b": normal(shape), "c": normal(shape), "d": normal(shape) ** 2}
    if kernel == "layernorm":
        return {"a": normal(shape), "b": normal(shape[-1:]), "c": normal(shape[-1:]), "d": normal(shape)}   # d: what the gradient is multiplied with
    return {"a": normal(shape)}


def alike(lib, sigmoid):
    def adam(p, g, m0, v0):
        m, v = m0 * 0.9 + g * 0.1, v0 * 0.999 + g * 0.001 * g
        return p - m * 0.001 / (lib.sqrt(v) + 1e-8), m, v

    def chain(x):
        y = x
        for i in range(100):
            y = (y * x if i % 3 == 0 else y + 0.5 if i % 3 == 1 else y - x * 0.25) * 0.99
        return y

    sums = {f"sum{axis}": lambda x, axis=axis: lib.sum(x, axis) for axis in (0, 1, 2)}
    return {"mix": lambda x, y: sigmoid(x) * lib.exp(-y) + x * y, "adam": adam, "chain": chain, **sums, "argmax": lambda x: lib.argmax(x, -1)}


def of_functional(lib, functional, logsumexp):
    """weft's and PyTorch's."""
    return {**alike(lib, lib.sigmoid), "softmax": lambda x: functional.softmax(x, -1), "logsumexp": lambda x: logsumexp(x, -1),
            "gelu": lambda x: functional.gelu(x, approximate="tanh"),
            "layernorm": lambda x, weight, bias, d: functional.layer_norm(x, x.shape[-1:], weight, bias, 1e-5),
            "cumsum0": lambda x: lib.cumsum(x, 0), "cumsum1": lambda x: lib.cumsum(x, 1)}


def jax_formulas():
    import jax
    import jax.numpy as jnp

    def layernorm(x, weight, bias, d):
        centred = x - x.mean(-1, keepdims=True)
        return centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * weight + bias

    return {**alike(jnp, jax.nn.sigmoid), "softmax": jax.nn.softmax, "logsumexp": lambda x: jax.nn.logsumexp(x, -1), "layernorm": layernorm,
            "gelu": lambda x: jax.nn.gelu(x, approximate=True), "cumsum0": lambda x: jnp.cumsum(x, 0), "cumsum1": lambda x: jnp.cumsum(x, 1)}


def numpy_formulas():
    def softmax(x):
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def logsumexp(x):
        top = x.max(-1, keepdims=True)
        return np.log(np.exp(x - top).sum(-1)) + top[..., 0]

    def layernorm(x, weight, bias, d):
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * weight + bias

    return {**alike(np, lambda x: 1 / (1 + np.exp(-x))), "softmax": softmax, "logsumexp": logsumexp, "layernorm": layernorm,
            "gelu": lambda x: 0.5 * x * (1 + np.tanh(GELU * (x + 0.044715 * x * x * x))),
            "cumsum0": lambda x: np.cumsum(x, 0), "cumsum1": lambda x: np.cumsum(x, 1)}


def onnx_formulas():
    def mix(g, x, y):
        return g.add("Add", g.add("Mul", g.add("Sigmoid", x), g.add("Exp", g.add("Neg", y))), g.add("Mul", x, y))

    def axis(g, value):
        return g.constant("axis", np.array(value, "int64"))

    sums = {f"sum{i}": lambda g, x, i=i: g.add("ReduceSum", x, axis(g, [i]), keepdims=0) for i in (0, 1, 2)}
    running = {f"cumsum{i}": lambda g, x, i=i: g.add("CumSum", x, axis(g, i)) for i in (0, 1)}
    return {"mix": mix, "gelu": lambda g, x: g.add("Gelu", x, approximate="tanh"), "softmax": lambda g, x: g.add("Softmax", x, axis=-1), **sums, **running,
            "logsumexp": lambda g, x: g.add("ReduceLogSumExp", x, axis(g, [-1]), keepdims=0),
            "argmax": lambda g, x: g.add("ArgMax", x, axis=-1, keepdims=0),
            "layernorm": lambda g, x, w, b, d: g.add("LayerNormalization", x, w, b, axis=-1, epsilon=1e-5)}


def weft(kernel, grad):
    def make(arrays):
        import weft as wf
        f, inputs = of_functional(wf, wf.nn.functional, wf.logsumexp)[kernel], [wf.asarray(v) for v in arrays.values()]
        if grad == "layernorm":
            run = wf.compile(wf.grad(lambda x, w, b, d: wf.sum(f(x, w, b, d) * d), argnums=(0, 1, 2)))
        elif grad:
            run = wf.compile(wf.grad(lambda *xs: wf.sum(f(*xs)), argnums=tuple(range(len(inputs)))))
        else:
            run = wf.compile(f)
        return lambda: run(*inputs)
    return make


def torch(kernel, grad, compiled):
    def make(arrays):
        import torch
        f, inputs = of_functional(torch, torch.nn.functional, torch.logsumexp)[kernel], [torch.from_numpy(v) for v in arrays.values()]
        if compiled:
            torch._dynamo.reset()
            f = torch.compile(f, dynamic=False)
        if not grad:   # nothing here wants a gradient, so nothing is recorded
            return lambda: f(*inputs)
        factor = inputs[-1] if kernel == "layernorm" else torch.ones_like(inputs[0])
        wanted = inputs[:3]
        for x in wanted:
            x.requires_grad_()
        return lambda: torch.autograd.grad(f(*inputs), wanted, factor)
    return make


def jax(kernel, grad):
    def make(arrays):
        import jax
        jax.config.update("jax_enable_x64", any(v.dtype == np.float64 for v in arrays.values()))
        f, inputs = jax_formulas()[kernel], [jax.numpy.asarray(v) for v in arrays.values()]
        if grad == "layernorm":
            run = jax.jit(jax.grad(lambda x, w, b, d: jax.numpy.sum(f(x, w, b, d) * d), argnums=(0, 1, 2)))
        elif grad:
            run = jax.jit(jax.grad(lambda *xs: jax.numpy.sum(f(*xs)), argnums=tuple(range(len(inputs)))))
        else:
            run = jax.jit(f)
        return lambda: jax.block_until_ready(run(*inputs))
    return make


def ort(kernel):
    def make(arrays):
        g = OnnxGraph()
        return g.run({k: v for k, v in arrays.items() if kernel != "layernorm" or k != "d"}, onnx_formulas()[kernel](g, *arrays))
    return make


def numpy(kernel):
    def make(arrays):
        f, inputs = numpy_formulas()[kernel], list(arrays.values())
        return lambda: f(*inputs)
    return make


def workload(kernel, size, dtype="float32", grad=False, **rest):
    make = {"weft": weft(kernel, grad and kernel), "torch": torch(kernel, grad, False), "torch-compile": torch(kernel, grad, True), "jax": jax(kernel, grad and kernel)}
    if not grad:   # NumPy and ONNX Runtime have no derivatives
        make["numpy"] = numpy(kernel)
        if kernel in onnx_formulas():
            make["ort"] = ort(kernel)
    first = math.prod(SIZES[size]) * np.dtype(dtype).itemsize
    reads = kernel.startswith("sum") or kernel in ("logsumexp", "argmax")
    read = {"mix": 2, "adam": 4}.get(kernel, 2 if grad and kernel == "layernorm" else 1)
    written = 0 if reads else {"adam": 3, "mix": 2 if grad else 1}.get(kernel, 1)
    return Workload(lambda: arrays(kernel, size, dtype), make, bytes=first * (read + written), reads=reads, **rest)


def family():
    goals = {("mix", ""): (0.4, 0.7, 0.9), ("mix", ".grad"): (0.3, 0.5, 0.8), ("gelu", ""): (0.5, 0.8, 0.95), ("gelu", ".grad"): (0.4, 0.7, 0.9)}
    found = {}
    for (kernel, grad), limits in goals.items():
        for size, limit in zip(("1k", "100k", "4M"), limits):
            found[f"elementwise.{kernel}.{size}{grad}"] = workload(kernel, size, grad=bool(grad), goals={"best": limit}, threads=(1, 2) if size == "4M" else (1,))
    for kernel in ("adam", "chain"):
        for size in ("1k", "100k", "4M"):
            found[f"elementwise.{kernel}.{size}"] = workload(kernel, size, more=True)
    for axis in (0, 1, 2):
        for dtype in ("float32", "float64"):
            found[f"reduce.sum{axis}.{dtype}"] = workload(f"sum{axis}", "cube", dtype, goals={"best": 1.0})
    for kernel in ("softmax", "logsumexp", "argmax", "layernorm"):
        found[f"reduce.{kernel}"] = workload(kernel, "rows", goals={"best": 1.0})
    found["reduce.layernorm.grad"] = workload("layernorm", "rows", grad=True, goals={"best": 1.0})
    for axis in (0, 1):
        found[f"reduce.cumsum{axis}"] = workload(f"cumsum{axis}", "square", goals={"best": 1.0})
    return found


WORKLOADS = family()
