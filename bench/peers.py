"""The same programs in weft, PyTorch (eager and compiled), JAX, ONNX Runtime and NumPy, in turns within one run, so that the ratios hold on
whatever machine this is.

    bench/peers.py [--only NAME]... [--seconds S] [--rounds N] [--threads 1|2] [--peers A,B] [--more] [--json FILE]

All systems start from the same numbers, and their results are compared before anything is timed. A row gives for each system the least
time of all its rounds, weft's ratio to the best peer, the share of what this machine can do (measured in the same run), and the goal; `!`
marks a goal that is missed. The exit status is 1 if one is, if a system fails or if results disagree. Names begin with: small, tiny,
elementwise, reduce, matmul, conv, train, infer, scan, while, bfloat16 (timed in turns, on one thread, some on two), import, first, new-batch,
second-process, memory, graph, busy (in new processes).
"""
import argparse
import sys
import time

import processes
from systems import SYSTEMS, InProcess
from table import Row, Table, shown
from workloads import all_workloads


def agree(name, results):
    """What differs from weft's result beyond rounding."""
    mine = results.get("weft")
    if mine is None:
        return []
    scale = sum(map(abs, mine)) / len(mine)
    worst = {s: max(abs(a - b) / (abs(b) + scale + 1e-30) for a, b in zip(mine, theirs)) for s, theirs in results.items()}
    return [f"weft gives {mine[:4]}, {s} {results[s][:4]}: they do not agree" for s in results if not worst[s] < 2e-3 or len(results[s]) != len(mine)]


# Seconds before each turn on several threads: those of OpenMP, OpenBLAS and ONNX Runtime turn on the spot for up to 0.2 s after their work, and would
# take a processor from who comes next (weft's median was twice its least time so).
SETTLE = 0.3


