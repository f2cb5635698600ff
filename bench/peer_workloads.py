"""The workloads of bench/peers.py in PyTorch and JAX: what each starts from, and one step as a callable."""


def starting_arrays(name):
    import numpy as np
    rng = np.random.default_rng(1)

    def normal(shape, scale=1.0):
        return (scale * rng.standard_normal(shape)).astype(np.float32)

    def dense(widths, first=0):
        arrays = {}
        for i, (n_in, n_out) in enumerate(zip(widths, widths[1:])):
            arrays[f"w{first + i}"] = normal((n_out, n_in), n_in ** -0.5)
            arrays[f"b{first + i}"] = normal((n_out,), 0.01)
        return arrays

    if name == "mlp":
        return {**dense([784, 1024, 1024, 10]), "x": normal((128, 784)), "y": rng.integers(0, 10, 128)}
    if name == "tiny":
        return {**dense([4, 8, 2]), "x": normal((8, 4)), "y": rng.integers(0, 2, 8)}
    if name == "convnet":
        return {"w0": normal((32, 1, 5, 5), 0.2), "b0": normal((32,), 0.01), "w1": normal((64, 32, 5, 5), 800 ** -0.5), "b1": normal((64,), 0.01),
                **dense([7 * 7 * 64, 512, 10], 2), "x": normal((64, 1, 28, 28)), "y": rng.integers(0, 10, 64)}
    size = {"mix1k": 1000, "mix100k": 100000}[name]
    return {"x": normal((size,)), "y": normal((size,))}


def torch_workload(name, arrays, threads):
    import torch
    import torch.nn.functional as F
    torch.set_num_threads(threads)
    t = {k: torch.from_numpy(v.copy()) for k, v in arrays.items()}
    if name.startswith("mix"):
        x, y = t["x"], t["y"]
        return lambda: torch.sigmoid(x) * torch.exp(-y) + x * y
    count = sum(k.startswith("w") for k in t)
    weights = [(t[f"w{i}"].requires_grad_(), t[f"b{i}"].requires_grad_()) for i in range(count)]
    parameters = [p for pair in weights for p in pair]
    x, y = t["x"], t["y"].long()
    if name == "convnet":   # channels-last, as PyTorch's own advice is
        x = x.to(memory_format=torch.channels_last)
        with torch.no_grad():
            for w, _ in weights[:2]:
                w.data = w.data.to(memory_format=torch.channels_last)
    if name == "tiny":
        optimizer = torch.optim.Adam(parameters, lr=1e-3, fused=True)
    else:
        optimizer = torch.optim.SGD(parameters, lr=0.01, momentum=0.9, fused=True)

    def forward():
        h = x
        if name == "convnet":
            for w, b in weights[:2]:
                h = F.max_pool2d(F.relu(F.conv2d(h, w, b, padding=2)), 2)
            h = h.flatten(1)
        rest = weights[2:] if name == "convnet" else weights
        for i, (w, b) in enumerate(rest):
            h = F.linear(h, w, b)
            if i + 1 < len(rest):
                h = torch.tanh(h) if name == "tiny" else F.relu(h)
        return h

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(forward(), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def jax_workload(name, arrays, threads):
    import jax
    import jax.numpy as jnp
    t = {k: jnp.asarray(v) for k, v in arrays.items()}
    if name.startswith("mix"):
        f = jax.jit(lambda x, y: jax.nn.sigmoid(x) * jnp.exp(-y) + x * y)
        return lambda: f(t["x"], t["y"]).block_until_ready()
    count = sum(k.startswith("w") for k in t)
    weights = [(t[f"w{i}"], t[f"b{i}"]) for i in range(count)]

    def pool(h):
        return jax.lax.reduce_window(h, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")

    def loss_of(weights, x, y):
        h, rest = x, weights
        if name == "convnet":
            for w, b in weights[:2]:
                h = jax.lax.conv_general_dilated(h, w, (1, 1), [(2, 2), (2, 2)]) + b[None, :, None, None]
                h = pool(jax.nn.relu(h))
            h, rest = h.reshape(h.shape[0], -1), weights[2:]
        for i, (w, b) in enumerate(rest):
            h = h @ w.T + b
            if i + 1 < len(rest):
                h = jnp.tanh(h) if name == "tiny" else jax.nn.relu(h)
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(h), y[:, None], 1))

    def momentum(state, x, y):
        weights, velocity = state
        loss, grads = jax.value_and_grad(loss_of)(weights, x, y)
        velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, grads)
        return (jax.tree.map(lambda w, v: w - 0.01 * v, weights, velocity), velocity), loss

    def adam(state, x, y):
        weights, (m, v, n) = state
        loss, grads = jax.value_and_grad(loss_of)(weights, x, y)
        n = n + 1
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, grads)
        a, b = 1 - 0.9 ** n, 1 - 0.999 ** n
        weights = jax.tree.map(lambda w, m, v: w - 1e-3 * (m / a) / (jnp.sqrt(v / b) + 1e-8), weights, m, v)
        return (weights, (m, v, n)), loss

    def zeros():   # buffers of their own each: they are donated
        return jax.tree.map(jnp.zeros_like, weights)

    holder = [(weights, (zeros(), zeros(), jnp.float32(0)) if name == "tiny" else zeros())]
    compiled = jax.jit(adam if name == "tiny" else momentum, donate_argnums=0)

    def step():
        holder[0], loss = compiled(holder[0], t["x"], t["y"])
        return loss.block_until_ready()

    return step


MAKERS = {"torch": torch_workload, "jax": jax_workload}
