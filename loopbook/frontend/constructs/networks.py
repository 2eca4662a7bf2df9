"""A few numbers put in order without branches: Batcher's merge exchange (Knuth, 5.2.2, M).

Before::

    y = np.sort(x, axis=0)                  # x has 3 rows

After, for each column::

    x_0 = x[0, i0]; x_1 = x[1, i0]; x_2 = x[2, i0]
    y_0 = x_0; y_1 = x_1
    if x_1 < x_0: y_0 = x_1; y_1 = x_0      # and so on for other pairs
    ...

What is no number counts as the greatest one, and as many of the last ones are none again. Which
pairs are compared does not depend on the numbers, so several columns can be done at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from loopbook.frontend import types
from loopbook.frontend.code import Code, bare
from loopbook.frontend.constructs.finite import isnan
from loopbook.frontend.symbols import Int
from loopbook.frontend.values import Scalar

MOST = 25
"""Numbers of which all pairs are written out. Chosen: a window of 5 by 5; 138 pairs."""


def few(code: Code, size: Int) -> int:
    """How many numbers a line has, for calls in which it has as many, if these are few; else 0."""
    known = code.facts.known(size)
    if known is None or not 2 <= known <= MOST or not code.facts.zero(size - known):
        return 0
    return known


def in_order(code: Code, numbers: Sequence[Scalar]) -> list[Scalar]:
    """Variables with the numbers in order, what is none last."""
    kind = numbers[0].dtype
    names = [code.fresh("x_") for _ in numbers]
    none, count = code.fresh("none_"), code.fresh("n_")
    if kind.kind == "f":
        code.emit(f"{none} = 0.0")
        code.emit(f"{count} = {len(names)}")
    for name, number in zip(names, numbers, strict=True):
        code.emit(f"{name} = {bare(number.text)}")
        if kind.kind == "f":
            with code.indented(f"if {bare(isnan(code, Scalar(name, kind)).text)}:"):
                code.emit(f"{none} = {name}")
                code.emit(f"{name} = {types.literal(math.inf)}")
                code.emit(f"{count} = {count} - 1")
    for one, other in exchanges(len(names)):
        least, greatest = code.fresh("x_"), code.fresh("x_")
        code.emit(f"{least} = {names[one]}")
        code.emit(f"{greatest} = {names[other]}")
        with code.indented(f"if {names[other]} < {names[one]}:"):
            code.emit(f"{least} = {names[other]}")
            code.emit(f"{greatest} = {names[one]}")
        names[one], names[other] = least, greatest
    if kind.kind == "f":
        for place, name in enumerate(names):
            with code.indented(f"if {count} <= {place}:"):
                code.emit(f"{name} = {none}")
    return [Scalar(name, kind) for name in names]


def exchanges(count: int) -> Iterator[tuple[int, int]]:
    """Which pairs are to be put in order, one after the other."""
    whole = 1 << ((count - 1).bit_length() - 1)
    part = whole
    while part:
        far, rest, apart = whole, 0, part
        while True:
            for place in range(count - apart):
                if place & part == rest:
                    yield place, place + apart
            if far == part:
                break
            apart, far, rest = far - part, far // 2, part
        part //= 2
