"""loopbook against what else a user could pick, on PolyBench: one run, all systems in turn.

    python benchmarks/peers.py --out FOLDER [--preset LARGE] [--threads 1 2] [--only KERNEL …]
        [--systems NAME …] [--book PATH] [--rounds 7] [--resume]

The systems: NumPy, Numba and DaCe (``pip install 'loopbook[peers]'``, or in another interpreter,
which LOOPBOOK_PEERS_PYTHON names), docc's own schedules, C through clang with and without Polly,
and loopbook with its book. Each runs in a process of its own with the same sizes and data on the
same pinned cores; nothing else should run on them. Nobody is timed before his numbers are those of
docc's unoptimised program; who fails, is wrong or too slow is listed with the reason.

Kernels whose baseline takes longer than ``--limit`` are run at the next smaller size.
FOLDER gets ``results.jsonl`` (a line as soon as a kernel is finished; ``--resume`` goes on after
the last one), ``table.md`` and ``figure.png``.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks import lines  # noqa: E402
from benchmarks.provenance import provenance  # noqa: E402
from benchmarks.systems.child import Failed  # noqa: E402
from benchmarks.systems.comparison import Setting, comparison, first_run  # noqa: E402
from benchmarks.systems.registry import BASELINE, PEERS, SYSTEMS  # noqa: E402
from benchmarks.systems.table import Result, fastest, markdown, speedup  # noqa: E402
from loopbook.errors import InputError, LoopbookError  # noqa: E402
from loopbook.workloads import polybench  # noqa: E402


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare loopbook with its peers on PolyBench.")
    parser.add_argument("--out", type=Path, required=True, help="folder for the results")
    parser.add_argument("--preset", choices=polybench.PRESETS, default="LARGE")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", nargs="+", metavar="KERNEL", choices=polybench.names())
    parser.add_argument("--systems", nargs="+", choices=list(SYSTEMS), default=list(SYSTEMS))
    parser.add_argument("--book", type=Path, help="the user's book; default as for loopbook bench")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each system")
    parser.add_argument(
        "--budget", type=float, default=20.0, help="seconds of measuring for one system and kernel"
    )
    parser.add_argument(
        "--limit", type=float, default=20.0, help="seconds that the baseline may take"
    )
    parser.add_argument("--run-limit", type=float, default=120.0, help="seconds for any run")
    parser.add_argument("--cores", type=int, nargs="+", help="the last ones, if not given")
    parser.add_argument("--resume", action="store_true", help="go on with the results in FOLDER")
    options = parser.parse_args(arguments)
    options.cores = options.cores or sorted(os.sched_getaffinity(0), reverse=True)
    if min(options.threads) < 1 or max(options.threads) > len(options.cores):
        parser.error(f"--threads must be 1 to {len(options.cores)}, the number of cores here")
    return options


def fitting_preset(kernel: str, threads: int, options: argparse.Namespace) -> str:
    """The wanted size, or the largest below it whose baseline stays within the limit."""
    cores = tuple(options.cores[:threads])
    below = polybench.PRESETS[: polybench.PRESETS.index(options.preset) + 1]
    for preset in reversed(below[1:]):
        try:
            setting = Setting(kernel, preset, 1, cores[:1], limit=options.limit)
            first_run(SYSTEMS[BASELINE], setting)
        except Failed as failed:
            if failed.kind != "timeout":
                raise
            _say(f"{kernel}: {preset} takes docc more than {options.limit:g} s")
        else:
            return preset
    return below[0]


def compare(kernel: str, threads: int, preset: str, options: argparse.Namespace) -> Result:
    """All systems at one kernel, as one line of the results."""
    setting = Setting(
        kernel,
        preset,
        threads,
        tuple(options.cores[:threads]),
        rounds=options.rounds,
        budget=options.budget,
        limit=options.run_limit,
    )
    begun = time.time()
    outcomes = comparison([SYSTEMS[name] for name in options.systems], setting)
    return {
        "kernel": kernel,
        "threads": threads,
        "preset": preset,
        "wanted": options.preset,
        "cores": setting.cores,
        "begun": begun,
        "systems": {name: outcome.to_json() for name, outcome in outcomes.items()},
    }


def finished(results: Iterable[Result], options: argparse.Namespace) -> dict[Any, Result]:
    """By kernel and threads, the last result that answers what is asked now."""
    return {
        (result["kernel"], result["threads"]): result
        for result in results
        if result["wanted"] == options.preset and set(options.systems) <= set(result["systems"])
    }


def write(results: Sequence[Result], options: argparse.Namespace) -> None:
    """The table and the figure."""
    title = f"PolyBench 4.2.1, {options.preset}, double"
    (options.out / "table.md").write_text(markdown(results, title, provenance()), encoding="utf-8")
    try:
        from benchmarks.systems.figure import draw

        draw(results, options.out / "figure.png")
    except InputError as error:
        _say(f"no figure: {error}")


def main(arguments: Sequence[str] | None = None) -> int:
    options = parsed(arguments)
    if options.book:
        os.environ["LOOPBOOK_BOOK"] = str(options.book.resolve())
    absent = [name for name in options.systems if SYSTEMS[name].python() is None]
    if absent:
        _say(f"without {' and '.join(absent)}, which {PEERS} installs")
    file = options.out / "results.jsonl"
    if file.exists() and not options.resume:
        _say(f"{file} exists: go on with --resume, or name another folder")
        return 2
    options.out.mkdir(parents=True, exist_ok=True)
    done = finished(lines.read(file), options)
    kernels = options.only or polybench.names()
    waiting = [(k, t) for k in kernels for t in options.threads if (k, t) not in done]
    begun, presets = time.monotonic(), {k: r["preset"] for (k, _), r in done.items()}
    for place, (kernel, threads) in enumerate(waiting):
        try:
            preset = presets.get(kernel) or fitting_preset(kernel, threads, options)
            presets[kernel] = preset
            result = compare(kernel, threads, preset, options)
        except Failed as failed:
            _say(f"{kernel}: docc itself failed: {failed.reason}")
            continue
        lines.append(file, result)
        done[kernel, threads] = result
        _progress(result, place + 1, len(waiting), time.monotonic() - begun)
    order = [(kernel, threads) for kernel in kernels for threads in options.threads]
    write([done[key] for key in order if key in done], options)
    return 0 if all(key in done for key in order) else 1


def _progress(result: Result, count: int, total: int, taken: float) -> None:
    left = taken / count * (total - count)
    best = fastest(result, result["systems"])
    gain = speedup(result, best[0]) if best else None
    what = f"{best[0]} is fastest ({gain:.2f}× docc)" if best and gain else "no system got there"
    _say(
        f"{count}/{total} {result['kernel']} {result['preset']} {result['threads']}t: {what}; "
        f"{taken / 60:.0f} min, about {left / 60:.0f} min left"
    )


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LoopbookError as error:
        _say(str(error))
        sys.exit(2)
