"""An encoder of BERT's size (Devlin et al., 2019: 12 layers of 768, 12 heads, normalised behind each part), inference on one text of 128 places."""
import numpy as np

from .common import OnnxGraph, Workload, draw, normal, torch_inference, weft_model, weights

LAYERS, WIDTH, HEADS, LENGTH = 12, 768, 12, 128


def arrays():
    rng, shapes = np.random.default_rng(1), {}
    for i in range(LAYERS):
        for name, n_in, n_out in (("q", WIDTH, WIDTH), ("k", WIDTH, WIDTH), ("v", WIDTH, WIDTH), ("project", WIDTH, WIDTH), ("up", WIDTH, 4 * WIDTH),
                                  ("down", 4 * WIDTH, WIDTH)):
            shapes.update({f"{i}.{name}.weight": (n_out, n_in), f"{i}.{name}.bias": (n_out,)})
        for name in ("first", "second"):
            shapes.update({f"{i}.{name}.weight": (WIDTH,), f"{i}.{name}.bias": (WIDTH,)})
    found = draw(rng, shapes)
    for i in range(LAYERS):
        found[f"{i}.first.weight"] += 1
        found[f"{i}.second.weight"] += 1
    return {**found, "x": normal(rng, (1, LENGTH, WIDTH))}


def network(nn):
    def split(t):
        return t.reshape(t.shape[0], t.shape[1], HEADS, WIDTH // HEADS).swapaxes(1, 2)

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.q, self.k, self.v, self.project = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
            self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
            self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

        def forward(self, x):
            h = nn.functional.scaled_dot_product_attention(split(self.q(x)), split(self.k(x)), split(self.v(x)))
            x = self.first(x + self.project(h.swapaxes(1, 2).reshape(x.shape)))
            return self.second(x + self.down(nn.functional.gelu(self.up(x))))

    return nn.Sequential(*(Layer() for _ in range(LAYERS))).eval()


def weft(arrays, precision=None):
    import weft as wf
    model = weft_model(network(wf.nn), arrays)
    f, x = wf.compile(lambda x: model(x), matmul_precision=precision), wf.asarray(arrays["x"])
    return lambda: f(x)


def jax(arrays):
    import jax
    import jax.numpy as jnp
    w, x = {name: jnp.asarray(value) for name, value in weights(arrays).items()}, jnp.asarray(arrays["x"])

    def norm(w, name, x):
        centred = x - x.mean(-1, keepdims=True)
        return centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * w[name + ".weight"] + w[name + ".bias"]

    def forward(w, x):
        def dense(name, x):
            return x @ w[name + ".weight"].T + w[name + ".bias"]

        for i in range(LAYERS):
            q, k, v = (dense(f"{i}.{name}", x).reshape(1, LENGTH, HEADS, WIDTH // HEADS) for name in "qkv")
            x = norm(w, f"{i}.first", x + dense(f"{i}.project", jax.nn.dot_product_attention(q, k, v).reshape(x.shape)))
            x = norm(w, f"{i}.second", x + dense(f"{i}.down", jax.nn.gelu(dense(f"{i}.up", x), approximate=False)))
        return x

    f = jax.jit(forward)
    return lambda: f(w, x).block_until_ready()


def ort(arrays):
    g, shape = OnnxGraph(), (1, LENGTH, HEADS, WIDTH // HEADS)
    for name, value in weights(arrays).items():
        g.constant(name, np.ascontiguousarray(value.T) if value.ndim == 2 else value)
    heads, whole = g.constant("heads", np.array(shape, "int64")), g.constant("whole", np.array((1, LENGTH, WIDTH), "int64"))
    scale = g.constant("scale", np.array((WIDTH // HEADS) ** -0.5, "float32"))

    def dense(name, x):
        return g.add("Add", g.add("MatMul", x, name + ".weight"), name + ".bias")

    def split(name, x, order):
        return g.add("Transpose", g.add("Reshape", dense(name, x), heads), perm=order)

    x = "x"
    for i in range(LAYERS):
        q, k, v = split(f"{i}.q", x, [0, 2, 1, 3]), split(f"{i}.k", x, [0, 2, 3, 1]), split(f"{i}.v", x, [0, 2, 1, 3])
        seen = g.add("Softmax", g.add("Mul", g.add("MatMul", q, k), scale), axis=-1)
        heard = g.add("Reshape", g.add("Transpose", g.add("MatMul", seen, v), perm=[0, 2, 1, 3]), whole)
        x = g.add("LayerNormalization", g.add("Add", x, dense(f"{i}.project", heard)), f"{i}.first.weight", f"{i}.first.bias", axis=-1, epsilon=1e-5)
        h = dense(f"{i}.down", g.add("Gelu", dense(f"{i}.up", x)))
        x = g.add("LayerNormalization", g.add("Add", x, h), f"{i}.second.weight", f"{i}.second.bias", axis=-1, epsilon=1e-5)
    return g.run({"x": arrays["x"]}, x)


WORKLOADS = {"infer.bert128": Workload(arrays, {"weft": weft, "torch": torch_inference(network), "torch-compile": torch_inference(network, True), "jax": jax, "ort": ort}, {"best": 0.95},
                                       operations=2.0 * LENGTH * LAYERS * (12 * WIDTH ** 2 + 2 * LENGTH * WIDTH), threads=(1, 2))}
