"""Synthetic programs: thousands of different loop nests to tune and to learn from.

`names` draws programs, `load` makes a workload of a name. A name says all about its program, so
nothing needs to be kept but names.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Collection, Iterator, Set
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from loopbook.errors import WorkloadError
from loopbook.workloads.synthetic import program
from loopbook.workloads.synthetic.family import Family
from loopbook.workloads.synthetic.registry import FAMILIES, source
from loopbook.workloads.workload import Workload, read_workload

__all__ = [
    "FAMILIES",
    "PRESETS",
    "Drawn",
    "draw",
    "generate",
    "load",
    "names",
    "source",
]

PRESETS = tuple(program.PRESETS)
"""Names of the sizes: "S", "M" and "L"."""

_PATIENCE = 200
"""A family that has drawn so many programs in a row without a new nest is done."""


def load(name: str) -> Workload:
    """One program as a workload.

    Raises:
        WorkloadError: if no family writes a program of this name.
    """
    path = Path(__file__).with_name(f"{name}.py")  # there is no such file
    return replace(read_workload(source(name), path), name=name)


class Drawn(NamedTuple):
    """A program, and the fingerprints of its nests."""

    workload: Workload
    fingerprints: frozenset[str]


def draw(count: int, seed: int = 0, families: Collection[str] = tuple(FAMILIES)) -> Iterator[Drawn]:
    """Up to `count` programs, each with a nest that none before it has.

    Families take turns. Programs with a loop that docc wrongly takes for parallel are left out: its
    own code for them is wrong, and there is nothing to measure against.

    Raises:
        WorkloadError: if there is no such family.
    """
    if unknown := set(families) - set(FAMILIES):
        raise WorkloadError(f"there is no synthetic family {', '.join(sorted(unknown))}")
    rng = random.Random(seed)
    drawn: set[str] = set()
    seen: set[str] = set()
    waiting = deque(families)
    while waiting and count > 0:
        found = _next(FAMILIES[waiting[0]], rng, drawn, seen)
        if found is None:
            waiting.popleft()
            continue
        seen |= found.fingerprints
        waiting.rotate(-1)
        count -= 1
        yield found


def _next(family: Family, rng: random.Random, drawn: set[str], seen: Set[str]) -> Drawn | None:
    """A program of this family with a nest not seen before; None if there seem to be no more."""
    from loopbook.workloads.call import fingerprints  # docc, which names do not need

    for _ in range(_PATIENCE):
        name = family.name_of(family.draw(rng))
        if name not in drawn:
            drawn.add(name)
            workload = load(name)
            found = fingerprints(workload, PRESETS[0])
            if found - seen:
                return Drawn(workload, found)
    return None


def generate(
    count: int, seed: int = 0, families: Collection[str] = tuple(FAMILIES)
) -> Iterator[Workload]:
    """The workloads of `draw`."""
    for drawn in draw(count, seed, families):
        yield drawn.workload


def names(count: int, seed: int = 0, families: Collection[str] = tuple(FAMILIES)) -> Iterator[str]:
    """The names of the programs of `draw`."""
    for drawn in draw(count, seed, families):
        yield drawn.workload.name
