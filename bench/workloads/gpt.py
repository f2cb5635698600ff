"""Transformers that predict the next character (Vaswani et al., 2017, normalised before each part), trained by AdamW."""
import numpy as np

from .common import Workload, draw, jax_adam, jax_cross_entropy, training

WORDS = 65
# Layers, width, heads, length of a text.
NETS = {"gpt128": (4, 128, 4, 64), "gpt256": (6, 256, 8, 128)}


def shapes(net):
    layers, width, _, length = NETS[net]
    found = {"words.weight": (WORDS, width), "places.weight": (length, width), "last.weight": (width,), "last.bias": (width,),
             "out.weight": (WORDS, width), "out.bias": (WORDS,)}
    for i in range(layers):
        for name, n_in, n_out in (("mix", width, 3 * width), ("project", width, width), ("up", width, 4 * width), ("down", 4 * width, width)):
            found.update({f"blocks.{i}.{name}.weight": (n_out, n_in), f"blocks.{i}.{name}.bias": (n_out,)})
        for name in ("first", "second"):
            found.update({f"blocks.{i}.{name}.weight": (width,), f"blocks.{i}.{name}.bias": (width,)})
    return found


def arrays(net, batch):
    rng, length = np.random.default_rng(1), NETS[net][3]
    found = draw(rng, shapes(net))
    for name in found:
        if name.split(".")[-2] in ("first", "second", "last") and name.endswith("weight"):
            found[name] += 1
    return {**found, "x": rng.integers(0, WORDS, (batch, length)), "y": rng.integers(0, WORDS, (batch, length))}


def network(net):
    layers, width, heads, length = NETS[net]

    def make(nn):
        attention = nn.functional.scaled_dot_product_attention

        def split(t):   # (batch, length, width) to (batch, heads, length, width of a head)
            return t.reshape(t.shape[0], t.shape[1], heads, width // heads).swapaxes(1, 2)

        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
                self.mix, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
                self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

            def forward(self, x):
                parts = self.mix(self.first(x))
                q, k, v = (split(parts[..., i * width:(i + 1) * width]) for i in range(3))
                x = x + self.project(attention(q, k, v, is_causal=True).swapaxes(1, 2).reshape(x.shape))
                return x + self.down(nn.functional.gelu(self.up(self.second(x)), approximate="tanh"))

        class Transformer(nn.Module):
            def __init__(self):
                super().__init__()
                self.words, self.places = nn.Embedding(WORDS, width), nn.Embedding(length, width)
                self.blocks = nn.Sequential(*(Block() for _ in range(layers)))
                self.last, self.out = nn.LayerNorm(width), nn.Linear(width, WORDS)

            def forward(self, text):
                return self.out(self.last(self.blocks(self.words(text) + self.places.weight)))

        return Transformer()
    return make


def loss(functional, output, y):
    return functional.cross_entropy(output.reshape(-1, WORDS), y.reshape(-1))


def jax_loss(net):
    layers, width, heads, _ = NETS[net]

    def norm(w, name, x):
        import jax
        centred = x - x.mean(-1, keepdims=True)
        return centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * w[name + ".weight"] + w[name + ".bias"]

    def loss_of(w, x, y):
        import jax
        import jax.numpy as jnp
        def dense(name, x):
            return x @ w[name + ".weight"].T + w[name + ".bias"]

        h = w["words.weight"][x] + w["places.weight"]
        for i in range(layers):
            b = f"blocks.{i}."
            q, k, v = (t.reshape(*x.shape, heads, width // heads) for t in jnp.split(dense(b + "mix", norm(w, b + "first", h)), 3, axis=-1))
            h = h + dense(b + "project", jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(h.shape))
            h = h + dense(b + "down", jax.nn.gelu(dense(b + "up", norm(w, b + "second", h)), approximate=True))
        return jax_cross_entropy(dense("out", norm(w, "last", h)).reshape(-1, WORDS), y.reshape(-1))
    return loss_of


def workload(net, batch, **rest):
    layers, width, _, length = NETS[net]
    make = training(network(net), loss, lambda optim, p: optim.AdamW(p, lr=1e-3, weight_decay=0.01), jax_loss(net), lambda: jax_adam(1e-3, 0.01))
    work = 3 * 2.0 * batch * length * (layers * (12 * width * width + 2 * length * width) + width * WORDS)
    return Workload(lambda: arrays(net, batch), make, operations=work, threads=(1, 2), **rest)


WORKLOADS = {"train.gpt128": workload("gpt128", 12, goals={"best": 0.8}), "train.gpt256": workload("gpt256", 8, goals={"best": 0.85})}
