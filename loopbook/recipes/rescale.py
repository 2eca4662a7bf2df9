"""Sizes in a recipe, changed from those of the machine it was found on to those of another.

Which size is what shows in the recipe itself. Loops that it vectorises, pads or sinks walk along
vectors: they keep their number of vectors. With the loops that it unrolls they make up a register
tile, which must fit the vector registers. What is left of tiles of 16 and more is for the caches:
their volume grows with the second level. Waves have as many tiles as there are threads.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.step import MAX_SIZE, Step, base_name

REGISTERS = {"avx512": 32, "neon": 32}
"""Vector registers, where there are more than 16."""

SUMS = 0.75
"""Share of them that hold sums; the rest is for operands."""

CACHED = 16
"""Tiles of fewer iterations are not for caches."""


def rescaled(recipe: Recipe, there: HardwareProfile, here: HardwareProfile) -> Recipe:
    """`recipe`, found on the machine `there`, for the machine `here`.

    Machines of one kind (with the same key) share their recipes as they are. Caches of which the
    size is unknown on one of them count as equal.
    """
    if there.key == here.key:
        return recipe
    sizes = _Sizes.of(recipe, there, here)
    return Recipe(tuple(sizes.changed(step) for step in recipe))


@dataclass(frozen=True)
class _Sizes:
    """How sizes change.

    Attributes:
        vectors: loops that walk along vectors; `rows` those that are unrolled.
        wider: by how much vectors are.
        cached: how much longer each cache tile is.
        columns: longest walk of a register tile along vectors; 0 for any.
        most: rows of one.
    """

    vectors: frozenset[str]
    rows: frozenset[str]
    wider: float
    lanes: int
    cached: float
    columns: int
    most: int
    threads: int

    @classmethod
    def of(cls, recipe: Recipe, there: HardwareProfile, here: HardwareProfile) -> _Sizes:
        vectors = _loops(recipe, ("vectorize", "pad"))
        rows = _loops(recipe, ("unroll",)) - vectors
        lanes = max(1, here.vector_bits // 64)
        wider = here.vector_bits / max(1, there.vector_bits)
        columns = [size for name, size in _tiles(recipe) if name in vectors]
        unrolled = [size for name, size in _tiles(recipe) if name in rows]
        longest, most = 0, max(unrolled, default=0)
        if columns and unrolled:
            longest = max(1, round(max(columns) * wider / lanes))
            longest, most = _register_tile(most, longest, REGISTERS.get(here.isa, 16))
        ratio = here.l2_bytes / there.l2_bytes if here.l2_bytes and there.l2_bytes else 1.0
        if columns:
            # A panel is as much deeper as it is narrower.
            ratio *= max(columns) / (longest * lanes if longest else max(columns) * wider)
        own = [name for name, size in _tiles(recipe) if _for_caches(name, size, vectors | rows)]
        return cls(
            vectors,
            rows,
            wider,
            lanes,
            ratio ** (1 / max(1, len(set(own)))),
            longest * lanes,
            most,
            here.threads,
        )

    def changed(self, step: Step) -> Step:
        """The step with sizes for the other machine."""
        op, args = step
        if op == "tile":
            return Step(op, (args[0], self._size(str(args[0]), int(args[1]))))
        if op == "block":
            rows, columns = (self._size(str(args[n]), int(args[n + 2])) for n in (0, 1))
            return Step(op, (*args[:2], rows, columns))
        if op == "sink":
            return Step(op, (args[0], self._along(int(args[1]))))
        if op == "time_tile":
            return Step(op, (*args[:2], *self._widths(args[2:])))
        if op == "time_waves":
            return Step(op, (args[0], max(2, self.threads), args[2], *self._widths(args[3:])))
        if op == "wavefront" and len(args) > 2:
            return Step(op, (*args[:2], max(2, self.threads), *args[3:]))
        return step

    def _size(self, name: str, size: int) -> int:
        base = base_name(name)
        if base in self.vectors:
            along = self._along(size)
            return min(along, self.columns) if self.columns else along
        if base in self.rows:
            return max(2, min(size, self.most)) if self.most else size
        return max(CACHED, _scaled(size, self.cached)) if size >= CACHED else size

    def _along(self, size: int) -> int:
        """As many vectors as before."""
        return min(MAX_SIZE, max(2, self.lanes, round(size * self.wider / self.lanes) * self.lanes))

    def _widths(self, widths: Iterable[str | int]) -> list[int]:
        given = [int(width) for width in widths]
        return [max(1, _scaled(width, self.cached ** (1 / len(given)))) for width in given]


def _register_tile(rows: int, vectors: int, registers: int) -> tuple[int, int]:
    """Vectors and rows of a register tile that leaves some registers for operands; the shapes that
    a BLAS has for so many."""
    sums = int(SUMS * registers)
    if rows * vectors <= sums:
        return vectors, rows
    if sums // rows > 1:
        return sums // rows, rows
    return 2, sums // 2


def _scaled(size: int, factor: float) -> int:
    """`size` times `factor`, at least 2; powers of two stay some."""
    if size & (size - 1) == 0:
        return min(MAX_SIZE, max(2, 2 ** round(math.log2(size * factor))))
    return min(MAX_SIZE, max(2, round(size * factor)))


def _loops(recipe: Recipe, ops: tuple[str, ...]) -> frozenset[str]:
    return frozenset(base_name(str(step.args[0])) for step in recipe if step.op in ops)


def _tiles(recipe: Recipe) -> list[tuple[str, int]]:
    """The loops that are tiled with their sizes."""
    found: list[tuple[str, int]] = []
    for op, args in recipe:
        if op == "tile":
            found.append((base_name(str(args[0])), int(args[1])))
        elif op == "block":
            found += [(base_name(str(args[n])), int(args[n + 2])) for n in (0, 1)]
    return found


def _for_caches(name: str, size: int, others: frozenset[str]) -> bool:
    return name not in others and size >= CACHED
