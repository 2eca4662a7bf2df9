"""Products: ``@``, dot, vdot, outer, inner, tensordot, einsum.

Before::

    C = A @ B

After::

    for i0 ...: for i1 ...: C[i0, i1] = 0.0
    for i0 ...: for k0 ...: for i1 ...: C[i0, i1] += A[i0, k0] * B[k0, i1]

All of them are sums over indices that their operands share, so they are one function with letters
for axes, as `numpy.einsum` has them.
"""

from __future__ import annotations

import string
from typing import Any

import numpy as np

from loopbook.frontend import arith, types
from loopbook.frontend.registry import FUNCTIONS, lowers
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Index, Scalar, Sum, Tup, Value, looked_at

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def contract(t: Translator, operands: list[Array], letters: list[str], result: str) -> Value:
    """The sum over all letters that `result` does not have of the product of `operands`."""
    code = t.code
    sizes: dict[str, Int] = {}
    fitted: list[Array] = []
    for operand, axes in zip(operands, letters, strict=True):
        if len(axes) != operand.rank:
            raise code.fail("a product of arrays of other ranks than it names")
        if operand.cost > (1 if len(operands) > 1 else 99) or _made_again(operand, letters):
            operand = t.stored(operand)
        for letter, size in zip(axes, operand.shape, strict=True):
            if letter not in sizes or code.is_one(sizes[letter]):
                sizes[letter] = size
            elif not code.is_one(size):
                agreed = code.agreed(sizes[letter], size)
                if agreed is None:
                    texts = sizes[letter].text, size.text
                    raise code.fail(f"a product of shapes that do not fit: {' and '.join(texts)}")
                sizes[letter] = agreed
        fitted.append(operand)
    inner = [letter for letter in sizes if letter not in result]
    dtype, _ = types.promote(*(o.kind for o in fitted))

    def product(own: Index, summed: Index) -> Scalar:
        places = {**dict(zip(result, own, strict=True)), **dict(zip(inner, summed, strict=True))}
        value: Scalar | None = None
        for operand, axes in zip(fitted, letters, strict=True):
            index = tuple(
                ZERO if size.constant == 1 else places[letter]
                for letter, size in zip(axes, operand.shape, strict=True)
            )
            element = operand.element(index)
            value = element if value is None else arith.binary(code, "*", value, element)
        assert value is not None
        return value

    shape = tuple(sizes[letter] for letter in result)
    buffers = frozenset(b for o in fitted for b in o.buffers)
    cost = sum(o.cost for o in fitted) + len(fitted)
    if not inner:
        return Array(shape, dtype, lambda own: product(own, ()), buffers=buffers, cost=cost)
    if dtype.kind == "b":
        raise code.fail("a product of booleans; convert to int64 first")
    part = Sum(tuple(sizes[letter] for letter in inner), product, buffers, cost)
    return Array(shape, dtype, None, None, (part,), buffers, cost)


def _made_again(operand: Array, letters: list[str]) -> bool:
    """Whether a product of matrices would compute an operand's elements from two arrays again and
    again; it is also none that libraries know then."""
    both = len(letters) == 2 and all(
        set(one) - set(other) for one, other in (letters, letters[::-1])
    )
    return both and operand.cost > 0 and operand.rank > 1 and len(operand.buffers) > 1


def _matrices(t: Translator, a: Value, b: Value, scalars: bool) -> Value:
    left, right = t.array(a), t.array(b)
    if not left.rank or not right.rank:
        if not scalars:
            raise t.code.fail("@ of numbers")
        return _multiplied(t, a, b)
    if left.rank == 1 and right.rank == 1:
        return contract(t, [left, right], ["k", "k"], "")
    if right.rank == 1:
        own = LETTERS[: left.rank - 1]
        return contract(t, [left, right], [own + "k", "k"], own)
    if left.rank == 1:
        lead = LETTERS[: right.rank - 2]
        return contract(t, [left, right], ["y", lead + "yz"], lead + "z")
    return contract_stacks(t, left, right)


def _multiplied(t: Translator, a: Value, b: Value) -> Value:
    """A product with a number; NumPy's own, also of two of Python's."""
    return FUNCTIONS[np.multiply](t, a, b)


def contract_stacks(t: Translator, left: Array, right: Array) -> Value:
    """Products of stacks of matrices, whose leading axes are broadcast."""
    rank = max(left.rank, right.rank) - 2
    stack = LETTERS[:rank]
    first, second = stack[rank - (left.rank - 2) :], stack[rank - (right.rank - 2) :]
    return contract(t, [left, right], [first + "xy", second + "yz"], stack + "xz")


@lowers(np.matmul)
def matmul(t: Translator, a: Value, b: Value, out: Value | None = None) -> Value:
    from loopbook.frontend.constructs.elementwise import into

    result = _matrices(t, a, b, scalars=False)
    return into(t, out, result)


@lowers(np.dot, method="dot")
def dot(t: Translator, a: Value, b: Value, out: Value | None = None) -> Value:
    from loopbook.frontend.constructs.elementwise import into

    left, right = t.array(a), t.array(b)
    if left.rank > 1 and right.rank > 2:
        first, second = LETTERS[: left.rank - 1], LETTERS[10 : 10 + right.rank - 2]
        result = contract(t, [left, right], [first + "y", second + "yz"], first + second + "z")
    elif left.rank > 2 and right.rank == 2:
        first = LETTERS[: left.rank - 1]
        result = contract(t, [left, right], [first + "y", "yz"], first + "z")
    else:
        result = _matrices(t, a, b, scalars=True)
    return into(t, out, result)


