"""For how many SDFGs data can be made up that they are defined on, and whether docc's unoptimised
code agrees with the tree's interpreter on them.

    python benchmarks/made_up_inputs.py --out FOLDER [--synthetic 60] [--arrays 40] [--only TEXT]

The programs: every nest of the starter book, made loops, made chains of array statements, and the
kernels of PolyBench, all without the data that come with them. FOLDER gets ``results.jsonl`` (a
line for each program) and ``table.md``. Exit code 1 if a result differs.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks.provenance import provenance  # noqa: E402
from loopbook.client.places import starter_path  # noqa: E402
from loopbook.errors import LoopbookError, WrongResultError  # noqa: E402
from loopbook.recipes import Book  # noqa: E402
from loopbook.sdfg.made_up import MadeUp  # noqa: E402
from loopbook.toolchain.sandbox import run_limited  # noqa: E402
from loopbook.tuner.sizes import MOST  # noqa: E402
from loopbook.tuner.task import SdfgTask  # noqa: E402
from loopbook.workloads import arrays, polybench, synthetic  # noqa: E402
from loopbook.workloads.call import Call  # noqa: E402
from loopbook.workloads.workload import Workload  # noqa: E402

SECONDS = 120.0

GROUPS = {
    "starter": "nests of the starter book",
    "polybench": "PolyBench kernels",
    "synthetic": "made loops",
    "arrays": "made array programs",
}


def programs(loops: int, chains: int) -> Iterator[tuple[str, str, str]]:
    """Group, name, SDFG."""
    path = starter_path()
    assert path is not None
    seen: set[str] = set()
    with Book.open(path, readonly=True) as book:
        for record in book.records():
            if record.fingerprint not in seen:
                seen.add(record.fingerprint)
                yield "starter", record.kernel, record.nest_json
    suites: dict[str, Iterator[Workload]] = {
        "polybench": map(polybench.load, polybench.names()),
        "synthetic": (drawn.workload for drawn in synthetic.draw(loops, 0)),
        "arrays": arrays.draw(chains, 0),
    }
    for group, workloads in suites.items():
        for workload in workloads:
            preset = next(iter(workload.parameters))
            try:
                yield group, workload.name, Call.of(workload, workload.arguments(preset)).text
            except LoopbookError as error:
                print(f"{workload.name}: {error}", file=sys.stderr)


def told(name: str, text: str) -> dict[str, Any]:
    """What became of one program."""
    begun = time.process_time()
    task = SdfgTask(name, text, {}, most=MOST)
    row: dict[str, Any] = {"name": name, "inputs": False, "agrees": None}
    try:
        made = MadeUp(text, task.asked[task.PRESET])
        row |= {
            "sizes": dict(made.first.sizes),
            "small": made.small,
            "kind": f"{made.first.kind.reals}, {made.first.kind.indices}",
            "second": f"{made.second.kind.reals}, {made.second.kind.indices}",
            "rank": made.first.rank,
            "inputs": True,
        }
    except LoopbookError as error:
        return row | {"why": str(error)}
    row["seconds"] = round(time.process_time() - begun, 3)
    try:
        task.check()
        row["agrees"] = True
    except WrongResultError as error:
        row |= {"agrees": False, "why": str(error)}
    except LoopbookError as error:
        row["why"] = str(error)
    return row


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    yield "| programs | all | inputs made, defined | docc agrees | differs | not compiled or run |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for group, title in GROUPS.items():
        own = [row for row in rows if row["group"] == group]
        made = [row for row in own if row["inputs"]]
        verdicts = Counter(row["agrees"] for row in made)
        yield (
            f"| {title} | {len(own)} | {len(made)} | {verdicts[True]} | {verdicts[False]}"
            f" | {verdicts[None]} |"
        )
    made = [row for row in rows if row["inputs"]]
    seconds = sorted(row["seconds"] for row in made)
    yield ""
    if seconds:
        yield (
            f"Making both data sets took {seconds[len(seconds) // 2]:.2f} s of processor time in"
            f" the middle, {seconds[-1]:.2f} s at most."
        )
    kinds = Counter(row["kind"] for row in made).most_common()
    yield "First data: " + ", ".join(f"{count} × {kind}" for kind, count in kinds) + "."
    yield ""
    for row in rows:
        if row.get("why"):
            yield f"- {row['group']}, {row['name']}: {row['why']}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--synthetic", type=int, default=60)
    parser.add_argument("--arrays", type=int, default=40)
    parser.add_argument("--only", default="", help="groups or names that contain this")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    with (given.out / "results.jsonl").open("w") as lines:
        for group, name, text in programs(given.synthetic, given.arrays):
            if given.only not in f"{group} {name}":
                continue
            try:
                row = run_limited(told, name, text, seconds=SECONDS, what=name)
            except LoopbookError as error:
                row = {"name": name, "inputs": False, "agrees": None, "why": str(error)}
            rows.append({"group": group, **row})
            print(json.dumps(rows[-1]), file=lines, flush=True)
    text = "\n".join(table(rows))
    (given.out / "table.md").write_text(f"{provenance()}\n\n{text}\n")
    print(text)
    return int(any(row["agrees"] is False for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
