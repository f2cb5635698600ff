"""One measurement in a process that has done nothing before, called by bench/processes.py:

    bench/fresh.py KIND SYSTEM NAME      prints its figures as JSON on the last line
"""
import json
import sys
import time

from systems import measure, prepare

PACKAGES = {"weft": "weft", "torch": "torch", "torch-compile": "torch", "jax": "jax", "ort": "onnxruntime", "numpy": "numpy"}


def status(field):
    """Of this process in bytes: VmRSS, what it holds; VmHWM, the most that it held."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field + ":"))


def imported(system, name):
    before, start = status("VmRSS"), time.perf_counter()
    __import__(PACKAGES[system])
    if system == "jax":
        import jax.numpy  # noqa: F401
    return {"seconds": time.perf_counter() - start, "bytes": status("VmRSS") - before}


def first(system, name):
    """From the import to the loss of the first step; then a batch of another size, and a third."""
    from workloads import all_workloads
    workload = all_workloads()[name]
    arrays = workload.arrays()
    start = time.perf_counter()
    prepare(system, 1)
    __import__(PACKAGES[system])
    there = time.perf_counter()
    run = workload.make[system](arrays)
    float(run())
    done, answers = time.perf_counter(), []
    float(run())
    for part in (4, 2):
        size = arrays["x"].shape[0] * (part - 1) // part
        x, y = arrays["x"][:size].copy(), arrays["y"][:size].copy()
        begin = time.perf_counter()
        float(run.on(x, y))
        answers.append(time.perf_counter() - begin)
    return {"first": done - start, "imported": done - there, "new": answers[0], "third": answers[1]}


def memory(system, name):
    """The most memory that a training step with 256 examples takes above the import."""
    import numpy as np
    from workloads import all_workloads
    prepare(system, 1)
    __import__(PACKAGES[system])
    workload = all_workloads()[name]
    arrays = {**workload.arrays()}
    for key in "xy":
        arrays[key] = np.resize(arrays[key], (256, *arrays[key].shape[1:]))
    held = status("VmRSS")
    run = workload.make[system](arrays)
    for _ in range(5):
        float(run())
    return {"bytes": status("VmHWM") - held}


def graph(system, name):
    """An expression of many elementwise operations on 8 numbers, with its gradient: until it is there for the first time, and once more."""
    import numpy as np
    prepare(system, 1)
    count, values = int(name), np.linspace(0.1, 0.8, 8, dtype="float32")

    def written(tanh, x):
        h, before = x, x
        for i in range(count // 4):   # four operations, of which one reads what is far behind
            h = tanh(h * 0.5 + before) - x
            if i % 8 == 0:
                before = h
        return h.sum()

    if system == "weft":
        import weft as wf
        x = wf.asarray(values)
        start = time.perf_counter()
        f = wf.compile(wf.value_and_grad(lambda x: written(wf.tanh, x)))
        run = lambda: f(x)   # noqa: E731
    elif system == "jax":
        import jax
        x = jax.numpy.asarray(values)
        start = time.perf_counter()
        f = jax.jit(jax.value_and_grad(lambda x: written(jax.numpy.tanh, x)))
        run = lambda: jax.block_until_ready(f(x))   # noqa: E731
    else:
        import torch
        x = torch.from_numpy(values).requires_grad_()
        start = time.perf_counter()

        def run():
            value = written(torch.tanh, x)
            return value.detach(), torch.autograd.grad(value, x)[0]
    result = run()
    ready = time.perf_counter() - start
    return {"ready": ready, "run": measure(run, 0.3)[0], "values": [float(result[0]), *map(float, result[1])]}


KINDS = {"import": imported, "first": first, "memory": memory, "graph": graph}

if __name__ == "__main__":
    kind, system, name = sys.argv[1:]
    print(json.dumps(KINDS[kind](system, name)))
