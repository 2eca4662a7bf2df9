"""The table of `benchmarks.legality`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.legality_steps import kind_of

Result = dict[str, Any]


def table(results: Sequence[Result], about: str) -> str:
    """What was found, as Markdown."""
    done = [r for r in results if "left" not in r]
    return (
        "\n".join(["# Legality", "", about, "", *_summary(results, done), *_steps(results, done)])
        + "\n"
    )


def summed(done: Sequence[Result], key: str) -> Counter[str]:
    """Counters of all programs together."""
    found = Counter[str]()
    for result in done:
        found.update(result.get(key, {}))
    return found


def _summary(results: Sequence[Result], done: Sequence[Result]) -> Iterator[str]:
    nests = {n for r in done for n in r["nests"]}
    sequences = sum(r["sequences"] for r in done)
    trees = sum(r["trees"] for r in done)
    unknown = summed(done, "unknown").total()
    wrong = sum(len(r["wrong"]) for r in done)
    raised = sum(len(r["raised"]) for r in done)
    built = [r["built"] for r in done if "compiled" in r.get("built", {})]
    compiled = sum(b["compiled"] for b in built)
    yield (
        f"{len(done)} programs ({len(results) - len(done)} left out) with {len(nests)} different "
        f"nests; {sequences} different sequences of steps that were allowed, which make {trees} "
        f"different programs, each run: {wrong} wrong sequences. {unknown} could not be run; "
        f"{raised} steps raised something else than a refusal."
    )
    if built:
        faults = sum(len(b["wrong"]) for b in built)
        yield ""
        yield (
            f"{compiled} of these sequences, of {sum(b['compiled'] > 0 for b in built)} programs, "
            f"were compiled too, as {sum(b['programs'] for b in built)} different programs, and "
            f"compared with the Python function: {faults} wrong."
        )
    yield ""


def _steps(results: Sequence[Result], done: Sequence[Result]) -> Iterator[str]:
    drawn, allowed, refused = (summed(done, key) for key in ("drawn", "allowed", "refused"))
    unknown = summed(done, "unknown")
    wrong = [(r, w) for r in done for w in r["wrong"]]
    built = [(r, w) for r in done for w in r.get("built", {}).get("wrong", ())]
    guilty = Counter(w["steps"][-1][0] if w["steps"] else "(none)" for _, w in wrong)
    yield "| step | drawn | allowed | the last step of a wrong sequence |"
    yield "| --- | --- | --- | --- |"
    for op in sorted({*drawn, *guilty}):
        yield f"| {op} | {drawn[op]} | {allowed[op]} | {guilty[op]} |"
    yield ""
    yield from (f"- `{r['name']}` {w['steps']}: {w['fault']}" for r, w in wrong)
    yield from (f"- `{r['name']}` compiled, {w['steps']}: {w['fault']}" for r, w in built)
    yield from (f"- `{r['name']}` raised: {text}" for r in done for text in r["raised"])
    yield from _listed("Most frequent refusals:", refused, 30)
    yield from _listed("Not run:", unknown, 10)
    left = Counter[str]()
    for result in done:
        own = result.get("built", {}).get("left", {})
        left.update({own: 1} if isinstance(own, str) else own)
    yield from _listed("Not compiled:", left, 10)
    yield from _docc(done)
    yield from _listed("Programs left out:", _left_out(results), 12)


def _left_out(results: Sequence[Result]) -> Counter[str]:
    """Why programs were left out."""
    return Counter(kind_of(": " + r["left"]) for r in results if "left" in r)


def _listed(title: str, counted: Counter[str], most: int) -> Iterator[str]:
    if counted:
        yield from ("", title, "")
        yield from (f"- {count} {reason}" for reason, count in counted.most_common(most))


def _docc(done: Sequence[Result]) -> Iterator[str]:
    """Where docc's own transformations are allowed or refused otherwise."""
    asked = [r["docc"]["answers"] for r in done if "answers" in r.get("docc", {})]
    if not asked:
        return
    counted: dict[str, Counter[str]] = {}
    reasons = Counter[str]()
    for op, said, count in (entry for one in asked for entry in one):
        verdict, _, reason = said.partition(" | ")
        counted.setdefault(op, Counter())[verdict] += count
        if reason:
            reasons[f"{op}, {verdict.rpartition(' ')[2]}: {reason}"] += count
    verdicts = sorted({said for one in counted.values() for said in one})
    yield from ("", f"First steps that docc has, too, on {len(asked)} programs:", "")
    yield f"| step | {' | '.join(verdicts)} |"
    yield f"| --- |{' --- |' * len(verdicts)}"
    for op, one in sorted(counted.items()):
        yield f"| {op} | {' | '.join(str(one[said]) for said in verdicts)} |"
    yield from _listed("Only docc allows, and what we say:", reasons, 25)
