"""How soon do commands that take long say what they are doing?

    python benchmarks/first_line.py [--only bench …] [--rounds 1]

Each command is started as a process of its own with a pipe for stderr, as in a log; the time is
from the start of the process to its first line there, which tells a stage. Then it is ended. On a
quiet core that is to be under a second. Where others share the core, the seconds of processor time
say what it would be: a line comes 0.15 s after the stage has begun, or when Python has time for it.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

KERNEL = "gemm"


def commands(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Names of commands, and words that have them work for long."""
    own = ["--book", str(folder / "own.db")]
    starter = str(Path(__file__).resolve().parents[1] / "loopbook" / "data" / "starter.book")
    yield "bench", ["bench", "polybench", "--preset", "LARGE"]
    yield "tune", ["tune", KERNEL, *own]
    yield "seed", ["seed", "polybench", *own]
    yield "evaluate", ["evaluate"]
    yield "adopt", ["adopt", *own]
    yield "transfers measure", ["transfers", "measure", str(folder / "logs"), "--programs", "2"]
    yield "train", ["train", "--out", str(folder / "encoder.npz")]
    yield "corpus preparing", ["corpus", "preparing"]
    yield "explain", ["explain", "2mm"]
    yield "nearest", ["nearest", "2mm"]
    yield "optimize", ["optimize", "2mm"]
    yield "workloads", ["workloads"]
    yield "book merge", ["book", "merge", starter, *own]
    yield "book verify", ["book", "verify", starter]


def first_line(words: list[str], folder: Path) -> tuple[float, float, str]:
    """Seconds from the start to the first line on stderr, those of processor time until then, and
    the line; the command is ended then.

    A command that says nothing has come to its end before a line was due.
    """
    environment = {
        **os.environ,
        "LOOPBOOK_BOOK": str(folder / "own.db"),
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    begun = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "loopbook", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        took = time.monotonic() - begun
        return took, worked(process.pid), line.strip() or "(it was done before)"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def worked(process: int) -> float:
    """Seconds of processor time of a process."""
    numbers = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", help="these commands")
    parser.add_argument("--rounds", type=int, default=3, help="of which the fastest counts")
    given = parser.parse_args(arguments)
    print(f"{'command':<18} seconds  of processor  first line")
    for name, words in commands(Path()):
        if given.only and name not in given.only:
            continue
        found = []
        for _ in range(given.rounds):
            with tempfile.TemporaryDirectory() as folder:
                words = dict(commands(Path(folder)))[name]
                found.append(first_line(words, Path(folder)))
        seconds, processor, line = min(found)
        print(f"{name:<18} {seconds:7.2f}  {processor:12.2f}  {line[:40]}", flush=True)


if __name__ == "__main__":
    main()
