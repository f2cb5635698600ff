"""h = tanh(a h + b) on one number, step after step: the time of a step, forward and with the derivative in a, and of a loop that counts its steps
to know when it ends. weft and JAX run 10,000 steps; PyTorch, which has no loop that is compiled, writes 1,000 down."""
import numpy as np

from .common import Workload

STEPS = {"weft": 10_000, "torch": 1000, "jax": 10_000, "numpy": 1000}


def arrays():
    return {"a": np.float32([0.9]).reshape(()), "b": np.float32([0.1]).reshape(())}


def unrolled(tanh, a, b):
    h = b
    for _ in range(1000):
        h = tanh(a * h + b)
    return h


def weft(grad):
    def make(arrays):
        import weft as wf
        a, b = wf.asarray(arrays["a"]), wf.asarray(arrays["b"])

        def f(a, b):
            return wf.scan(lambda h, _: (wf.tanh(a * h + b), None), b, length=STEPS["weft"])[0]

        run = wf.compile(wf.grad(f) if grad else f)
        return lambda: run(a, b)
    return make


def weft_while(arrays):
    import weft as wf
    a, b = wf.asarray(arrays["a"]), wf.asarray(arrays["b"])
    run = wf.compile(lambda a, b: wf.while_loop(lambda c: c[1] < STEPS["weft"], lambda c: (wf.tanh(a * c[0] + b), c[1] + 1), (b, wf.asarray(0)))[0])
    return lambda: run(a, b)


def jax_while(arrays):
    import jax
    import jax.numpy as jnp
    a, b = jnp.asarray(arrays["a"]), jnp.asarray(arrays["b"])
    run = jax.jit(lambda a, b: jax.lax.while_loop(lambda c: c[1] < STEPS["jax"], lambda c: (jnp.tanh(a * c[0] + b), c[1] + 1), (b, 0))[0])
    return lambda: run(a, b).block_until_ready()


def torch(grad):
    def make(arrays):
        import torch
        a, b = torch.tensor(arrays["a"], requires_grad=grad), torch.tensor(arrays["b"])
        if grad:
            return lambda: torch.autograd.grad(unrolled(torch.tanh, a, b), a)

        def run():
            with torch.inference_mode():
                return unrolled(torch.tanh, a, b)
        return run
    return make


def jax(grad):
    def make(arrays):
        import jax
        import jax.numpy as jnp
        a, b = jnp.asarray(arrays["a"]), jnp.asarray(arrays["b"])

        def f(a, b):
            return jax.lax.scan(lambda h, _: (jnp.tanh(a * h + b), None), b, None, STEPS["jax"])[0]

        run = jax.jit(jax.grad(f) if grad else f)
        return lambda: run(a, b).block_until_ready()
    return make


def numpy(arrays):
    a, b = arrays["a"], arrays["b"]
    return lambda: unrolled(np.tanh, a, b)


WORKLOADS = {"scan.forward": Workload(arrays, {"weft": weft(False), "torch": torch(False), "jax": jax(False), "numpy": numpy}, {"best": 1.0}, part=STEPS),
             "scan.grad": Workload(arrays, {"weft": weft(True), "torch": torch(True), "jax": jax(True)}, {"best": 1.0}, part=STEPS),
             "while.forward": Workload(arrays, {"weft": weft_while, "jax": jax_while, "numpy": numpy}, {"best": 1.2}, part=STEPS)}
