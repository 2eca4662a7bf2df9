"""What two versions of loopbook make of PolyBench's kernels, timed in turns.

    python benchmarks/versions.py CHECKOUT --out FILE.jsonl [--preset LARGE]
        [--target sequential openmp] [--only KERNEL …] [--rounds 5] [--pairs 2] [--cores 1 0]
        [--all]

CHECKOUT is a clone at the older commit. Each version compiles the kernel, with its own book and
nothing measured, in a process of its own, and is stopped while the other runs; their results are
compared. Where both have made the same object code, byte for byte, there is nothing to time: the
ratio is 1, unless `--all` has these timed as well. FILE gets a line a kernel as soon as it is done,
and a run that was ended goes on there. The last line printed for a target is the geometric mean of
before over after.

Where arrays lie is no matter of versions, but of which memory a process happens to have left, and
it moves the times of the very same code by a fifth. So both sides have theirs in the same places of
huge pages, in all rounds. The stack's place is another in each process: there are several pairs of
them, and the minimum over all counts.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import mmap
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
TOLERANCE = 1e-7
"""Relative to the largest element: orders of summation differ."""

HUGE = 2 << 20
"""Bytes in a huge page."""

GAP = 13 * 64
"""Bytes between two arrays, so that equally large ones do not begin at the same place of a page,
where a processor takes a load of the one for a load of what was stored to the other."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("checkout", type=Path, help="the older version")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--preset", default="LARGE")
    parser.add_argument("--target", nargs="+", default=["sequential"])
    parser.add_argument("--only", nargs="+", metavar="KERNEL")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=2, help="of processes")
    parser.add_argument("--all", action="store_true", help="time the same code, too")
    parser.add_argument("--budget", type=float, default=10.0, help="seconds of a process's runs")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one compilation")
    parser.add_argument("--cores", type=int, nargs="+", help="the last ones, if not given")
    options = parser.parse_args()
    from benchmarks import lines
    from loopbook.workloads import polybench

    done = {(line["target"], line["kernel"]): line for line in lines.read(options.out)}
    for target in options.target:
        for kernel in options.only or polybench.names():
            if (target, kernel) not in done:
                done[target, kernel] = _contest(kernel, target, options)
                lines.append(options.out, done[target, kernel])
            print(_row(done[target, kernel]), flush=True)
        ratios = [r["ratio"] for (t, _), r in done.items() if t == target and "ratio" in r]
        mean = float(np.exp(np.mean(np.log(ratios)))) if ratios else float("nan")
        print(f"{target}: {len(ratios)} kernels, before / after {mean:.3f}", flush=True)
    return 1 if any("failed" in line for line in done.values()) else 0


def _contest(kernel: str, target: str, options: argparse.Namespace) -> dict[str, Any]:
    """One kernel, both versions in turns."""
    from benchmarks.systems.child import Failed

    line: dict[str, Any] = {"kernel": kernel, "target": target, "preset": options.preset}
    try:
        for _ in range(options.pairs):
            for name, value in _pair(kernel, target, options).items():
                line[name] = min(line.get(name, value), value) if name[-2:] == "_s" else value
            if line["same"] and not options.all:
                return line | {"ratio": 1.0}
            if line["difference"] > TOLERANCE:
                line["failed"] = f"results differ by {line['difference']:.1e}"
        line["ratio"] = line["before_s"] / line["after_s"]
    except Failed as failed:
        line["failed"] = failed.reason
    return line


def _pair(kernel: str, target: str, options: argparse.Namespace) -> dict[str, Any]:
    """Seconds of one process for each version, the difference of their results, and whether they
    have made the same code."""
    from benchmarks.systems.child import Child, Failed

    cores = options.cores or sorted(os.sched_getaffinity(0), reverse=True)
    cores = cores[:1] if target == "sequential" else cores
    found: dict[str, Any] = {}
    codes = []
    with tempfile.TemporaryDirectory() as folder:
        children: dict[str, Child] = {}
        try:
            for side, root in (("before", options.checkout.resolve()), ("after", ROOT)):
                place = Path(folder) / side
                place.mkdir()
                job = [kernel, target, options.preset, *map(str, cores)]
                children[side] = child = Child(
                    [sys.executable, str(Path(__file__).resolve()), "--worker", *job],
                    place,
                    len(cores),
                    {"PYTHONPATH": str(root)},
                )
                answer = child.answer(options.limit, "compiling")
                found[f"{side}_compile_s"] = answer["seconds"]
                codes.append(answer["code"])
                child.pause()
            found["difference"] = _difference(*(Path(folder) / side for side in children))
            found["same"] = codes[0] == codes[1]
            if options.all or not found["same"]:
                times = _in_turns(children, options)
                found |= {f"{side}_s": min(seconds) for side, seconds in times.items()}
        except Failed as failed:
            raise Failed(failed.kind, f"{'/'.join(children)}: {failed.reason}") from None
        finally:
            for child in children.values():
                child.__exit__()
    return found


