"""How many different nests the synthetic programs have, and whether docc gets them right.

    python benchmarks/synthetic.py [--count 2400] [--seed 0] [--check 4] [--target openmp]… [--json]

Draws programs, each with a nest that no earlier one has, and counts fingerprints family by family.
Of every family, `--check` programs spread over those drawn are compiled by docc and compared with
their reference, on their own data and on shuffled data (see `loopbook.workloads.state`). Exit code
1 if one of them is wrong.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from typing import Any

from loopbook.workloads import synthetic
from loopbook.workloads.state import TARGETS, check


def drawn(count: int, seed: int, families: Sequence[str]) -> dict[str, dict[str, frozenset[str]]]:
    """Family to its programs to their fingerprints."""
    found: dict[str, dict[str, frozenset[str]]] = {family: {} for family in families}
    for workload, fingerprints in synthetic.draw(count, seed, families):
        found[workload.name.partition(".")[0]][workload.name] = fingerprints
    return found


def spread(names: Sequence[str], count: int) -> list[str]:
    """Up to `count` of the names at equal distances."""
    count = min(count, len(names))
    return [names[number * len(names) // count] for number in range(count)]


def faults(names: Sequence[str], targets: Sequence[str]) -> Iterator[dict[str, str]]:
    """The programs that do not compile or come out wrong."""
    for name in names:
        for target in targets:
            state = check(synthetic.load(name), target, synthetic.PRESETS[0])
            if not state.ok:
                yield {"name": name, "target": target, "reason": state.reason}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=2400, help="programs to draw")
    parser.add_argument("--seed", type=int, default=0, help="of all random choices")
    parser.add_argument("--check", type=int, default=4, help="programs to run of each family")
    parser.add_argument(
        "--target", action="append", choices=TARGETS, help="default: both with a schedule"
    )
    parser.add_argument("--family", action="append", choices=tuple(synthetic.FAMILIES))
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    targets = given.target or ["sequential", "openmp"]

    begun = time.monotonic()
    found = drawn(given.count, given.seed, given.family or tuple(synthetic.FAMILIES))
    seconds = time.monotonic() - begun
    everything: set[str] = set()
    wrong = False
    for family, programs in found.items():
        own: set[str] = set().union(*programs.values())
        fresh = own - everything
        everything |= own
        sample = spread(list(programs), given.check)
        bad = list(faults(sample, targets))
        wrong |= bool(bad)
        row: dict[str, Any] = {
            "family": family,
            "programs": len(programs),
            "nests": len(own),
            "new": len(fresh),
            "checked": len(sample),
            "wrong": bad,
        }
        if given.json:
            print(json.dumps(row), flush=True)
            continue
        print(
            f"{family:<12} {len(programs):>5} programs {len(own):>5} nests {len(fresh):>5} new "
            f"{len(sample):>4} checked {len({fault['name'] for fault in bad}):>3} wrong",
            flush=True,
        )
        for fault in bad:
            print(f"  {fault['name']} {fault['target']}: {fault['reason']}", flush=True)
    total = {"programs": sum(map(len, found.values())), "nests": len(everything)}
    total["seconds"] = round(seconds)
    print(json.dumps(total) if given.json else " ".join(f"{k} {v}" for k, v in total.items()))
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