def timed(name, workload, systems, rounds, seconds, threads, limits):
    """The row of one workload. A system five times slower than the best in the first round is not asked again."""
    answers, notes, remarks = {}, [], []
    for system, process in systems.items():
        try:
            answers[system] = process.setup(name)
        except RuntimeError as error:
            notes.append(str(error)[:300])
    answers = {s: a for s, a in answers.items() if a}
    notes += agree(name, {s: values for s, (_, values) in answers.items()})
    least, medians, asked = {}, {}, list(answers)
    for turn in range(rounds):
        for system in asked:
            time.sleep(SETTLE if threads > 1 else 0)
            once, middle = systems[system].time(name, seconds)
            part = workload.part.get(system, 1)
            least[system] = min(least.get(system, once / part), once / part)
            medians.setdefault(system, []).append(middle / part)
        asked = [s for s in asked if s == "weft" or least[s] < 5 * min(least.values())]
    own, own_is = timed_own(name, workload, systems["weft"], rounds, seconds, answers["weft"][1], remarks) if workload.own and "weft" in answers else (0, "")
    for process in systems.values():
        process.drop(name)
    return Row(name, least, goals_of(name, workload, threads), threads=threads, own=own, own_is=own_is, medians={s: sorted(v)[len(v) // 2] for s, v in medians.items()},
               firsts={s: first for s, (first, _) in answers.items()}, share=share(workload, least.get("weft"), limits, threads), notes=notes, remarks=remarks)


def timed_own(name, workload, process, rounds, seconds, values, remarks):
    """The least time of weft's other way and its name; how far results are apart is a remark."""
    (other,) = workload.own
    _, theirs = process.setup(name, other)
    least = min(process.time((name, other), seconds)[0] for _ in range(rounds))
    process.drop((name, other))
    apart = sum((a - b) ** 2 for a, b in zip(values, theirs)) / sum(b ** 2 for b in theirs)
    remarks.append(f"{other}: {shown(least, 's')}; its result differs by {apart ** 0.5:.1e} (root mean square of some values, to theirs)")
    return least, other


def goals_of(name, workload, threads):
    return workload.goals if threads == 1 else {"best": 0.85} if name.startswith("train") else {"best": 1.0}


def share(workload, seconds, limits, threads):
    """Of what the machine can do: of its arithmetic where that is counted, else of its memory where arrays lie beyond the caches."""
    if not seconds:
        return 0
    if workload.operations:
        return workload.operations / seconds / limits["operations"] / threads
    return workload.bytes / seconds / limits["read" if workload.reads else "copied"] if workload.bytes >= 1 << 24 else 0


def measured_limits():
    """What one thread can do at best, of three processes: whoever else runs only takes away."""
    found = []
    for _ in range(3):
        process = InProcess("weft", 1)
        found.append(process.limits())
        process.close()
    return {name: max(one[name] for one in found) for name in found[0]}


def in_turns(table, chosen, options, threads):
    known = {name: w for name, w in chosen.items() if threads in w.threads}
    if not known:
        return
    one = {row.name: row.values["weft"] for row in table.rows if row.threads == 1 and "weft" in row.values}
    limits = {"operations": float("inf"), "copied": float("inf"), "read": float("inf")}
    if "weft" in options.systems:
        limits = measured_limits()
        print(f"\nthis machine, one thread: {limits['operations'] / 1e9:.0f} GFLOP/s, {limits['copied'] / 1e9:.1f} GB/s copied and {limits['read'] / 1e9:.1f} GB/s read beyond the caches")
    systems = {s: InProcess(s, threads) for s in options.systems}
    table.head(f"{threads} thread{'s' if threads > 1 else ''}: least of {options.rounds} rounds of {options.seconds:g} s, the systems taking turns")
    for name, workload in known.items():
        row = timed(name, workload, systems, options.rounds, options.seconds, threads, limits)
        if threads > 1 and name in one:
            row.speedup = one[name] / row.values["weft"]
        table.add(row)
    for process in systems.values():
        process.close()


def in_processes(table, wanted, options):
    firsts = [n for n in processes.FIRSTS if any(wanted(f"{kind}.{n}") for kind in ("first", "new-batch", "second-process"))]
    memories = [n for n in ("mnist", "gpt128") if wanted(f"memory.{n}")]
    graphs = [n for n in (1000, 4000, 40_000) if wanted(f"graph.{n}")]
    groups = [processes.imports(options.systems, options.rounds) if wanted("import") else (), processes.firsts(firsts, options.systems, min(options.rounds, 3)),
              processes.memories(memories, options.systems), processes.graphs(graphs, options.systems, min(options.rounds, 3))]
    if options.threads != 1 and wanted("busy.mlp"):
        groups.append(processes.busy(options.systems, options.rounds, max(options.seconds, 0.5)))   # the loop comes and goes in turns of milliseconds
    rows = (row for group in groups for row in group)
    headed = False
    for row in rows:
        if not headed:
            table.head("new processes")
            headed = True
        table.add(row)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", help="what rows' names begin with; may be given again")
    parser.add_argument("--seconds", type=float, default=0.1, help="of each turn")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, choices=(1, 2), help="default: both, one after the other")
    parser.add_argument("--peers", default=",".join(SYSTEMS[1:]), help="default: all, " + ", ".join(SYSTEMS[1:]))
    parser.add_argument("--more", action="store_true", help="also rows for which nothing was promised")
    parser.add_argument("--json", metavar="FILE", help="write all figures there, medians and first calls too")
    options = parser.parse_args()
    options.systems = ["weft", *(p for p in options.peers.split(",") if p)]
    unknown = set(options.systems) - set(SYSTEMS)
    if unknown:
        parser.error(f"there is no system {', '.join(sorted(unknown))}; there are {', '.join(SYSTEMS)}")

    def wanted(name):
        return not options.only or any(name.startswith(only) or only.startswith(name + ".") for only in options.only)

    chosen = {name: w for name, w in all_workloads().items() if (wanted(name) if options.only else options.more or not w.more)}
    table = Table(options.systems)
    for threads in (options.threads,) if options.threads else (1, 2):
        in_turns(table, chosen, options, threads)
    in_processes(table, wanted, options)
    fine = table.summary()
    if options.json:
        table.write(options.json, rounds=options.rounds, seconds=options.seconds)
    without = [only for only in options.only or () if not any(row.name.startswith(only) for row in table.rows)]
    if without:
        parser.error(f"no row's name begins with {' or '.join(without)}; --only takes one name and may be given again, --help lists what names begin with")
    return 0 if fine and not any(row.notes for row in table.rows) else 1


if __name__ == "__main__":
    sys.exit(main())
