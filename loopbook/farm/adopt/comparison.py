"""A few recipes for one nest, compared on this machine: in a jail where a stranger has sent the
nest, in a child process else, since kernels crash and hang."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

from loopbook.errors import InputError, LoopbookError
from loopbook.farm.order import MOST_ANSWER, Found, found_in
from loopbook.recipes._data import Count, Counts, Data, Name, Text
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.tasks import Document
from loopbook.sdfg.arguments import size_names
from loopbook.sdfg.made_up import MadeUp
from loopbook.sdfg.program import prepare_nests
from loopbook.sdfg.untrusted import admit
from loopbook.toolchain import jail
from loopbook.toolchain.sandbox import run_limited
from loopbook.toolchain.times import Schedule
from loopbook.tuner.confirmation import confirm
from loopbook.tuner.records import Round, confirmed
from loopbook.tuner.session import Session
from loopbook.tuner.sizes import MOST, sizes_for
from loopbook.tuner.task import SdfgTask

READ_S = 60.0

TIMING = Schedule(repeats=80, seconds=0.6, at_least=2)
"""Nothing confirms what is chosen here. Others' programs may interrupt runs of some milliseconds
nearly always: with 15 of each, on two cores with ten programs, of two recipes alike the slower one
was taken for ludcmp, at half the speed."""


@dataclass(frozen=True)
class Comparison(Data):
    """What to compare.

    Attributes:
        document: the nest as SDFG JSON text.
        fingerprint: of the nest.
        trips: how often its loops shall run, as nearly as may be.
        recipes: as text.
        hardware: profile of the machine, as JSON.
    """

    what = "recipes to compare"

    document: Document
    fingerprint: Name
    target: Name
    trips: Counts
    recipes: Annotated[list[Text], msgspec.Meta(max_length=16)]
    hardware: dict[str, Any]
    seed: Count = 0


def best_of(comparison: Comparison, seconds: float, *, jailed: bool) -> list[Found]:
    """The best of the recipes, measured at one size; an empty one where docc's own schedule is.

    Args:
        seconds: limit.
        jailed: the nest is a stranger's.

    Raises:
        JailError: this machine has no jails.
        LoopbookError: the nest can't be read, compiled or run, or it takes too long.
    """
    what = "comparing recipes"
    if jailed:
        limits = jail.Limits(seconds=seconds, answer=MOST_ANSWER)
        job = f"{__name__}:{compared.__name__}"
        return found_in(jail.call(job, comparison.to_json(), limits=limits, what=what))
    given = comparison.to_json()
    return found_in(run_limited(compared, given, seconds=seconds, what=what))


def compared(given: Any) -> list[Any]:
    """`compare` as a job of `loopbook.toolchain.jail`."""
    return [one.to_json() for one in compare(Comparison.from_json(given))]


def compare(comparison: Comparison) -> list[Found]:
    """Build a nest with each of the recipes, check the numbers against the unoptimised nest's, and
    time them in turn with docc's own compile. To be called in a child process or a jail.

    Raises:
        LoopbookError: see `best_of`.
    """
    text = admit(comparison.document).text
    sizes = run_limited(_sizes, comparison, text, seconds=READ_S, what="reading the nest")
    hardware = HardwareProfile.from_json(comparison.hardware)
    task = SdfgTask("nest", text, sizes, seed=comparison.seed)
    task.check()
    candidates = [{0: Recipe.parse(one).steps} for one in comparison.recipes]
    preset = task.PRESET
    with Session(task, preset, comparison.target, threads=hardware.threads) as session:
        found = Round.of(preset, sizes, session, confirm(session, candidates, TIMING))
        records = confirmed(
            "nest",
            "",
            comparison.target,
            session.text,
            session.nests,
            [found],
            hardware,
            seed=comparison.seed,
            trials=len(candidates),
        )
    own = [one for one in records if one.fingerprint == comparison.fingerprint]
    if not own:
        raise LoopbookError("nothing could be measured")
    return [
        Found(one.recipe.text(), [m.to_json() for m in one.measurements], len(candidates))
        for one in own
    ]


def _sizes(comparison: Comparison, text: str) -> Mapping[str, int]:
    """Sizes at which the loops run about as often as they shall."""
    _, nests = prepare_nests(text)
    if [nest.fingerprint for nest in nests] != [comparison.fingerprint]:
        raise InputError("the nest is another one than its record says")
    found = sizes_for(nests[0], size_names(text), comparison.trips)
    return MadeUp(text, found, comparison.seed).fitted(found, most=MOST)
