"""Results of elements that are taken one after the other: the first one's value, and a step.

Before::

    m = x.max()                              m = A.max(axis=0)

After::

    best_0 = x[0]                            for i0 ...: m[i0] = A[0, i0]
    for k0 in range(x.shape[0]):             for k0 ...:
        if x[k0] > best_0: ...                   for i0 ...:
                                                     if A[k0, i0] > m[i0]: ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import numpy as np

from loopbook.frontend.code import Code, bare
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Index, Scalar, Value, looked_at, subscript, whole


def keep(t: Translator, value: Value, rank: int, axes: tuple[int, ...], keepdims: bool) -> Value:
    """The result with the reduced axes as ones, if that is asked for."""
    if not keepdims:
        return value
    array = t.array(value) if not (isinstance(value, Array) and value.sums) else value
    shape: list[Int] = []
    own = 0
    places = []
    for axis in range(rank):
        if axis in axes:
            shape.append(ONE)
        else:
            shape.append(array.shape[own])
            places.append(axis)
            own += 1
    if array.sums:
        parts = tuple(
            replace(p, at=lambda i, k, at=p.at: at(tuple(i[x] for x in places), k))
            for p in array.sums
        )
        return replace(array, shape=tuple(shape), sums=parts)
    return looked_at(array, tuple(shape), tuple((ZERO, ((axis, ONE),)) for axis in places))


def fold(
    t: Translator,
    a: Array,
    axes: tuple[int, ...],
    start: Callable[[Index], str | None],
    step: Callable[[Scalar, Scalar], Scalar],
    dtype: np.dtype,
    keepdims: bool,
) -> Value:
    """A reduction by a binary form.

    Args:
        start: text of the first value, for the indices of the first element.
        step: makes the next value of the value so far and an element.

    A nest of its own has recipes for columns, which stay in registers; in loops of the function
    none is known, and a row at a time is better than a column.
    """
    code = t.code
    own_axes = [axis for axis in range(a.rank) if axis not in axes]
    shape = tuple(a.shape[axis] for axis in own_axes)
    target = whole(code.temporary(shape, dtype), shape) if shape else None
    if target is not None and code.depth and len(axes) == 1 and in_rows(a, axes[0]):
        _fold_rows(t, a, axes[0], target, start, step)
        return keep(t, target, a.rank, axes, keepdims)
    variable = code.fresh("best_")
    with ExitStack() as stack:
        own = [stack.enter_context(code.loop(ZERO, size)) for size in shape]
        full: list[Int] = [ZERO] * a.rank
        for axis, index in zip(own_axes, own, strict=True):
            full[axis] = index
        code.emit(f"{variable} = {start(tuple(full))}")
        with ExitStack() as inner:
            for axis in axes[:-1]:
                full[axis] = inner.enter_context(code.loop(ZERO, a.shape[axis], hint="k"))
            full[axes[-1]] = inner.enter_context(code.loop(ZERO, a.shape[axes[-1]], hint="k"))
            element = code.let(a.element(tuple(full)))
            text = bare(step(Scalar(variable, dtype), element).text)
            code.emit(f"{variable} = {text}")
        if target is not None and target.view is not None:
            code.emit(f"{subscript(target.view.buffer, tuple(own))} = {variable}")
    if target is None:
        known = Int.atom(variable) if dtype.kind in "iu" else None
        return keep(t, Scalar(variable, dtype, whole=known), a.rank, axes, keepdims)
    return keep(t, target, a.rank, axes, keepdims)


def _fold_rows(
    t: Translator,
    a: Array,
    axis: int,
    target: Array,
    start: Callable[[Index], str | None],
    step: Callable[[Scalar, Scalar], Scalar],
) -> None:
    """`fold` along an axis that is not along memory, a row at a time."""
    code, view = t.code, target.view
    assert view is not None

    def begin(own: Index, first: Index) -> None:
        code.emit(f"{subscript(view.buffer, own)} = {start(first)}")

    with rows(code, a, axis, begin) as (own, full):
        best = code.let(target.element(own), "best")
        found = step(best, code.let(a.element(full)))
        code.emit(f"{subscript(view.buffer, own)} = {bare(found.text)}")


def in_rows(a: Array, axis: int) -> bool:
    """Whether an array is to be gone through along `axis` a row at a time: what is in a row lies
    beside each other, and is more than a few."""
    last = a.rank - 1
    if last == axis or a.shape[last].constant is not None:
        return False
    return a.view is None or _in_a_row(a, [Int.atom(f"i{x}") for x in range(a.rank)], last)


@contextmanager
def rows(
    code: Code, a: Array, axis: int, begin: Callable[[Index, Index], None]
) -> Iterator[tuple[Index, Index]]:
    """Loops over an array along memory, for something that is reduced along another axis.

    Args:
        begin: writes what is done first for each result, given its index and the first element's.

    Yields:
        The index of the result, and that of the element.
    """
    full: list[Int] = [ZERO] * a.rank

    def loop(stack: ExitStack, x: int, hint: str = "i") -> None:
        full[x] = stack.enter_context(code.loop(ZERO, a.shape[x], hint=hint))

    def own() -> Index:
        return tuple(index for x, index in enumerate(full) if x != axis)

    with ExitStack() as stack:
        for x in range(axis):
            loop(stack, x)
        with ExitStack() as first:
            for x in range(axis + 1, a.rank):
                loop(first, x)
            begin(own(), tuple(full))
        loop(stack, axis, "k")
        for x in range(axis + 1, a.rank):
            loop(stack, x)
        yield own(), tuple(full)


def _in_a_row(a: Array, full: list[Int], axis: int) -> bool:
    """Whether neighbours along an axis are neighbours in memory."""
    if a.view is None:
        return False
    probe = Int.atom("k")
    index = a.view.index(tuple(probe if x == axis else i for x, i in enumerate(full)))
    *others, last = index
    return not any("k" in i.atoms for i in others) and "k" not in (last - probe).atoms
