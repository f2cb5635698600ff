"""What a call costs from Python: operations on a few numbers, in weft, NumPy and PyTorch in turns within one process.

    PYTHONPATH=build/python bench/small.py [--bursts N] [--only TEXT]

A row gives the least of many short bursts, and weft's time over each peer's. Results are compared before anything is timed. weft's
tensors are computed (eval) where the others' are; a slice is a view in all three. Bounds are those that the project set itself.
"""
import argparse
import sys
import timeit

import numpy as np
import weft as wf

try:
    import torch
    torch.set_num_threads(1)
except ImportError:
    torch = None

CHAIN = "((((((((((a + b) * a) - b) * b) + a) * b) - a) * a) + b) * a)"
# What, weft, NumPy, PyTorch, and the bound against a peer.
ROWS = [
    ("a + b", "(a + b).eval()", "a + b", "a + b", {"numpy": 1.2}),
    ("a + b, float64", "(d + d).eval()", "d + d", "d + d", {}),
    ("a + b, int64", "(i + i).eval()", "i + i", "i + i", {}),
    ("a * 2.5", "(a * 2.5).eval()", "a * 2.5", "a * 2.5", {}),
    ("exp(a)", "lib.exp(a).eval()", "lib.exp(a)", "lib.exp(a)", {}),
    ("matrix + row", "(m + r).eval()", "m + r", "m + r", {}),
    ("10 operations", f"{CHAIN}.eval()", CHAIN, CHAIN, {"numpy": 1.0}),
    ("2 x 2 matrices", "(s @ s).eval()", "s @ s", "s @ s", {}),
    ("numpy(a + b)", "lib_np.asarray(a + b)", "a + b", "(a + b).numpy()", {}),
    ("a slice", "m[1:3]", "m[1:3]", "m[1:3]", {"torch": 0.4}),
    ("item()", "z.item()", "z.item()", "z.item()", {"torch": 0.4}),
]


def starting_values():
    draw = np.random.default_rng(1)
    numbers = {"a": draw.random(4), "b": draw.random(4), "m": draw.random((10, 10)), "r": draw.random(10), "s": draw.random((2, 2)),
               "z": np.array(3.25)}
    values = {name: value.astype(np.float32) for name, value in numbers.items()}
    return {**values, "d": draw.random(4), "i": np.arange(4)}


def systems(values):
    """For each system the names that its statements use."""
    made = {"weft": {"lib": wf, "lib_np": np, **{n: wf.asarray(v) for n, v in values.items()}}, "numpy": {"lib": np, **values}}
    if torch:
        made["torch"] = {"lib": torch, **{n: torch.tensor(v) for n, v in values.items()}}
    return made


def agree(name, results):
    for system, theirs in results.items():
        if not np.allclose(np.asarray(results["weft"]), np.asarray(theirs), rtol=1e-5):
            raise SystemExit(f"{name}: weft gives {results['weft']}, {system} {theirs}: they must agree before they are timed")


def least_times(statements, names, bursts):
    """Microseconds a call; the systems take turns, so that a busy moment is everybody's."""
    timers = {s: timeit.Timer(statement, globals=names[s]) for s, statement in statements.items()}
    times = {s: float("inf") for s in timers}
    for _ in range(bursts):
        for s, timer in timers.items():
            times[s] = min(times[s], timer.timeit(1000) * 1e3)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bursts", type=int, default=500, help="of 1000 calls each")
    parser.add_argument("--only", default="", help="rows whose name contains this")
    options = parser.parse_args()
    names = systems(starting_values())
    peers = [s for s in names if s != "weft"]
    print(f"{'us a call':<16} {'weft':>7} " + " ".join(f"{s:>7} {'ratio':>6} {'bound':>5}" for s in peers))
    fine = True
    for what, *texts, bounds in ROWS:
        if options.only not in what:
            continue
        statements = {s: t for s, t in zip(["weft", "numpy", "torch"], texts) if s in names}
        agree(what, {s: eval(t, names[s]) for s, t in statements.items()})
        times = least_times(statements, names, options.bursts)
        row = f"{what:<16} {times['weft']:>7.3f} "
        for s in peers:
            ratio, bound = times["weft"] / times[s], bounds.get(s)
            broken = bound is not None and ratio > bound
            fine &= not broken
            row += f"{times[s]:>7.3f} {ratio:>5.2f}x {bound or '':>5}{'!' if broken else ' '}"
        print(row.rstrip(), flush=True)
    print("every bound is kept" if fine else "a bound is broken (!)")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
