"""What was found, as Markdown."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from benchmarks.npbench_suite.systems import DOCC, NUMPY, OURS, SYSTEMS
from benchmarks.systems.table import factor, mean_of

SLOWER = 1.05
"""Times over NumPy's by more than this factor count as slower."""

GROWTH = 1.02
"""Resident memory may grow by this factor from the first count of calls to the last."""

NOISE = 1 << 20
"""Bytes by which the resident memory of any process may change."""

Result = dict[str, Any]
"""One program: ``program, preset, threads, systems``; the last from name to JSON of an outcome."""


def speedup(result: Result, system: str, kind: str = "min") -> float | None:
    """Over NumPy in the same comparison; None for a system that did not get there.

    Args:
        kind: of times, ``min`` or ``median``.
    """
    outcome = result["systems"].get(system, {})
    if outcome.get("status") != "ok" or "min_s" not in outcome:
        return None
    return outcome[f"numpy_{kind}_s"] / outcome[f"{kind}_s"]


def over(result: Result, system: str, other: str, kind: str = "min") -> float | None:
    """A system's speedup over another than NumPy."""
    one, two = speedup(result, system, kind), speedup(result, other, kind)
    return one / two if one is not None and two is not None else None


def taking_part(results: Sequence[Result]) -> list[str]:
    """The systems of some results, in the order of the registry."""
    return [name for name in SYSTEMS if any(name in result["systems"] for result in results)]


def times(results: Sequence[Result], programs: Sequence[str]) -> str:
    """For each preset and number of threads, speedups over NumPy, their means, what stands out."""
    parts = []
    for preset, threads in dict.fromkeys((r["preset"], r["threads"]) for r in results):
        found = [r for r in results if (r["preset"], r["threads"]) == (preset, threads)]
        parts.append(f"## {preset}, {threads} thread{'s' if threads > 1 else ''}")
        parts.append(_times_table(found))
        parts.append(_counts(found))
        parts.append(_listed("Slower than NumPy by more than 5 %:", _slower(found)))
        parts.append(_listed("Right to within what rounding does to NumPy:", _rounded(found)))
        parts.append(_listed("Out of the comparison:", _out(found)))
        there = {r["program"] for r in found}
        parts.append(_listed("Not run:", [f"- {p}" for p in programs if p not in there]))
    return "\n\n".join(part for part in parts if part)


def _times_table(results: Sequence[Result]) -> str:
    names = taking_part(results)
    rest = [name for name in names if name != NUMPY]
    rows = []
    for result in results:
        numpy = result["systems"].get(NUMPY, {}).get("min_s")
        row = [result["program"], "–" if numpy is None else _time(numpy)]
        row += [_cell(result, name) for name in rest]
        row.append(factor(over(result, OURS, DOCC)) if {OURS, DOCC} <= set(names) else "")
        rows.append(row)
    for words, kind in (("geometric mean", "min"), ("of medians", "median")):
        mean = [f"**{words}**", ""]
        mean += [mean_of((speedup(r, name, kind) for r in results), len(results)) for name in rest]
        mean.append(mean_of((over(r, OURS, DOCC, kind) for r in results), len(results)))
        rows.append(mean)
    lines = [
        "NumPy's fastest run; the others' speedup over NumPy in the same comparison.",
        table(["program", "NumPy", *(SYSTEMS[n].title for n in rest), "loopbook over docc"], rows),
    ]
    return "\n\n".join(lines)


def _counts(results: Sequence[Result]) -> str:
    rows = []
    for name in taking_part(results):
        outcomes = [r["systems"][name] for r in results if name in r["systems"]]
        kinds = Counter(outcome["status"] for outcome in outcomes)
        slow = sum(1 for r in results if (s := speedup(r, name)) is not None and s * SLOWER < 1)
        failed = sum(kinds.values()) - kinds["ok"] - kinds["wrong"]
        rows.append([SYSTEMS[name].title, *map(str, (kinds["ok"], kinds["wrong"], failed, slow))])
    head = ["system", "right", "wrong", "refused or failed", "slower than NumPy by over 5 %"]
    return table(head, rows)


