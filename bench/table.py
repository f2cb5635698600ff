"""Rows of figures, one a workload: what each system takes, weft's ratio to the best peer, its share of what the machine can do, the goal and
whether it is kept. Called by bench/peers.py."""
import dataclasses
import json
import math

from workloads.common import COMPILED

GOALS = {"best": "best peer", "compiled": "compiled peers"}


@dataclasses.dataclass
class Row:
    """`values`: for each system what it takes, least of all, in `unit` ("s" or "B"); `medians`: the same in the middle. `goals`: the highest ratio to
    peers ("best", "compiled", a system), to `own` (weft's other way), or "at most", a value. `share`: of the machine's limit; `speedup`: of two threads.
    `notes`: what went wrong; `remarks`: what else is worth knowing."""
    name: str
    values: dict
    goals: dict
    unit: str = "s"
    threads: int = 1
    medians: dict = dataclasses.field(default_factory=dict)
    firsts: dict = dataclasses.field(default_factory=dict)
    share: float = 0
    own: float = 0
    own_is: str = "1 thread"
    speedup: float = 0
    notes: list = dataclasses.field(default_factory=list)
    remarks: list = dataclasses.field(default_factory=list)

    def ratio(self, goal="best"):
        """weft's value to the best of the peers that the goal names; None where there is none."""
        mine, peers = self.values.get("weft"), {s: v for s, v in self.values.items() if s != "weft"}
        if goal == "compiled":
            peers = {s: v for s, v in peers.items() if s in COMPILED}
        elif goal == "own":
            peers = {"own": self.own} if self.own else {}
        elif goal != "best":
            peers = {s: v for s, v in peers.items() if s == goal}
        return mine / min(peers.values()) if mine and peers else None

    def kept(self, goal):
        if goal == "at most":
            return self.values.get("weft", 0) <= self.goals[goal]
        return self.ratio(goal) is None or self.ratio(goal) <= self.goals[goal]

    def missed(self):
        return [goal for goal in self.goals if not self.kept(goal)]


def shown(value, unit):
    for scale, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")) if unit == "B" else ((1, ""), (1e-3, "m"), (1e-6, "u"), (1e-9, "n")):
        if value >= scale * 0.9995:
            return f"{value / scale:.3g} {name}{unit}"
    return f"{value * 1e9:.3g} ns" if unit == "s" else f"{value:.3g} B"


class Table:
    """Prints rows as they come, and what they come to at the end."""

    def __init__(self, systems):
        self.peers, self.rows = [s for s in systems if s != "weft"], []

    def head(self, title):
        print(f"\n{title}\n{'workload':<27}{'weft':>10}" + "".join(f"{s:>14}" for s in self.peers) + f"{'ratio':>7} {'best':<14}{'limit':>6}  goal", flush=True)

    def add(self, row):
        self.rows.append(row)
        cells = "".join(f"{shown(row.values[s], row.unit) if s in row.values else '-':>14}" for s in self.peers)
        mine, ratio, peers = row.values.get("weft"), row.ratio(), {s: v for s, v in row.values.items() if s != "weft"}
        best = min(peers, key=peers.get) if peers else ""
        line = f"{row.name:<27}{shown(mine, row.unit) if mine else '-':>10}{cells}{f'{ratio:.2f}' if ratio else '':>7} {best:<14}"
        goals = ", ".join(f"{self.limit(row, goal)}{'!' if goal in row.missed() else ''}" for goal in row.goals)
        print(f"{line}{f'{row.share:.0%}' if row.share else '':>6}  {goals}{f'  {row.speedup:.2f}x of 1 thread' if row.speedup else ''}".rstrip(), flush=True)
        for note in (*row.notes, *row.remarks):
            print(f"    {note}", flush=True)

    @staticmethod
    def limit(row, goal):
        value = row.goals[goal]
        if goal == "at most":
            return f"<= {shown(value, row.unit)}"
        ratio = row.ratio(goal)
        return f"{value:g}" if goal == "best" else f"{value:g} of {f'own {row.own_is}' if goal == 'own' else GOALS.get(goal, goal)}" + (f" ({ratio:.2f})" if ratio else "")

    def summary(self):
        """Whether all goals are kept."""
        ratios = [row.ratio() for row in self.rows if row.ratio()]
        if not ratios:
            return True
        above = [row.name for row in self.rows if (row.ratio() or 0) > 1]
        missed = [row for row in self.rows if row.missed()]
        print(f"\n{len(ratios)} rows; geometric mean of weft's time over the best peer's: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}; above 1.0: {len(above)}"
              + (f" ({', '.join(above)})" if above else "") + f"; goals missed (!): {len(missed)}")
        return not missed

    def write(self, path, **rest):
        rows = [{**dataclasses.asdict(row), "ratio": row.ratio(), "missed": row.missed()} for row in self.rows]
        with open(path, "w") as file:
            json.dump({**rest, "rows": rows}, file, indent=1)
