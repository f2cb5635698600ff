"""ResNet-18 (He et al., 2016), inference on pictures of (3, 224, 224)."""

import numpy as np

from .common import OnnxGraph, Workload, normal, torch_inference, weft_model, weights

STAGES = ((64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2))   # channels before and after, stride; two blocks each


def convolutions():
    """(name, channels in, out, width of the kernel, stride) in the order in which they run; the normalisation behind one is named like it."""
    found = [("first", 3, 64, 7, 2)]
    for s, (n_in, n_out, stride) in enumerate(STAGES):
        for b in range(2):
            before, by = (n_in, stride) if b == 0 else (n_out, 1)
            found += [(f"stages.{s}.{b}.a", before, n_out, 3, by), (f"stages.{s}.{b}.b", n_out, n_out, 3, 1)]
            if before != n_out:
                found.append((f"stages.{s}.{b}.short", before, n_out, 1, by))
    return found


def arrays(batch):
    rng, found = np.random.default_rng(1), {}
    for name, n_in, n_out, kernel, _ in convolutions():
        found[f"{name}.conv.weight"] = normal(rng, (n_out, n_in, kernel, kernel), (2 / (n_in * kernel ** 2)) ** 0.5)
        found[f"{name}.norm.weight"] = 0.5 + rng.random(n_out, dtype="float32")
        found[f"{name}.norm.bias"], found[f"{name}.norm.running_mean"] = normal(rng, (n_out,), 0.1), normal(rng, (n_out,), 0.1)
        found[f"{name}.norm.running_var"] = 0.5 + rng.random(n_out, dtype="float32")
    return {**found, "out.weight": normal(rng, (1000, 512), 512 ** -0.5), "out.bias": normal(rng, (1000,), 0.01), "x": normal(rng, (batch, 3, 224, 224))}


def network(nn):
    shapes = {name: rest for name, *rest in convolutions()}

    class Normed(nn.Module):
        def __init__(self, name):
            super().__init__()
            n_in, n_out, kernel, stride = shapes[name]
            self.conv, self.norm = nn.Conv2d(n_in, n_out, kernel, stride, padding=kernel // 2, bias=False), nn.BatchNorm2d(n_out)

        def forward(self, x):
            return self.norm(self.conv(x))

    class Block(nn.Module):
        def __init__(self, name):
            super().__init__()
            self.a, self.b = Normed(name + ".a"), Normed(name + ".b")
            self.short = Normed(name + ".short") if name + ".short" in shapes else nn.Identity()
            self.relu = nn.ReLU()

        def forward(self, x):
            return self.relu(self.b(self.relu(self.a(x))) + self.short(x))

    class Pictures(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.relu, self.pool = Normed("first"), nn.ReLU(), nn.MaxPool2d(3, 2, padding=1)
            self.stages = nn.Sequential(*(nn.Sequential(Block(f"stages.{s}.0"), Block(f"stages.{s}.1")) for s in range(len(STAGES))))
            self.mean, self.flat, self.out = nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000)

        def forward(self, x):
            return self.out(self.flat(self.mean(self.stages(self.pool(self.relu(self.first(x)))))))
    return Pictures().eval()


def weft(arrays):
    import weft as wf
    model = weft_model(network(wf.nn), arrays)
    f, x = wf.compile(lambda x: model(x)), wf.asarray(arrays["x"])
    return lambda: f(x)


def jax(arrays):
    import jax
    import jax.numpy as jnp
    folded, x = {}, jnp.asarray(arrays["x"].transpose(0, 2, 3, 1))
    for name, *_ in convolutions():   # as inference with JAX is written: what does not change is computed beforehand
        scale = arrays[f"{name}.norm.weight"] / np.sqrt(arrays[f"{name}.norm.running_var"] + 1e-5)
        folded[name] = (jnp.asarray((arrays[f"{name}.conv.weight"] * scale[:, None, None, None]).transpose(2, 3, 1, 0)),
                        jnp.asarray(arrays[f"{name}.norm.bias"] - arrays[f"{name}.norm.running_mean"] * scale))
    out = jnp.asarray(arrays["out.weight"].T), jnp.asarray(arrays["out.bias"])
    strides = {name: stride for name, _, _, _, stride in convolutions()}

    def normed(w, name, x):
        pad = [(w[name][0].shape[0] // 2,) * 2] * 2
        return jax.lax.conv_general_dilated(x, w[name][0], (strides[name],) * 2, pad, dimension_numbers=("NHWC", "HWIO", "NHWC")) + w[name][1]

    def forward(w, out, x):
        x = jax.nn.relu(normed(w, "first", x))
        x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), ((0, 0), (1, 1), (1, 1), (0, 0)))
        for s in range(len(STAGES)):
            for b in range(2):
                name = f"stages.{s}.{b}"
                h = normed(w, name + ".b", jax.nn.relu(normed(w, name + ".a", x)))
                x = jax.nn.relu(h + (normed(w, name + ".short", x) if name + ".short" in w else x))
        return x.mean((1, 2)) @ out[0] + out[1]

    f = jax.jit(forward)
    return lambda: f(folded, out, x).block_until_ready()


def ort(arrays):
    g = OnnxGraph()
    for name, value in weights(arrays).items():
        g.constant(name, value)
    strides = {name: (kernel, stride) for name, _, _, kernel, stride in convolutions()}

    def normed(name, x):
        kernel, stride = strides[name]
        x = g.add("Conv", x, f"{name}.conv.weight", kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[kernel // 2] * 4)
        return g.add("BatchNormalization", x, *(f"{name}.norm.{part}" for part in ("weight", "bias", "running_mean", "running_var")), epsilon=1e-5)

    x = g.add("MaxPool", g.add("Relu", normed("first", "x")), kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    for s in range(len(STAGES)):
        for b in range(2):
            name = f"stages.{s}.{b}"
            h = normed(name + ".b", g.add("Relu", normed(name + ".a", x)))
            x = g.add("Relu", g.add("Add", h, normed(name + ".short", x) if name + ".short" in strides else x))
    return g.run({"x": arrays["x"]}, g.add("Gemm", g.add("Flatten", g.add("GlobalAveragePool", x)), "out.weight", "out.bias", transB=1))


def operations(batch):
    total, side = 2.0 * 512 * 1000, 224
    for name, n_in, n_out, kernel, stride in convolutions():
        if name == "first":
            total, side = total + 2.0 * 112 ** 2 * n_in * n_out * 49, 56
            continue
        short = name.endswith("short")
        after = side if short else side // stride
        total += 2.0 * after ** 2 * n_in * n_out * kernel ** 2
        side = after
    return batch * total


MAKE = {"weft": weft, "torch": torch_inference(network, channels_last=True), "torch-compile": torch_inference(network, True, channels_last=True), "jax": jax, "ort": ort}
WORKLOADS = {f"infer.resnet18.{batch}": Workload(lambda batch=batch: arrays(batch), MAKE, {"best": 0.95}, operations=operations(batch), threads=(1, 2))
             for batch in (1, 8)}
