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
from contextlib import ExitStack

import numpy as np

from loopbook.errors import LoweringError
from loopbook.frontend import types
from loopbook.frontend.code import Code, Line, bare, is_empty, reads
from loopbook.frontend.fitting import agreeing
from loopbook.frontend.kept import kept
from loopbook.frontend.narrow import is_narrow, wrapped
from loopbook.frontend.overlap import Access, clash
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.values import (
    Array,
    Buffer,
    Dim,
    Index,
    Pair,
    Scalar,
    Sum,
    looked_at,
    places,
    view_of,
    whole,
)

Loop = tuple[str, Int, Int]
"""A loop's variable, its start and its end (exclusive)."""


def assign(code: Code, target: Array, value: Array | Scalar, mask: Array | None = None) -> None:
    """Write ``target[...] = value`` (only where `mask` is true), with NumPy's meaning.

    Raises:
        LoweringError: if shapes do not fit.
    """
    assert target.view is not None
    if target.view.buffer.place == "constant":
        raise code.fail("storing into an array from outside; pass it as an argument")
    if target.view.buffer.copied:
        raise code.fail("storing through reshape or ravel of what is not contiguous")
    if isinstance(value, Array):
        target, value, mask = agreeing(code, target, value, mask)
        assert target.view is not None
        value = fit(code, value, target.shape)
        if value.sums:
            if (
                mask is not None
                or value.dtype != target.dtype
                or not _add_into(code, target, value)
            ):
                assign(code, target, materialise(code, value), mask)
            return
    own, loops = _axes(code, target)
    condition, before = None, []
    with reads() as read:
        if mask is not None:
            with code.captured() as before:
                condition = mask.element(own)
        with code.captured() as body:
            scalar = value.element(own) if isinstance(value, Array) else value
            if target.dtype.kind == "c" and isinstance(scalar, Pair):
                scalar = code.let(scalar)  # before either part is stored
    write = _access(target, own)
    if clash(code.facts, write, read, frozenset(v for v, _, _ in loops)):
        value = materialise(code, value) if isinstance(value, Array) else code.let(value)
        if mask is not None:
            mask = materialise(code, mask)
        assign(code, target, value, mask)
        return
    if loops and isinstance(value, Array):
        scalar, body = kept(code, target.view.buffer, scalar, body, read)
    order = _by_memory(loops, [(write, 2), *((access, 1) for access in read)])
    _nest(code, order, body, stores(target, own, scalar), before, condition)


def _access(target: Array, own: Index) -> Access:
    assert target.view is not None
    buffer = target.view.buffer
    return buffer, target.view.index(own)[: len(buffer.shape)]


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


def materialise(code: Code, value: Array, hint: str = "t", dtype: np.dtype | None = None) -> Array:
    """`value` in a buffer of its own."""
    buffer = code.temporary(value.shape, dtype or value.dtype, hint)
    target = whole(buffer, value.shape)
    assign(code, target, value)
    return target


def force(code: Code, value: Array | Scalar, hint: str = "t") -> Array | Scalar:
    """`value` without sums that are still to be computed: a number, a view or an expression."""
    if isinstance(value, Scalar):
        return value
    if not value.sums:
        return value if value.rank or value.mask is not None else value.element(())
    return materialise(code, value, hint) if value.rank else _number(code, value)


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


def cast_texts(value: Scalar, dtype: np.dtype) -> tuple[str, ...]:
    """Texts of `value` to be stored as `dtype`, of its parts if that is complex."""
    if dtype.kind != "c":
        return (cast_text(value, dtype),)
    if isinstance(value, Pair):
        return value.texts
    return cast_text(value, types.part(dtype)), "0.0"


