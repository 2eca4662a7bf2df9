"""Where code lands that somebody pastes: its nests among the book's, and what is done with each.

Decisions are those of `loopbook.client.planner`, which tells what it weighed; there is no second
logic here. docc may crash of what is pasted: to be called in a child process.
"""

from __future__ import annotations

import msgspec

from loopbook import targets
from loopbook.client.decision import NestReport
from loopbook.client.layered import LayeredBook
from loopbook.client.plan import plan_nests
from loopbook.client.weighing import Weighed, Weighing
from loopbook.errors import InputError, LoopbookError
from loopbook.explorer import pasted
from loopbook.explorer.documents import Decision, Expected, Located, Location, Near
from loopbook.explorer.pasted import Pasted
from loopbook.explorer.states import loops
from loopbook.program.nest import Nest
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.layer import Neighbour
from loopbook.sdfg import program
from loopbook.sdfg.untrusted import admit

SHOWN = 8
"""Neighbours of each nest."""

MOST_NESTS = 24

TIERS = {"exact": "exact", "near": "neighbour"}
"""What the planner's tiers are called here; others, which need no record, are called by name."""


class Asked(msgspec.Struct, forbid_unknown_fields=True):
    """A question: Python as text, or an SDFG as docc's JSON."""

    python: str = ""
    sdfg: dict[str, object] | None = None
    target: str = targets.DEFAULT


def location(layered: LayeredBook, given: dict[str, object]) -> Location:
    """The answer to a question; places on the map are for `loopbook.explorer.pages` to find.

    Raises:
        InputError: it is no question, or what is pasted is no program.
        LoopbookError: docc cannot read the program.
    """
    try:
        asked = msgspec.convert(given, Asked)
    except msgspec.ValidationError as error:
        raise InputError(f"the request is malformed: {error}") from None
    target = targets.named(asked.target).name
    if bool(asked.python.strip()) == (asked.sdfg is not None):
        raise InputError("give either Python or an SDFG")
    problems: list[str] = []
    found: list[Located] = []
    if asked.sdfg is not None:
        admitted = admit(asked.sdfg)
        with admitted.names.in_errors():
            one = Pasted("SDFG", admitted.text, False, None)
            found = _located(layered, one, target, problems)
        for nest in found:
            nest.loops = admitted.names.words(nest.loops)
    else:
        programs, problems = pasted.programs(asked.python)
        for one in programs:
            try:
                found += _located(layered, one, target, problems)
            except LoopbookError as error:
                problems.append(f"{one.name}: {error}")
    file = "FILE.json" if asked.sdfg is not None else "FILE.py"
    return Location(found, problems, f"loopbook explain {file} --target {target}")


def _located(layered: LayeredBook, one: Pasted, target: str, problems: list[str]) -> list[Located]:
    document, tree, nests = program.prepare_tree(one.text)
    if not nests:
        problems.append(f"{one.name} has no loops: there is nothing to look up")
        return []
    if len(nests) > MOST_NESTS:
        problems.append(f"{one.name} has {len(nests)} nests; the first {MOST_NESTS} are shown")
    weighing = Weighing()
    plan = plan_nests(
        nests,
        msgspec.json.encode(document).decode(),
        target,
        layered,
        sizes=one.sizes,
        expressions=one.lowered,
        libraries=True,
        tree=tree,
        weighing=weighing,
    )
    chosen = nests[:MOST_NESTS]
    vectors = layered.encoder.encode_many(chosen)
    return [
        _nest(layered, one.name, nest, embedding, report, weighing, target)
        for nest, embedding, report in zip(chosen, vectors, plan.nests, strict=False)
    ]


def _nest(
    layered: LayeredBook,
    name: str,
    nest: Nest,
    embedding: Embedding,
    report: NestReport,
    weighing: Weighing,
    target: str,
) -> Located:
    decision = Decision(
        TIERS.get(report.tier, report.tier),
        report.record,
        report.reason or "docc's own schedule",
        report.recipe.splitlines(),
        round(report.predicted_speedup, 3),
    )
    looked_at = weighing.neighbours.get(nest.fingerprint)
    near = looked_at or layered.neighbours(nest, embedding, SHOWN, target)
    told = weighing.recipes.get(nest.fingerprint, [])
    listed = near[:SHOWN]
    ids = {one.record.id for one in listed}
    listed += [w.near for w in told if w.taken and w.near.record.id not in ids][:1]
    return Located(
        name=f"{name}:{nest.position}",
        loops=loops(nest),
        x=None,
        y=None,
        fingerprint=nest.fingerprint,
        decision=decision,
        neighbours=[_near(one, told, report) for one in listed],
        vector=[round(float(value), 6) for value in embedding.nest],
        encoder=embedding.encoder,
    )


def _near(one: Neighbour, told: list[Weighed], report: NestReport) -> Near:
    """A neighbour, by the best of its recipes that was weighed."""
    record = one.record
    own = [w for w in told if w.near.record.id == record.id]
    own.sort(key=lambda w: (not w.taken, -w.estimate.speedup))
    best = own[0] if own else None
    used = record.id == report.record and bool(report.recipe)
    expected = None
    if best is not None:
        middle = best.estimate.speedup
        high = max(middle, record.best)
        low = min(best.estimate.lower, middle)
        expected = Expected(round(low, 3), round(middle, 3), round(high, 3))
    return Near(
        record=record.id,
        name=record.nest,
        x=None,
        y=None,
        distance=round(one.distance, 5),
        speedup=round(record.speedup, 3),
        expected=expected,
        taken=used,
        why=_why(best, used, report),
        refused=list(dict.fromkeys(step for w in own for step in w.refused)),
        recipe=(best.recipe if best else record.recipe).text().splitlines(),
        fingerprint=record.fingerprint,
    )


def _why(best: Weighed | None, used: bool, report: NestReport) -> str:
    if used:
        return f"taken: {report.reason}"
    if best is not None:
        return f"declined: {best.why}"
    if report.tier == "exact":
        return "declined: the very nest is in the book"
    if report.recipe:
        return "declined: no recipe of it came to be weighed against the one that is taken"
    return f"declined: {report.reason or 'no recipe of it can be built here'}"
