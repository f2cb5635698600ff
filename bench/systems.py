"""A system in a process of its own (two thread pools in one process disturb each other), which prepares workloads and times them when asked.
Called by bench/peers.py, which lets systems take turns, and by bench/processes.py."""
import multiprocessing
import os
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SYSTEMS = ("weft", "torch", "torch-compile", "jax", "ort", "numpy")


def prepare(system, threads, cores=None):
    """What must be said before a system is imported: how many threads it may use, and on which processors."""
    os.environ.update({"BENCH_THREADS": str(threads), "WEFT_THREADS": str(threads), "OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads),
                       "TORCHINDUCTOR_COMPILE_THREADS": "1"})
    sys.path.insert(0, str(ROOT / "build" / "python"))
    if cores is None and threads == 1:   # one and the same for all: XLA asks for threads by the processors that it may use
        cores = {max(os.sched_getaffinity(0))}
    if cores:
        os.sched_setaffinity(0, cores)
    if system == "jax":
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
    if system.startswith("torch"):
        import torch
        torch.set_num_threads(threads)


class InProcess:
    def __init__(self, system, threads, cores=None):
        context = multiprocessing.get_context("spawn")
        self.system = system
        self.pipe, child = context.Pipe()
        self.process = context.Process(target=serve, args=(system, threads, cores, child), daemon=True)
        self.process.start()
        child.close()

    def ask(self, *message):
        try:
            self.pipe.send(message)
            status, value = self.pipe.recv()
        except (EOFError, OSError):
            raise RuntimeError(f"{self.system}: its process ended") from None
        if status == "error":
            raise RuntimeError(f"{self.system}: {value}")
        return value

    def setup(self, name, own=None):
        """Seconds of the first run, and 16 evenly spaced values of the result of the third; None if the system has no such workload.
        `own`: of weft's other way of this name, which is timed and dropped as (name, own)."""
        return self.ask("setup", (name, own) if own else name)

    def time(self, name, seconds):
        """The least and the median of the seconds of a call."""
        return self.ask("time", name, seconds)

    def limits(self):
        return self.ask("limits", "")

    def drop(self, name):
        self.ask("drop", name)

    def close(self):
        self.pipe.close()
        self.process.join(10)
        if self.process.is_alive():
            self.process.kill()


def serve(system, threads, cores, pipe):
    prepare(system, threads, cores)
    from workloads import all_workloads
    known, runs = all_workloads(), {}
    while True:
        try:
            command, name, *rest = pipe.recv()
        except EOFError:   # the parent is done
            return
        try:
            if command == "setup":
                workload, own = (known[name[0]], name[1]) if isinstance(name, tuple) else (known[name], None)
                pipe.send(("ok", warm_up(workload, workload.own.get(own) if own else workload.make.get(system), name, runs)))
            elif command == "time":
                pipe.send(("ok", measure(runs[name], *rest)))
            elif command == "limits":
                pipe.send(("ok", limits()))
            else:
                pipe.send(("ok", runs.pop(name, None) and None))
        except Exception as error:   # said to the parent, which goes on
            pipe.send(("error", repr(error)[:2000]))


def limits():
    """What the machine can do: float32 operations, bytes copied and bytes read, in a second."""
    import weft as wf
    return wf.explain(lambda x: x + 1, wf.ones(4)).limits


def warm_up(workload, make, name, runs):
    if not make:
        return None
    arrays = workload.arrays()
    start = time.perf_counter()
    runs[name] = make(arrays)
    runs[name]()
    first = time.perf_counter() - start
    for _ in range(2):
        result = runs[name]()
    return first, values_of(result)


def values_of(result):
    import numpy as np
    result = result[0] if isinstance(result, (tuple, list)) else result
    values = np.asarray(result.detach() if hasattr(result, "detach") else result).reshape(-1)
    return [float(v) for v in values[::max(len(values) // 16, 1)][:16]]


def repeat(run, times):
    start = time.perf_counter()
    for _ in range(times):
        run()
    return time.perf_counter() - start


def measure(run, seconds):
    many = getattr(run, "repeat", None) or (lambda times: repeat(run, times))
    once = many(1)
    batch = max(1, int(200e-6 / max(many(10) / 10 if once < 100e-6 else once, 1e-8)))   # reading the clock shall cost nothing
    times, begin = [] if batch > 1 else [once], time.perf_counter()
    while not times or time.perf_counter() - begin < seconds:
        times.append(many(batch) / batch)
    return min(times), statistics.median(times)