def cast_text(value: Scalar, dtype: np.dtype) -> str:
    """Text of `value` to be stored as `dtype`."""
    if value.dtype == dtype:
        return value.text
    if isinstance(value, Pair):
        raise LoweringError("complex numbers stored as real ones; take the real part")
    if dtype.kind == "b":
        return f"({value.text} != 0)"
    if value.dtype.kind == "b":
        return f"{'float' if dtype.kind == 'f' else 'int'}({bare(value.text)})"
    text = value.text
    if dtype.kind in "iu" and value.dtype.kind == "f":
        text = f"int({bare(text)})"
    fits = value.value is not None or np.can_cast(value.dtype, dtype)
    return text if fits or not is_narrow(dtype) else wrapped(text, dtype)


def _axes(code: Code, target: Array) -> tuple[Index, list[Loop]]:
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


def _score(name: str, accesses: Sequence[tuple[Access, int]]) -> int:
    """How well a loop serves as the innermost one: elements in a row count for it."""
    score = 0
    for (_, index), weight in accesses:
        if any(name in place.atoms for place in index[:-1]):
            score -= weight
        elif index and name in index[-1].atoms:
            score += weight
    return score


def _by_memory(loops: list[Loop], accesses: Sequence[tuple[Access, int]]) -> list[Loop]:
    """The loops with the one innermost that walks along memory; else as they come."""
    if len(loops) < 2:
        return loops
    inner = max(reversed(loops), key=lambda loop: _score(loop[0], accesses))
    return [*(loop for loop in loops if loop is not inner), inner]


def _nest(
    code: Code,
    loops: list[Loop],
    body: list[Line],
    store: Sequence[str],
    before: Sequence[Line] = (),
    condition: Scalar | None = None,
) -> None:
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


def _add_into(code: Code, target: Array, value: Array) -> bool:
    """Write ``target[...] = value`` for a value with sums, adding up in the target itself; False
    (and nothing written) if a summand may read what is written."""
    assert target.view is not None
    own, loops = _axes(code, target)
    write = _access(target, own)
    variables = {v for v, _, _ in loops}
    terms = []
    for part in value.sums:
        inner, inner_loops = _inner_axes(code, part)
        with code.captured() as body, reads() as read:
            summand = part.at(own, inner)
        variables |= {v for v, _, _ in inner_loops}
        if clash(code.facts, write, read, frozenset(variables), same_is_fine=False):
            return False
        terms.append((part, inner_loops, body, summand, read))
    rest, rest_body, rest_reads = None, [], []
    if value.at is not None:
        with code.captured() as rest_body, reads() as rest_reads:
            rest = value.at(own)
        if clash(code.facts, write, rest_reads, frozenset(variables)):
            return False
    targets = places(target.view.buffer, target.view.index(own), target.dtype)
    first = terms[0]
    weights = [(write, 2), *((access, 1) for access in first[4])]
    together = _by_memory([*loops, *first[1]], weights)
    in_rows = len(terms) == 1 and first[1] and together and together[-1] in first[1]
    if in_rows and not _is_product(loops, first, target.dtype):
        _dots(code, loops, first, rest, rest_body, targets, target.dtype)
        return True
    single = len(terms) == 1 and not first[1] and rest is None and first[0].sign > 0
    if not single and (rest is None or list(rest.texts) != targets):
        nought = types.zero(types.part(target.dtype))
        texts = cast_texts(rest, target.dtype) if rest is not None else [nought] * len(targets)
        store = [f"{place} = {bare(text)}" for place, text in zip(targets, texts, strict=True)]
        _nest(
            code, _by_memory(loops, [(write, 2), *((a, 1) for a in rest_reads)]), rest_body, store
        )
    for part, inner_loops, body, summand, read in terms:
        order = _by_memory([*loops, *inner_loops], [(write, 2), *((a, 1) for a in read)])
        if order and order[-1] in loops:
            outer = [loop for loop in loops if loop is not order[-1]]
            order = [*outer, *inner_loops, order[-1]]
        sign = "+" if part.sign > 0 else "-"
        store = [
            f"{place} = {bare(text if single else wrapped(f'{place} {sign} {text}', target.dtype))}"
            for place, text in zip(targets, cast_texts(summand, target.dtype), strict=True)
        ]
        _nest(code, order, body, store)
    return True


