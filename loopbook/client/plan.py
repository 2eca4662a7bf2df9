"""What to do with each nest of a program: look up, port, fit, rank."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from loopbook.client.fit import Fit, IsolatedTrial, Trial
from loopbook.client.port import port
from loopbook.client.shelf import Neighbour, Shelf
from loopbook.errors import IllegalStepError, RunError
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.record import Record
from loopbook.sdfg import program
from loopbook.sdfg.build import Built, build_baseline, build_tuned
from loopbook.sdfg.nest import Nest, Stride
from loopbook.sdfg.sandbox import run_limited

MAX_DISTANCE = 1.0
"""Neighbours farther than this are not used. Vectors have length 1, so this is an angle of 60
degrees. Against a matrix product, other loop orders, layouts and types are at 0.2 to 0.9; stencils,
copies, triangular updates and matrix-vector products at 1.2 to 1.5."""

WORTH_PORTING = 1.1
"""A neighbour that gained less than this is not worth the risk that its recipe does not suit."""

WORTH_USING = 1.02
"""A record of the very nest is used from this speedup on: below, it is noise."""

STRIDED = 0.5
"""Recipes often gain by making strided accesses contiguous. Without measuring, a neighbour counts
only if the nest strides through memory at least this much as often as the neighbour's does."""

LOOKED_AT = 8
"""Neighbours that are tried before a nest is given up."""

TEXT_SECONDS = 30.0
"""How long docc may work on an untrusted text."""

DROP_PENALTY = 0.05
"""How much farther away each step that docc refuses makes a neighbour."""


@dataclass(frozen=True)
class Choice:
    """One recipe that can be used for a nest.

    Attributes:
        tier: "exact" for a record of this very nest, "near" for a neighbour's.
        recipe: in the nest's own words, legal there.
        dropped: how many of the recipe's steps docc refuses here.
        predicted_speedup: over docc's own schedule (see `predicted`).
    """

    tier: str
    record: Record
    distance: float
    recipe: Recipe
    dropped: int
    predicted_speedup: float


@dataclass(frozen=True)
class NestReport:
    """What was found for one nest, and what is done with it.

    Attributes:
        loops: induction variables in preorder.
        tier: "exact", "near" or "none".
        neighbour: name of the record used, or of the nearest one when none is used.
        record: its id.
        distance: to it, 0 for the very nest, None without any neighbour.
        recipe: the text of what is applied; empty for docc's own schedule.
        predicted_speedup: over docc's own schedule; 1 where that is used.
        reason: why this and nothing else, one line.
    """

    position: int
    loops: tuple[str, ...]
    fingerprint: str
    tier: str
    neighbour: str | None
    record: str | None
    distance: float | None
    recipe: str
    predicted_speedup: float
    reason: str

    def to_json(self) -> dict[str, Any]:
        """The entry of ``nests`` in what `loopbook bench` prints."""
        return {
            "loops": list(self.loops),
            "tier": self.tier,
            "neighbour": self.neighbour,
            "distance": None if self.distance is None else round(self.distance, 4),
            "recipe": self.recipe,
            "predicted_speedup": round(self.predicted_speedup, 3),
        }


@dataclass(frozen=True)
class Plan:
    """What to do with a program.

    Attributes:
        nests: one report for each nest of the prepared program, about the first choice.
        choices: nest position to the recipes that can be used, best first.
        prepared: compile the prepared program even if no nest has a recipe: measuring has shown
            that this alone is faster.
    """

    target: str
    nests: tuple[NestReport, ...]
    choices: Mapping[int, tuple[Choice, ...]] = field(default_factory=dict)
    prepared: bool = False

    @property
    def recipes(self) -> dict[int, Recipe]:
        """Nest position to the recipe to apply; nests without one get docc's own schedule."""
        return {position: choices[0].recipe for position, choices in self.choices.items()}

    @property
    def active(self) -> bool:
        """False if nothing is better than compiling the program exactly as docc would."""
        return bool(self.choices) or self.prepared

    @property
    def missed(self) -> list[str]:
        """Fingerprints of the nests that the book has nothing for."""
        return [report.fingerprint for report in self.nests if report.tier == "none"]

    def only(self, picks: Mapping[int, Choice], reason: str) -> Plan:
        """The plan with one choice for each nest in `picks`, and docc's own schedule elsewhere.

        Args:
            reason: why nests that had choices are left to docc.
        """
        bare = self.without_recipes(reason)
        return replace(
            self,
            choices={position: (choice,) for position, choice in picks.items()},
            nests=tuple(
                _used(report, picks[report.position]) if report.position in picks else report
                for report in bare.nests
            ),
        )

    def without_recipes(self, reason: str) -> Plan:
        """The plan to leave everything to docc, and why."""
        return replace(
            self,
            choices={},
            nests=tuple(
                replace(r, tier="none", recipe="", predicted_speedup=1.0, reason=reason)
                if r.position in self.choices
                else r
                for r in self.nests
            ),
        )


