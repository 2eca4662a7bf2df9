"""Seeded chains of array statements.

A program has the arguments ``A (n, m)``, ``B (m, n)``, ``C (n, n)``, ``x (n)``, ``y (m)``, ``s``
and ends in ``return``. Each statement makes a new array out of those at hand, or changes one in
place; what is at hand is known by its shape, so every program runs at all sizes from 0 on::

    def kernel(A, B, C, x, y, s):
        v0 = A @ y
        v1 = np.maximum(v0 - x, 0)
        x[1:] = v1[:-1] + x[1:] * s
        return v1, x
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from loopbook.workloads.arrays import along, control, masks, statements
from loopbook.workloads.arrays.scope import Scope


@dataclass(frozen=True)
class ArrayProgram:
    """A program in NumPy's style.

    Attributes:
        seed: what it was made from.
        source: the text of its function ``kernel``.
        constructs: names of the statements in it.
    """

    seed: int
    source: str
    constructs: tuple[str, ...]

    def kernel(self) -> FunctionType:
        """The function; Python's `inspect` finds its source."""
        import linecache

        file = f"<array program {self.seed}>"
        linecache.cache[file] = (
            len(self.source), None, self.source.splitlines(keepends=True), file
        )  # fmt: skip
        names: dict[str, Any] = {"np": np}
        exec(compile(self.source, file, "exec"), names)
        return names["kernel"]

    def arguments(self, n: int, m: int, dtype: Any = np.float64) -> list[Any]:
        """Arguments of sizes n and m whose elements are all different."""
        rng = np.random.default_rng(self.seed)
        shapes = ((n, m), (m, n), (n, n), (n,), (m,))
        kind = np.dtype(dtype)
        arrays: list[Any] = []
        for shape in shapes:
            if kind.kind == "f":
                arrays.append(rng.uniform(-2, 2, shape).astype(kind))
            else:
                arrays.append(rng.integers(-9, 10, shape).astype(kind))
        return [*arrays, 0.75 if kind.kind == "f" else 3]


def generate(seed: int, whole: bool = False, wide: bool = False) -> ArrayProgram:
    """The program of a seed.

    Args:
        whole: only constructs that keep whole numbers whole and small.
        wide: also masks, statements along an axis, branches and loops with choices in them. Those
            are there to be compared with NumPy; programs to tune (`draw`) are made without.
    """
    rng = random.Random(seed)
    scope = Scope(rng)
    lines: list[str] = []
    used: list[str] = []
    choices: list[Callable[[Scope], list[str] | None]] = list(
        statements.WHOLE if whole else statements.ALL
    )
    if wide:
        choices += [*masks.ALL, *(along.WHOLE if whole else along.ALL), *control.ALL]
    wanted = rng.randint(2, 10)
    for _ in range(60):
        if len(used) == wanted:
            break
        statement = rng.choice(choices)
        made = statement(scope)
        if made is not None:
            lines += made
            used.append(statement.__name__)
    made = [name for name in scope.names if name.startswith("v")]
    results = rng.sample(made, min(len(made), rng.randint(1, 3))) or ["x"]
    if scope.returned:
        results = [scope.pick(*scope.returned) or "x"]
    lines.append(f"return {', '.join(results)}")
    body = "".join(f"    {line}\n" for line in lines)
    return ArrayProgram(seed, f"def kernel(A, B, C, x, y, s):\n{body}", tuple(used))
