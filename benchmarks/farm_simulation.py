"""A farm of tuners, simulated: how soon what was asked for in vain is tuned, and what breaks first.

    python benchmarks/farm_simulation.py run     [--nodes 100] [--programs 1e6] [--exact]
    python benchmarks/farm_simulation.py table   [--nodes 10 …] [--programs 1e3 …] [--out FILE]
    python benchmarks/farm_simulation.py compare MEASURED.json [--runs 20]
    python benchmarks/farm_simulation.py measure [--tasks 20000]      what the database takes, here
    … --measured FILE.json --seed 0 --json

Requests for programs, whose popularity follows Zipf's law, come to servers; one for a program that
nobody has tuned for the class of machine is a miss, which a server writes down with others at its
next refresh. Misses of the same are one task. Workers of the class lease tasks, the most wanted
first, fail, die, lose their leases; a record is served from the servers' next refresh on. The
queue's rules are those of `loopbook.recipes.queue`, its constants and functions imported
(`benchmarks/farm_sim/policy.py`; a test gives both the same operations).

All figures come from a file (`benchmarks/farm_sim/measured.py` says what is in it; default
`benchmarks/results/farm-measured.json`). `compare` takes one of a real run, with its asks as
``trace`` and what came of them as ``observed``, and prints both; it fails if one is over 20 % off.

Up to 200,000 asks there is an event for each thing that happens (``--exact`` forces that); above,
there are steps of time and samples of programs (`benchmarks/farm_sim/steps.py`).
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks.farm_sim import report  # noqa: E402
from benchmarks.farm_sim.arrivals import asks  # noqa: E402
from benchmarks.farm_sim.events import EventFarm  # noqa: E402
from benchmarks.farm_sim.load import helped, load_of  # noqa: E402
from benchmarks.farm_sim.measured import OUTCOMES, Measured, check, read  # noqa: E402
from benchmarks.farm_sim.measuring import measure  # noqa: E402
from benchmarks.farm_sim.result import Result  # noqa: E402
from benchmarks.farm_sim.steps import simulate  # noqa: E402
from loopbook.errors import InputError, LoopbookError  # noqa: E402
from loopbook.recipes.queue import MOST_TASKS  # noqa: E402

DEFAULT = ROOT / "benchmarks" / "results" / "farm-measured.json"
EXACT_UP_TO = 200_000
"""Asks that have events of their own."""

WITHIN = 0.2
"""How far a prediction may be off."""


def sized(told: Measured, nodes: int | None, **demand: Any) -> Measured:
    """Another number of machines, split as before, at least one a class; another demand."""
    classes = told.classes
    if nodes is not None:
        there = sum(one.nodes for one in classes)
        classes = [
            msgspec.structs.replace(one, nodes=max(1, round(nodes * one.nodes / there)))
            for one in classes
        ]
    given = {name: value for name, value in demand.items() if value is not None}
    own = msgspec.structs.replace(told.demand, **given)
    found = msgspec.structs.replace(told, classes=classes, demand=own)
    check(found)
    return found


def predict(told: Measured, seed: int, *, exact: bool = False, rows: int = MOST_TASKS) -> Result:
    """The loop over the days of `told`."""
    demand = told.demand
    if exact or told.trace or demand.asks_per_day * demand.days <= EXACT_UP_TO:
        limit = float("inf") if told.trace else demand.days * 86400
        return EventFarm(told, seed, rows).run(asks(told, seed), limit)
    return simulate(told, seed, most_tasks=rows)


def compared(told: Measured, runs: int) -> dict[str, dict[str, float]]:
    """Predicted means over `runs` runs, their spread, what was observed, and the relative error."""
    if not told.observed.keys() & set(OUTCOMES):
        raise InputError(f"nothing was observed: of {', '.join(OUTCOMES)}")
    found = [predict(told, seed).told() for seed in range(runs)]
    rows = {}
    for name in OUTCOMES:
        values = [one[name] for one in found]
        row = {"predicted": statistics.fmean(values), "least": min(values), "most": max(values)}
        if name in told.observed:
            row["observed"] = told.observed[name]
            row["error"] = row["predicted"] / told.observed[name] - 1
        rows[name] = row
    return rows


def one_of(told: Measured, seed: int, exact: bool) -> dict[str, Any]:
    """A row of the table: what happens, what breaks, what helps."""

    def again(other: Measured, rows: int) -> Result:
        return predict(other, seed, exact=exact, rows=rows)

    result = again(told, MOST_TASKS)
    load = load_of(told, result)
    better = helped(told, result, MOST_TASKS, again)
    return report.row(told, result, load, better)


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("act", choices=("run", "table", "compare", "measure"))
    parser.add_argument("file", nargs="?", type=Path, help="of a real run, for compare")
    parser.add_argument("--measured", type=Path, default=DEFAULT)
    parser.add_argument("--nodes", type=int, nargs="+")
    parser.add_argument("--programs", type=float, nargs="+")
    parser.add_argument("--asks-per-program", type=float, help="a day, on the average")
    parser.add_argument("--days", type=float)
    parser.add_argument("--zipf", type=float)
    parser.add_argument("--near", type=float, help="share of programs with a neighbour's recipe")
    parser.add_argument("--tune-near", action="store_true", default=None)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--tasks", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--out", type=Path, help="where the table goes")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(words)
    try:
        return _done(options)
    except LoopbookError as error:
        print(f"farm_simulation: {error}", file=sys.stderr)
        return 2


def _done(options: argparse.Namespace) -> int:
    if options.act == "measure":
        print(json.dumps(measure(options.tasks, 500), indent=1))
        return 0
    if options.act == "compare":
        if options.file is None:
            raise InputError("compare needs the file of a real run")
        rows = compared(read(options.file), options.runs)
        print(json.dumps(rows) if options.json else report.comparison(rows))
        return 1 if any(abs(one.get("error", 0.0)) > WITHIN for one in rows.values()) else 0
    told = read(options.measured)
    many = options.act == "table"
    found = []
    for nodes in options.nodes or ((10, 100, 1000, 10_000) if many else (None,)):
        for programs in options.programs or ((1e3, 1e4, 1e5, 1e6, 1e7, 1e8) if many else (None,)):
            number = int(programs or told.demand.programs)
            each = options.asks_per_program
            if each is None:
                each = told.demand.asks_per_day / told.demand.programs
            own = sized(
                told,
                nodes,
                programs=number,
                asks_per_day=each * number,
                days=options.days,
                zipf=options.zipf,
                near=options.near,
                tune_near=options.tune_near,
            )
            found.append(one_of(own, options.seed, options.exact))
            if options.json:
                print(json.dumps(found[-1]), flush=True)
            elif not many or not options.out:
                print(report.words(found[-1]), flush=True)
    if options.out:
        options.out.write_text(report.markdown(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
