"""One place for a name to live in, whatever loops and branches assign to it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from loopbook.frontend.values import Array, Buffer, Kind, Listing, Scalar, Seen, Tup, Value


@dataclass(eq=False)
class Home:
    """Where a name that loops or branches assign lives: a variable or a buffer.

    Attributes:
        kinds: types that it and its items have to have, by path.
        path: the numbers of the item that it is for, in tuples in tuples.
        items: where each item of a tuple lives; empty for what is none.
        key, sort: what its type is told of, and the variable that tells it (see `sorts`).
        now, ever: the types that a number there may have at this point, and anywhere.
        loose: axes of an array along which its size changes, and `sizes`, the variables that have
            those sizes, and `buffer`, where it lives then.
        relisted: whether the name is given other lists, and `began`, what it stands for first.
        pinned: it keeps the array that it has, which others know as well.
    """

    value: Scalar | Array | Tup | Listing | None = None
    kinds: dict[tuple[int, ...], tuple[np.dtype, bool]] = field(default_factory=dict)
    path: tuple[int, ...] = ()
    items: tuple[Home, ...] = ()
    key: str = ""
    sort: str = ""
    now: frozenset[Kind] | None = frozenset()
    ever: Seen = field(default_factory=Seen)
    loose: frozenset[int] = frozenset()
    sizes: dict[int, str] = field(default_factory=dict)
    buffer: Buffer | None = None
    relisted: bool = False
    began: Value | None = None
    pinned: bool = False

    @property
    def kind(self) -> tuple[np.dtype, bool] | None:
        """The type that it has to have, where what is assigned later needs it."""
        return self.kinds.get(self.path)

    def part(self, number: int) -> Home:
        """Where an item is to live."""
        return Home(kinds=self.kinds, path=(*self.path, number), key=f"{self.key}.{number}")

    def all(self) -> list[Home]:
        """Itself, and those of its items, in order."""
        return [self, *(home for item in self.items for home in item.all())]


class Widen(Exception):
    """A home turned out too narrow for what is assigned later: begin again with a wider one, or
    with one whose sizes may change along some axes, that is a list which may, or that is free."""

    def __init__(
        self,
        home: Home,
        kind: tuple[np.dtype, bool] | None,
        loose: frozenset[int] = frozenset(),
        *,
        relisted: bool = False,
        free: bool = False,
    ) -> None:
        super().__init__()
        self.home, self.kind, self.loose, self.relisted = home, kind, loose, relisted
        self.free = free
