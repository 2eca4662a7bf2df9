"""What to do with one nest: look up, port, fit, rank."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from loopbook.client.decision import (
    Choice,
    NestReport,
    distinct,
    left_to_docc,
    used,
    with_steps,
)
from loopbook.client.evidence import pays
from loopbook.client.fit import Fit, Refusal, Trials
from loopbook.client.forms import (
    Form,
    batches_first,
    rows_in_one,
    sums_apart,
    sums_in_memory,
)
from loopbook.client.heuristics import (
    UNHEARD_OF,
    by_rules,
    in_registers,
    with_kept,
)
from loopbook.client.inner_nests import InnerNest, of_inner_nests
from loopbook.client.layered import LayeredBook
from loopbook.client.libraries import has_micro_kernel, product_calls
from loopbook.client.orders import along_memory, rest_along_memory, taken_apart
from loopbook.client.port_search import NO_TIME, PortSearch
from loopbook.client.recurrences import rows_of_sweeps, side_by_side, without_gathers
from loopbook.client.regions import choices_of_region
from loopbook.client.sharing import shared_among_threads
from loopbook.client.sizes import Trips, about_measured, exact_speedup, measured_here
from loopbook.client.thresholds import (
    ALIKE,
    CLEARLY_MORE,
    LOOKED_AT,
    MAX_DISTANCE,
    REMEMBERED,
    SWEEP,
    WORTH_BELIEVING,
    WORTH_USING,
)
from loopbook.client.vectors import vector_product
from loopbook.client.weighing import Unheard, Weighing
from loopbook.program.nest import Nest
from loopbook.program.regions import is_region
from loopbook.recipes.clip import clipped
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.record import Measurement, Record
from loopbook.recipes.rescale import rescaled
from loopbook.rules import TuningContext
from loopbook.rules.sliding_sums import sliding_sums
from loopbook.rules.threads import SINGLE
from loopbook.targets import TARGETS, for_threads
from loopbook.toolchain.blas import is_narrow

Decision = tuple[NestReport, tuple[Choice, ...]]
"""What is done with a nest, and the recipes that can be used for it."""

Embeddings = Callable[[], Mapping[str, Embedding]]
"""Gives the embeddings of a program's nests by fingerprint."""

Alike = tuple[str, tuple[tuple[str, int], ...]]
"""Fingerprint and trip counts: all that a decision about a nest depends on."""


def _alike(nest: Nest, trips: Trips) -> Alike:
    return nest.fingerprint, tuple(sorted(trips.items()))


