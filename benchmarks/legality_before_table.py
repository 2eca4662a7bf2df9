"""The table of `benchmarks.legality_before`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.legality_steps import kind_of

Result = dict[str, Any]


def table(results: Sequence[Result], about: str) -> str:
    """What was found, as Markdown."""
    done = [r for r in results if "left" not in r]
    every = [(r, one) for r in done for one in r["sequences"] if "lost" not in one]
    lost = sum("lost" in one for r in done for one in r["sequences"])
    left = len(results) - len(done)
    return "\n".join(
        [
            *("# What the older code allowed", "", about, ""),
            f"{len(done)} programs ({left} left out; {lost} walks were lost, mostly since docc "
            "crashed or hung).",
            *("", *_shares(every), "", *_recipes(every), "", *_steps(every)),
            "",
        ]
    )


def allowed_and_right(one: Result) -> bool:
    return one.get("fault") == ""


def _shares(every: Sequence[tuple[Result, Result]]) -> Iterator[str]:
    allowed = [one for _, one in every if "refused" not in one]
    right = [one for one in allowed if allowed_and_right(one)]
    unknown = sum(one["fault"].startswith("unknown") for one in allowed)
    wrong = [one for one in allowed if not allowed_and_right(one)]
    wrong = [one for one in wrong if not one["fault"].startswith("unknown")]
    still = sum(not one["now"] for one in right)
    yield (
        f"{len(allowed)} sequences that the older code allowed: {len(right)} right, {len(wrong)} "
        f"wrong (of which {sum(bool(one['now']) for one in wrong)} are refused today), {unknown} "
        f"not known. Of those that are right, {still} are still allowed: {_share(still, right)}."
    )
    refused = [one for _, one in every if "refused" in one]
    more = sum(not one["now"] for one in refused)
    yield f"{len(refused)} sequences that it refused: {more} are allowed today."


def _recipes(every: Sequence[tuple[Result, Result]]) -> Iterator[str]:
    """What becomes of the starter book's recipes."""
    found: list[Result] = []
    for result, one in every:
        own = [json.dumps(steps) for place, steps in result["recipes"] if place == one["nest"]]
        if json.dumps(one.get("steps")) in own and allowed_and_right(one):
            found.append(one)
    still = sum(not one["now"] for one in found)
    yield (
        f"Of the starter book's recipes, {len(found)} were allowed whole and right; {still} still "
        f"are: {_share(still, found)}."
    )


def _share(count: int, of: Sequence[Any]) -> str:
    return f"{100 * count / max(len(of), 1):.2f} %"


def _steps(every: Sequence[tuple[Result, Result]]) -> Iterator[str]:
    """By the last step of sequences that begin alike in both."""
    right, still, gone = Counter[str](), Counter[str](), Counter[str]()
    for _, one in every:
        if "refused" in one or not allowed_and_right(one):
            continue
        op = one["steps"][-1][0]
        refusing, _, reason = one["now"].partition(" | ")
        number = int(reason.removeprefix("step ").partition(":")[0] or 0) if reason else 0
        if number and number < len(one["steps"]):
            continue
        right[op] += 1
        still[op] += not one["now"]
        if one["now"]:
            gone[f"{refusing}: {kind_of(reason)}"] += 1
    yield "Last steps of sequences whose other steps are still allowed:"
    yield ""
    yield "| step | allowed before, right | allowed today | share |"
    yield "| --- | --- | --- | --- |"
    for op in sorted(right):
        yield f"| {op} | {right[op]} | {still[op]} | {100 * still[op] / right[op]:.1f} % |"
    yield ""
    yield "Refusals of these:"
    yield ""
    yield from (f"- {count} {reason}" for reason, count in gone.most_common(40))
