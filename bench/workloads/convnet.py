"""Convolutional networks for MNIST's and CIFAR's pictures: convolution, relu, pooling, then two dense layers; SGD with momentum."""
import numpy as np

from .common import Workload, draw, jax_cross_entropy, jax_momentum, normal, training
from .mlp import cross_entropy

# Channels of the picture and of the convolutions, width of the kernels, side of the picture, width of the dense layer.
NETS = {"mnist": ((1, 32, 64), 3, 28, 128), "cifar": ((3, 32, 64, 128), 3, 32, 256)}


def features(net):
    channels, _, side, _ = NETS[net]
    return channels[-1] * (side >> (len(channels) - 1)) ** 2


def network(net):
    channels, kernel, _, hidden = NETS[net]

    def make(nn):
        layers = []
        for n_in, n_out in zip(channels, channels[1:]):
            layers += [nn.Conv2d(n_in, n_out, kernel, padding=kernel // 2), nn.ReLU(), nn.MaxPool2d(2)]
        return nn.Sequential(*layers, nn.Flatten(), nn.Linear(features(net), hidden), nn.ReLU(), nn.Linear(hidden, 10))
    return make


def arrays(net, batch):
    channels, kernel, side, hidden = NETS[net]
    rng, shapes = np.random.default_rng(1), {}
    for i, (n_in, n_out) in enumerate(zip(channels, channels[1:])):
        shapes.update({f"{3 * i}.weight": (n_out, n_in, kernel, kernel), f"{3 * i}.bias": (n_out,)})
    last = 3 * (len(channels) - 1) + 1
    shapes.update({f"{last}.weight": (hidden, features(net)), f"{last}.bias": (hidden,), f"{last + 2}.weight": (10, hidden), f"{last + 2}.bias": (10,)})
    return {**draw(rng, shapes), "x": normal(rng, (batch, channels[0], side, side)), "y": rng.integers(0, 10, batch)}


def jax_loss(net):
    channels, kernel, _, _ = NETS[net]

    def loss(w, x, y):
        import jax
        import jax.numpy as jnp
        h, pad = jnp.transpose(x, (0, 2, 3, 1)), (kernel // 2, kernel // 2)   # channels last, which XLA's kernels for processors want
        for i in range(len(channels) - 1):
            h = jax.lax.conv_general_dilated(h, w[f"{3 * i}.weight"], (1, 1), [pad, pad], dimension_numbers=("NHWC", "OIHW", "NHWC")) + w[f"{3 * i}.bias"]
            h = jax.lax.reduce_window(jax.nn.relu(h), -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        h, last = jnp.transpose(h, (0, 3, 1, 2)).reshape(h.shape[0], -1), 3 * (len(channels) - 1) + 1
        h = jax.nn.relu(h @ w[f"{last}.weight"].T + w[f"{last}.bias"])
        return jax_cross_entropy(h @ w[f"{last + 2}.weight"].T + w[f"{last + 2}.bias"], y)
    return loss


def operations(net, batch):
    """Two for each multiplication and addition of the convolutions and products, forward and both gradients (none in the picture)."""
    channels, kernel, side, hidden = NETS[net]
    total = 3.0 * 2 * batch * (features(net) * hidden + hidden * 10)
    for i, (n_in, n_out) in enumerate(zip(channels, channels[1:])):
        total += (3 if i else 2) * 2.0 * batch * (side >> i) ** 2 * n_in * n_out * kernel * kernel
    return total


def workload(net, batch, **rest):
    make = training(network(net), cross_entropy, lambda optim, p: optim.SGD(p, lr=0.01, momentum=0.9), jax_loss(net), lambda: jax_momentum(0.01, 0.9),
                    channels_last=True)
    return Workload(lambda: arrays(net, batch), make, operations=operations(net, batch), threads=(1, 2), **rest)


WORKLOADS = {"train.mnist": workload("mnist", 64, goals={"best": 0.8}), "train.cifar": workload("cifar", 128, goals={"best": 0.8})}
