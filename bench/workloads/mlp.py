"""Dense networks: a tiny one, where what surrounds the arithmetic counts, and 784-1024-1024-10."""
import numpy as np

from .common import (OnnxGraph, Statement, Workload, draw, jax_adam, jax_cross_entropy, jax_momentum, jax_sgd, nested_shapes, normal, training,
                     weft_model, weights)

TINY = {"0": (4, 8), "2": (8, 2)}
LARGE = {"0": (784, 1024), "2": (1024, 1024), "4": (1024, 10)}


def arrays(sizes, batch):
    rng = np.random.default_rng(1)
    first, last = list(sizes.values())[0][0], list(sizes.values())[-1][1]
    return {**draw(rng, nested_shapes(sizes)), "x": normal(rng, (batch, first)), "y": rng.integers(0, last, batch)}


def network(sizes, activation):
    def make(nn):
        layers = [layer for n_in, n_out in sizes.values() for layer in (nn.Linear(n_in, n_out), getattr(nn, activation)())]
        return nn.Sequential(*layers[:-1])
    return make


def cross_entropy(functional, output, y):
    return functional.cross_entropy(output, y)


def jax_forward(sizes, activation):
    def forward(w, x):
        import jax
        act = {"ReLU": jax.nn.relu, "Tanh": jax.numpy.tanh}[activation]
        for i, name in enumerate(sizes):
            x = (act(x) if i else x) @ w[f"{name}.weight"].T + w[f"{name}.bias"]
        return x
    return forward


def jax_loss(sizes, activation):
    return lambda w, x, y: jax_cross_entropy(jax_forward(sizes, activation)(w, x), y)


class NumpyMlp:
    """Forward, backward and update written out; ten lines that a user of NumPy writes."""

    def __init__(self, arrays, sizes, activation, update):
        self.w = [[arrays[f"{n}.weight"].T.copy(), arrays[f"{n}.bias"].copy()] for n in sizes]
        self.x, self.y, self.rows = arrays["x"], arrays["y"], np.arange(len(arrays["y"]))
        self.tanh, self.update = activation == "Tanh", update
        self.state = [[np.zeros_like(v) for pair in self.w for v in pair] for _ in range(2)]
        self.steps = 0

    def forward(self):
        self.values = [self.x]
        for i, (w, b) in enumerate(self.w):
            h = self.values[-1] @ w + b
            if i + 1 < len(self.w):
                h = np.tanh(h) if self.tanh else np.maximum(h, 0)
            self.values.append(h)
        e = self.values.pop()
        e = np.exp(e - e.max(1, keepdims=True))
        self.p = e / e.sum(1, keepdims=True)
        return -np.log(self.p[self.rows, self.y]).mean()

    def step(self):
        loss = self.forward()
        d = self.p
        d[self.rows, self.y] -= 1
        d /= len(self.rows)
        gradients = []
        for (w, _), h in zip(self.w[::-1], self.values[::-1]):
            gradients[:0] = [h.T @ d, d.sum(0)]
            if h is not self.x:
                d = d @ w.T
                d *= 1 - h * h if self.tanh else h > 0
        self.steps += 1
        for p, g, m, v in zip([v for pair in self.w for v in pair], gradients, *self.state):
            self.update(p, g, m, v, self.steps)
        return loss


def numpy_sgd(p, g, m, v, n):
    p -= 0.1 * g


def numpy_momentum(p, g, m, v, n):
    m *= 0.9
    m += g
    p -= 0.01 * m


def numpy_adam(p, g, m, v, n):
    m *= 0.9
    m += 0.1 * g
    v *= 0.999
    v += 0.001 * (g * g)
    p -= 1e-3 / (1 - 0.9 ** n) * m / (np.sqrt(v / (1 - 0.999 ** n)) + 1e-8)


def numpy_step(sizes, activation, update):
    return lambda arrays: NumpyMlp(arrays, sizes, activation, update).step


def weft_forward(arrays):
    import weft as wf
    model = weft_model(network(TINY, "Tanh")(wf.nn), arrays)
    return Statement("f(x)", {"f": wf.compile(lambda x: model(x)), "x": wf.asarray(arrays["x"])})


def torch_forward(compiled):
    def make(arrays):
        import torch
        (w0, b0), (w1, b1) = [[torch.from_numpy(arrays[f"{name}.{part}"]) for part in ("weight", "bias")] for name in TINY]
        x, linear = torch.from_numpy(arrays["x"]), torch.nn.functional.linear

        def forward(x):   # functions cost less than modules, and of weights that want no gradient nothing is recorded
            return linear(torch.tanh(linear(x, w0, b0)), w1, b1)

        if compiled:
            torch._dynamo.reset()
            forward = torch.compile(forward)
        return Statement("f(x)", {"f": forward, "x": x})
    return make


def jax_tiny_forward(arrays):
    import jax
    import jax.numpy as jnp
    w, x = {k: jnp.asarray(v) for k, v in weights(arrays).items()}, jnp.asarray(arrays["x"])
    forward = jax.jit(lambda x: jax_forward(TINY, "Tanh")(w, x))
    return Statement("f(x).block_until_ready()", {"f": forward, "x": x})


def ort_forward(arrays):
    g = OnnxGraph()
    h = "x"
    for name in TINY:
        h = g.add("Tanh", h) if h != "x" else h
        h = g.add("Gemm", h, g.constant(f"{name}.weight", arrays[f"{name}.weight"]), g.constant(f"{name}.bias", arrays[f"{name}.bias"]), transB=1)
    return g.run({"x": arrays["x"]}, h)


def numpy_forward(arrays):
    names = {f"{part}{i}": arrays[f"{name}.{kind}"].T.copy() for i, name in enumerate(TINY) for part, kind in (("w", "weight"), ("b", "bias"))}
    return Statement("tanh(x @ w0 + b0) @ w1 + b1", {**names, "x": arrays["x"], "tanh": np.tanh})


def momentum(optim, parameters):
    return optim.SGD(parameters, lr=0.01, momentum=0.9)


def trained(sizes, activation, batch, optimizer, jax_optimizer, numpy_update, **rest):
    make = training(network(sizes, activation), cross_entropy, optimizer, jax_loss(sizes, activation), jax_optimizer)
    make["numpy"] = numpy_step(sizes, activation, numpy_update)
    return Workload(lambda: arrays(sizes, batch), make, **rest)


WORKLOADS = {
    "tiny.forward": Workload(lambda: arrays(TINY, 8), {"weft": weft_forward, "torch": torch_forward(False), "torch-compile": torch_forward(True),
                                                       "jax": jax_tiny_forward, "ort": ort_forward, "numpy": numpy_forward},
                             {"best": 0.3}),
    "train.tiny.sgd": trained(TINY, "Tanh", 8, lambda optim, p: optim.SGD(p, lr=0.1), lambda: jax_sgd(0.1), numpy_sgd, goals={"best": 0.2}),
    "train.tiny.adam": trained(TINY, "Tanh", 8, lambda optim, p: optim.Adam(p, lr=1e-3), lambda: jax_adam(1e-3), numpy_adam, goals={"best": 0.2}),
    "train.mlp": trained(LARGE, "ReLU", 128, momentum, lambda: jax_momentum(0.01, 0.9), numpy_momentum,
                         goals={"best": 0.85}, threads=(1, 2),
                         operations=2.0 * 128 * (3 * (784 * 1024 + 1024 * 1024 + 1024 * 10) - 784 * 1024)),   # no derivative in x
}
