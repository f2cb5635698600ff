"""A convolution with its gradients in the picture and in the weights, 32 pictures."""
import numpy as np

from .common import Workload, normal

# Channels in, side, channels out, width of the kernel, padding, groups.
SHAPES = {"1x28-32k5": (1, 28, 32, 5, 0, 1), "32x32-64k3": (32, 32, 64, 3, 1, 1), "64x16-128k3": (64, 16, 128, 3, 1, 1),
          "depthwise128x32k3": (128, 32, 128, 3, 1, 128)}
BATCH = 32


def side_after(shape):
    return shape[1] + 2 * shape[4] - shape[3] + 1


def arrays(shape):
    n_in, side, n_out, kernel, _, groups = shape
    rng = np.random.default_rng(1)
    return {"x": normal(rng, (BATCH, n_in, side, side)), "w": normal(rng, (n_out, n_in // groups, kernel, kernel), (n_in // groups * kernel ** 2) ** -0.5),
            "g": normal(rng, (BATCH, n_out, side_after(shape), side_after(shape)))}


def channels_last(x):
    return np.ascontiguousarray(x.transpose(0, 2, 3, 1))


def weft(shape):
    def make(arrays):
        import weft as wf
        x, g = (wf.asarray(channels_last(arrays[name])) for name in "xg")
        w = wf.asarray(arrays["w"])

        def gradients(x, w, g):   # pictures lie channels last, as they do between the layers of a network
            x, g = (wf.permute_dims(t, (0, 3, 1, 2)) for t in (x, g))
            y, back = wf.vjp(lambda x, w: wf.nn.functional.conv2d(x, w, padding=shape[4], groups=shape[5]), x, w)
            return *back(g), y

        f = wf.compile(gradients)
        return lambda: f(x, w, g)
    return make


def torch(shape, compiled):
    def make(arrays):
        import torch
        x, w, g = (torch.from_numpy(arrays[name]).to(memory_format=torch.channels_last) for name in "xwg")
        x.requires_grad_(), w.requires_grad_()

        def f(x, w):
            return torch.nn.functional.conv2d(x, w, padding=shape[4], groups=shape[5])

        if compiled:
            torch._dynamo.reset()
            f = torch.compile(f, dynamic=False)

        def run():
            y = f(x, w)
            return *torch.autograd.grad(y, (x, w), g), y
        return run
    return make


def jax(shape):
    def make(arrays):
        import jax
        import jax.numpy as jnp
        x, g = (jnp.asarray(channels_last(arrays[name])) for name in "xg")   # which XLA's kernels for processors want
        w, pad = jnp.asarray(arrays["w"].transpose(2, 3, 1, 0)), [(shape[4], shape[4])] * 2

        def gradients(x, w, g):
            y, back = jax.vjp(lambda x, w: jax.lax.conv_general_dilated(x, w, (1, 1), pad, dimension_numbers=("NHWC", "HWIO", "NHWC"),
                                                                        feature_group_count=shape[5]), x, w)
            return *back(g), y

        f = jax.jit(gradients)

        def run():
            dx, dw, y = jax.block_until_ready(f(x, w, g))
            return Channels(dx), dw, y
        return run
    return make


class Channels:
    """Shows pictures that lie channels last as all others do, when they are compared."""

    def __init__(self, x):
        self.x = x

    def __array__(self, dtype=None, copy=None):
        return np.ascontiguousarray(np.asarray(self.x).transpose(0, 3, 1, 2))


def workload(shape, goal):
    n_in, _, n_out, kernel, _, groups = shape
    make = {"weft": weft(shape), "torch": torch(shape, False), "torch-compile": torch(shape, True), "jax": jax(shape)}
    return Workload(lambda: arrays(shape), make, {"best": goal}, operations=3 * 2.0 * BATCH * side_after(shape) ** 2 * n_out * n_in // groups * kernel ** 2,
                    threads=(1, 2) if shape[0] == 32 else (1,))


WORKLOADS = {f"conv.{name}": workload(shape, goal) for (name, shape), goal in zip(SHAPES.items(), (0.5, 0.95, 0.95, 0.6))}
