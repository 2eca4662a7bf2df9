"""How much of the tuner's gain do recipes ported from other kernels give?

    python benchmarks/ports.py [--preset MEDIUM] [--target sequential] [--only KERNEL…]
                               [--book PATH [--alone]] [--measured 5] [--json FILE]

For every kernel of PolyBench, everything that the book knows of it is left out: the kernel's own
records, and all others of nests with the same fingerprints. What is then served from neighbours,
with nothing measured, is timed in turn with docc's own compile and with what the tuner found for
this very kernel. With ``--measured N``, so is the best of N choices for each nest, picked by
measuring.

Share is how much of the tuner's gain is kept, in logarithms of speedups over docc's own compile.
``--book`` alone adds a book; ``--alone`` looks neighbours up in that book only. The tuner's recipes
come from the starter book in any case.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loopbook.client.layered import LayeredBook
from loopbook.client.opening import open_book
from loopbook.client.plan import make_plan
from loopbook.client.verify import Verifier
from loopbook.errors import LoopbookError
from loopbook.sdfg import program
from loopbook.targets import DEFAULT, TARGETS
from loopbook.toolchain.times import Schedule
from loopbook.workloads import polybench
from loopbook.workloads.call import Call
from loopbook.workloads.workload import Workload

SCHEDULE = Schedule(repeats=41, seconds=1.5, at_least=2)

SLOWDOWN = 0.95
"""A speedup below this counts as a slowdown; what lies between this and 1 is noise."""


@dataclass(frozen=True)
class Row:
    """One kernel: speedups over docc's own compile.

    Attributes:
        measured: of the best of several choices; None if that was not asked for.
        nests: loops, tier, neighbour and recipe of each nest, as `loopbook bench` prints them.
    """

    kernel: str
    docc_s: float
    tuned: float
    served: float
    measured: float | None
    nests: list[dict[str, Any]]

    @property
    def declined(self) -> bool:
        """Whether no nest got anything."""
        return all(nest["tier"] == "none" for nest in self.nests)


def ported(
    workload: Workload,
    options: argparse.Namespace,
    layered: LayeredBook,
    books: LayeredBook,
    folder: Path,
) -> Row:
    """Build and time one kernel.

    Raises:
        LoopbookError: if the kernel cannot be compiled or its numbers are wrong.
    """
    call = Call.as_written(workload, workload.arguments(options.preset))
    sizes = call.symbols
    verifier = Verifier(call.text, call.binding(), options.target, folder)
    _, nests = program.prepare_nests(verifier.text)
    others = LayeredBook(books.books, without={nest.fingerprint for nest in nests})
    own = make_plan(verifier.text, options.target, layered, sizes=sizes)

    def plan(choices: int) -> Any:
        return make_plan(
            verifier.text,
            options.target,
            others,
            exclude=[workload.name],
            sizes=sizes,
            choices=choices,
        )

    served = plan(1)
    builts = [verifier.baseline, verifier.build(own), verifier.build(served)]
    if options.measured:
        best = verifier.choose(plan(options.measured), tries=options.measured)
        builts.append(best.built)
    different = list({built.library: built for built in builts}.values())
    times = verifier.binding.measure(
        different, SCHEDULE, verifier.expected, seconds=verifier.seconds
    )
    taken = {b.library: min(t.seconds) for b, t in zip(different, times, strict=True)}
    docc, *rest = (taken[built.library] for built in builts)
    speedups = [docc / seconds for seconds in rest]
    return Row(
        workload.name,
        docc,
        speedups[0],
        speedups[1],
        speedups[2] if options.measured else None,
        [nest.to_json() for nest in served.nests],
    )


def share(gained: list[float], tuned: list[float]) -> float:
    """How much of the gain of `tuned` is kept, of the logarithms' sums."""
    whole = math.fsum(map(math.log, tuned))
    return math.fsum(map(math.log, gained)) / whole if whole else math.nan


def mean(speedups: list[float]) -> float:
    """The geometric mean."""
    return math.exp(math.fsum(map(math.log, speedups)) / max(1, len(speedups)))


def summary(rows: list[Row]) -> list[str]:
    tuned = [row.tuned for row in rows]
    kinds = {"served, nothing measured": [row.served for row in rows]}
    if all(row.measured is not None for row in rows):
        kinds["best of those measured"] = [row.measured or 1.0 for row in rows]
    lines = [f"tuner: geometric mean {mean(tuned):.2f}x over {len(rows)} kernels"]
    for kind, speedups in kinds.items():
        slower = [r.kernel for r, s in zip(rows, speedups, strict=True) if s < SLOWDOWN]
        lines.append(
            f"{kind}: {mean(speedups):.2f}x, {100 * share(speedups, tuned):.0f} % of the gain; "
            f"slower: {', '.join(slower) or 'none'}"
        )
    declined = [row.kernel for row in rows if row.declined]
    return [*lines, f"left to docc: {', '.join(declined) or 'none'}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--preset", default="MEDIUM", choices=polybench.PRESETS)
    parser.add_argument("--target", default=DEFAULT, choices=TARGETS)
    parser.add_argument("--only", nargs="+", default=polybench.names(), metavar="KERNEL")
    parser.add_argument("--book", type=Path, help="a book to look neighbours up in")
    parser.add_argument("--alone", action="store_true", help="without the starter book")
    parser.add_argument("--measured", type=int, default=0, metavar="N")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the rows here")
    options = parser.parse_args()
    rows: list[Row] = []
    with open_book() as layered, open_book(options.book, starter=not options.alone) as books:
        for name in options.only:
            try:
                with tempfile.TemporaryDirectory(prefix="loopbook-") as folder:
                    row = ported(polybench.load(name), options, layered, books, Path(folder))
            except LoopbookError as error:
                print(f"{name:<16} {error}", flush=True)
                continue
            rows.append(row)
            measured = f"{row.measured:8.2f}" if row.measured is not None else ""
            used = [f"{n['neighbour']}" for n in row.nests if n["tier"] != "none"]
            print(
                f"{name:<16} {row.docc_s:10.6f} s  tuned {row.tuned:7.2f}  served {row.served:7.2f}"
                f"{measured}  {', '.join(dict.fromkeys(used)) or '-'}",
                flush=True,
            )
    for line in summary(rows):
        print(line)
    if options.json:
        text = json.dumps([vars(row) for row in rows], indent=1)
        options.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