class Planner:
    """Decides about the nests of one program.

    Args:
        choices: recipes to find for each nest.
        expressions, libraries: see `loopbook.client.plan.make_plan`.
        patience: seconds that recipes may be tried for in all.
        weighing: is told what was weighed.
    """

    def __init__(
        self,
        layered: LayeredBook,
        target: str,
        exclude: Collection[str],
        max_distance: float | None,
        choices: int,
        trials: Trials,
        patience: float,
        *,
        expressions: bool = False,
        libraries: bool = False,
        weighing: Weighing | None = None,
    ) -> None:
        self._layered = layered
        self._weighing = weighing or Unheard()
        self._patience = patience
        self._target = target
        self._exclude = exclude
        if max_distance is None:
            max_distance = MAX_DISTANCE if layered.cost_model is None else math.inf
        self._max_distance = max_distance
        self._count = choices
        self._trials = trials
        self._expressions = expressions
        self._libraries = libraries
        self._known: dict[Alike, list[Record]] = {}
        self._decided: dict[tuple[Alike, bool], Decision] = {}

    def plan(self, nest: Nest, embeddings: Embeddings, trips: Trips, *, hot: bool) -> Decision:
        """Decide about one nest; nests that are alike get the same.

        Args:
            embeddings: of the program's nests; not asked for where the book knows the nest.
            trips: how often its loops run, as far as that is known.
            hot: whether it is the program's hottest one.
        """
        key = _alike(nest, trips), hot
        if key not in self._decided:
            self._decided[key] = self._decide(nest, embeddings, trips, hot)
        report, usable = self._decided[key]
        own = nest.loops[1:] if is_region(nest.loop) else nest.loops
        loops = tuple(loop.indvar for loop in own)
        return replace(report, position=nest.position, loops=loops), usable

    def without_books(self, nest: Nest, reason: str) -> Decision:
        """Decide about a nest that no book is asked about, and why."""
        report = left_to_docc(nest, None, None, reason)
        usable = along_memory(nest, self._fit, ()) if self._expressions else ()
        context = self._context({})
        if not context.parallel and not with_steps(usable):
            usable = by_rules(nest, self._fit, context) or usable
        usable = with_kept(nest, self._fit, usable, context)
        return (used(report, usable[0]), usable) if usable else (report, ())

    def _decide(self, nest: Nest, embeddings: Embeddings, trips: Trips, hot: bool) -> Decision:
        if is_region(nest.loop):
            return self._of_region(nest, trips)
        known = self._unasked(nest, trips, hot)
        if known is None or (known.tier == "library" and is_narrow()):
            report, usable = self._from_books(nest, embeddings, trips, hot)
            if known is None or (usable and has_micro_kernel(usable[0].recipe)):
                return report, usable
        return used(left_to_docc(nest, None, None, ""), known), (known,)

    def _of_region(self, region: Nest, trips: Trips) -> Decision:
        found = choices_of_region(
            region, self._trials, self._layered, self._target, self._exclude, trips
        )[: self._count]
        report = left_to_docc(region, None, None, "the book has nothing for all of it")
        return (used(report, found[0]), found) if found else (report, ())

    def _from_books(self, nest: Nest, embeddings: Embeddings, trips: Trips, hot: bool) -> Decision:
        records = self._records(nest, trips)
        usable: tuple[Choice, ...] = ()
        speedup = exact_speedup(records[0], trips) if records else 1.0
        gains = bool(records) and pays(records[0], speedup, WORTH_USING)
        if gains:
            usable = self._exact(nest, records, trips)
            if self._libraries:
                together = side_by_side(nest, self._fit, usable, self._target, trips)
                if together != usable and not self._is_tuned(nest, trips):
                    usable = together
        if records and not len(records[0].recipe) and len(nest.loops) <= SWEEP:
            # A search looks for what the whole program gains by, and may have missed this.
            usable = with_steps(along_memory(nest, self._fit, ())) or usable
        if usable and not _shares(usable[0].recipe):  # a search beside other jobs finds no threads
            shared = self._shared(nest, embeddings, trips, hot)
            if shared and _shares(shared[0].recipe):
                usable = distinct([*shared, *usable])[: self._count]
        if usable:
            record, distance = usable[0].record, usable[0].distance
            return used(left_to_docc(nest, record, distance, ""), usable[0]), usable
        if records and not gains:
            report = left_to_docc(nest, records[0], 0.0, _no_gain(records[0], speedup))
            return replace(report, tier="exact"), ()
        if not records and (usable := self._unheard_of(nest, trips)):
            return used(left_to_docc(nest, None, None, ""), usable[0]), usable
        shared = self._shared(nest, embeddings, trips, hot)
        if shared and self._count == 1:
            record, distance = shared[0].record, shared[0].distance
            return used(left_to_docc(nest, record, distance, ""), shared[0]), shared
        embedding = embeddings()[nest.fingerprint]
        neighbours = self._layered.neighbours(
            nest, embedding, LOOKED_AT, self._target, self._exclude
        )
        if not records:  # that are believed
            neighbours = [n for n in neighbours if n.record.fingerprint != nest.fingerprint]
        self._weighing.looked_at(nest.fingerprint, neighbours)
        if not neighbours:
            usable, reason = (), "the book has nothing for this target"
        else:
            search = PortSearch(
                self._layered,
                self._target,
                self._exclude,
                self._max_distance,
                self._count,
                self._fit,
                self._weighing,
            )
            usable, reason = search.choices(nest, embedding, trips, neighbours, hot)
        context = self._context(trips)
        if self._count == 1 and not context.parallel:
            usable = without_gathers(nest, self._fit, usable, trips)
            usable = rows_of_sweeps(nest, self._fit, usable, trips)
        usable = self._in_other_form(nest, usable, trips, hot)
        usable = self._of_inner(nest, usable, trips)
        if not records:
            if usable or self._expressions:
                usable = along_memory(nest, self._fit, usable)
            elif not context.parallel:
                usable = taken_apart(nest, self._fit)
            if not with_steps(usable):
                usable = by_rules(nest, self._fit, context) or usable
            usable = with_kept(nest, self._fit, usable, context)
        usable = distinct([*shared, *usable])[: self._count]
        first = neighbours[0] if neighbours else None
        record, distance = (first.record, first.distance) if first else (None, None)
        report = left_to_docc(nest, record, distance, reason)
        return (used(report, usable[0]), usable) if usable else (report, ())

    def _unheard_of(self, nest: Nest, trips: Trips) -> tuple[Choice, ...]:
        """What is done with nests that no book knows, whatever it has of their neighbours."""
        around = self._context(trips)
        usable = next(filter(None, (rule(nest, self._fit, around) for rule in UNHEARD_OF)), ())
        if usable or around.parallel or (form := sums_apart(nest, self._fit)) is None:
            return usable
        around = replace(around, trips=form.trips(trips))
        return in_registers(form.nest, lambda _, r: self._fit(nest, form.whole(r)), around)

    def _shared(
        self, nest: Nest, embeddings: Embeddings, trips: Trips, hot: bool
    ) -> tuple[Choice, ...]:
        """For several threads: what is planned for one, shared among them, or left to one where no
        loop is worth it; nothing where there is neither."""
        if not TARGETS[self._target].parallel:
            return ()
        alone = self._copy()
        alone._target = for_threads(1).name
        found = self._planned_by(alone, nest, embeddings, trips, hot=hot)
        one = found[0] if found else Choice("threads", None, 0.0, Recipe(), 0, 1.0)
        threads = self._context(trips).threads
        recipe = shared_among_threads(nest, self._fit, one.recipe, trips, threads)
        believed = one.tier in ("order", "rows", "library")  # whatever is promised
        if recipe is None and not believed and one.predicted_speedup < threads:
            recipe = shared_among_threads(nest, self._fit, Recipe(), trips, threads)
        if recipe is None and len(one.recipe):
            recipe = Recipe((*one.recipe, SINGLE))
        return () if recipe is None else (replace(one, recipe=recipe),)

    def _context(self, trips: Trips) -> TuningContext:
        return TuningContext.of(self._layered.hardware(self._target), self._target, trips)

    def _copy(self) -> Planner:
        """One like this that knows nothing yet."""
        other = copy.copy(self)
        other._known, other._decided = {}, {}
        return other

    def _planned_by(
        self, other: Planner, nest: Nest, embeddings: Embeddings, trips: Trips, *, hot: bool
    ) -> tuple[Choice, ...]:
        """What a planner that is changed finds for a nest, in the time that this one has left."""
        _, found = other.plan(nest, embeddings, trips, hot=hot)
        self._patience = other._patience
        return found

    def _in_other_form(
        self, nest: Nest, near: tuple[Choice, ...], trips: Trips, hot: bool
    ) -> tuple[Choice, ...]:
        """Choices for another form of the nest, if they promise more than `near`; else `near`."""
        forms = (
            self._in_memory(nest, trips),
            rows_in_one(nest, self._fit),
            batches_first(nest, self._fit),
        )
        for form in filter(None, forms):
            near = self._of_form(form, near, trips, hot) or near
        return near

    def _in_memory(self, nest: Nest, trips: Trips) -> Form | None:
        cache = self._layered.hardware(self._target).l2_bytes
        return sums_in_memory(nest, self._fit, trips, cache)

    def _of_form(
        self, form: Form, near: tuple[Choice, ...], trips: Trips, hot: bool
    ) -> tuple[Choice, ...]:
        """Choices for a form of a nest that promise more than `near` do for the nest itself."""
        found = self._planned(form.nest, form.trials, form.trips(trips), hot=hot)
        expected = near[0].predicted_speedup if near else WORTH_USING
        return tuple(
            replace(
                one,
                tier="near",
                recipe=form.whole(one.recipe),
                predicted_speedup=one.predicted_speedup / form.slower,
                lower=one.lower / form.slower,
            )
            for one in found
            if one.predicted_speedup > expected * form.slower
        )

    def _of_inner(self, nest: Nest, near: tuple[Choice, ...], trips: Trips) -> tuple[Choice, ...]:
        """`near` with what books have for the nests inside of one in front, if that promises more:
        clearly so, where there is something for the whole."""
        found = of_inner_nests(nest, self._fit, self._alone, trips)
        expected = CLEARLY_MORE * near[0].predicted_speedup if near else WORTH_USING
        if found is None or found.predicted_speedup <= expected:
            return near
        return (found, *near)[: self._count]

    def _alone(self, inner: InnerNest) -> tuple[Choice, ...]:
        """Choices for a nest that stands in another one."""
        return self._planned(inner.nest, inner.trials, inner.trips, hot=False)

    def _planned(
        self, nest: Nest, trials: Trials, trips: Trips, *, hot: bool
    ) -> tuple[Choice, ...]:
        """What books have for a nest of a program that is made of this one."""
        other = self._copy()
        other._trials = trials
        other._expressions = other._libraries = False
        (embedding,) = self._layered.encoder.encode_many([nest])
        own = {nest.fingerprint: embedding}
        return self._planned_by(other, nest, lambda: own, trips, hot=hot)

    def measured(self, nest: Nest, usable: tuple[Choice, ...], trips: Trips) -> Measurement | None:
        """Times of this very nest as planned, at about the size at hand, if the book has them."""
        if usable:
            record, distance = usable[0].record, usable[0].distance
            if record is None or distance > 0 or record.fingerprint != nest.fingerprint:
                return None
            return measured_here(record, trips)
        for record in self._records(nest, trips):
            return measured_here(record, trips)
        return None

    def _unasked(self, nest: Nest, trips: Trips, hot: bool) -> Choice | None:
        """What is known to pay without a book: calls of a library, and rows of a matrix together.
        Loops that somebody has tuned here keep what was found for them: the tuner calls libraries
        where it is asked to. So do those that the book has itself, as they are or with their sums
        in memory, where it is not sure that calls gain more."""
        if not self._libraries:
            return None
        calls = [("library", c.recipe, c.sure) for c in product_calls(nest, self._target, trips)]
        if not calls and (rows := vector_product(nest, self._target, trips)):
            calls = [("rows", rows, True)]
        if slid := self._sliding(nest, trips):
            calls = [*(one for one in calls if one[2]), ("strips", slid, True)]
        if not calls or self._is_tuned(nest, trips):
            return None
        for tier, recipe, sure in calls:
            if not sure and self._exact(nest, self._records(nest, trips), trips):
                return None
            if not sure and (known := self._known_in_memory(nest, trips, hot)):
                return known
            fit = self._fit(nest, recipe)
            if isinstance(fit, Fit):
                choice = Choice(tier, None, 0.0, fit.recipe, 0, 1.0)
                return rest_along_memory(nest, self._fit, choice)
        return None

    def _sliding(self, nest: Nest, trips: Trips) -> Recipe | None:
        """Sums that slide over what they read beside each other, for one thread, in loops that no
        book has."""
        steps = [] if self._context(trips).parallel else sliding_sums(nest, trips)
        return Recipe(tuple(steps)) if steps and not self._records(nest, trips) else None

    def _known_in_memory(self, nest: Nest, trips: Trips, hot: bool) -> Choice | None:
        """What books have for a nest with its sums in memory, if that is like one of theirs."""
        form = self._in_memory(nest, trips)
        found = self._of_form(form, (), trips, hot) if form is not None else ()
        return found[0] if found and found[0].distance < ALIKE else None

    def _is_tuned(self, nest: Nest, trips: Trips) -> bool:
        """Whether somebody has tuned these very loops here, not array expressions, and gained."""
        own = self._layered.has_own(nest, self._target, self._exclude)
        return own and not self._expressions and bool(self._records(nest, trips))

    def _records(self, nest: Nest, trips: Trips) -> list[Record]:
        """Those of this very nest."""
        key = _alike(nest, trips)
        if key not in self._known:
            found = self._layered.records_of(nest, self._target, self._exclude, trips)
            self._known[key] = [] if self._is_doubtful(nest, found) else found
        return self._known[key]

    def _is_doubtful(self, nest: Nest, records: Sequence[Record]) -> bool:
        """Whether what was tuned here gained so little that it may cost what else is done to code
        of our own: it was found in docc's."""
        if not records or not self._libraries or TARGETS[self._target].parallel:
            return False
        own = self._layered.has_own(nest, self._target, self._exclude)
        return own and all(record.best < WORTH_BELIEVING for record in records)

    def _exact(self, nest: Nest, records: list[Record], trips: Trips) -> tuple[Choice, ...]:
        choices = []
        here = self._layered.hardware(self._target)
        for record in records:
            if len(choices) == self._count:
                break
            speedup = exact_speedup(record, trips)
            if pays(record, speedup, WORTH_USING):
                wanted = rescaled(record.recipe, record.hardware, here)
                if not about_measured(record, trips):
                    wanted = clipped(wanted, trips)
                fit = self._fit(nest, wanted)
                if isinstance(fit, Fit):
                    dropped = len(fit.dropped)
                    choices.append(Choice("exact", record, 0.0, fit.recipe, dropped, speedup))
        return distinct(choices)

    def _fit(self, nest: Nest, recipe: Recipe) -> Fit | Refusal:
        """What is legal, or why it is not. Nests with one fingerprint get the same answer."""
        key = (nest.fingerprint, recipe.text())
        if key not in self._layered.fits and self._patience <= 0:
            return Refusal(NO_TIME)
        if key not in self._layered.fits:
            if len(self._layered.fits) >= REMEMBERED:  # they hold trees
                self._layered.fits.clear()
            self._layered.fits[key] = self._asked(nest, recipe)
        return self._layered.fits[key]

    def _asked(self, nest: Nest, recipe: Recipe) -> Fit | Refusal:
        begun = time.monotonic()
        try:
            return self._trials.answer(nest, recipe)
        finally:
            self._patience -= time.monotonic() - begun


def _shares(recipe: Recipe) -> bool:
    """Whether threads share loops by the word of a recipe, or a library has threads of its own."""
    return any("threads" in step.traits or step.op == "library" for step in recipe)


def _no_gain(record: Record, speedup: float) -> str:
    """Why the best record of the very nest is not used."""
    if pays(record, record.best, WORTH_USING):
        return f"its recipe gains at other sizes; here it is expected to reach {speedup:.2f}×"
    return "docc's own schedule was the fastest here"
