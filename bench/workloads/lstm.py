"""A language model of characters: an embedding, an LSTM of 2 layers of 128, batch 50, 50 characters, Adam."""
import numpy as np

from .common import Workload, draw, jax_adam, jax_cross_entropy, training

WORDS, WIDTH, LAYERS = 65, 128, 2


def shapes():
    lstm = {f"lstm.{kind}_l{i}": shape for i in range(LAYERS)
            for kind, shape in (("weight_ih", (4 * WIDTH, WIDTH)), ("weight_hh", (4 * WIDTH, WIDTH)), ("bias_ih", (4 * WIDTH,)), ("bias_hh", (4 * WIDTH,)))}
    return {"words.weight": (WORDS, WIDTH), **lstm, "out.weight": (WORDS, WIDTH), "out.bias": (WORDS,)}


def arrays(batch, length):
    rng = np.random.default_rng(1)
    return {**draw(rng, shapes()), "x": rng.integers(0, WORDS, (batch, length)), "y": rng.integers(0, WORDS, (batch, length))}


def network(nn):
    class Characters(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(WORDS, WIDTH)
            self.lstm = nn.LSTM(WIDTH, WIDTH, LAYERS, batch_first=True)
            self.out = nn.Linear(WIDTH, WORDS)

        def forward(self, text):
            return self.out(self.lstm(self.words(text))[0])
    return Characters()


def loss(functional, output, y):
    return functional.cross_entropy(output.reshape(-1, WORDS), y.reshape(-1))


def jax_loss(w, x, y):
    import jax
    import jax.numpy as jnp
    h = w["words.weight"][x.T]   # (length, batch, width)
    for i in range(LAYERS):
        before = h @ w[f"lstm.weight_ih_l{i}"].T + (w[f"lstm.bias_ih_l{i}"] + w[f"lstm.bias_hh_l{i}"])   # of all steps at once
        weight = w[f"lstm.weight_hh_l{i}"].T

        def cell(carry, given):
            h, c = carry
            a, b, g, o = jnp.split(given + h @ weight, 4, axis=1)
            c = jax.nn.sigmoid(b) * c + jax.nn.sigmoid(a) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zeros = jnp.zeros((x.shape[0], WIDTH))
        h = jax.lax.scan(cell, (zeros, zeros), before)[1]
    logits = jnp.swapaxes(h, 0, 1).reshape(-1, WIDTH) @ w["out.weight"].T + w["out.bias"]
    return jax_cross_entropy(logits, y.reshape(-1))


def workload(batch, length, **rest):
    make = training(network, loss, lambda optim, p: optim.Adam(p, lr=1e-3), jax_loss, lambda: jax_adam(1e-3))
    work = 3 * 2.0 * batch * length * (LAYERS * 8 * WIDTH * WIDTH + WIDTH * WORDS)
    return Workload(lambda: arrays(batch, length), make, operations=work, threads=(1, 2), **rest)


WORKLOADS = {"train.lstm": workload(50, 50, goals={"best": 0.7})}