def _slower(results: Sequence[Result]) -> list[str]:
    return [
        f"- {result['program']}, {SYSTEMS[name].title}: {gain:.2f}×"
        for name in (DOCC, OURS)
        for result in results
        if (gain := speedup(result, name)) is not None and gain * SLOWER < 1
    ]


def _rounded(results: Sequence[Result]) -> list[str]:
    return [
        f"- {result['program']}, {SYSTEMS[name].title}: {words}"
        for name in SYSTEMS
        for result in results
        if (words := result["systems"].get(name, {}).get("notes", {}).get("rounding"))
    ]


def _out(results: Sequence[Result]) -> list[str]:
    return [
        f"- {result['program']}, {SYSTEMS[name].title}: {outcome['status']}: {outcome['reason']}"
        for name in SYSTEMS
        for result in results
        if (outcome := result["systems"].get(name)) and outcome["status"] != "ok"
    ]


def coverage(results: Sequence[Result]) -> str:
    """How each program ran with us and whether docc takes it; refusals by construct."""
    rows, refusals = [], defaultdict(list)
    for result in results:
        ours, docc = (result["systems"].get(name, {}) for name in (OURS, DOCC))
        how, why = _how(ours)
        rows.append([result["program"], docc.get("status", "–"), how, why.replace("|", "\\|")])
        if how not in ("compiled", "wrong"):
            refusals[construct(why)].append(result["program"])
    compiled = sum(1 for row in rows if row[2] == "compiled")
    wrong = [row[0] for row in rows if row[2] == "wrong"]
    right = sum(1 for row in rows if row[1] == "ok")
    lines = [
        f"{compiled} of {len(rows)} run compiled with loopbook, {len(wrong)} are wrong; docc takes "
        f"and computes {right} of them rightly.",
        table(["program", "docc", "loopbook", "why"], rows),
    ]
    if refusals:
        order = sorted(refusals.items(), key=lambda item: (-len(item[1]), item[0]))
        listed = [[what.replace("|", "\\|"), str(len(who)), ", ".join(who)] for what, who in order]
        lines.append(table(["refused", "programs", "which"], listed))
    return "\n\n".join(lines)


def _how(outcome: dict[str, Any]) -> tuple[str, str]:
    """``compiled``, ``python`` or what went wrong, and why."""
    if outcome.get("status") != "ok":
        return outcome.get("status", "–"), outcome.get("reason", "")
    notes = outcome.get("notes", {})
    return notes.get("how", "–"), notes.get("why", "")


def construct(why: str) -> str:
    """A refusal without its place and advice, so that those of one construct are the same.

    ``/a/kernel_numpy.py:12: no np.median; loop`` becomes ``no np.median``.
    """
    words = re.sub(r"\S+\.py:\d+:\s*", "", why)
    return words.split(";")[0].strip() or "no reason given"


def memory(results: Sequence[Result]) -> str:
    """Resident memory after a few and after many calls."""
    names = taking_part(results)
    growths = {
        name: {r["program"]: _growth(r["systems"].get(name, {})) for r in results} for name in names
    }
    rows = [
        [
            result["program"],
            *(_grown(result, name, growths[name][result["program"]]) for name in names),
        ]
        for result in results
    ]
    lines = [
        "Resident memory after the last call counted over that after 10 calls; in brackets bytes "
        "more at every call, if they are over 1 MiB in all or 2 %; where 1,000 calls took too "
        "long, their number.",
        table(["program", *(SYSTEMS[name].title for name in names)], rows),
    ]
    for name in names:
        ran = {program: found for program, found in growths[name].items() if found}
        grow = [program for program, found in ran.items() if found.factor > GROWTH]
        keep = [program for program, found in ran.items() if found.kept > NOISE]
        lines.append(
            f"{SYSTEMS[name].title}: {len(grow)} of {len(ran)} grow by more than 2 %"
            f"{_named(grow)}; {len(keep)} by more than 1 MiB{_named(keep)}."
        )
    return "\n\n".join(lines)


