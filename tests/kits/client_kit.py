"""Kernels, data and a small book for the tests of the client."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from docc.sdfg import StructuredSDFG

from loopbook.client.decision import Plan
from loopbook.client.layered import LayeredBook
from loopbook.client.verify import Verifier
from loopbook.embed.inference import Encoder
from loopbook.program.load import load_json
from loopbook.program.nest import Nest
from loopbook.recipes import HardwareProfile, Measurement, Provenance, Recipe, Record
from loopbook.recipes.book import Book
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.hardware import read
from loopbook.sdfg import frontend, program

BLOCKED = """\
tile L0 4
tile L1 32
interchange L0 L1.tile
interchange L1 L2
interchange L0 L2
stage L2 {result} out
peel L0
vectorize L1*
unroll L0*
"""
"""Register and cache blocking of a matrix product with the loops row, column, inner."""

SIMPLE = "interchange L1 L2\nvectorize L1\n"


def blas_is(monkeypatch: pytest.MonkeyPatch, *, tuned: bool = True, narrow: bool = False) -> None:
    """Plan as with such a BLAS, whatever is installed here; it takes as long as it takes."""
    monkeypatch.setattr("loopbook.client.libraries.has_tuned_blas", lambda: tuned)
    for module in ("libraries", "planner"):
        monkeypatch.setattr(f"loopbook.client.{module}.is_narrow", lambda: narrow)


def product(A, B, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(B.shape[0]):
                C[i, j] += A[i, k] * B[k, j]


def product_renamed(left, right, out):
    for row in range(out.shape[0]):
        for col in range(out.shape[1]):
            for mid in range(right.shape[0]):
                out[row, col] += left[row, mid] * right[mid, col]


def product_in_rounds(left, right, out, most):
    done = 0.0
    while done < most:
        for col in range(out.shape[1]):
            for mid in range(left.shape[1]):
                for row in range(out.shape[0]):
                    out[row, col] += left[row, mid] * right[mid, col]
        done += out[0, 0]


def product_permuted(left, right, out):
    for col in range(out.shape[1]):
        for mid in range(left.shape[1]):
            for row in range(out.shape[0]):
                out[row, col] = out[row, col] + left[row, mid] * right[mid, col]


def product_transposed(left, right, out):
    for row in range(out.shape[0]):
        for col in range(out.shape[1]):
            for mid in range(right.shape[1]):
                out[row, col] += left[row, mid] * right[col, mid]


def stencil(steps, field, other):
    for _t in range(steps):
        for x in range(1, field.shape[0] - 1):
            for y in range(1, field.shape[1] - 1):
                other[x, y] = 0.25 * (
                    field[x - 1, y] + field[x + 1, y] + field[x, y - 1] + field[x, y + 1]
                )
        for x in range(1, field.shape[0] - 1):
            for y in range(1, field.shape[1] - 1):
                field[x, y] = other[x, y]


def chain(A, B, C, D):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(B.shape[0]):
                C[i, j] += A[i, k] * B[k, j]
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            D[i, j] = 2.0 * C[i, j]


def rows_by_vector(A, x, y):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            y[i] += A[i, j] * x[j]


def recurrences(steps, field, other):
    for _t in range(steps):
        for i in range(field.shape[0]):
            for j in range(1, field.shape[1]):
                field[i, j] = other[i, j] / (field[i, j - 1] + 2.0)


def undefined(A):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] = 1.0 / (A[i, j] - A[i, j])


def matrices(n: int = 37, transposed: bool = False) -> tuple[np.ndarray, ...]:
    """Operands and result of a product whose three sizes differ and are multiples of nothing."""
    random = np.random.default_rng(n)
    left, right = random.random((n, n + 4)), random.random((n + 4, n + 9))
    out = np.zeros((n, n + 9))
    return left, right.T.copy() if transposed else right, out


ARGUMENTS: dict[Callable[..., Any], Callable[[], tuple[Any, ...]]] = {
    product: matrices,
    product_renamed: matrices,
    product_permuted: matrices,
    product_transposed: lambda: matrices(transposed=True),
    stencil: lambda: (3, matrices()[0], matrices()[0]),
    rows_by_vector: lambda: (matrices()[0], np.ones(41), np.zeros(37)),
    recurrences: lambda: (3, matrices()[0], matrices()[0]),
    undefined: lambda: matrices()[:1],
    chain: lambda: (*matrices(), matrices()[2]),
}


@lru_cache(maxsize=1)
def encoder() -> Encoder:
    return Encoder.load()


@lru_cache
def text_of(kernel: Callable[..., Any]) -> str:
    """The kernel's SDFG as docc's frontend makes it."""
    return frontend.trace(kernel, ARGUMENTS[kernel]())


def verifying(kernel: Callable[..., Any], args: Sequence[Any], folder: Path) -> Verifier:
    """A verifier of a kernel and its arguments."""
    text, binding = frontend.trace(kernel, args), frontend.binding(kernel, args)
    return Verifier(text, binding, "sequential", folder)


@lru_cache
def nests_of(kernel: Callable[..., Any]) -> tuple[Nest, ...]:
    return tuple(program.nests(_prepared(kernel)))


@lru_cache
def _prepared(kernel: Callable[..., Any]) -> StructuredSDFG:
    return program.prepare(text_of(kernel))


@lru_cache
def _cut(kernel: Callable[..., Any], position: int) -> str:
    """One of its nests by itself."""
    return program.cut(_prepared(kernel), nests_of(kernel)[position])


_hardware = lru_cache(maxsize=1)(read)


def written(nest: Nest) -> str:
    """The array that the nest writes."""
    return next(array.name for array in nest.arrays if array.written)


def blocked() -> str:
    """`BLOCKED` for `product`."""
    return BLOCKED.format(result=written(nests_of(product)[0]))


def record(
    kernel: Callable[..., Any],
    recipe: str,
    speedup: float = 20.0,
    *,
    name: str = "",
    position: int = 0,
    target: str = "sequential",
    hardware: HardwareProfile | None = None,
) -> Record:
    """What a tuner would write about one nest of `kernel`."""
    name = name or kernel.__name__
    return Record(
        fingerprint=nests_of(kernel)[position].fingerprint,
        nest=f"{name}:{position}",
        nest_json=_cut(kernel, position),
        target=target,
        hardware=hardware or _hardware(1),
        recipe=Recipe.parse(recipe),
        measurements=(Measurement(speedup, 1.0, 0.01, 5, {}),),
        provenance=Provenance(name),
    )


def fill(path: Path, records: Iterable[Record]) -> Path:
    """A book of these records, embedded by the encoder that comes with loopbook."""
    from loopbook.program.nests import read_nests

    @cache
    def embedded(nest_json: str) -> Embedding:
        return encoder().encode(read_nests(load_json(nest_json))[0])

    with Book.open(path) as book:
        book.add_many((one, [embedded(one.nest_json)]) for one in records)
    return path


def layered(folder: Path, *records: Record) -> LayeredBook:
    """A layered book with one book of these records."""
    return LayeredBook([Book.open(fill(folder / "book.db", records))])


def plan_of(program: Any) -> Plan:
    """What was decided for a `loopbook.native` program that has run."""
    assert program.plan is not None
    return program.plan
