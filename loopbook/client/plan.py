"""What to do with each nest of a program: look up, port, fit, rank."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from loopbook.client.appraisal import Appraisal, Offer
from loopbook.client.decision import Choice, NestReport, Plan, left_to_docc, used
from loopbook.client.fit import Fit, IsolatedTrial, Trial
from loopbook.client.port import port
from loopbook.client.shelf import Neighbour, Shelf
from loopbook.client.sizes import Trips, exact_speedup, measured_here, near_speedup
from loopbook.errors import IllegalStepError, RunError
from loopbook.predict.head import Head
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.record import Measurement, Record
from loopbook.sdfg import program
from loopbook.sdfg.build import Built, build_baseline, build_tuned
from loopbook.sdfg.nest import Nest, Stride
from loopbook.sdfg.sandbox import run_limited
from loopbook.sdfg.trips import trip_counts

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

LOOKED_AT = 24
"""Neighbours that are tried before a nest is given up."""

TEXT_SECONDS = 30.0
"""How long docc may work on an untrusted text."""

DROP_PENALTY = 0.05
"""How much farther away each step that docc refuses makes a neighbour."""


def make_plan(
    text: str,
    target: str,
    shelf: Shelf,
    *,
    exclude: Collection[str] = (),
    max_distance: float | None = None,
    choices: int = 1,
    sizes: Mapping[str, int] | None = None,
    untrusted: bool = False,
) -> Plan:
    """Look every nest of a program up and port what is found.

    Args:
        text: the program's SDFG as JSON text, as docc's frontend makes it or later.
        target: "sequential" or "openmp".
        exclude: kernels whose records are ignored.
        max_distance: neighbours farther away are not used. By default a head decides, which knows
            what distance means; without one it is `MAX_DISTANCE`.
        choices: recipes to find for each nest; with more than one they are taken to be tried out,
            and riskier ones are among them.
        sizes: values of the program's size symbols, as far as they are known: each nest gets what
            was fastest at about its size. Where a nest's size is unknown, it gets no recipe that
            lost at any size measured.
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
        sizes=sizes,
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
    max_distance: float | None = None,
    choices: int = 1,
    sizes: Mapping[str, int] | None = None,
    untrusted: bool = False,
    in_place: bool = False,
) -> Plan:
    """`make_plan` for the nests of an SDFG that is normalised already, given as JSON text.

    Args:
        in_place: take only recipes that can be applied without making a new SDFG.
    """
    trial = (IsolatedTrial if untrusted else Trial)(normalised, in_place=in_place)
    planner = _Planner(shelf, target, exclude, max_distance, choices, trial)
    embeddings = shelf.encoder.encode_many(nests)
    reports: list[NestReport] = []
    found: dict[int, tuple[Choice, ...]] = {}
    times: list[Measurement | None] = []
    for nest, embedding in zip(nests, embeddings, strict=True):
        trips = trip_counts(nest, sizes or {})
        report, usable = planner.plan(nest, embedding, trips)
        reports.append(report)
        if usable:
            found[nest.position] = usable
        times.append(planner.measured(nest, usable, trips))
    plan = Plan(target, tuple(reports), found, normalised=normalised)
    if choices == 1 and lose_together(times):
        return plan.without_recipes("docc's own compile, which fuses nests, is faster as a whole")
    return plan


def lose_together(times: list[Measurement | None]) -> bool:
    """Whether nests that were all measured take longer together than under docc's own compile. A
    recipe wants its nest on its own, and what that costs other nests may be more than it gains."""
    known = [one for one in times if one is not None]
    if len(known) < len(times):
        return False
    return sum(one.baseline_s for one in known) < sum(one.tuned_s for one in known)


def build_plan(text: str, plan: Plan, folder: Path, *, timers: bool = False) -> Built:
    """Compile a program as planned: exactly as docc would where nothing is better.

    Raises:
        LoopbookError: see `loopbook.sdfg.build.build_tuned`.
    """
    if not plan.active:
        return build_baseline(text, plan.target, folder, timers=timers)
    return build_tuned(plan.normalised or text, plan.target, plan.recipes, folder, timers=timers)


