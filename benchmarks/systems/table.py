"""What the comparison found, as Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.systems.registry import BASELINE, OURS, SYSTEMS

C_COMPILERS = ("clang", "polly")

PARALLEL = 1.2
"""A program that keeps more cores busy than this runs parts of it in parallel."""

Result = dict[str, Any]
"""One kernel with one number of threads: ``kernel, threads, preset, systems``; the last from name
to `comparison.Outcome.to_json`. Times are the fastest runs."""


def seconds(result: Result, system: str) -> float | None:
    """Fastest run; None for a system that did not get there."""
    outcome = result["systems"].get(system, {})
    return outcome["min_s"] if outcome.get("status") == "ok" else None


def speedup(result: Result, system: str) -> float | None:
    """Over docc's own schedule with the same number of threads."""
    return _ratio(seconds(result, BASELINE), seconds(result, system))


def fastest(result: Result, systems: Iterable[str]) -> tuple[str, float] | None:
    """The fastest of some systems and its seconds; None if none of them got there."""
    times = [(name, taken) for name in systems if (taken := seconds(result, name)) is not None]
    return min(times, key=lambda item: item[1]) if times else None


def over_peers(result: Result) -> float | None:
    """The fastest peer's time over ours: above 1 where loopbook wins."""
    return _over_fastest(result, [name for name in result["systems"] if name != OURS])


def over_c(result: Result) -> float | None:
    """The better of clang's and Polly's times over ours."""
    return _over_fastest(result, C_COMPILERS)


def geometric_mean(values: Iterable[float | None]) -> tuple[float, int] | None:
    """Of those that are there, with their number; None if there are none."""
    there = [value for value in values if value is not None]
    if not there:
        return None
    return math.exp(sum(map(math.log, there)) / len(there)), len(there)


def markdown(results: Sequence[Result], title: str, machine: str) -> str:
    """Tables of times and speedups for each number of threads, with means and what stands out."""
    names = [name for name in SYSTEMS if any(name in result["systems"] for result in results)]
    parts = [f"# {title}", machine]
    by_threads = {t: [r for r in results if r["threads"] == t] for t in _thread_counts(results)}
    for threads, found in by_threads.items():
        parts.append(f"## {threads} thread{'s' if threads > 1 else ''}")
        parts.append(_main_table(found, names))
        parts.append(_failures(found))
        parts.append(_slower(found))
    parts.append(_scaling(by_threads))
    return "\n\n".join(part for part in parts if part) + "\n"


def _main_table(results: Sequence[Result], names: Sequence[str]) -> str:
    head = ["kernel", "size", *names, "clang/Polly best", "best peer", "ours over best peer"]
    if OURS not in names:
        head.pop()
    rows = []
    for result in results:
        peer = fastest(result, [name for name in names if name != OURS])
        c = fastest(result, C_COMPILERS)
        row = [result["kernel"], result["preset"]]
        row += [_cell(result, name) for name in names]
        row.append(_time(c[1]) if c else "–")
        row.append(f"{peer[0]} {_time(peer[1])}" if peer else "–")
        row.append(factor(over_peers(result)))
        rows.append(row[: len(head)])
    mean = ["**geometric mean**", ""]
    mean += [mean_of([speedup(r, name) for r in results], len(results)) for name in names]
    mean.append(mean_of([_c_speedup(r) for r in results], len(results)))
    mean.append("")
    mean.append(mean_of([over_peers(r) for r in results], len(results)))
    rows.append(mean[: len(head)])
    table = _table(head, rows)
    lines = [
        "Fastest run of each system; in brackets its speedup over docc's own schedule with as many "
        "threads. Means are of these speedups.",
        table,
    ]
    if OURS in names:
        clang = mean_of([_against(r, "clang") for r in results], len(results))
        lines.append(
            f"loopbook over clang: {clang}; "
            f"over the better of clang and Polly, kernel by kernel: "
            f"{mean_of([over_c(r) for r in results], len(results))}; over the best peer: "
            f"{mean_of([over_peers(r) for r in results], len(results))}."
        )
    return "\n\n".join(lines)


