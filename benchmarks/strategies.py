"""Which search strategy finds fast recipes with the fewest trials?

    python benchmarks/strategies.py [--out FOLDER] [--trials 100] [--seeds 2] [--only KERNEL…]
                                    [--strategies NAME…] [--preset MEDIUM] [--target sequential]
                                    [--book PATH] [--report]

Runs every strategy on PolyBench kernels of different kinds with the same number of trials, through
the tuner's own search, and compares how each did on the nest that takes most of the kernel's time.
``transfer`` starts from the neighbours that the book has, the kernel's own records left out; the
others start from nothing. The strategies take turns seed by seed inside one session for each
kernel, in which equal code is measured once, whoever proposed it.

FOLDER (default strategies-results) gets a log for each kernel, strategy and seed, from which a
stopped run goes on; ``strategies.md``: the share of the best speedup known that each strategy has
after so many trials, and the trials to half of the final gain with and without neighbours; and
``strategies.png``. ``--report`` only writes these two again from the logs.

A trial takes about 0.3 to 1 s on two cores: with the defaults (10 kernels, 4 strategies, 2 seeds,
100 trials) 1 to 2 hours.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from loopbook.errors import InputError, LoopbookError
from loopbook.targets import DEFAULT, TARGETS, named
from loopbook.tuner.log import TrialLog
from loopbook.tuner.plot import Panel, best_so_far, plot_panels
from loopbook.tuner.strategies import STRATEGIES

KERNELS = {
    "gemm": "contraction",
    "doitgen": "small contractions",
    "syrk": "triangular update",
    "covariance": "triangular reduction",
    "mvt": "matrix-vector product",
    "gemver": "rank-one updates",
    "jacobi-2d": "stencil",
    "fdtd-2d": "coupled stencils",
    "lu": "factorisation",
    "nussinov": "dynamic programming",
}
"""What is compared by default, and what kind of nest it has."""

AFTER = (10, 20, 30, 60, 100)
"""Trials after which the share of the best is told."""

Runs = dict[str, dict[str, list[list[float]]]]
"""Kernel to strategy to one curve of best speedups for each seed."""


def measure(options: argparse.Namespace, kernel: str) -> None:
    """Run what is not in the logs yet.

    Raises:
        LoopbookError: if the kernel cannot be compiled or run.
    """
    from loopbook.client.hardware import local_profile
    from loopbook.client.opening import open_book
    from loopbook.tuner.neighbours import ported_neighbours
    from loopbook.tuner.search import search, search_header
    from loopbook.tuner.session import Session
    from loopbook.tuner.settings import Settings
    from loopbook.tuner.task import PythonTask
    from loopbook.workloads import polybench

    threads = named(options.target).threads
    hardware = local_profile(threads)
    task = PythonTask(polybench.load(kernel))

    def settings(strategy: str, seed: int) -> Settings:
        return Settings(options.target, options.trials, strategy, seed)

    logs = {
        (seed, name): TrialLog(
            log_path(options.out, kernel, name, seed),
            search_header(task, options.preset, hardware, settings(name, seed)),
        )
        for seed in range(options.seeds)
        for name in options.strategies
    }
    todo = {run: log for run, log in logs.items() if log.next_number < options.trials}
    if not todo:
        return
    with (
        open_book(options.book) as layered,
        Session(task, options.preset, options.target, threads=threads) as session,
    ):
        near = {
            nest.position: ported_neighbours(layered, nest, options.target, exclude=[kernel])
            for nest in session.nests
        }
        for (seed, name), log in todo.items():
            begun = time.monotonic()
            search(
                session,
                hardware,
                settings(name, seed),
                log,
                starts=lambda nest, name=name: near[nest.position] if name == "transfer" else (),
            )
            taken = time.monotonic() - begun
            best = curve(log, *hot_nest([log]))[-1]
            say(f"{kernel} seed {seed} {name}: {best:.2f}x, {taken:.0f} s")


def log_path(folder: Path, kernel: str, strategy: str, seed: int) -> Path:
    return folder / f"{kernel}-{strategy}-{seed}.jsonl"


def hot_nest(logs: Sequence[TrialLog]) -> tuple[int, float]:
    """The nest that takes longest under docc's own schedule, and its fastest such run, seconds."""
    seconds: dict[int, float] = {}
    for trial in (trial for log in logs for trial in log.trials if trial.before_s > 0):
        seconds[trial.nest] = min(seconds.get(trial.nest, math.inf), trial.before_s)
    hot = max(seconds, key=lambda nest: seconds[nest])
    return hot, seconds[hot]


def curve(log: TrialLog, hot: int, before_s: float) -> list[float]:
    """The best speedup so far of nest `hot`, in the order in which the trials were done.

    Minima of one session are compared, which other work on the machine disturbs less than the
    ratios of single trials.
    """
    trials = [trial for trial in log.trials if trial.nest == hot]
    return best_so_far([before_s / t.after_s if t.after_s > 0 else 0.0 for t in trials])