def make_plan(
    text: str,
    target: str,
    shelf: Shelf,
    *,
    exclude: Collection[str] = (),
    max_distance: float = MAX_DISTANCE,
    choices: int = 1,
    untrusted: bool = False,
) -> Plan:
    """Look every nest of a program up and port what is found.

    Args:
        text: the program's SDFG as JSON text, as docc's frontend makes it or later.
        target: "sequential" or "openmp".
        exclude: kernels whose records are ignored.
        choices: recipes to find for each nest; with more than one they are taken to be tried out,
            and riskier ones are among them.
        untrusted: let docc at the text in limited child processes only, where it may crash. Takes
            some ten milliseconds more.

    Raises:
        SdfgError: if the text is no usable SDFG.
        BookError: if a book cannot be read.
        RunError: if docc crashed or hung on an untrusted text.
    """
    if untrusted:
        nests, normalised = run_limited(_prepared, text, seconds=TEXT_SECONDS, what="docc")
    else:
        nests, normalised = _prepared(text)
    return plan_nests(
        nests,
        normalised,
        target,
        shelf,
        exclude=exclude,
        max_distance=max_distance,
        choices=choices,
        untrusted=untrusted,
    )


def _prepared(text: str) -> tuple[list[Nest], str]:
    sdfg, nests = program.prepare_nests(text)
    return nests, sdfg.to_json()


def plan_nests(
    nests: list[Nest],
    normalised: str,
    target: str,
    shelf: Shelf,
    *,
    exclude: Collection[str] = (),
    max_distance: float = MAX_DISTANCE,
    choices: int = 1,
    untrusted: bool = False,
) -> Plan:
    """`make_plan` for the nests of an SDFG that is normalised already, given as JSON text."""
    trial = (IsolatedTrial if untrusted else Trial)(normalised)
    planner = _Planner(shelf, target, exclude, max_distance, choices, trial)
    embeddings = shelf.encoder.encode_many(nests)
    reports: list[NestReport] = []
    found: dict[int, tuple[Choice, ...]] = {}
    for nest, embedding in zip(nests, embeddings, strict=True):
        report, usable = planner.plan(nest, embedding)
        reports.append(report)
        if usable:
            found[nest.position] = usable
    return Plan(target, tuple(reports), found)


def build_plan(text: str, plan: Plan, folder: Path, *, timers: bool = False) -> Built:
    """Compile a program as planned: exactly as docc would where nothing is better.

    Raises:
        LoopbookError: see `loopbook.sdfg.build.build_tuned`.
    """
    if not plan.active:
        return build_baseline(text, plan.target, folder, timers=timers)
    return build_tuned(text, plan.target, plan.recipes, folder, timers=timers)


def predicted(record: Record, distance: float) -> float:
    """The speedup to expect from a record's recipe: its own for the very nest, and the less of it
    (as a power) the farther away its nest is."""
    return record.speedup ** (1.0 - min(distance, 2.0) / 2.0)


def strided(nest: Nest) -> float:
    """Share of the accesses in innermost loops that jump through memory from one iteration to the
    next."""
    outer = {loop.parent for loop in nest.loops}
    inner = {block.index for block in nest.blocks if block.parent not in outer}
    last = [a.strides[-1] for a in nest.accesses if a.block in inner and a.strides]
    return sum(stride >= Stride.CONSTANT for stride in last) / max(len(last), 1)