@lowers(np.vdot)
def vdot(t: Translator, a: Value, b: Value) -> Value:
    left, right = t.array(a), t.array(b)
    if left.rank != right.rank:
        left, right = (FUNCTIONS[np.ravel](t, x) for x in (left, right))
    letters = LETTERS[: left.rank]
    left = t.array(FUNCTIONS[np.conjugate](t, left))
    return contract(t, [left, right], [letters, letters], "")


@lowers(np.inner)
def inner(t: Translator, a: Value, b: Value) -> Value:
    left, right = t.array(a), t.array(b)
    if not left.rank or not right.rank:
        return _multiplied(t, a, b)
    first, second = LETTERS[: left.rank - 1], LETTERS[10 : 10 + right.rank - 1]
    return contract(t, [left, right], [first + "z", second + "z"], first + second)


@lowers(np.outer)
def outer(t: Translator, a: Value, b: Value, ufunc: Any = np.multiply) -> Value:
    """All pairs; ``np.add.outer`` and the like keep the operands' shapes."""
    left, right = t.array(a), t.array(b)
    if ufunc is np.multiply and (left.rank != 1 or right.rank != 1):
        left, right = (FUNCTIONS[np.ravel](t, x) for x in (left, right))
    if ufunc not in FUNCTIONS:
        raise t.code.fail(f"{ufunc.__name__}.outer")
    dims = tuple((ZERO, ((axis, ONE),)) for axis in range(left.rank))
    wide = looked_at(left, left.shape + (ONE,) * right.rank, dims)
    return FUNCTIONS[ufunc](t, wide, right)


@lowers(np.tensordot)
def tensordot(t: Translator, a: Value, b: Value, axes: Value | None = None) -> Value:
    left, right = t.array(a), t.array(b)
    chosen = 2 if axes is None else t.python(axes)
    if isinstance(chosen, int):
        pairs = [(left.rank - chosen + i, i) for i in range(chosen)]
    else:
        firsts, seconds = ((x,) if isinstance(x, int) else x for x in chosen)
        pairs = [(x % left.rank, y % right.rank) for x, y in zip(firsts, seconds, strict=True)]
    first, second = list(LETTERS[: left.rank]), list(LETTERS[10 : 10 + right.rank])
    for x, y in pairs:
        second[y] = first[x]
    shared = {first[x] for x, _ in pairs}
    result = "".join(c for c in (*first, *second) if c not in shared)
    return contract(t, [left, right], ["".join(first), "".join(second)], result)


@lowers(np.einsum)
def einsum(
    t: Translator, subscripts: Value, *operands: Value, optimize: Value | None = None
) -> Value:
    arrays = [t.array(o) for o in operands]
    text = str(t.python(subscripts)).replace(" ", "")
    before, arrow, result = text.partition("->")
    if not arrow:
        single = sorted(c for c in set(before) - {",", "."} if before.count(c) == 1)
        result = "..." * ("." in before) + "".join(single)
    letters = before.split(",")
    if "." in before:
        letters, result = _named(letters, result, [array.rank for array in arrays])
        before = ",".join(letters)
    if len(arrays) == 1 and set(before) == set(result) and len(before) == arrays[0].rank:
        return _seen(t, arrays[0], before, result)
    return contract(t, arrays, letters, result)


def _named(letters: list[str], result: str, ranks: list[int]) -> tuple[list[str], str]:
    """Subscripts with a letter for each axis that ``...`` stands for, the last axes the same."""
    free = "".join(c for c in reversed(string.ascii_letters) if c not in ",".join(letters) + result)
    counts = [
        rank - len(part.replace("...", "")) for part, rank in zip(letters, ranks, strict=True)
    ]
    most = free[: max(0, *counts)]
    named = [
        part.replace("...", most[len(most) - count :] if count > 0 else "")
        for part, count in zip(letters, counts, strict=True)
    ]
    return named, result.replace("...", most)


def _seen(t: Translator, array: Array, letters: str, result: str) -> Array:
    """Where nothing is summed, NumPy gives another view of the operand."""
    sizes = dict(zip(letters, array.shape, strict=True))
    if not all(map(t.code.same, array.shape, (sizes[letter] for letter in letters))):
        raise t.code.fail("a diagonal of sizes that may differ")
    dims = tuple((ZERO, ((result.index(letter), ONE),)) for letter in letters)
    return looked_at(array, tuple(sizes[letter] for letter in result), dims)


@lowers(np.trace, method="trace")
def trace(
    t: Translator,
    a: Value,
    offset: Value | None = None,
    axis1: Value | None = None,
    axis2: Value | None = None,
) -> Value:
    """The sum of a matrix's diagonal, or of those of several."""
    from loopbook.frontend.constructs.reductions import sum_

    return sum_(t, FUNCTIONS[np.diagonal](t, a, offset, axis1, axis2), arith.constant(-1))


@lowers(np.kron)
def kron(t: Translator, a: Value, b: Value) -> Value:
    """All products of an element of `a` with one of `b`, in blocks like `b`."""
    left, right = t.array(a), t.array(b)
    if left.rank != right.rank or not left.rank:
        raise t.code.fail("kron of arrays of different ranks; add axes first")
    first, second = LETTERS[: left.rank], LETTERS[10 : 10 + right.rank]
    together = "".join(x + y for x, y in zip(first, second, strict=True))
    blocks = contract(t, [left, right], [first, second], together)
    sizes = (x * y for x, y in zip(left.shape, right.shape, strict=True))
    shape = Tup(tuple(arith.whole(size) for size in sizes))
    return FUNCTIONS[np.reshape](t, blocks, shape)


@lowers(np.linalg.multi_dot)
def multi_dot(t: Translator, arrays: Value) -> Value:
    if not isinstance(arrays, Tup):
        raise t.code.fail("multi_dot of what is no list")
    result = arrays.items[0]
    for item in arrays.items[1:]:
        result = matmul(t, result, item)
    return result
