"""Lists synthetic programs, or writes them as workload files.

    python -m loopbook.workloads.synthetic [--count 100] [--seed 0] [--family NAME]… [--out FOLDER]

Without a folder it prints the programs' names, one a line.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from loopbook.workloads import synthetic


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m loopbook.workloads.synthetic")
    parser.add_argument("--count", type=int, default=100, help="programs")
    parser.add_argument("--seed", type=int, default=0, help="of all random choices")
    parser.add_argument("--family", action="append", choices=tuple(synthetic.FAMILIES))
    parser.add_argument("--out", type=Path, help="folder for workload files")
    given = parser.parse_args(arguments)
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
    for name in synthetic.names(given.count, given.seed, given.family or tuple(synthetic.FAMILIES)):
        print(name, flush=True)
        if given.out:
            (given.out / f"{name}.py").write_text(synthetic.source(name))


if __name__ == "__main__":
    main()