def _in_turns(children: dict[str, Any], options: argparse.Namespace) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {side: [] for side in children}
    for turn in range(options.rounds):
        for side in list(children)[:: 1 if turn % 2 else -1]:
            if sum(times[side]) < options.budget or not times[side]:
                answer = children[side].ask("run", options.limit, "running")
                times[side].append(answer["seconds"])
    return times


def _difference(before: Path, after: Path) -> float:
    """Greatest difference of two runs' results, relative to the largest element."""
    worst = 0.0
    with np.load(before / "results.npz") as old, np.load(after / "results.npz") as new:
        for name in old.files:
            one, other = old[name], new[name]
            largest = max(float(np.max(np.abs(one), initial=0.0)), 1e-300)
            worst = max(worst, float(np.max(np.abs(one - other), initial=0.0)) / largest)
    return worst


def _row(line: dict[str, Any]) -> str:
    name = f"{line['kernel']:16} {line['target']:10}"
    if "ratio" not in line:
        return f"{name} {line['failed']}"
    same = "the same code" if line["same"] else line.get("failed", "")
    if "before_s" not in line:
        return f"{name} {same}"
    return (
        f"{name} before {line['before_s'] * 1e3:9.2f} ms, after {line['after_s'] * 1e3:9.2f} ms, "
        f"ratio {line['ratio']:.3f}  {same}"
    )


def worker(kernel: str, target: str, preset: str, *cores: str) -> None:
    """Compiles with the loopbook that is on the path, then times a run for each line it reads."""
    os.sched_setaffinity(0, {int(core) for core in cores})
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    import loopbook
    from loopbook.workloads import polybench

    workload = polybench.load(kernel)
    compiled = loopbook.native(workload.kernel, target=target, strict=True)
    arguments = laid_out(workload.arguments(preset))
    begun = time.perf_counter()
    compiled.compile(*arguments, output_folder="code")
    seconds = time.perf_counter() - begun
    compiled(*arguments)
    np.savez("results.npz", *workload.results(arguments))
    objects = sorted(Path("code").glob("*.o"))
    assert objects, "docc has left no object code: equal code cannot be told"
    code = hashlib.sha256(b"".join(file.read_bytes() for file in objects)).hexdigest()
    answers.write(json.dumps({"event": "compiled", "seconds": seconds, "code": code}) + "\n")
    for _ in sys.stdin:
        for mine, fresh in zip(arguments, workload.arguments(preset), strict=True):
            if isinstance(mine, np.ndarray):
                np.copyto(mine, fresh)
        begun = time.perf_counter()
        compiled(*arguments)
        seconds = time.perf_counter() - begun
        answers.write(json.dumps({"event": "ran", "seconds": seconds}) + "\n")


def laid_out(arguments: list[Any]) -> list[Any]:
    """Arguments with their arrays one after the other in huge pages, the first at the beginning of
    one."""
    room = sum(value.nbytes + 64 + GAP for value in arguments if isinstance(value, np.ndarray))
    memory = mmap.mmap(-1, room + HUGE)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    place = -np.frombuffer(memory, np.uint8).ctypes.data % HUGE
    placed = []
    for value in arguments:
        if isinstance(value, np.ndarray):
            array = np.ndarray(value.shape, value.dtype, memory, place)
            np.copyto(array, value)
            place += -(-value.nbytes // 64) * 64 + GAP
            value = array
        placed.append(value)
    return placed


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(*sys.argv[2:])
    else:
        sys.path.insert(0, str(ROOT))
        sys.exit(main())
