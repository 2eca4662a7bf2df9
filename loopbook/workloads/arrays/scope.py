"""What a generated program has at hand: names with their shapes, in terms of n and m."""

from __future__ import annotations

import random

Shape = tuple[str, ...]


class Scope:
    """Names and shapes; the same random numbers for the same seed."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.names: dict[str, Shape] = {
            "A": ("n", "m"), "B": ("m", "n"), "C": ("n", "n"), "x": ("n",), "y": ("m",),
        }  # fmt: skip
        self.masks: dict[str, Shape] = {}
        self.returned: list[Shape] = []
        self._count = 0

    def new(self, shape: Shape) -> str:
        """A name for a new array."""
        name = f"v{self._count}"
        self._count += 1
        self.names[name] = shape
        return name

    def new_mask(self, shape: Shape) -> str:
        """A name for a new mask."""
        name = f"m{len(self.masks)}"
        self.masks[name] = shape
        return name

    def new_count(self) -> str:
        """A name for a number that is no array's."""
        self._count += 1
        return f"k{self._count}"

    def mask(self, shape: Shape) -> str:
        """A mask of a shape: one with a name, or a comparison."""
        found = [name for name, own in self.masks.items() if own == shape]
        arrays = [name for name, own in self.names.items() if own == shape]
        compared = f"({self.rng.choice(arrays)} {self.rng.choice('<>')} {self.rng.choice('01s')})"
        return self.rng.choice([*found, *found, compared])

    def pick(self, *shapes: Shape, rank: int | None = None, stored: bool = False) -> str | None:
        """A name of one of the shapes, or of a rank; newer ones more often."""
        found = [
            name
            for name, shape in self.names.items()
            if (not shapes or shape in shapes)
            and (rank is None or len(shape) == rank)
            and (shape or rank == 0)
        ]
        if not found:
            return None
        return self.rng.choice(found + found[-3:])

    def any(self, rank: int | None = None) -> str:
        """A name, of a rank that every program has from its start."""
        found = self.pick(rank=rank)
        assert found is not None
        return found

    def same(self, shape: Shape) -> str:
        """An operand that goes with a shape: an array of it, a broadcast one, or a number."""
        options = [name for name, s in self.names.items() if s == shape]
        if len(shape) == 2:
            options += [name for name, s in self.names.items() if s == shape[1:]]
            options += [f"{name}[:, None]" for name, s in self.names.items() if s == shape[:1]]
            options += [f"{name}.T" for name, s in self.names.items() if s == shape[::-1]]
        options += ["s", str(self.rng.choice((2, 3, 1)))]
        options += [name for name, s in self.names.items() if s == ()]
        return self.rng.choice(options)
