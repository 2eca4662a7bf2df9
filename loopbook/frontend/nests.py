"""Arrays into loop nests: one nest for a statement, in an order that fits memory.

Before::

    C[:] = alpha * A @ B + beta * C

After::

    for i0 in range(C.shape[0]):
        for i1 in range(C.shape[1]):
            C[i0, i1] = beta * C[i0, i1]
    for i0 ...: for k0 ...: for i1 ...:
        C[i0, i1] += alpha * A[i0, k0] * B[k0, i1]
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from loopbook.frontend import sums
from loopbook.frontend.casts import cast_texts
from loopbook.frontend.code import Code, FloatsInListError, bare, reads
from loopbook.frontend.fitting import agreeing
from loopbook.frontend.kept import kept
from loopbook.frontend.loopnest import axes, by_memory, nest, stored_at
from loopbook.frontend.overlap import clash
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.values import (
    Array,
    Buffer,
    Dim,
    Index,
    Pair,
    Scalar,
    boxed,
    looked_at,
    places,
    whole,
)


def assign(code: Code, target: Array, value: Array | Scalar, mask: Array | None = None) -> None:
    """Write ``target[...] = value`` (only where `mask` is true), with NumPy's meaning.

    Raises:
        LoweringError: if shapes do not fit.
    """
    assert target.view is not None
    if target.view.buffer.place == "constant":
        raise code.fail("storing into an array from outside; pass it as an argument")
    if target.view.buffer.copied:
        raise code.not_in_line(target.view.buffer.base)
    made = target.view.buffer.listed
    if made is not None and not np.can_cast(value.dtype, target.dtype):
        if value.dtype.kind != "f":
            raise code.fail(f"{value.dtype} put into a list of {target.dtype}")
        raise FloatsInListError(made)
    if isinstance(value, Array):
        target, value, mask = agreeing(code, target, value, mask)
        assert target.view is not None
        value = fit(code, value, target.shape)
        if value.sums:
            if (
                mask is not None
                or value.dtype != target.dtype
                or not sums.add_into(code, target, value)
            ):
                assign(code, target, force(code, value), mask)
            return
    own, loops = axes(code, target)
    condition, before = None, []
    with reads() as read:
        if mask is not None:
            with code.captured() as before:
                condition = mask.element(own)
        with code.captured() as body:
            scalar = value.element(own) if isinstance(value, Array) else value
            if target.dtype.kind == "c" and isinstance(scalar, Pair):
                scalar = code.let(scalar)  # before either part is stored
    write = stored_at(target, own)
    if clash(code.facts, write, read, frozenset(v for v, _, _ in loops)):
        value = materialise(code, value) if isinstance(value, Array) else code.let(value)
        if mask is not None:
            mask = materialise(code, mask)
        assign(code, target, value, mask)
        return
    if loops and isinstance(value, Array):
        scalar, body = kept(code, target.view.buffer, scalar, body, read)
    order = by_memory(loops, [(write, 2), *((access, 1) for access in read)])
    nest(code, order, body, stores(target, own, scalar), before, condition)


def stores(target: Array, own: Index, value: Scalar) -> list[str]:
    """The statements that write one element; the parts of a complex `value` must not read it."""
    assert target.view is not None
    return put(target.view.buffer, target.view.index(own), value, target.dtype)


def put(buffer: Buffer, index: Index, value: Scalar, dtype: np.dtype) -> list[str]:
    """The same for the element of a buffer at an index."""
    targets = places(buffer, index, dtype)
    return [
        f"{place} = {bare(text)}"
        for place, text in zip(targets, cast_texts(value, dtype), strict=True)
    ]


def materialise(
    code: Code,
    value: Array,
    hint: str = "t",
    dtype: np.dtype | None = None,
    *,
    listed: bool = True,
) -> Array:
    """`value` in a buffer of its own.

    Args:
        listed: what stands for a list stays one.
    """
    buffer = code.temporary(value.shape, dtype or value.dtype, hint)
    if listed and value.view is not None:
        buffer.listed = value.view.buffer.listed
    target = whole(buffer, value.shape)
    assign(code, target, value)
    return target


def force(code: Code, value: Array | Scalar, hint: str = "t") -> Array | Scalar:
    """`value` without sums that are still to be computed: a number, a view or an expression."""
    if isinstance(value, Scalar):
        return value
    if not value.sums:
        if value.rank or value.mask is not None:
            return value
        number = value.element(())
        return number if value.view is None else boxed(number)
    return materialise(code, value, hint) if value.rank else sums.number(code, value)


def fit(code: Code, value: Array, shape: Index) -> Array:
    """`value` broadcast to `shape`.

    Raises:
        LoweringError: if it does not fit.
    """
    if len(value.shape) == len(shape) and all(map(code.same, value.shape, shape)):
        return value
    if value.sums:
        forced = force(code, value)
        if isinstance(forced, Scalar):
            return Array(shape, forced.dtype, lambda own: forced, weak=forced.weak)
        value = forced
    lead = len(value.shape) - len(shape)
    for size in value.shape[: max(lead, 0)]:
        if not code.is_one(size):
            raise code.fail("shapes that do not fit each other")
    dims: list[Dim] = [(ZERO, ())] * max(lead, 0)
    for axis in range(max(lead, 0), len(value.shape)):
        goal = axis - lead
        if code.same(value.shape[axis], shape[goal]):
            dims.append((ZERO, ((goal, ONE),)))
        elif code.is_one(value.shape[axis]):
            dims.append((ZERO, ()))
        elif code.is_agreed(value.shape[axis], shape[goal]):
            dims.append((ZERO, ((goal, ONE),)))
        else:
            raise code.fail(
                f"shapes that do not fit: {value.shape[axis].text} and {shape[goal].text}"
            )
    return looked_at(value, shape, tuple(dims))


def agreed(code: Code, shape: Index, value: Index) -> Index:
    """The shape of what is stored into, with sizes that only the loops know supposed to be those of
    the value (`Code.agreed`)."""
    behind = len(shape) - len(value)
    sizes = list(shape)
    for place, size in enumerate(value):
        own = behind + place
        if own >= 0 and not code.is_one(size) and not code.is_agreed(size, shape[own]):
            sizes[own] = code.agreed(shape[own], size) or shape[own]
    return tuple(sizes)


def broadcast(code: Code, shapes: Sequence[Index]) -> Index:
    """The shape of an elementwise operation on arrays of `shapes`.

    Raises:
        LoweringError: if they do not fit each other.
    """
    rank = max(map(len, shapes))
    result: list[Int] = []
    for place in range(rank):
        sizes = [s[place - rank + len(s)] for s in shapes if place - rank + len(s) >= 0]
        found = sizes[0]
        for size in sizes[1:]:
            if code.same(found, size):
                continue
            if code.is_one(found):
                found = size
            elif not code.is_one(size):
                agreed = code.agreed(found, size)
                if agreed is None:
                    raise code.fail(f"shapes that do not fit: {found.text} and {size.text}")
                found = agreed
        result.append(found)
    return tuple(result)
