"""Regions: neighbouring nests that hand data to each other, looked up as one.

A book may have a recipe for several nests together (`loopbook.program.regions`), which makes one
sweep of them where each by itself only gets what its own loops allow. It is taken where it promises
more than what was found for the nests one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from loopbook.client.decision import Choice, NestReport, Plan, distinct
from loopbook.client.evidence import pays
from loopbook.client.fit import Trials
from loopbook.client.layered import LayeredBook
from loopbook.client.port import port
from loopbook.client.sizes import Trips, exact_speedup, near_speedup
from loopbook.client.thresholds import (
    LOOKED_AT,
    NEAR_REGION,
    REGION_GAINS,
    WORTH_PORTING,
    WORTH_USING,
)
from loopbook.errors import IllegalStepError, RunError
from loopbook.program.json_text import dumped
from loopbook.program.load import load_json
from loopbook.program.nest import Nest
from loopbook.program.nests import nests as nests_of
from loopbook.program.nests import read_nest
from loopbook.program.read import read
from loopbook.program.regions import is_like_region, is_region, with_regions
from loopbook.program.tree import Loop, Program
from loopbook.program.trips import iterations, trip_counts
from loopbook.program.walk import outermost
from loopbook.program.write import write
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.recipe import Recipe

COMPARABLE = frozenset({"exact", "near", "none"})
"""Tiers (`Choice.tier`) of which a speedup is known. What pays without a book, such as calls of a
library, nobody has compared with a region's recipe."""


class Joined(NamedTuple):
    """A prepared program some of whose nests are regions."""

    text: str
    tree: Program
    nests: list[Nest]


def joined(
    text: str,
    nests: Sequence[Nest],
    plan: Plan,
    layered: LayeredBook,
    *,
    exclude: Collection[str] = (),
    sizes: Mapping[str, int] | None = None,
    tree: Program | None = None,
) -> Joined | None:
    """A prepared program with the regions as nests for which there is more than `plan` has for the
    nests in them; None if there are none.

    Args:
        nests: of the program.
        plan: for these.
        exclude, sizes, tree: see `loopbook.client.plan.plan_nests`.

    Raises:
        BookError: if a book cannot be read.
    """
    if len(nests) < 2:
        return None
    given = tree or read(load_json(text))
    whole = with_regions(given)
    if whole is given:
        return None
    trials = Trials("", whole)
    counted = {nest.loop.id: trip_counts(nest, sizes or {}) for nest in nests}
    reports = {nest.loop.id: plan.nests[nest.position] for nest in nests}
    work = {nest.loop.id: iterations(nest, counted[nest.loop.id]) or 1 for nest in nests}
    wanted: set[int | None] = set()
    for place, loop in enumerate(outermost(whole)):
        if not is_region(loop):
            continue
        inside = [one.id for one in loop.body.children if isinstance(one, Loop)]
        expected = _expected([reports[number] for number in inside], [work[n] for n in inside])
        if expected is None:
            continue
        region = read_nest(loop, whole.containers, place)
        trips = trip_counts(region, sizes or {})
        choices = choices_of_region(region, trials, layered, plan.target, exclude, trips)
        if choices and choices[0].predicted_speedup > REGION_GAINS[choices[0].tier] * expected:
            wanted.add(inside[0])
    if not wanted:
        return None
    made = with_regions(given, lambda loops: loops[0].id in wanted)
    return Joined(dumped(write(made)), made, nests_of(made))


def _expected(reports: Sequence[NestReport], work: Sequence[int]) -> float | None:
    """How many times faster than docc's own schedule nests become one by one, by how often their
    bodies run; None where that cannot be told."""
    if any(report.tier not in COMPARABLE for report in reports):
        return None
    after = sum(w / one.predicted_speedup for w, one in zip(work, reports, strict=True))
    return sum(work) / after


def choices_of_region(
    region: Nest,
    trials: Trials,
    layered: LayeredBook,
    target: str,
    exclude: Collection[str],
    trips: Trips,
) -> tuple[Choice, ...]:
    """What books have for a region: for this very one, or for the nearest ones that they know.

    Args:
        trials: of the program that it is in.

    Raises:
        BookError: if a book cannot be read.
    """
    found = []
    for record in layered.records_of(region, target, exclude, trips):
        speedup = exact_speedup(record, trips)
        if pays(record, speedup, WORTH_USING):
            found.append(("exact", record, 0.0, record.recipe, speedup))
    if not found:
        embedding = layered.encoder.encode(region)
        for near in layered.neighbours(region, embedding, LOOKED_AT, target, exclude):
            if near.distance > NEAR_REGION or not len(near.record.recipe):
                continue
            source = layered.source(near.record)
            if not is_like_region(source.loop):
                continue
            speedup = near_speedup(near.record, source, region, trips)
            recipe = _ported(near.record.recipe, source, near.embedding, region, embedding)
            if recipe is not None and pays(near.record, speedup, WORTH_PORTING):
                found.append(("near", near.record, near.distance, recipe, speedup))
    choices = []
    for tier, record, distance, recipe, speedup in found:
        try:
            tried = trials.fit(region, recipe)
        except (IllegalStepError, RunError):
            continue
        if len(tried.recipe):
            dropped = len(tried.dropped)
            choices.append(Choice(tier, record, distance, tried.recipe, dropped, speedup))
    return distinct(choices)


def _ported(
    recipe: Recipe, source: Nest, known: Embedding, region: Nest, embedding: Embedding
) -> Recipe | None:
    """A recipe in the words of another region; None if it has other loops."""
    if len(source.loops) != len(region.loops):
        return None
    return port(recipe, source, known, region, embedding)