def predicted(speedup: float, distance: float) -> float:
    """The speedup to expect from a record's recipe: its own at the size at hand for the very nest,
    and the less of it (as a power) the farther away its nest is."""
    return speedup ** (1.0 - min(distance, 2.0) / 2.0)


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
        max_distance: float | None,
        choices: int,
        trial: Trial,
    ) -> None:
        self._shelf = shelf
        self._target = target
        self._exclude = exclude
        if max_distance is None:
            max_distance = MAX_DISTANCE if shelf.head is None else math.inf
        self._max_distance = max_distance
        self._count = choices
        self._trial = trial

    def plan(
        self, nest: Nest, embedding: Embedding, trips: Trips
    ) -> tuple[NestReport, tuple[Choice, ...]]:
        """Decide about one nest.

        Args:
            trips: how often its loops run, as far as that is known.
        """
        records = self._shelf.exact(nest, self._target, self._exclude, trips)
        if records:
            speedup = exact_speedup(records[0], trips)
            if not _pays(records[0], speedup, WORTH_USING):
                report = left_to_docc(nest, records[0], 0.0, _no_gain(records[0], speedup))
                return replace(report, tier="exact"), ()
        usable = self._exact(nest, records, trips)
        if usable:
            return used(left_to_docc(nest, usable[0].record, 0.0, ""), usable[0]), usable
        neighbours = self._shelf.neighbours(nest, embedding, LOOKED_AT, self._target, self._exclude)
        if not neighbours:
            return left_to_docc(nest, None, None, "the book has nothing for this target"), ()
        usable, reason = self._near(nest, embedding, trips, neighbours)
        first = neighbours[0]
        report = left_to_docc(nest, first.record, first.distance, reason)
        return (used(report, usable[0]), usable) if usable else (report, ())

    def measured(self, nest: Nest, usable: tuple[Choice, ...], trips: Trips) -> Measurement | None:
        """Times of this very nest as planned, at about the size at hand, if the book has them."""
        if usable:
            near = usable[0].distance > 0 or usable[0].record.fingerprint != nest.fingerprint
            return None if near else measured_here(usable[0].record, trips)
        for record in self._shelf.exact(nest, self._target, self._exclude, trips):
            return measured_here(record, trips)
        return None

    def _exact(self, nest: Nest, records: list[Record], trips: Trips) -> tuple[Choice, ...]:
        choices = []
        for record in records:
            if len(choices) == self._count:
                break
            speedup = exact_speedup(record, trips)
            if _pays(record, speedup, WORTH_USING):
                fit = self._fit(nest, record.recipe)
                if isinstance(fit, Fit):
                    choices.append(_choice("exact", record, 0.0, fit, speedup))
        return _distinct(choices)

    def _near(
        self, nest: Nest, embedding: Embedding, trips: Trips, neighbours: list[Neighbour]
    ) -> tuple[tuple[Choice, ...], str]:
        """Usable choices, best first; and why the nearest neighbour is none where it is not."""
        if self._shelf.head is not None:
            return self._appraised(self._shelf.head, nest, embedding, trips, neighbours)
        choices: list[Choice] = []
        reasons: list[str] = []
        for near in neighbours:
            record = near.record
            if near.distance > self._max_distance:
                reasons.append(f"too far away: {near.distance:.2f}, over {self._max_distance:.2f}")
                break
            if not _pays(record, record.best, WORTH_PORTING):
                reasons.append(f"{record.nest} gained too little: {record.speedup:.2f}×")
                continue
            source = self._shelf.source(record)
            speedup = near_speedup(record, source, nest, trips)
            if not _pays(record, speedup, WORTH_PORTING):
                reasons.append(f"{record.nest} gained too little at this size: {speedup:.2f}×")
                continue
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
            choices.append(_choice("near", record, near.distance, fit, speedup))
            whole = [choice for choice in choices if not choice.dropped]
            if len(whole) >= self._count:
                break
        choices.sort(key=lambda c: c.distance + DROP_PENALTY * c.dropped)
        return _distinct(choices)[: self._count], reasons[0] if reasons else ""

    def _appraised(
        self,
        head: Head,
        nest: Nest,
        embedding: Embedding,
        trips: Trips,
        neighbours: list[Neighbour],
    ) -> tuple[tuple[Choice, ...], str]:
        """Usable choices, the most promising first; and why there are none where there are none."""
        appraise = Appraisal(head, self._shelf, nest, self._target, trips)
        offers = []
        for near in neighbours:
            if not len(near.record.recipe) or near.distance > self._max_distance:
                continue
            source = self._shelf.source(near.record)
            ported = port(near.record.recipe, source, near.embedding, nest, embedding)
            if ported is not None:
                offers.append(Offer(near, ported))
        expectations = zip(appraise(offers), offers, strict=True)
        order = sorted(expectations, key=lambda pair: -pair[0].speedup)
        choices: list[Choice] = []
        reasons: list[str] = []
        for expected, offer in order:
            record = offer.near.record
            if expected.speedup < WORTH_PORTING:
                reasons.append(
                    f"{expected.speedup:.2f}× is all that the recipe of {record.nest} promises"
                )
                break
            fit = self._fit(nest, offer.recipe)
            if isinstance(fit, str):
                reasons.append(f"the recipe of {record.nest} is illegal here: {fit}")
                continue
            if fit.dropped:
                expected = appraise([Offer(offer.near, fit.recipe, len(fit.dropped))])[0]
            if self._count == 1 and expected.lower < 1:
                span = f"{expected.lower:.2f} to {expected.speedup:.2f}×"
                reasons.append(f"the recipe of {record.nest} may make it slower: {span}")
                continue
            choices.append(
                Choice(
                    "near",
                    record,
                    offer.near.distance,
                    fit.recipe,
                    len(fit.dropped),
                    expected.speedup,
                    expected.lower,
                )
            )
            if len(_distinct(choices)) >= self._count:
                break
        choices.sort(key=lambda choice: -choice.predicted_speedup)
        return _distinct(choices)[: self._count], reasons[
            0
        ] if reasons else "no recipe of a neighbour fits"

    def _fit(self, nest: Nest, recipe: Recipe) -> Fit | str:
        """What docc accepts, or why it refuses. Nests with one fingerprint get the same answer."""
        key = (nest.fingerprint, recipe.text(), self._trial.in_place)
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


def _pays(record: Record, speedup: float, least: float) -> bool:
    """Whether `speedup` is worth using a record. A recipe without steps means that preparing the
    program is what gains; that has to be worth it, it changes all of the program."""
    return speedup > (least if len(record.recipe) else max(least, WORTH_PORTING))


def _no_gain(record: Record, speedup: float) -> str:
    """Why the best record of the very nest is not used."""
    if _pays(record, record.best, WORTH_USING):
        return f"its recipe gains at other sizes; here it is expected to reach {speedup:.2f}×"
    return "docc's own schedule was the fastest here"


def _choice(tier: str, record: Record, distance: float, fit: Fit, speedup: float) -> Choice:
    expected = predicted(speedup, distance)
    return Choice(tier, record, distance, fit.recipe, len(fit.dropped), expected)


def _distinct(choices: list[Choice]) -> tuple[Choice, ...]:
    return tuple({choice.recipe: choice for choice in reversed(choices)}.values())[::-1]
