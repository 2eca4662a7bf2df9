"""Synthetic programs: thousands of different loop nests to tune and to learn from.

`names` draws programs, `load` makes a workload of a name. A name says all about its program, so
nothing needs to be kept but names.
"""

from __future__ import annotations

import linecache
import random
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import cycle
from pathlib import Path

from loopbook.errors import LoopbookError, WorkloadError
from loopbook.workloads.synthetic.registry import FAMILIES, source
from loopbook.workloads.workload import Workload, read_workload

__all__ = ["FAMILIES", "PRESETS", "fingerprints", "generate", "load", "names", "source"]

PRESETS = ("S", "M", "L")
"""Sizes: runs take about 0.1, 1 and 10 milliseconds."""

_PATIENCE = 200
"""A family that has drawn so many programs in a row without a new one is left out."""


def load(name: str) -> Workload:
    """One program as a workload.

    Raises:
        WorkloadError: if no family writes a program of this name.
    """
    text = source(name)
    path = Path(__file__).with_name(f"{name}.py")
    # There is no such file: docc finds the kernel's source here instead.
    linecache.cache[str(path)] = (len(text), None, text.splitlines(keepends=True), str(path))
    return replace(read_workload(text, path), name=name)


def generate(
    count: int, seed: int = 0, families: Collection[str] = tuple(FAMILIES)
) -> Iterator[Workload]:
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
    idle = dict.fromkeys(families, 0)
    for name in cycle(families):
        if count <= 0 or all(turns >= _PATIENCE for turns in idle.values()):
            return
        family = FAMILIES[name]
        while idle[name] < _PATIENCE:
            idle[name] += 1
            program = family.name_of(family.draw(rng))
            if program in drawn:
                continue
            drawn.add(program)
            workload = load(program)
            found = set(fingerprints(workload))
            if found - seen:
                seen |= found
                idle[name] = 0
                count -= 1
                yield workload
                break


def names(
    count: int, seed: int = 0, families: Collection[str] = tuple(FAMILIES)
) -> Iterator[str]:
    """The names of what `generate` makes."""
    for workload in generate(count, seed, families):
        yield workload.name


def fingerprints(workload: Workload) -> list[str]:
    """The fingerprints of the nests of `workload`; none if docc cannot make them or gets one wrong.

    They are the same at all sizes.
    """
    from loopbook.sdfg.frontend import trace
    from loopbook.sdfg.program import ordered, prepare_nests

    try:
        sdfg, nests = prepare_nests(trace(workload.kernel, workload.arguments(PRESETS[0])))
    except LoopbookError:
        return []
    return [] if ordered(sdfg) else [nest.fingerprint for nest in nests]
