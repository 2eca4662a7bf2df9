"""Whether a program is defined on data: it is interpreted, and its results looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from loopbook.interpreter import FaultError, Interpreted
from loopbook.program.tree import Program
from loopbook.sdfg.made_values import Kind

BUDGET = 1_000_000
"""Operations of one run of the interpreter."""

CALM = 1e6
"""Results at small sizes that are larger than this may grow beyond all numbers at larger ones."""

MOVED = {8: 1e-12, 4: 3e-8, 2: 2e-4}
"""By what part numbers are moved to see whether rounding decides what comes out; by their bytes."""

STAYS = 1e4
"""Results may move so much more than what they are made of."""


@dataclass(frozen=True)
class Trial:
    """Data that the interpreter has found the program to be defined on.

    Attributes:
        sizes: at which it was tried.
        kind, seed: of the data.
        arguments: the data.
        results: what the arrays among them hold afterwards.
        rank: the less, the better: rounding decides what comes out, something leaves its row,
            numbers get large.
    """

    sizes: Mapping[str, int]
    kind: Kind
    seed: int
    arguments: list[Any]
    results: list[np.ndarray]
    rank: tuple[bool, ...]


def tried(
    interpreted: Interpreted,
    tree: Program,
    sizes: Mapping[str, int],
    kind: Kind,
    seed: int,
    arguments: list[Any],
    tidy: bool,
) -> Trial:
    """A program on data, and on almost the same data.

    Args:
        interpreted: `tree`, on C's numbers.
        sizes, kind, seed: of the data.
        tidy: no index leaves its row.

    Raises:
        FaultError: the program is not defined on them.
        TooLongError: it takes more than the budget.
    """
    results = _run(interpreted, tree, arguments)
    moved = [_moved(value, np.random.default_rng(seed)) for value in arguments]
    reals = [one for one in results if one.dtype.kind == "f" and one.size]
    wild = any(float(np.abs(one).max()) > CALM for one in reals)
    rank = not _stays(results, _run(interpreted, tree, moved)), not tidy, wild
    return Trial(sizes, kind, seed, arguments, results, rank)


def _run(interpreted: Interpreted, tree: Program, arguments: Sequence[Any]) -> list[np.ndarray]:
    """What the arrays among some arguments hold after a run of the interpreter.

    Raises:
        FaultError: the program is not defined on them.
        TooLongError: it takes more than the budget.
    """
    given = dict(zip(tree.arguments, arguments, strict=True))
    memory = {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in given.items()
    }
    after = interpreted(memory, BUDGET)
    return [
        _array(name, after[name], value.dtype)
        for name, value in given.items()
        if isinstance(value, np.ndarray)
    ]


def _moved(value: Any, rng: np.random.Generator) -> Any:
    """An argument as it would be had its numbers been rounded otherwise."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        by = MOVED.get(value.dtype.itemsize, MOVED[4])
        return value.astype(float) * (1 + by * rng.choice((-1.0, 1.0), value.size))
    return value


def _stays(results: Sequence[np.ndarray], moved: Sequence[np.ndarray]) -> bool:
    """Whether results hardly differ."""
    for one, other in zip(results, moved, strict=True):
        if one.dtype.kind != "f":
            if not np.array_equal(one, other):
                return False
        elif one.size:
            limit = STAYS * MOVED.get(one.dtype.itemsize, MOVED[4]) * float(np.abs(one).max())
            if float(np.abs(one - other).max()) > limit:
                return False
    return True


def _array(name: str, elements: list[Any], dtype: np.dtype[Any]) -> np.ndarray:
    """What an array holds after a run.

    Raises:
        FaultError: something in it is no number.
    """
    if any(not isinstance(one, int | float) for one in elements):
        raise FaultError(f"array {name} holds what nobody has set")
    try:
        found = np.array(elements, dtype)
    except OverflowError:
        raise FaultError(f"array {name} holds a number that is too large") from None
    if dtype.kind == "f" and not np.isfinite(found).all():
        raise FaultError(f"array {name} holds what is no finite number")
    return found