def read_runs(folder: Path, kernels: Sequence[str], trials: int) -> Runs:
    """All finished runs in a folder's logs."""
    runs: Runs = {}
    for kernel in kernels:
        logs = [log for path in sorted(folder.glob(f"{kernel}-*.jsonl")) if (log := _read(path))]
        finished = [
            log for log in logs if log.header["kernel"] == kernel and log.next_number >= trials
        ]
        if finished:
            hot = hot_nest(finished)
            for log in finished:
                found = runs.setdefault(kernel, {}).setdefault(log.header["strategy"], [])
                found.append(curve(log, *hot)[:trials])
    return runs


def _read(path: Path) -> TrialLog | None:
    """A log as it is; None if it is damaged at its beginning."""
    try:
        header = json.loads(path.read_text(errors="replace").partition("\n")[0])
        return TrialLog(path, header) if {"kernel", "strategy"} <= set(header) else None
    except (ValueError, TypeError):
        return None


def final_best(panel: Panel) -> float:
    """The best that any strategy found."""
    return max(run[-1] for found in panel.values() for run in found)


def half_gain(run: Sequence[float], best: float) -> int | None:
    """Trials until half of the final gain is reached; None if it never is."""
    goal = 1 + (best - 1) / 2
    return next((trial for trial, value in enumerate(run, 1) if value >= goal), None)


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values)))


def markdown(runs: Runs, trials: int) -> str:
    """The tables."""
    names = list(dict.fromkeys(name for panel in runs.values() for name in panel))
    steps = [n for n in AFTER if n < trials] + [trials]
    lines = ["Share of the best speedup found by any strategy, geometric mean of all runs:", ""]
    lines += _row("strategy", *(f"after {n}" for n in steps))
    lines += _row(*["---"] * (len(steps) + 1))
    for name in names:
        shares = [
            geometric_mean(
                [
                    run[min(n, len(run)) - 1] / final_best(panel)
                    for panel in runs.values()
                    for run in panel.get(name, ())
                ]
            )
            for n in steps
        ]
        lines += _row(name, *(f"{share:.1%}" for share in shares))
    lines += ["", "Best speedup of the hottest nest over docc's own schedule, median of seeds:", ""]
    lines += _row("kernel", "kind", "best of all", *names)
    lines += _row(*["---"] * (len(names) + 3))
    for kernel, panel in runs.items():
        medians = [
            f"{statistics.median(run[-1] for run in panel[name]):.2f}" if name in panel else ""
            for name in names
        ]
        lines += _row(kernel, KERNELS.get(kernel, ""), f"{final_best(panel):.2f}", *medians)
    lines += ["", "Trials to half of the final gain, one number for each seed (– is never):", ""]
    lines += _row("kernel", *names)
    lines += _row(*["---"] * (len(names) + 1))
    for kernel, panel in runs.items():
        reached = [
            " ".join(str(half_gain(run, final_best(panel)) or "–") for run in panel.get(name, ()))
            for name in names
        ]
        lines += _row(kernel, *reached)
    return "\n".join(lines) + "\n"


def _row(*cells: str) -> list[str]:
    return ["| " + " | ".join(cells) + " |"]


def report(options: argparse.Namespace) -> None:
    runs = read_runs(options.out, options.only, options.trials)
    if not runs:
        raise InputError(f"there are no finished runs in {options.out}")
    text = markdown(runs, options.trials)
    (options.out / "strategies.md").write_text(text)
    panels = {f"{kernel} ({KERNELS.get(kernel, 'nest')})": panel for kernel, panel in runs.items()}
    plot_panels(panels, options.out / "strategies.png")
    print(text, end="")


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("strategies-results"))
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only", nargs="+", default=list(KERNELS), metavar="KERNEL")
    parser.add_argument(
        "--strategies", nargs="+", default=list(STRATEGIES), choices=STRATEGIES, metavar="NAME"
    )
    parser.add_argument("--preset", default="MEDIUM")
    parser.add_argument("--target", default=DEFAULT, choices=TARGETS)
    parser.add_argument("--book", help="where neighbours come from; default the user's book")
    parser.add_argument("--report", action="store_true", help="only tables and figure, from logs")
    return parser.parse_args()


def main() -> int:
    from loopbook.toolchain.compiler import activate

    options = parse()
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        if not options.report:
            activate()
            for number, kernel in enumerate(options.only, 1):
                say(f"{kernel}, {number} of {len(options.only)}")
                measure(options, kernel)
        report(options)
    except LoopbookError as error:
        say(str(error))
        return 2
    except KeyboardInterrupt:
        say("stopped; the same command goes on")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
