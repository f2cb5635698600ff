"""Kernels by themselves for bench/peers.py --kernels: the formulas of bench/kernel_workloads.cpp in NumPy, PyTorch and JAX.

A name is KERNEL.SIZE. Arrays are handed over in the order of their names.
"""
SIZES = {"1k": (1024,), "100k": (100_000,), "4M": (4_194_304,), "rows1k": (1, 1000), "rows100k": (100, 1000), "rows4M": (4096, 1024), "cube": (256, 256, 256),
         "square": (2048, 2048)}
FLAT = [f"{kernel}.{size}" for kernel in ("gelu", "gelu_grad", "mix", "mix_grad", "adam", "chain") for size in ("1k", "100k", "4M")]
ROWS = [f"{kernel}.{size}" for kernel in ("softmax", "logsumexp", "argmax", "layernorm", "layernorm_grad") for size in ("rows1k", "rows100k", "rows4M")]
SUMS = [f"sum{axis}.cube.{dtype}" for axis in (0, 1, 2) for dtype in ("float32", "float64")]
NAMES = FLAT + ROWS + SUMS + ["cumsum0.square", "cumsum1.square"]
# Results as large as the first array that a kernel writes; of others it reads all and writes next to nothing.
WRITES = {"gelu": 1, "gelu_grad": 1, "mix": 1, "mix_grad": 2, "adam": 3, "chain": 1, "softmax": 1, "layernorm": 1, "layernorm_grad": 1, "cumsum0": 1, "cumsum1": 1}


def writes(name):
    return WRITES.get(name.split(".")[0], 0)


def bytes_moved(name, arrays):
    """What must be read from memory and written to it at least."""
    return sum(a.nbytes for a in arrays.values()) + writes(name) * next(iter(arrays.values())).nbytes


def starting_arrays(name):
    import numpy as np
    rng = np.random.default_rng(1)
    kernel, size, *dtype = name.split(".")
    shape = SIZES[size]

    def normal(shape):
        return rng.standard_normal(shape, dtype="float32").astype(dtype[0] if dtype else "float32")

    if kernel in ("mix", "mix_grad"):
        return {"a": normal(shape), "b": normal(shape)}
    if kernel == "adam":
        return {"a": normal(shape), "b": normal(shape), "c": normal(shape), "d": normal(shape) ** 2}
    if kernel.startswith("layernorm"):
        arrays = {"a": normal(shape), "b": normal(shape[-1:]), "c": normal(shape[-1:])}
        return {**arrays, "d": normal(shape)} if kernel == "layernorm_grad" else arrays
    return {"a": normal(shape)}


def formulas(m, sigmoid):
    """What NumPy, torch and jax.numpy write alike."""
    def chain(x):
        y = x
        for i in range(100):
            y = (y * x if i % 3 == 0 else y + 0.5 if i % 3 == 1 else y - x * 0.25) * 0.99
        return y

    def adam(p, g, m0, v0):
        m1, v1 = m0 * 0.9 + g * 0.1, v0 * 0.999 + g * 0.001 * g
        return p - m1 * 0.001 / (m.sqrt(v1) + 1e-8), m1, v1

    return {"mix": lambda x, y: sigmoid(x) * m.exp(-y) + x * y, "adam": adam, "chain": chain,
            **{f"sum{axis}": lambda x, axis=axis: x.sum(axis) for axis in (0, 1, 2)}, **{f"cumsum{axis}": lambda x, axis=axis: m.cumsum(x, axis) for axis in (0, 1)}}


def numpy_formulas():
    import numpy as np

    def softmax(x):
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def logsumexp(x):
        top = x.max(-1, keepdims=True)
        return np.log(np.exp(x - top).sum(-1)) + top[..., 0]

    def layernorm(x, weight, bias):
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * weight + bias

    return {**formulas(np, lambda x: 1 / (1 + np.exp(-x))), "softmax": softmax, "logsumexp": logsumexp, "layernorm": layernorm,
            "gelu": lambda x: 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x * x * x))), "argmax": lambda x: x.argmax(-1)}


def torch_formulas():
    import torch
    import torch.nn.functional as F
    return {**formulas(torch, torch.sigmoid), "softmax": lambda x: F.softmax(x, -1), "logsumexp": lambda x: torch.logsumexp(x, -1),
            "argmax": lambda x: x.argmax(-1), "gelu": lambda x: F.gelu(x, approximate="tanh"),
            "layernorm": lambda x, weight, bias: F.layer_norm(x, x.shape[-1:], weight, bias, 1e-5)}


def jax_formulas():
    import jax
    import jax.numpy as jnp

    def layernorm(x, weight, bias):
        centred = x - x.mean(-1, keepdims=True)
        return centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * weight + bias

    return {**formulas(jnp, jax.nn.sigmoid), "softmax": jax.nn.softmax, "logsumexp": lambda x: jax.scipy.special.logsumexp(x, -1),
            "argmax": lambda x: x.argmax(-1), "gelu": lambda x: jax.nn.gelu(x, approximate=True), "layernorm": layernorm}


def numpy_kernel(name, arrays, threads):
    kernel = name.split(".")[0]
    f, inputs = numpy_formulas().get(kernel), list(arrays.values())
    return (lambda: f(*inputs)) if f else None   # NumPy has no derivatives


def torch_kernel(name, arrays, threads, compiled=False):
    import torch
    torch.set_num_threads(threads)
    kernel = name.split(".")[0]
    f, inputs = torch_formulas()[kernel.removesuffix("_grad")], [torch.from_numpy(v) for v in arrays.values()]
    if compiled:
        torch._dynamo.reset()
        f = torch.compile(f, dynamic=False)
    if not kernel.endswith("_grad"):
        def run():
            with torch.no_grad():
                return f(*inputs)
        return run
    factor = inputs.pop() if kernel == "layernorm_grad" else torch.ones_like(inputs[0])
    for x in inputs:
        x.requires_grad_()

    def gradient():
        return torch.autograd.grad(f(*inputs), inputs, factor)

    return gradient


def jax_kernel(name, arrays, threads):
    import jax
    jax.config.update("jax_enable_x64", name.endswith("float64"))
    import jax.numpy as jnp
    kernel = name.split(".")[0]
    f, inputs = jax_formulas()[kernel.removesuffix("_grad")], [jnp.asarray(v) for v in arrays.values()]
    if kernel == "layernorm_grad":
        compiled = jax.jit(jax.grad(lambda x, w, b, d: jnp.sum(f(x, w, b) * d), argnums=(0, 1, 2)))
    elif kernel.endswith("_grad"):
        compiled = jax.jit(jax.grad(lambda *xs: jnp.sum(f(*xs)), argnums=tuple(range(len(inputs)))))
    else:
        compiled = jax.jit(f)
    return lambda: jax.block_until_ready(compiled(*inputs))


MAKERS = {"numpy": numpy_kernel, "torch": torch_kernel, "torch-compile": lambda *args: torch_kernel(*args, compiled=True), "jax": jax_kernel}
