"""Sums over further indices, such as products of matrices, as loop nests that add up."""

from __future__ import annotations

from contextlib import ExitStack
from typing import NamedTuple

import numpy as np

from loopbook.frontend import types
from loopbook.frontend.casts import cast_texts
from loopbook.frontend.code import Code, Line, bare, reads
from loopbook.frontend.loopnest import Loop, axes, by_memory, inner_axes, nest, stored_at
from loopbook.frontend.narrow import SHORT, is_narrow, modular, wrapped
from loopbook.frontend.overlap import Access, clash
from loopbook.frontend.symbols import Int
from loopbook.frontend.values import Array, Pair, Scalar, Sum, places


class _Term(NamedTuple):
    """Part of a sum: its loops, what is done in them first, the summand, and what that reads."""

    part: Sum
    loops: list[Loop]
    body: list[Line]
    summand: Scalar
    read: list[Access]


def add_into(code: Code, target: Array, value: Array) -> bool:
    """Write ``target[...] = value`` for a value with sums, adding up in the target itself; False
    (and nothing written) if a summand may read what is written."""
    assert target.view is not None
    own, loops = axes(code, target)
    write = stored_at(target, own)
    variables = {v for v, _, _ in loops}
    terms: list[_Term] = []
    for part in value.sums:
        inner, inner_loops = inner_axes(code, part)
        with code.captured() as body, reads() as read:
            summand = part.at(own, inner)
        variables |= {v for v, _, _ in inner_loops}
        if clash(code.facts, write, read, frozenset(variables), same_is_fine=False):
            return False
        terms.append(_Term(part, inner_loops, body, summand, read))
    rest, rest_body, rest_reads = None, [], []
    if value.at is not None:
        with code.captured() as rest_body, reads() as rest_reads:
            rest = value.at(own)
        if clash(code.facts, write, rest_reads, frozenset(variables)):
            return False
    targets = places(target.view.buffer, target.view.index(own), target.dtype)
    first = terms[0]
    weights = [(write, 2), *((access, 1) for access in first.read)]
    together = by_memory([*loops, *first.loops], weights)
    in_rows = len(terms) == 1 and first.loops and together and together[-1] in first.loops
    if in_rows and not _is_product(loops, first, target.dtype):
        _dots(code, loops, first, rest, rest_body, targets, target.dtype)
        return True
    single = len(terms) == 1 and not first.loops and rest is None and first.part.sign > 0
    if not single and (rest is None or list(rest.texts) != targets):
        nought = types.zero(types.part(target.dtype))
        texts = cast_texts(rest, target.dtype) if rest is not None else [nought] * len(targets)
        store = [f"{place} = {bare(text)}" for place, text in zip(targets, texts, strict=True)]
        order = by_memory(loops, [(write, 2), *((a, 1) for a in rest_reads)])
        nest(code, order, rest_body, store)
    for part, inner_loops, body, summand, read in terms:
        order = by_memory([*loops, *inner_loops], [(write, 2), *((a, 1) for a in read)])
        if order and order[-1] in loops:
            outer = [loop for loop in loops if loop is not order[-1]]
            order = [*outer, *inner_loops, order[-1]]
        sign = "+" if part.sign > 0 else "-"
        store = [
            f"{place} = {bare(text if single else wrapped(f'{place} {sign} {text}', target.dtype))}"
            for place, text in zip(targets, cast_texts(summand, target.dtype), strict=True)
        ]
        nest(code, order, body, store)
    return True


def _is_product(loops: list[Loop], term: _Term, dtype: np.dtype) -> bool:
    """Whether the summands are those of a product of matrices, stored in whatever order: recipes
    and libraries for such want all of it in one nest, which adds to what is in memory."""
    if dtype.kind != "f" or len(term.read) != 2:
        return False
    left, right = ({atom for place in index for atom in place.atoms} for _, index in term.read)
    own = {name for name, _, _ in loops}
    summed = {name for name, _, _ in term.loops}
    return bool(own & left - right and own & right - left and summed <= left & right)


def _dots(
    code: Code,
    loops: list[Loop],
    term: _Term,
    rest: Scalar | None,
    rest_body: list[Line],
    targets: list[str],
    dtype: np.dtype,
) -> None:
    """Each element's sum in a variable: where the summands lie in a row."""
    with ExitStack() as stack:
        for name, start, stop in loops:
            stack.enter_context(code.indented(f"for {name} in {code.range(start, stop)}:"))
        totals = _accumulate(code, term, dtype)
        code.replay(rest_body)
        sign = "+" if term.part.sign > 0 else "-"
        rests = cast_texts(rest, dtype) if rest is not None else [""] * len(targets)
        for place, total, text in zip(targets, totals, rests, strict=True):
            found = total if sign == "+" else f"-{total}"
            if rest is not None:
                found = f"{bare(text)} {sign} {total}"
            code.emit(f"{place} = {bare(modular(found, dtype))}")


def _accumulate(code: Code, term: _Term, dtype: np.dtype) -> list[str]:
    """The variables that hold a sum: one, or two for its parts."""
    totals = [code.fresh("sum_") for _ in ("re", "im")[: 2 if dtype.kind == "c" else 1]]
    order = by_memory(term.loops, [(access, 1) for access in term.read])
    texts = term.summand.texts if dtype.kind != "c" else cast_texts(term.summand, dtype)
    if not order:  # nought and one number would be a copy of it for docc
        store = [f"{total} = {bare(text)}" for total, text in zip(totals, texts, strict=True)]
        nest(code, order, term.body, store)
        return totals
    for total in totals:
        code.emit(f"{total} = {types.zero(types.part(dtype))}")
    store = [f"{total} = {total} + {text}" for total, text in zip(totals, texts, strict=True)]
    nest(code, order, term.body, store)
    return totals


def number(code: Code, value: Array) -> Scalar:
    """A sum of rank 0 as a number."""
    found: list[list[str]] = []
    for part in value.sums:
        inner, loops = inner_axes(code, part)
        with code.captured() as body, reads() as read:
            summand = part.at((), inner)
        totals = _accumulate(code, _Term(part, loops, body, summand, read), value.dtype)
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
        return Pair([text if _is_word(text) else f"({text})" for text in texts], value.dtype)
    (text,) = texts
    if is_narrow(value.dtype) or value.dtype == SHORT:
        return Scalar(modular(text, value.dtype), value.dtype)
    if _is_word(text):
        whole_number = Int.atom(text) if value.dtype.kind in "iu" else None
        return Scalar(text, value.dtype, whole=whole_number)
    return Scalar(f"({text})", value.dtype)


def _is_word(text: str) -> bool:
    return text.replace("_", "a").isalnum()