class _Growth(NamedTuple):
    """From ``few`` calls to ``many``: the factor, and bytes more."""

    factor: float
    kept: int
    few: int
    many: int


def _growth(outcome: dict[str, Any]) -> _Growth | None:
    counts = sorted((int(count), size) for count, size in outcome.get("resident", {}).items())
    if len(counts) < 2:
        return None
    (few, before), (many, after) = counts[0], counts[-1]
    return _Growth(after / before, after - before, few, many)


def _grown(result: Result, name: str, found: _Growth | None) -> str:
    status = result["systems"].get(name, {}).get("status", "–")
    if found is None:
        return status
    words = f"{found.factor:.3f}"
    if found.factor > GROWTH or found.kept > NOISE:
        words += f" ({found.kept / (found.many - found.few):.3g} B)"
    words += f" after {found.many}" if found.many < 1000 else ""
    return words + (f", {status}" if status != "ok" else "")


def _named(programs: Sequence[str]) -> str:
    return f" ({', '.join(programs)})" if programs else ""


def first_calls(results: Sequence[Result]) -> str:
    """The first call and what it is made of; what a warm call costs over docc's."""
    rows, added, long = [], [], []
    for result in results:
        ours, docc = (result["systems"].get(name, {}) for name in (OURS, DOCC))
        notes = ours.get("notes", {})
        front = [notes.get(name) for name in ("translate_s", "compare_s")]
        known = [value for value in front if value is not None]
        if known and sum(known) > 0.15:
            long.append(f"{result['program']} {sum(known):.2f} s")
        costs = [outcome.get("overhead_s") for outcome in (docc, ours)]
        more = costs[1] - costs[0] if None not in costs else None
        if more is not None:
            added.append((more, result["program"]))
        rows.append(
            [
                result["program"],
                *(_seconds(outcome.get("first_s")) for outcome in (docc, ours)),
                *map(_seconds, front),
                *(_seconds(outcome.get("warm_s")) for outcome in (docc, ours)),
                *("–" if cost is None else f"{cost * 1e6:.1f}" for cost in costs),
                "–" if more is None else f"{more * 1e6:+.1f}",
            ]
        )
    head = [
        *("program", "docc, first call", "loopbook, first call", "translating", "comparing"),
        *("docc, warm", "loopbook, warm", "docc, empty call, µs", "loopbook, empty call, µs"),
        "more, µs",
    ]
    lines = [table(head, rows)]
    if long:
        lines.append(f"Translating and comparing takes over 0.15 s for: {', '.join(long)}.")
    if added:
        most = max(added)
        lines.append(f"A call costs at most {most[0] * 1e6:.1f} µs more than docc's ({most[1]}).")
    return "\n\n".join(lines)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""

    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(cells)} |"

    return "\n".join([line(head), line("---" for _ in head), *map(line, rows)])


RENDER: dict[str, Callable[[Sequence[Result]], str]] = {
    "memory": memory,
    "first-call": first_calls,
    "coverage": coverage,
}


def _cell(result: Result, name: str) -> str:
    gain, outcome = speedup(result, name), result["systems"].get(name, {})
    if gain is None:
        return outcome.get("status", "–")
    how = outcome.get("notes", {}).get("how", "compiled")
    return factor(gain) + (f" ({how})" if how != "compiled" else "")


def _listed(title: str, lines: Sequence[str]) -> str:
    return "\n".join([title, "", *lines]) if lines else ""


def _time(taken: float) -> str:
    if taken >= 1.0:
        return f"{taken:.2f} s"
    return f"{taken * 1e3:.3g} ms" if taken >= 1e-3 else f"{taken * 1e6:.3g} µs"


def _seconds(taken: float | None) -> str:
    return "–" if taken is None else _time(taken)
