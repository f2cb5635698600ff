"""The same work in weft, PyTorch and JAX, in turns within one run, so that the ratios hold on whatever machine this is.

    bench/peers.py [--only NAME] [--seconds S] [--rounds N] [--threads 1|2]

All systems start from the same numbers, and their results are compared before anything is timed. A row gives the median of the
rounds' medians and, against each peer, the ratio of medians taken round by round. Bounds are those that the project set itself.
"""
import argparse
import multiprocessing
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BOUNDS = {"mlp": 1.1, "convnet": 1.2, "tiny": 0.15, "mix1k": 0.3, "mix100k": 0.7}


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


class Weft:
    """weft, in a process of its own that answers line by line."""

    def __init__(self, threads):
        program = ROOT / "build" / "bench" / "weft_peer"
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "WEFT_THREADS": str(threads)})

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if not answer or answer[0] == "error":
            raise RuntimeError("weft: " + " ".join(answer[1:]))
        return answer[1:]

    def setup(self, name, arrays):
        import numpy as np
        with tempfile.TemporaryDirectory() as folder:
            for key, value in arrays.items():
                np.save(f"{folder}/{key}.npy", value)
            return [float(v) for v in self.ask(f"setup {name} {folder}")]

    def time(self, name, seconds):
        median, _, _, allocations = self.ask(f"time {name} {seconds}")
        self.allocations = int(allocations)
        return float(median)


class InProcess:
    """A system that runs in a Python process of its own (two OpenMP runtimes in one process disturb each other)."""

    def __init__(self, make, threads):
        self.pipe, child = multiprocessing.get_context("spawn").Pipe()
        self.process = multiprocessing.get_context("spawn").Process(target=serve, args=(make, threads, child), daemon=True)
        self.process.start()

    def ask(self, *message):
        self.pipe.send(message)
        status, value = self.pipe.recv()
        if status == "error":
            raise RuntimeError(value)
        return value

    def setup(self, name, arrays):
        return self.ask("setup", name, arrays)

    def time(self, name, seconds):
        return self.ask("time", name, seconds)


def serve(make, threads, pipe):
    makers = {"torch": torch_workload, "jax": jax_workload}
    runs = {}
    if make == "jax" and threads == 1:
        os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
        os.sched_setaffinity(0, {0})
    while True:
        try:
            command, name, value = pipe.recv()
        except EOFError:   # the parent is done
            return
        try:
            if command == "setup":
                runs[name] = makers[make](name, value, threads)
                result = None
                for _ in range(3):
                    result = runs[name]()
                pipe.send(("ok", [float(v) for v in to_numpy(result).reshape(-1)[:16]]))
            else:
                pipe.send(("ok", measure(runs[name], value)))
        except Exception as error:   # said to the parent, which names the system
            pipe.send(("error", f"{make}: {error!r}"))


def to_numpy(result):
    import numpy as np
    return np.asarray(result.detach() if hasattr(result, "detach") else result)


def measure(run, seconds):
    start = time.perf_counter()
    run()
    once = time.perf_counter() - start
    batch = max(1, int(200e-6 / max(once, 1e-7)))
    times, begin = [], time.perf_counter()
    while time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        for _ in range(batch):
            run()
        times.append((time.perf_counter() - start) / batch)
    return statistics.median(times)


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


def spin(stop):
    os.sched_setaffinity(0, {1})
    while not stop.is_set():
        pass


def agree(name, results):
    mine = results["weft"]
    for system, theirs in results.items():
        worst = max(abs(a - b) / (abs(b) + 1e-3) for a, b in zip(mine, theirs))
        if not worst < 2e-3:
            raise SystemExit(f"{name}: weft gives {mine}, {system} {theirs}: they must agree before they are timed")


def unit(seconds):
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} us"


def compare(systems, names, rounds, seconds):
    print(f"{'workload':<10} {'weft':>10} " + " ".join(f"{s:>10} {'ratio':>7}" for s in systems if s != "weft") + f" {'bound':>6} allocations")
    fine = True
    for name in names:
        arrays = starting_arrays(name)
        agree(name, {s: system.setup(name, arrays) for s, system in systems.items()})
        times = {s: [] for s in systems}
        for _ in range(rounds):
            for s, system in systems.items():
                times[s].append(system.time(name, seconds))
        row = f"{name:<10} {unit(statistics.median(times['weft'])):>10} "
        for s in systems:
            if s != "weft":
                ratio = statistics.median(a / b for a, b in zip(times["weft"], times[s]))
                row += f"{unit(statistics.median(times[s])):>10} {ratio:>6.2f}x "
                if s == "torch" and name in BOUNDS:
                    fine &= ratio <= BOUNDS[name]
        print(row + f"{BOUNDS.get(name, ''):>6} {systems['weft'].allocations:>11}", flush=True)
    return fine


def contention(rounds, seconds):
    """Two threads while a busy loop holds one of the two cores, against one thread alone."""
    if len(os.sched_getaffinity(0)) < 2:
        print("contention: needs two cores")
        return True
    arrays, one, two = starting_arrays("mlp"), Weft(1), Weft(2)
    one.setup("mlp", arrays), two.setup("mlp", arrays)
    alone, busy = [], []
    for _ in range(rounds):
        alone.append(one.time("mlp", seconds))
        stop = multiprocessing.Event()
        loop = multiprocessing.Process(target=spin, args=(stop,))
        loop.start()
        time.sleep(0.2)
        busy.append(two.time("mlp", seconds))
        stop.set()
        loop.join()
    ratio = statistics.median(b / a for a, b in zip(alone, busy))
    print(f"\nmlp, 2 threads beside a busy loop on one core: {unit(statistics.median(busy))}, {ratio:.2f}x one thread alone (bound 1.2)")
    return ratio <= 1.2


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=list(BOUNDS), action="append")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each turn")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=0, help="1 or 2 (default: both, one after the other)")
    parser.add_argument("--peers", default="torch,jax")
    options = parser.parse_args()
    names = options.only or list(BOUNDS)
    fine = True
    for threads in [options.threads] if options.threads else [1, 2]:
        print(f"\n{threads} thread{'s' if threads > 1 else ''}: median of {options.rounds} rounds of {options.seconds:g} s, the systems taking turns")
        systems = {"weft": Weft(threads), **{p: InProcess(p, threads) for p in options.peers.split(",") if p}}
        within = compare(systems, names, options.rounds, options.seconds)
        if threads == 1:   # the bounds are for one thread
            fine &= within
    if not options.only:
        fine &= contention(options.rounds, options.seconds)
    print("\nevery bound is kept" if fine else "\na bound is broken")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