def _is_product(loops: list[Loop], term, dtype: np.dtype) -> bool:
    """Whether the summands are those of a product of matrices, stored in whatever order: recipes
    and libraries for such want all of it in one nest, which adds to what is in memory."""
    _, inner_loops, _, _, read = term
    if dtype.kind != "f" or len(read) != 2:
        return False
    left, right = ({atom for place in index for atom in place.atoms} for _, index in read)
    own = {name for name, _, _ in loops}
    summed = {name for name, _, _ in inner_loops}
    return bool(own & left - right and own & right - left and summed <= left & right)


def _dots(code: Code, loops, term, rest, rest_body, targets: list[str], dtype: np.dtype) -> None:
    """Each element's sum in a variable: where the summands lie in a row."""
    with ExitStack() as stack:
        for name, start, stop in loops:
            stack.enter_context(code.indented(f"for {name} in {code.range(start, stop)}:"))
        totals = _accumulate(code, term, dtype)
        code.replay(rest_body)
        sign = "+" if term[0].sign > 0 else "-"
        rests = cast_texts(rest, dtype) if rest is not None else [""] * len(targets)
        for place, total, text in zip(targets, totals, rests, strict=True):
            found = total if sign == "+" else f"-{total}"
            if rest is not None:
                found = f"{bare(text)} {sign} {total}"
            code.emit(f"{place} = {bare(wrapped(found, dtype))}")


def _accumulate(code: Code, term, dtype: np.dtype) -> list[str]:
    """The variables that hold a sum: one, or two for its parts."""
    _, inner_loops, body, summand, read = term
    totals = [code.fresh("sum_") for _ in ("re", "im")[: 2 if dtype.kind == "c" else 1]]
    order = _by_memory(inner_loops, [(access, 1) for access in read])
    texts = summand.texts if dtype.kind != "c" else cast_texts(summand, dtype)
    if not order:  # nought and one number would be a copy of it for docc
        _nest(code, order, body, [f"{t} = {bare(x)}" for t, x in zip(totals, texts, strict=True)])
        return totals
    for total in totals:
        code.emit(f"{total} = {types.zero(types.part(dtype))}")
    store = [f"{total} = {total} + {text}" for total, text in zip(totals, texts, strict=True)]
    _nest(code, order, body, store)
    return totals


def _inner_axes(code: Code, part: Sum) -> tuple[Index, list[Loop]]:
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


def _number(code: Code, value: Array) -> Scalar:
    """A sum of rank 0 as a number."""
    found: list[list[str]] = []
    for part in value.sums:
        inner, loops = _inner_axes(code, part)
        with code.captured() as body, reads() as read:
            summand = part.at((), inner)
        totals = _accumulate(code, (part, loops, body, summand, read), value.dtype)
        found.append([f"{'+' if part.sign > 0 else '-'} {total}" for total in totals])
    texts = [" ".join(parts).removeprefix("+ ") for parts in zip(*found, strict=True)]
    if value.at is not None:
        rest = value.at(())
        rests = cast_texts(rest, value.dtype) if value.dtype.kind == "c" else rest.texts
        texts = [
            f"{own} {' '.join(parts)}"
            for own, parts in zip(rests, zip(*found, strict=True), strict=True)
        ]
    if value.dtype.kind == "c":
        return Pair([text if re_simple(text) else f"({text})" for text in texts], value.dtype)
    (text,) = texts
    if is_narrow(value.dtype):
        return Scalar(wrapped(text, value.dtype), value.dtype)
    if re_simple(text):
        whole_number = Int.atom(text) if value.dtype.kind in "iu" else None
        return Scalar(text, value.dtype, whole=whole_number)
    return Scalar(f"({text})", value.dtype)


def re_simple(text: str) -> bool:
    return text.replace("_", "a").isalnum()


__all__ = ["assign", "broadcast", "fit", "force", "materialise", "view_of"]
