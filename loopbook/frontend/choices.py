"""One of two numbers: by a condition, or the greater or lesser one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from loopbook.frontend import types, unsigned
from loopbook.frontend.arith import chosen, convert, logical, truth
from loopbook.frontend.code import Code, bare
from loopbook.frontend.sorts import of_one, text_of
from loopbook.frontend.types import INT, WIDE
from loopbook.frontend.values import Pair, Scalar, constant


def select(code: Code, condition: Scalar, left: Scalar, right: Scalar) -> Scalar:
    """``left if condition else right``, both of the common type."""
    dtype, weak = types.promote(left.kind, right.kind)
    condition = truth(condition)
    if condition.value is not None:
        return convert(code, left if condition.value else right, dtype)
    if dtype.kind == "c":
        sides = [convert(code, side, dtype).texts for side in (left, right)]
        kind = types.part(dtype)
        condition = code.let(condition)
        parts = [
            chosen(code, condition.text, then, other, kind).text
            for then, other in zip(*sides, strict=True)
        ]
        return Pair(parts, dtype, weak)
    texts = [_same_type(code, side, dtype).text for side in (left, right)]
    return chosen(code, condition.text, texts[0], texts[1], dtype, weak)


def either(code: Code, condition: Scalar, left: Scalar, right: Scalar) -> Scalar:
    """The same as Python has it, which gives one of the two as it is."""
    if of_one(code, types.promote(left.kind, right.kind), left, right) is not None:
        condition = code.let(condition)
    return told(code, select(code, condition, left, right), condition, left, right)


def told(code: Code, made: Scalar, condition: Scalar, left: Scalar, right: Scalar) -> Scalar:
    """`made`, which is ``left if condition else right``, with the types that it may have."""
    sorts = of_one(code, made.kind, left, right)
    if sorts is not None and sorts.text:
        first, second = (text_of(code, side) for side in (left, right))
        sorts = replace(sorts, text=chosen(code, condition.text, first, second, INT).text)
    return made if sorts is None else replace(made, sorts=sorts)


def _same_type(code: Code, value: Scalar, dtype: np.dtype) -> Scalar:
    if value.dtype.kind == "f" and value.weak and dtype.kind == "f":
        return value
    return convert(code, value, dtype)


def extreme(code: Code, op: str, left: Scalar, right: Scalar) -> Scalar:
    """The greater (``>``) or lesser (``<``) of two numbers.

    ``max`` and ``min`` stand for NumPy's here, which keep a NaN; so does what is compiled of them
    (`loopbook.toolchain.compiler`).
    """
    dtype, weak = types.promote(left.kind, right.kind)
    if code.wide and dtype == WIDE:
        return unsigned.extreme(code, op, left, right)
    if left.value is not None and right.value is not None and weak:
        return constant((max if op == ">" else min)(left.value, right.value))
    if dtype.kind == "b":
        return logical("|" if op == ">" else "&", left, right)
    if dtype.kind == "f":
        code.extremes.add("numpy")
    left, right = (code.let(_same_type(code, side, dtype)) for side in (left, right))
    name = "max" if op == ">" else "min"
    return Scalar(f"{name}({bare(left.text)}, {bare(right.text)})", dtype, weak)
