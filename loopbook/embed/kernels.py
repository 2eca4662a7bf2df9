"""Synthetic kernels to train on, written as Python functions.

Each `Kernel` belongs to a *class*: kernels of one class do the same work with the same memory
layouts, and differ by loop order, the order of operands and statements, element type and way of
writing it. Classes with related work form a *family*. Loop variables and arrays have the same names
throughout a family where they play the same part, which is how training knows what corresponds.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator

from loopbook.embed.kernel_text import Kernel, Writer
from loopbook.embed.kernels_dense import contraction, elementwise, reduction, transpose
from loopbook.embed.kernels_shaped import imperfect, recurrence, stencil, triangular

__all__ = ["Kernel", "kernels"]

_FAMILIES: tuple[Callable[[random.Random], Writer], ...] = (
    contraction,
    stencil,
    elementwise,
    contraction,
    triangular,
    reduction,
    stencil,
    contraction,
    transpose,
    recurrence,
    imperfect,
)


def kernels(seed: int, classes: int, variants: int) -> Iterator[Kernel]:
    """About `classes` classes with up to `variants` different kernels each.

    The families take turns, so that a small number of classes has all of them.
    """
    rng = random.Random(seed)
    turns = itertools.cycle(_FAMILIES)
    done: dict[str, set[str]] = {}
    for _ in range(20 * classes):
        if len(done) >= classes:
            return
        write = next(turns)(rng)
        label = write(random.Random(0)).label
        if label in done:
            continue
        done[label] = set()
        for _ in range(2 * variants):
            kernel = write(rng)
            if kernel.source not in done[label] and len(done[label]) < variants:
                done[label].add(kernel.source)
                yield kernel
