"""Whether programs of array expressions come out right through docc's unmodified client.

    python benchmarks/arrays_docc.py --out FOLDER [--count 500] [--first 0] [--jobs 2] [--resume]

docc's own front end reads programs of `benchmarks/docc_programs.py`, with ``remote_tuning=True``,
and asks a server of ours over the starter book: they come to it as chains of nests with temporaries
between (`loopbook.normal_form`). NumPy's numbers are right. What docc reads wrongly, or not at all,
without a server either is counted apart.

FOLDER gets ``results.jsonl``. Exit code 1 if a number is wrong, or a process crashed because of us.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import warnings
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks import lines  # noqa: E402
from benchmarks.docc_programs import arguments_of, function_of, source_of  # noqa: E402
from benchmarks.semantics import completed  # noqa: E402
from benchmarks.serving import serve  # noqa: E402
from loopbook.errors import LoopbookError  # noqa: E402
from loopbook.toolchain.sandbox import run_limited  # noqa: E402

SIZES = (9, 14)
SECONDS = 120.0

UNREAD, MISREAD = "docc does not read it", "wrong without a server, too"
RIGHT, WRONG = "right", "wrong"

Result = dict[str, Any]


def result_of(seed: int) -> Result:
    """One program, each way in a child."""
    told: Result = {"seed": seed, "dtype": "float64", "target": "sequential"}
    told |= {"wrong": [], "crash": "", "outcome": RIGHT}
    source = source_of(seed)
    for remote in (False, True):
        try:
            words = run_limited(_fault, source, remote, seconds=SECONDS, what=f"{seed}")
        except LoopbookError as error:
            if not remote:
                return told | {"outcome": UNREAD, "why": str(error)[:200]}
            return told | {"outcome": WRONG, "crash": str(error)[:200]}
        if words and not remote:
            return told | {"outcome": MISREAD, "why": words}
        if words:
            return told | {"outcome": WRONG, "wrong": [words]}
    return told


def _fault(source: str, remote: bool) -> str:
    """What is wrong with docc's numbers, if anything."""
    from docc.python import native

    from loopbook.toolchain.compiler import activate

    activate()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        kernel = function_of(source, Path(folder))
        program = native(target="sequential", remote_tuning=remote)(kernel)
        for size in SIZES:
            expected, given = arguments_of(size, size), arguments_of(size, size)
            returned, answer = kernel(*expected), program(*given)
            pairs = zip([*expected[:-1], returned], [*given[:-1], answer], strict=True)
            for place, (right, ours) in enumerate(pairs):
                if not np.allclose(ours, right, rtol=1e-9, atol=1e-11, equal_nan=True):
                    return f"{size}: value {place} is off by {np.abs(ours - right).max():.3g}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description="Array programs through docc's own client.")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="the first program's seed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--resume", action="store_true")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    log = given.out / "results.jsonl"
    if not given.resume:
        log.unlink(missing_ok=True)
    done = lines.read(log)
    ready = {result["seed"] for result in done}
    todo = [s for s in range(given.first, given.first + given.count) if s not in ready]
    with tempfile.TemporaryDirectory() as folder:
        server, url, token = serve(str(Path(folder) / "book.db"))
        os.environ |= {
            "RPC_SERVER": f"{url}/docc",
            "DOCC_ACCESS_TOKEN": token,
            "DOCC_TMP": folder,
        }
        try:
            for result in completed([partial(result_of, seed) for seed in todo], given.jobs):
                lines.append(log, result)
                done.append(result)
        finally:
            server.terminate()
            server.wait(60)
    outcomes = Counter(result["outcome"] for result in done)
    print(", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common()))
    return 1 if outcomes[WRONG] else 0


if __name__ == "__main__":
    sys.exit(main())
