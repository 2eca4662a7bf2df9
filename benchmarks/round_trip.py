"""Whether programs are the same after they have been read into the tree and written again.

    python benchmarks/round_trip.py [--synthetic 500] [--arrays 300] [--seed 77]

PolyBench, synthetic programs, and array programs of `benchmarks/docc_programs.py` as docc's own
front end reads them; each as the front end wrote it and as it is prepared. The same JSON is the
same program; where it is another one, docc's C++ of both is compared. Exit code 1 if that differs,
too.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks.docc_programs import arguments_of, function_of, source_of  # noqa: E402
from benchmarks.provenance import provenance  # noqa: E402
from loopbook.errors import LoopbookError  # noqa: E402
from loopbook.program.read import read  # noqa: E402
from loopbook.program.write import write  # noqa: E402
from loopbook.sdfg import frontend, program  # noqa: E402
from loopbook.sdfg.build import code_of  # noqa: E402
from loopbook.workloads import polybench, synthetic  # noqa: E402

SAME, SAME_CODE, OTHER, UNREAD = "same JSON", "same C++", "other C++", "docc does not read it"


def outcomes(text: str) -> Iterator[str]:
    """What comes of a program as the front end wrote it, and of the prepared one."""
    for document in (text, program.prepare(text).to_json()):
        again = json.dumps(write(read(json.loads(document))))
        if json.loads(again) == json.loads(document):
            yield SAME
        else:
            before, after = (code_of(program.parse(one)) for one in (document, again))
            yield SAME_CODE if before == after else OTHER


def texts(options: argparse.Namespace) -> Iterator[tuple[str, str, str]]:
    """Suite, name and SDFG of each program; no SDFG where docc does not read it."""
    for name in polybench.names():
        workload = polybench.load(name)
        preset = next(iter(workload.parameters))
        yield "polybench", name, frontend.trace(workload.kernel, workload.arguments(preset))
    for name in synthetic.names(options.synthetic, options.seed):
        workload = synthetic.load(name)
        preset = next(iter(workload.parameters))
        yield "synthetic", name, frontend.trace(workload.kernel, workload.arguments(preset))
    frontend.understood = lambda func, arguments: func  # what docc's own users send
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.seed, options.seed + options.arrays):
            try:
                kernel = function_of(source_of(seed), Path(folder))
                yield "arrays", str(seed), frontend.trace(kernel, arguments_of(9, seed))
            except LoopbookError:
                yield "arrays", str(seed), ""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--synthetic", type=int, default=500, help="synthetic programs")
    parser.add_argument("--arrays", type=int, default=300, help="array programs")
    parser.add_argument("--seed", type=int, default=77)
    options = parser.parse_args()
    found: dict[str, Counter[str]] = {}
    for suite, name, text in texts(options):
        told = list(outcomes(text)) if text else [UNREAD]
        found.setdefault(suite, Counter()).update(told)
        if OTHER in told:
            print(f"{suite} {name}: other C++")
    print(provenance())
    for suite, counts in found.items():
        parts = ", ".join(f"{count} {what}" for what, count in counts.most_common())
        print(f"{suite}, twice each: {parts}")
    return 1 if any(counts[OTHER] for counts in found.values()) else 0


if __name__ == "__main__":
    raise SystemExit(main())
