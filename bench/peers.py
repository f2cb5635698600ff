"""The same work in weft, PyTorch and JAX, in turns within one run, so that the ratios hold on whatever machine this is.

    bench/peers.py [--only NAME] [--seconds S] [--rounds N] [--threads 1|2] [--kernels]

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

import peer_kernels
import peer_workloads

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMPILERS = ("torch-compile", "jax")
BOUNDS = {"mlp": 1.1, "convnet": 1.2, "tiny": 0.15, "mix1k": 0.3, "mix100k": 0.7}


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
            first, *values = [float(v) for v in self.ask(f"setup {name} {folder}")]
        return first, values

    def time(self, name, seconds):
        """The median and the least of repetitions."""
        median, least, _, allocations = self.ask(f"time {name} {seconds}")
        self.allocations = int(allocations)
        return float(median), float(least)


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
                module = peer_kernels if name in peer_kernels.NAMES else peer_workloads
                runs[name] = module.MAKERS[make](name, value, threads)
                pipe.send(("ok", runs[name] and warm_up(runs[name])))
            else:
                pipe.send(("ok", measure(runs[name], value)))
        except Exception as error:   # said to the parent, which names the system
            pipe.send(("error", f"{make}: {error!r}"))


def warm_up(run):
    """Seconds of the first run, and 16 evenly spaced values of the last result."""
    import numpy as np
    start = time.perf_counter()
    run()
    first = time.perf_counter() - start
    for _ in range(2):
        result = run()
    result = result[0] if isinstance(result, (tuple, list)) else result
    values = np.asarray(result.detach() if hasattr(result, "detach") else result).reshape(-1)
    return first, [float(v) for v in values[::max(len(values) // 16, 1)][:16]]


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
    return statistics.median(times), min(times)


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
        arrays = peer_workloads.starting_arrays(name)
        agree(name, {s: system.setup(name, arrays)[1] for s, system in systems.items()})
        times = {s: [] for s in systems}
        for _ in range(rounds):
            for s, system in systems.items():
                times[s].append(system.time(name, seconds)[0])
        row = f"{name:<10} {unit(statistics.median(times['weft'])):>10} "
        for s in systems:
            if s != "weft":
                ratio = statistics.median(a / b for a, b in zip(times["weft"], times[s]))
                row += f"{unit(statistics.median(times[s])):>10} {ratio:>6.2f}x "
                if s == "torch" and name in BOUNDS:
                    fine &= ratio <= BOUNDS[name]
        print(row + f"{BOUNDS.get(name, ''):>6} {systems['weft'].allocations:>11}", flush=True)
    return fine


def compare_kernels(systems, names, rounds, seconds):
    """Least times, and for systems that compile the first call too. A bound is broken where PyTorch or NumPy is faster, or another
    compiler is in total: its first call and a run."""
    others = [s for s in systems if s != "weft"]
    operations, copied, read = (float(x) for x in systems["weft"].ask("limits"))
    print(f"this machine: {operations / 1e9:.0f} GFLOP/s, {copied / 1e9:.1f} GB/s copied and {read / 1e9:.1f} read beyond the caches; memory: the share of it that weft reaches, if each array is read or written once")
    print(f"{'kernel':<20} {'weft':>8} {'memory':>6} {'first':>8} " + " ".join(f"{s:>13} {'ratio':>6}" + (f" {'first':>8}" if s in COMPILERS else "") for s in others))
    fine = True
    for name in names:
        arrays = peer_kernels.starting_arrays(name)
        answers = {s: system.setup(name, arrays) for s, system in systems.items()}
        there = {s: systems[s] for s in systems if answers[s]}
        agree(name, {s: answers[s][1] for s in there})
        times = {s: float("inf") for s in there}
        for _ in range(rounds):
            for s, system in there.items():
                times[s] = min(times[s], system.time(name, seconds)[1])
        mine, moved = times["weft"], peer_kernels.bytes_moved(name, arrays)
        limit = copied if peer_kernels.writes(name) else read
        share = f"{moved / mine / limit:.0%}" if moved >= 1 << 24 else ""
        row = f"{name:<20} {unit(mine):>8} {share:>6} {unit(answers['weft'][0]):>8} "
        for s in others:
            if s not in there:
                row += f"{'-':>13} {'':>7}" + (f"{'':>8} " if s in COMPILERS else "")
                continue
            ratio = mine / times[s]
            row += f"{unit(times[s]):>13} {ratio:>5.2f}x " + (f"{unit(answers[s][0]):>8} " if s in COMPILERS else "")
            broken = answers["weft"][0] + mine > answers[s][0] + times[s] if s in COMPILERS else ratio > 1
            if broken:
                row += "! "
                fine = False
        print(row, flush=True)
    return fine


def contention(rounds, seconds):
    """Two threads while a busy loop holds one of the two cores, against one thread alone."""
    if len(os.sched_getaffinity(0)) < 2:
        print("contention: needs two cores")
        return True
    arrays, one, two = peer_workloads.starting_arrays("mlp"), Weft(1), Weft(2)
    one.setup("mlp", arrays), two.setup("mlp", arrays)
    alone, busy = [], []
    for _ in range(rounds):
        alone.append(one.time("mlp", seconds)[0])
        stop = multiprocessing.Event()
        loop = multiprocessing.Process(target=spin, args=(stop,))
        loop.start()
        time.sleep(0.2)
        busy.append(two.time("mlp", seconds)[0])
        stop.set()
        loop.join()
    ratio = statistics.median(b / a for a, b in zip(alone, busy))
    print(f"\nmlp, 2 threads beside a busy loop on one core: {unit(statistics.median(busy))}, {ratio:.2f}x one thread alone (bound 1.2)")
    return ratio <= 1.2


def kernels(options):
    names = [n for n in peer_kernels.NAMES if not options.only or n.startswith(tuple(options.only))]
    peers = [p for p in (options.peers or "numpy,torch,torch-compile,jax").split(",") if p]
    threads = options.threads or 1
    print(f"\n{threads} thread{'s' if threads > 1 else ''}: least of {options.rounds} rounds of {options.seconds:g} s, the systems taking turns; ! where a bound is broken")
    fine = compare_kernels({"weft": Weft(threads), **{p: InProcess(p, threads) for p in peers}}, names, options.rounds, options.seconds)
    print("\nevery bound is kept" if fine else "\na bound is broken")
    return 0 if fine else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", help="a workload; with --kernels, what kernels' names begin with")
    parser.add_argument("--kernels", action="store_true", help="kernels by themselves instead of training steps; NumPy and torch.compile too")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each turn")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=0, help="1 or 2 (default: both, one after the other)")
    parser.add_argument("--peers", help="default: torch,jax; with --kernels numpy,torch,torch-compile,jax")
    options = parser.parse_args()
    if options.kernels:
        return kernels(options)
    options.peers = "torch,jax" if options.peers is None else options.peers
    unknown = set(options.only or ()) - set(BOUNDS)
    if unknown:
        parser.error(f"there is no workload {', '.join(unknown)}; there are {', '.join(BOUNDS)}")
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
