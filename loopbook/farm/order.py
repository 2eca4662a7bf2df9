"""The search for a nest that a stranger has asked for: what goes into the jail, what is done there,
and what comes back.

Into the jail goes the nest, the sizes it was asked for with, and recipes to begin with; back come
recipes and times. What is written into the book is made of these alone: the nest is the one that
was asked for, the machine is the one that the worker knows.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import msgspec

from loopbook.errors import InputError, LoopbookError
from loopbook.program.nest import Nest
from loopbook.program.trips import iterations, trip_counts
from loopbook.recipes._data import Count, Counts, Data, Name, Text
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.record import Measurement, Provenance, Record
from loopbook.recipes.tasks import Document
from loopbook.sdfg.arguments import size_names
from loopbook.sdfg.program import prepare_nests
from loopbook.sdfg.untrusted import admit
from loopbook.targets import TARGETS
from loopbook.toolchain import jail
from loopbook.toolchain.jail.doors import Door
from loopbook.toolchain.march import portable
from loopbook.toolchain.sandbox import run_limited
from loopbook.tuner.builders import Away, Builder
from loopbook.tuner.search import versions
from loopbook.tuner.seed import Job
from loopbook.tuner.seed import sizes_for as presets_for
from loopbook.tuner.settings import Settings
from loopbook.tuner.sizes import MOST, USUAL
from loopbook.tuner.task import SdfgTask
from loopbook.tuner.tune import tune

READ_S = 60.0

NO_MORE_THAN = 16
"""Recipes that a search may come back with."""

OFTEN = (2_000_000, 20_000_000)
"""Iterations of innermost loops, from one to some hundred milliseconds. Where a nest has more at
all sizes that were asked for, it is searched at smaller ones, and what is found is confirmed."""

NEAR = 1_000_000_000
"""Iterations that end within seconds. Where a nest has many times more at all sizes that were asked
for, it may take too long to be measured there: it is confirmed as near to them as that."""

LEAST = 4
"""No size is smaller."""

MOST_ANSWER = 4 << 20
"""Bytes of what comes back."""


@dataclass(frozen=True)
class Order(Data):
    """A search to do in a jail.

    Attributes:
        document: the nest as SDFG JSON text.
        fingerprint: of the nest.
        sizes: that it was asked for with, the latest first; some of its sizes may be missing.
        hardware: profile of the machine, as JSON.
        starts: recipes to try first, as text.
    """

    what = "an order to search"

    document: Document
    fingerprint: Name
    target: Name
    sizes: Annotated[list[Counts], msgspec.Meta(max_length=8)]
    hardware: dict[str, Any]
    starts: Annotated[list[Text], msgspec.Meta(max_length=64)]
    trials: Count
    seed: Count
    builders: Count = 0


@dataclass(frozen=True)
class Found(Data):
    """A recipe that a search has found, with its times.

    Attributes:
        recipe: as text; empty where docc's own schedule is best.
        measurements: one for each size, as JSON.
        trials: candidates that were measured.
    """

    what = "what a search has found"

    recipe: Text
    measurements: Annotated[list[dict[str, Any]], msgspec.Meta(min_length=1, max_length=64)]
    trials: Count


def records_of(
    order: Order, hardware: HardwareProfile, seconds: float, doors: Sequence[int] = ()
) -> list[Record]:
    """Search in a jail, and make records of what comes back.

    Args:
        doors: to builders on other machines (`loopbook.toolchain.jail.doors`).

    Raises:
        LoopbookError: see `search_in_jail`.
    """
    return [_record(order, hardware, found) for found in search_in_jail(order, seconds, doors)]


def search_in_jail(order: Order, seconds: float, doors: Sequence[int] = ()) -> list[Found]:
    """What a search in a jail finds.

    Raises:
        JailError: this machine has no jails.
        LoopbookError: the nest can't be read, compiled or run, or the search takes too long.
    """
    limits = jail.Limits(seconds=seconds, answer=MOST_ANSWER)
    job = f"{__name__}:{jailed.__name__}"
    told = jail.call(job, order.to_json(), limits=limits, what="the search", doors=doors)
    return found_in(told)


def found_in(told: Any) -> list[Found]:
    """What a jail sent back.

    Raises:
        InputError: it is no list of what was found.
    """
    if not isinstance(told, list) or not 0 < len(told) <= NO_MORE_THAN:
        raise InputError("the jail sent something that is no list of recipes")
    return [Found.from_json(one) for one in told]


def _record(order: Order, hardware: HardwareProfile, found: Found) -> Record:
    name = f"asked-{order.fingerprint[:12]}"
    return Record(
        fingerprint=order.fingerprint,
        nest=f"{name}:0",
        nest_json=order.document,
        target=order.target,
        hardware=hardware,
        recipe=Recipe.parse(found.recipe),
        measurements=tuple(map(Measurement.from_json, found.measurements)),
        provenance=provenance(name, "queue", order.seed, found.trials),
    )


def provenance(kernel: str, source: str, seed: int, trials: int) -> Provenance:
    """Of what was measured just now; see `loopbook.recipes.record.Provenance`."""
    date = datetime.now(UTC).isoformat(timespec="seconds")
    return Provenance(
        kernel=kernel, source=source, date=date, seed=seed, trials=trials, **versions()
    )


# In the jail


def jailed(given: Any, doors: Sequence[int] = ()) -> list[Any]:
    """`search` as a job of `loopbook.toolchain.jail`."""
    march = portable() if doors else ""
    away = [Away(Door(one), march) for one in doors] if march else []
    return [one.to_json() for one in search(Order.from_json(given), away)]


def search(order: Order, away: Sequence[Builder] = ()) -> list[Found]:
    """The recipes worth a record, for the nest with made-up data. To be called in a jail.

    Args:
        away: builders on other machines.

    Raises:
        LoopbookError: the nest can't be read, compiled or run.
    """
    if order.target not in TARGETS:
        raise InputError(f"there is no target {order.target}")
    text = admit(order.document).text
    sizes = run_limited(_sizes, order, text, seconds=READ_S, what="reading the nest")
    task = SdfgTask("nest", text, sizes, most=MOST, seed=order.seed)
    hardware = HardwareProfile.from_json(order.hardware)
    settings = Settings(
        target=order.target,
        trials=order.trials,
        seed=order.seed,
        refine=0,
        builders=order.builders,
    )
    preset, confirm = presets_for(Job(task, order.target))
    starts = [Recipe.parse(one) for one in order.starts]
    with tempfile.TemporaryDirectory() as folder:
        tuned = tune(
            task,
            preset,
            hardware,
            replace(settings, confirm=confirm),
            log=Path(folder) / "trials.jsonl",
            starts=lambda nest: starts,
            away=away,
        )
    own = [one for one in tuned.records if one.fingerprint == order.fingerprint]
    if not own:
        raise LoopbookError("the search has come to nothing")
    return [
        Found(one.recipe.text(), [m.to_json() for m in one.measurements], len(tuned.trials))
        for one in own[:NO_MORE_THAN]
    ]


def _sizes(order: Order, text: str) -> list[dict[str, int]]:
    """The sizes to measure at: those that were asked for, and where a run takes long at all of
    these, smaller ones to search and to confirm at."""
    _, nests = prepare_nests(text)
    if [nest.fingerprint for nest in nests] != [order.fingerprint]:
        raise InputError("the nest is another one than was asked for")
    nest = nests[0]
    names = [name for name in size_names(text) if name in nest.symbols]
    asked = [{n: one[n] for n in names if n in one} for one in order.sizes] or [{}]
    whole = [{name: min(one.get(name, USUAL), MOST) for name in names} for one in asked]
    least = min(whole, key=lambda one: _often(nest, one))
    much = _often(nest, least)
    few = [*(one for one in OFTEN if one < much), *([NEAR] if much > 4 * NEAR else ())]
    smaller = [_scaled(nest, least, one) for one in few]
    return smaller + whole


def _often(nest: Nest, sizes: Mapping[str, int]) -> int:
    return iterations(nest, trip_counts(nest, sizes)) or 0


def _scaled(nest: Nest, sizes: Mapping[str, int], most: int) -> dict[str, int]:
    """The sizes, made smaller by one factor, so that the nest has about so many iterations."""
    low, high = 0.0, 1.0
    for _ in range(20):
        middle = (low + high) / 2
        fits = _often(nest, _times(sizes, middle)) <= most
        low, high = (middle, high) if fits else (low, middle)
    return _times(sizes, low)


def _times(sizes: Mapping[str, int], factor: float) -> dict[str, int]:
    return {name: max(LEAST, round(size * factor)) for name, size in sizes.items()}
