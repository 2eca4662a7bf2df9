"""One loop nest over the elements of an array, in an order that fits memory."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from loopbook.frontend.code import Code, Line, bare, is_empty
from loopbook.frontend.overlap import Access
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.values import Array, Index, Scalar, Sum

Loop = tuple[str, Int, Int]
"""A loop's variable, its start and its end (exclusive)."""


def stored_at(target: Array, own: Index) -> Access:
    """Where an element of an array in memory is."""
    assert target.view is not None
    buffer = target.view.buffer
    return buffer, target.view.index(own)[: len(buffer.shape)]


def axes(code: Code, target: Array) -> tuple[Index, list[Loop]]:
    """Indices into `target`, and their loops; the variables count in the buffer's own terms."""
    assert target.view is not None
    own: list[Int] = []
    loops: list[Loop] = []
    for axis, size in enumerate(target.shape):
        if size.constant == 1:
            own.append(ZERO)
            continue
        start = ZERO
        for offset, factors in target.view.dims:
            if factors == ((axis, ONE),):
                start = offset
        name = code.fresh("i")
        code.facts.ranges[name] = (start, start + size - 1)
        loops.append((name, start, start + size))
        own.append(Int.atom(name) - start)
    return tuple(own), loops


def inner_axes(code: Code, part: Sum) -> tuple[Index, list[Loop]]:
    """The indices that are summed over, and their loops."""
    inner: list[Int] = []
    loops: list[Loop] = []
    for size in part.sizes:
        if size.constant == 1:
            inner.append(ZERO)
            continue
        name = code.fresh("k")
        code.facts.ranges[name] = (ZERO, size - 1)
        loops.append((name, ZERO, size))
        inner.append(Int.atom(name))
    return tuple(inner), loops


def _score(name: str, accesses: Sequence[tuple[Access, int]]) -> int:
    """How well a loop serves as the innermost one: elements in a row count for it."""
    score = 0
    for (_, index), weight in accesses:
        if any(name in place.atoms for place in index[:-1]):
            score -= weight
        elif index and name in index[-1].atoms:
            score += weight
    return score


def by_memory(loops: list[Loop], accesses: Sequence[tuple[Access, int]]) -> list[Loop]:
    """The loops with the one innermost that walks along memory; else as they come."""
    if len(loops) < 2:
        return loops
    inner = max(reversed(loops), key=lambda loop: _score(loop[0], accesses))
    return [*(loop for loop in loops if loop is not inner), inner]


def nest(
    code: Code,
    loops: list[Loop],
    body: list[Line],
    store: Sequence[str],
    before: Sequence[Line] = (),
    condition: Scalar | None = None,
) -> None:
    """Write loops around some lines, unless one of them never runs.

    Args:
        body: what is done for each element, and `store`, the statements behind it.
        before, condition: if not None, all of that only where it is true, and what that takes.
    """
    if any(is_empty(stop - start) for _, start, stop in loops):
        return
    with ExitStack() as stack:
        for name, start, stop in loops:
            stack.enter_context(code.indented(f"for {name} in {code.range(start, stop)}:"))
        code.replay(before)
        if condition is not None:
            stack.enter_context(code.indented(f"if {bare(condition.text)}:"))
        code.replay(body)
        for line in store:
            code.emit(line)
