"""Read by pyright, never run: what callers' editors know of the public names."""

from __future__ import annotations

from typing import assert_type

import numpy as np

import loopbook


@loopbook.native
def scaled(A: np.ndarray, factor: float = 2.0) -> np.ndarray:
    return factor * A


@loopbook.native(target="openmp", strict=True)
def count(n: int) -> int:
    return n + 1


class Holder:
    @loopbook.native
    def method(self, n: int) -> float:
        return n * 1.5


def check(A: np.ndarray) -> None:
    assert_type(scaled(A), np.ndarray)
    assert_type(scaled(A, factor=3.0), np.ndarray)
    assert_type(count(1), int)
    assert_type(Holder().method(3), float)
    assert_type(scaled.plan, loopbook.Plan | None)
    scaled(A, 1.0, 2.0)  # WRONG
    scaled(A, facto=1.0)  # WRONG
    count("one")  # WRONG
    Holder().method("three")  # WRONG


def look_up(A: np.ndarray) -> None:
    with loopbook.open() as book:
        assert_type(book, loopbook.LayeredBook)
        near = book.nearest(scaled, arguments=(A,))
        assert_type(near[0][0], loopbook.Neighbour)
        assert_type(near[0][0].record.recipe, loopbook.Recipe)
    with loopbook.Client("http://127.0.0.1:1", "token") as client:
        assert_type(client, loopbook.Client)
    assert_type(loopbook.bench("kernel.py", preset="S"), loopbook.BenchReport)
    assert_type(loopbook.optimize(scaled.last_sdfg), loopbook.Optimized)
    loopbook.open(1.5)  # WRONG
    loopbook.Client(8080)  # WRONG