class _Planner:
    """Settings of one planning."""

    def __init__(
        self,
        shelf: Shelf,
        target: str,
        exclude: Collection[str],
        max_distance: float,
        choices: int,
        trial: Trial,
    ) -> None:
        self._shelf = shelf
        self._target = target
        self._exclude = exclude
        self._max_distance = max_distance
        self._count = choices
        self._trial = trial

    def plan(self, nest: Nest, embedding: Embedding) -> tuple[NestReport, tuple[Choice, ...]]:
        records = self._shelf.exact(nest, self._target, self._exclude)
        if records and not _pays(records[0], WORTH_USING):
            report = _report(nest, records[0], 0.0, "docc's own schedule was the fastest here")
            return replace(report, tier="exact"), ()
        usable = self._exact(nest, records)
        if usable:
            return _used(_report(nest, usable[0].record, 0.0, ""), usable[0]), usable
        neighbours = self._shelf.neighbours(nest, embedding, LOOKED_AT, self._target, self._exclude)
        if not neighbours:
            return _report(nest, None, None, "the book has nothing for this target"), ()
        usable, reason = self._near(nest, embedding, neighbours)
        first = neighbours[0]
        report = _report(nest, first.record, first.distance, reason)
        return (_used(report, usable[0]), usable) if usable else (report, ())

    def _exact(self, nest: Nest, records: list[Record]) -> tuple[Choice, ...]:
        choices = []
        for record in records:
            if len(choices) == self._count:
                break
            if _pays(record, WORTH_USING):
                fit = self._fit(nest, record.recipe)
                if isinstance(fit, Fit):
                    choices.append(_choice("exact", record, 0.0, fit))
        return _distinct(choices)

    def _near(
        self, nest: Nest, embedding: Embedding, neighbours: list[Neighbour]
    ) -> tuple[tuple[Choice, ...], str]:
        """Usable choices, best first; and why the nearest neighbour is none where it is not."""
        choices: list[Choice] = []
        reasons: list[str] = []
        for near in neighbours:
            record = near.record
            if near.distance > self._max_distance:
                reasons.append(f"too far away: {near.distance:.2f}, over {self._max_distance:.2f}")
                break
            if not _pays(record, WORTH_PORTING):
                reasons.append(f"{record.nest} gained too little: {record.speedup:.2f}×")
                continue
            source = self._shelf.source(record)
            if self._count == 1 and strided(nest) < STRIDED * strided(source):
                reasons.append(f"its accesses are contiguous where those of {record.nest} are not")
                continue
            ported = port(record.recipe, source, near.embedding, nest, embedding)
            if ported is None:
                reasons.append(f"the loops do not match those of {record.nest}")
                continue
            fit = self._fit(nest, ported)
            if isinstance(fit, str):
                reasons.append(f"the recipe of {record.nest} is illegal here: {fit}")
                continue
            choices.append(_choice("near", record, near.distance, fit))
            whole = [choice for choice in choices if not choice.dropped]
            if len(whole) >= self._count:
                break
        choices.sort(key=lambda c: c.distance + DROP_PENALTY * c.dropped)
        return _distinct(choices)[: self._count], reasons[0] if reasons else ""

    def _fit(self, nest: Nest, recipe: Recipe) -> Fit | str:
        """What docc accepts, or why it refuses. Nests with one fingerprint get the same answer."""
        key = (nest.fingerprint, recipe.text())
        if key not in self._shelf.fits:
            try:
                fit = self._trial.fit(nest, recipe)
                if len(recipe) and 2 * len(fit.dropped) > len(recipe):
                    self._shelf.fits[key] = "most steps are refused"
                else:
                    self._shelf.fits[key] = fit
            except (IllegalStepError, RunError) as error:
                self._shelf.fits[key] = str(error)
        return self._shelf.fits[key]


def _pays(record: Record, least: float) -> bool:
    """Whether a record promises more than docc's own schedule. A recipe without steps means that
    preparing the program is what gains; that has to be worth it, it changes all of the program."""
    return record.speedup > (least if len(record.recipe) else max(least, WORTH_PORTING))


def _choice(tier: str, record: Record, distance: float, fit: Fit) -> Choice:
    return Choice(tier, record, distance, fit.recipe, len(fit.dropped), predicted(record, distance))


def _distinct(choices: list[Choice]) -> tuple[Choice, ...]:
    return tuple({choice.recipe: choice for choice in reversed(choices)}.values())[::-1]


def _report(nest: Nest, record: Record | None, distance: float | None, reason: str) -> NestReport:
    """A nest that is left to docc."""
    return NestReport(
        position=nest.position,
        loops=tuple(loop.indvar for loop in nest.loops),
        fingerprint=nest.fingerprint,
        tier="none",
        neighbour=record.nest if record else None,
        record=record.id if record else None,
        distance=distance,
        recipe="",
        predicted_speedup=1.0,
        reason=reason,
    )


def _used(report: NestReport, choice: Choice) -> NestReport:
    dropped = f", {choice.dropped} refused steps left out" if choice.dropped else ""
    where = "the very nest" if choice.tier == "exact" else "ported from a neighbour"
    return replace(
        report,
        tier=choice.tier,
        neighbour=choice.record.nest,
        record=choice.record.id,
        distance=choice.distance,
        recipe=choice.recipe.text(),
        predicted_speedup=choice.predicted_speedup,
        reason=where + dropped,
    )