def _failures(results: Sequence[Result]) -> str:
    lines = [
        f"- {result['kernel']}, {name}: {outcome['status']}: {outcome['reason']}"
        for result in results
        for name, outcome in result["systems"].items()
        if outcome["status"] != "ok"
    ]
    return "\n".join(["Out of the comparison:", "", *lines]) if lines else ""


def _slower(results: Sequence[Result]) -> str:
    behind = []
    for result in results:
        ratio = over_peers(result)
        if ratio is not None and ratio < 1.0:
            peer = fastest(result, [name for name in result["systems"] if name != OURS])
            behind.append((ratio, f"- {result['kernel']}: {ratio:.2f}× {peer[0] if peer else ''}"))
    if not behind:
        return ""
    lines = [line for _, line in sorted(behind)]
    return "\n".join(["Where loopbook is slower than the best peer:", "", *lines])


def _scaling(by_threads: dict[int, list[Result]]) -> str:
    single = {(r["kernel"], r["preset"]): r for r in by_threads.get(1, [])}
    rows, everywhere, parallel = [], [], []
    for threads, results in by_threads.items():
        for result in results if threads > 1 else []:
            alone = single.get((result["kernel"], result["preset"]))
            ratio = _ratio(seconds(alone, OURS) if alone else None, seconds(result, OURS))
            if ratio is None:
                continue
            busy = result["systems"][OURS].get("busy") or 1.0
            rows.append([result["kernel"], str(threads), f"{ratio:.2f}×", f"{busy:.2f}"])
            everywhere.append(ratio)
            parallel += [ratio] if busy > PARALLEL else []
    if not rows:
        return ""
    rows.append(["**geometric mean**", "", mean_of(everywhere, len(everywhere)), ""])
    rows.append([f"**{len(parallel)} parallel ones**", "", mean_of(parallel, len(parallel)), ""])
    head = ["kernel", "threads", "over one thread", "cores kept busy"]
    return (
        "## loopbook over its own single thread\n\n"
        f"Parallel ones are those that keep more than {PARALLEL:g} cores busy.\n\n"
        + _table(head, rows)
    )


def _thread_counts(results: Sequence[Result]) -> list[int]:
    return sorted({result["threads"] for result in results})


def _over_fastest(result: Result, systems: Iterable[str]) -> float | None:
    best = fastest(result, systems)
    return _ratio(best[1], seconds(result, OURS)) if best else None


def _against(result: Result, system: str) -> float | None:
    return _ratio(seconds(result, system), seconds(result, OURS))


def _c_speedup(result: Result) -> float | None:
    best = fastest(result, C_COMPILERS)
    return _ratio(seconds(result, BASELINE), best[1]) if best else None


def _ratio(before: float | None, after: float | None) -> float | None:
    return before / after if before is not None and after is not None else None


def _cell(result: Result, system: str) -> str:
    taken, gain = seconds(result, system), speedup(result, system)
    if taken is None:
        return result["systems"].get(system, {}).get("status", "–")
    return f"{_time(taken)} ({gain:.2f}×)" if gain is not None else _time(taken)


def _time(taken: float) -> str:
    return f"{taken:.2f} s" if taken >= 1.0 else f"{taken * 1e3:.3g} ms"


def factor(ratio: float | None) -> str:
    """A factor for people."""
    return "–" if ratio is None else f"{ratio:.2f}×"


def mean_of(values: Iterable[float | None], of: int) -> str:
    """A geometric mean for people, with how many of all it is the mean of."""
    found = geometric_mean(values)
    if found is None:
        return "–"
    return f"{found[0]:.2f}×" + (f" ({found[1]} of {of})" if found[1] < of else "")


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(cells)} |"

    return "\n".join([line(head), line("---" for _ in head), *map(line, rows)])
