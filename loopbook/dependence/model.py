"""What the questions are asked about: loops and statements, as anything that has these attributes.

Forms are linear in the variables of loops and in parameters, which are sizes, products of sizes and
whatever else does not change while the loops run. The constant term has the key ``""``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeGuard

Linear: TypeAlias = Mapping[str, int]
"""Symbol to coefficient."""

Monomial: TypeAlias = tuple[str, ...]
"""The symbols of one term, sorted, each as often as its power; ``()`` is the constant term."""

Polynomial: TypeAlias = Mapping[Monomial, int]


class Access(Protocol):
    """One access to memory; two that are equal do the same. Pyright takes no `cached_property` for
    what it gives: hence `Any`."""

    @property
    def container(self) -> str:
        """What is accessed."""
        ...

    @property
    def place(self) -> Any:
        """How the indices are written, in a normal form: a tuple of strings."""
        ...

    @property
    def indices(self) -> Any:
        """A `Polynomial` for each dimension, None if it may be anything; none of a scalar, or if
        all of the container may be meant."""
        ...

    @property
    def write(self) -> bool: ...

    @property
    def update(self) -> str:
        """The operator if this is part of an update whose order does not matter, or nothing."""
        ...

    @property
    def certain(self) -> bool:
        """Whether it happens, where it is said to, whenever its statement runs."""
        ...


class Statement(Protocol):
    """What runs as one; told apart by identity."""

    @property
    def touches(self) -> Sequence[Access]: ...


class Loop(Protocol):
    """A counted loop ``for (v = max(lows); v < each of highs; v += step)``, that ends, too, where
    one of the `rooms`, which fall with its variable, is less than 0: as ``n - 1 - 2*v`` is."""

    @property
    def variable(self) -> str: ...

    @property
    def lows(self) -> Sequence[Linear]: ...

    @property
    def highs(self) -> Sequence[Linear]: ...

    @property
    def rooms(self) -> Sequence[Linear]: ...

    @property
    def step(self) -> int: ...

    @property
    def children(self) -> Sequence[Tree]: ...


class Guard(Protocol):
    """Some of whose children may be left out, all else being as if they stood in its place."""

    @property
    def children(self) -> Sequence[Tree]: ...


Tree: TypeAlias = "Loop | Statement | Guard"


@dataclass(frozen=True)
class Tile:
    """The number of the tile that a value lies in: ``floor(form / size)``."""

    form: Linear
    size: int


_QUOTIENT = re.compile(r"idiv\((\w+),(\d+)\)")

_WORD = re.compile(r"[A-Za-z_]\w*")


def words(symbol: str) -> list[str]:
    """The names in a symbol, which may be a product, or a call that is not looked into."""
    return _WORD.findall(symbol)


def mentions(form: Linear, names: Collection[str]) -> bool:
    """Whether one of some names occurs in a form."""
    return any(word in names for symbol in form for word in words(symbol))


def statements(
    tree: Tree, path: tuple[Loop, ...] = ()
) -> Iterator[tuple[Statement, tuple[Loop, ...]]]:
    """All statements in program order, each with the loops around it from `tree` on."""
    if is_loop(tree):
        for child in tree.children:
            yield from statements(child, (*path, tree))
    elif is_guard(tree):
        for child in tree.children:
            yield from statements(child, path)
    elif is_statement(tree):
        yield tree, path


def is_loop(tree: Tree) -> TypeGuard[Loop]:
    return hasattr(tree, "variable")


def is_guard(tree: Tree) -> TypeGuard[Guard]:
    return hasattr(tree, "children") and not hasattr(tree, "variable")


def is_statement(tree: Tree) -> TypeGuard[Statement]:
    return not hasattr(tree, "children")


def domain(loops: Iterable[Loop]) -> list[Linear]:
    """Inequalities (0 or more) for the variables of loops, outermost first."""
    rows: list[Linear] = []
    for loop in loops:
        value = {loop.variable: 1}
        rows += [minus(value, low) for low in loop.lows]
        rows += [shifted(minus(high, value), -1) for high in loop.highs]
        rows += (*loop.rooms, *quotients(loop))
    return rows


def quotients(loop: Loop) -> list[Linear]:
    """What follows, where a loop runs, of ends such as ``size / 8``, rounded down: of the size
    there is 8 times as much."""
    if not any(low.keys() <= {""} and low.get("", 0) >= 0 for low in loop.lows):
        return []  # of less than 0 it would be rounded up
    found: list[Linear] = []
    for high in loop.highs:
        symbol = next((symbol for symbol in high if symbol), "")
        match = _QUOTIENT.fullmatch(symbol)
        alone = high.keys() <= {symbol, ""} and high.get(symbol) == 1 and high.get("", 0) <= 0
        if match and alone:
            found.append({match[1]: 1, symbol: -int(match[2])})
    return found


def plus(a: Linear, b: Linear, factor: int = 1) -> dict[str, int]:
    """``a + factor*b``."""
    total = dict(a)
    for name, value in b.items():  # asked hundreds of times a nest: `_add` written out
        if value := total.get(name, 0) + factor * value:
            total[name] = value
        else:
            total.pop(name, None)
    return total


def minus(a: Linear, b: Linear) -> dict[str, int]:
    """``a - b``."""
    return plus(a, b, -1)


def shifted(a: Linear, constant: int) -> dict[str, int]:
    """``a + constant``."""
    total = dict(a)
    _add(total, "", constant)
    return total


def replaced(form: Linear, values: Mapping[str, Linear]) -> dict[str, int]:
    """The form with variables replaced by other forms, all at once."""
    total: dict[str, int] = {}
    for name, factor in form.items():
        other = values.get(name)
        if other is None:
            _add(total, name, factor)
        else:
            for symbol, value in other.items():
                _add(total, symbol, factor * value)
    return total


def _add(total: dict[str, int], name: str, value: int) -> None:
    """Add to a factor; forms have none that are 0."""
    value += total.get(name, 0)
    if value:
        total[name] = value
    else:
        total.pop(name, None)
