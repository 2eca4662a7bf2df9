"""What synthetic kernels are written with."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

_SIZES = {"b": 7, "i": 11, "j": 13, "k": 17, "l": 19, "m": 5}
"""Extent of each index: all different, so that docc gives each a symbol of its own."""
LOOPS = ("i", "j", "k")
"""Indices of up to three dimensions."""


@dataclass(frozen=True)
class Kernel:
    """One function to trace.

    Attributes:
        family: what kind of work, such as "contraction ik,kj->ij".
        label: the class within the family.
        source: text of a Python function called ``kernel``.
        arguments: shape of each argument, ``()`` for a scalar, in order.
        dtype: element type of all arguments, "float64" or "float32".
    """

    family: str
    label: str
    source: str
    arguments: tuple[tuple[int, ...], ...]
    dtype: str = "float64"


Writer = Callable[[random.Random], Kernel]
"""Writes one class in one of its variants."""


@dataclass
class Text:
    """A function under construction."""

    parameters: list[str]
    lines: list[str] = field(default_factory=list)
    depth: int = 1

    def add(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def loop(self, variable: str, bounds: str) -> None:
        self.add(f"for {variable} in range({bounds}):")
        self.depth += 1

    def __str__(self) -> str:
        head = f"def kernel({', '.join(self.parameters)}):"
        return "\n".join([head, *self.lines]) + "\n"


def element(array: str, indices: Sequence[str]) -> str:
    """Source text of one element."""
    return f"{array}[{', '.join(indices)}]"


def extent(index: str, arrays: dict[str, Sequence[str]], rng: random.Random) -> str:
    """Source text for the extent of `index`, from any array that has it."""
    places = [
        f"{array}.shape[{axis}]"
        for array, indices in arrays.items()
        for axis, other in enumerate(indices)
        if other == index
    ]
    return rng.choice(places)


def shuffled(items: Sequence[str], rng: random.Random) -> list[str]:
    """A copy in random order."""
    mixed = list(items)
    rng.shuffle(mixed)
    return mixed


def finish(
    family: str,
    label: str,
    text: Text,
    arrays: dict[str, Sequence[str]],
    rng: random.Random,
) -> Kernel:
    """The finished kernel; `arrays` has the indices of each array, the rest are scalars."""
    sizes = {index: _SIZES[index] for indices in arrays.values() for index in indices}
    if rng.random() < 0.3:
        sizes = dict.fromkeys(sizes, 11)
    shapes = tuple(
        tuple(sizes[index] for index in arrays[name]) if name in arrays else ()
        for name in text.parameters
    )
    dtype = "float64" if rng.random() < 0.7 else "float32"
    return Kernel(family, label, str(text), shapes, dtype)


def add_to(text: Text, target: str, value: str, rng: random.Random) -> None:
    """Write `target` += `value` in one of the ways to say so."""
    forms = [f"{target} = {target} + {value}", f"{target} += {value}"]
    if value.startswith("np."):
        forms.pop()  # docc 0.8 misreads "C[i, j] += np.sqrt(…)"
    text.add(rng.choice(forms))


def swapped(statement: str, rng: random.Random) -> str:
    """`statement` with its product's two operands exchanged now and then."""
    target, equals, value = statement.partition("= ")
    factors = value.split(" * ")
    if len(factors) == 2 and rng.random() < 0.5:
        factors.reverse()
    return target + equals + " * ".join(factors)


def plus(index: str, shift: int) -> str:
    """Source text of a shifted index."""
    if shift == 0:
        return index
    return f"{index} {'+' if shift > 0 else '-'} {abs(shift)}"
