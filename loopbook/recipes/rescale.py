"""Sizes in a recipe, changed from those of the machine it was found on to those of another.

Which size is what shows in the recipe itself. Loops that it vectorises, pads or sinks walk along
vectors: they keep their number of vectors. With the loops that it unrolls they make up a register
tile, which must fit the vector registers. What is left of tiles of 16 and more is for the caches:
their volume grows with the second level. Waves have as many tiles as there are threads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from loopbook.recipes.hardware import ISAS, HardwareProfile
from loopbook.recipes.recipe import Recipe
from loopbook.steps import (
    MAX_SIZE,
    Argument,
    CacheSize,
    Step,
    Threads,
    TileEnd,
    TileSize,
    VectorSize,
    base_name,
)

SUMS = 0.75
"""Share of the vector registers that hold sums; the rest is for operands."""

CACHED = 16
"""Tiles of fewer iterations are not for caches."""

MOST_ROWS = max(isa.registers for isa in ISAS.values())
"""A longer tile is none of registers, although a part of its loop is written out, as in ``block L0
L2 6 1024`` where fission has left a part of L2 to be unrolled."""


@lru_cache(maxsize=4096)
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
        tiles: the loops that are tiled with their sizes.
    """

    vectors: frozenset[str]
    rows: frozenset[str]
    wider: float
    lanes: int
    cached: float
    columns: int
    most: int
    threads: int
    tiles: frozenset[tuple[str, int]]

    @classmethod
    def of(cls, recipe: Recipe, there: HardwareProfile, here: HardwareProfile) -> _Sizes:
        vectors = frozenset(base_name(step.loops[0]) for step in recipe if step.vectors)
        rows = frozenset(base_name(step.loops[0]) for step in recipe if step.rows) - vectors
        lanes = max(1, here.vector_bits // 64)
        wider = here.vector_bits / max(1, there.vector_bits)
        columns = [size for name, size in _tiles(recipe) if name in vectors]
        unrolled = [size for name, size in _tiles(recipe) if _is_row(name, size, rows)]
        longest, most = 0, max(unrolled, default=0)
        if columns and unrolled:
            longest = max(1, round(max(columns) * wider / lanes))
            longest, most = _register_tile(most, longest, ISAS[here.isa].registers)
        ratio = here.l2_bytes / there.l2_bytes if here.l2_bytes and there.l2_bytes else 1.0
        if columns:
            # A panel is as much deeper as it is narrower.
            ratio *= max(columns) / (longest * lanes if longest else max(columns) * wider)
        own = [name for name, size in _tiles(recipe) if _for_caches(name, size, vectors, rows)]
        return cls(
            vectors,
            rows,
            wider,
            lanes,
            ratio ** (1 / max(1, len(set(own)))),
            longest * lanes,
            most,
            here.threads,
            frozenset(_tiles(recipe)),
        )

    def changed(self, step: Step) -> Step:
        """The step with sizes for the other machine."""
        widths = sum(isinstance(argument, CacheSize) for argument, _ in step.given())

        def sized(argument: Argument[Any], value: Any) -> Any:
            if isinstance(argument, TileSize):
                return self._size(getattr(step, argument.of), value)
            if isinstance(argument, TileEnd):
                name = base_name(getattr(step, argument.of))
                return self._size(name, value) if (name, value) in self.tiles else value
            if isinstance(argument, VectorSize):
                return self._along(value)
            if isinstance(argument, CacheSize):
                return max(1, _scaled(value, self.cached ** (1 / widths)))
            if isinstance(argument, Threads):
                return max(2, self.threads)
            return value

        return Step(step.op, tuple(sized(*pair) for pair in step.given()))

    def _size(self, name: str, size: int) -> int:
        base = base_name(name)
        if base in self.vectors:
            along = self._along(size)
            return min(along, self.columns) if self.columns else along
        if _is_row(base, size, self.rows):
            return max(2, min(size, self.most)) if self.most else size
        return max(CACHED, _scaled(size, self.cached)) if size >= CACHED else size

    def _along(self, size: int) -> int:
        """As many vectors as before."""
        return min(MAX_SIZE, max(2, self.lanes, round(size * self.wider / self.lanes) * self.lanes))


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


def _tiles(recipe: Recipe) -> list[tuple[str, int]]:
    """The loops that are tiled with their sizes."""
    return [
        (base_name(getattr(step, argument.of)), value)
        for step in recipe
        for argument, value in step.given()
        if isinstance(argument, TileSize)
    ]


def _is_row(name: str, size: int, rows: frozenset[str]) -> bool:
    return name in rows and size <= MOST_ROWS


def _for_caches(name: str, size: int, vectors: frozenset[str], rows: frozenset[str]) -> bool:
    return name not in vectors and not _is_row(name, size, rows) and size >= CACHED
