"""Synthetic kernels to train on, several for each class.

Each `Kernel` belongs to a *class*: kernels of one class do the same work with the same memory
layouts, and differ by loop order, the order of operands, element type, sizes and way of writing it.
Classes with related work form a *family*. Loop variables and arrays have the same names throughout
a family where they play the same part, which is how training knows what corresponds.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass

from loopbook.workloads.synthetic import FAMILIES


@dataclass(frozen=True)
class Kernel:
    """One program to trace.

    Attributes:
        family: what kind of work, such as "contraction.ik_kj_ij".
        label: the class within the family.
        source: text of a workload file.
    """

    family: str
    label: str
    source: str


def kernels(seed: int, classes: int, variants: int) -> Iterator[Kernel]:
    """About `classes` classes with up to `variants` different kernels each.

    The families take turns, so that a small number of classes has all of them.
    """
    rng = random.Random(seed)
    turns = itertools.cycle(FAMILIES.values())
    done: set[str] = set()
    for _ in range(20 * classes):
        if len(done) >= classes:
            return
        made = next(turns)
        first = made.draw(rng)
        label = made.label(first)
        if label in done:
            continue
        done.add(label)
        work = {field: first[field] for field in made.work}
        family = f"{made.name}.{next(iter(work.values()))}"
        written: set[str] = set()
        for _ in range(2 * variants):
            choice = made.draw(rng, work)
            name = made.name_of(choice)
            if name not in written and len(written) < variants:
                written.add(name)
                yield Kernel(family, label, made.source(choice))
