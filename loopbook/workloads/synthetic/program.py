"""What a family hands over: a kernel with its arrays; `text` makes a whole workload file of it.

Sizes are letters. A letter stands for the same extent wherever it is used, ``i`` is the size ``NI``
of the workload file, and how large it is follows from how many iterations a run may have: kernels
of any depth should take about as long.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

PRESETS = {"S": 1e5, "M": 1e6, "L": 6e6}
"""Preset to additions or so: about 0.1, 1 and 10 milliseconds."""

DTYPES = {"f8": "np.float64", "f4": "np.float32"}

SIZES = ("apart", "same", "tall", "flat")
"""How the extents relate: nearly the same, all the same (docc gives them one symbol then), falling
from the first to the last letter, rising."""

_SPREAD = {
    "same": (1.0,),
    "apart": (1.0, 1.13, 0.89, 1.06),
    "tall": (3.0, 1.0, 0.6, 0.5),
    "flat": (0.5, 0.8, 2.0, 2.5),
}

_LEAST = 12
"""Smallest extent: stencils of radius four leave their borders out."""

_LETTER = re.compile(r"\b[a-z]\b")
_MADE = re.compile(r"(?:(?P<factor>\d+) \* )?(?P<letter>[a-z])(?: \+ (?P<more>\d+))?")
_INDENT = "    "


@dataclass(frozen=True)
class Program:
    """A kernel without the numbers.

    Attributes:
        arrays: name to the extent of each axis: a number, a letter, or something like
            ``2 * i + 4``.
        body: lines of the kernel.
        loops: extents whose product is the number of iterations of the innermost statement.
        cost: work in one iteration, in additions or so.
        reference: lines of an independent version in NumPy, if there is one.
        data: what arrays begin with, where random numbers between 0.5 and 1.5 will not do: an
            expression of the sizes, of ``rng``, and of SHAPE and TYPE of the array.
        fixed: letters that do not grow with the problem, such as a filter's.
        scalars: name to value of floating-point arguments.
        counts: letters that the kernel takes as arguments, such as a number of time steps.
    """

    arrays: Mapping[str, Sequence[str]]
    body: Sequence[str]
    loops: Sequence[str]
    cost: float = 1.0
    reference: Sequence[str] = ()
    data: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, int] = field(default_factory=dict)
    scalars: Mapping[str, float] = field(default_factory=dict)
    counts: Sequence[str] = ()

    @property
    def letters(self) -> tuple[str, ...]:
        """All sizes, in the order in which the loops and then the arrays have them."""
        places = [*self.loops, *(axis for axes in self.arrays.values() for axis in axes)]
        found = [letter for place in places for letter in _LETTER.findall(place)]
        return tuple(dict.fromkeys([*found, *self.counts]))


class Code:
    """Lines of a function under construction."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 0

    def add(self, line: str) -> None:
        """One statement, where the code has got to."""
        self.lines.append(_INDENT * self.depth + line)

    def loop(self, variable: str, bounds: str) -> None:
        """Go into a loop over ``range(bounds)``."""
        self.open(f"for {variable} in range({bounds})")

    def open(self, head: str) -> None:
        """Go into the block of ``head:``."""
        self.add(f"{head}:")
        self.depth += 1


def element(array: str, indices: Sequence[str]) -> str:
    """Source text of one element."""
    return f"{array}[{', '.join(indices)}]"


def extent(letter: str, arrays: Mapping[str, Sequence[str]]) -> str:
    """Source text of a size: the shape of the first array that has it."""
    for array, axes in arrays.items():
        for axis, other in enumerate(axes):
            if other == letter:
                return f"{array}.shape[{axis}]"
    raise ValueError(f"no array has the extent {letter}")


def plus(index: str, shift: int) -> str:
    """Source text of a shifted index."""
    if shift == 0:
        return index
    return f"{index} {'+' if shift > 0 else '-'} {abs(shift)}"


def sizes(program: Program, spread: str, iterations: float) -> dict[str, int]:
    """Extents of all letters, such that the loops run about so many `iterations`.

    Letters have the same extent with the spread "same" only.
    """
    growing = [letter for letter in program.letters if letter not in program.fixed]
    factors = _SPREAD[spread]
    factor = {letter: factors[place % len(factors)] for place, letter in enumerate(growing)}
    depth, known = 0, program.cost
    for letter in _LETTER.findall(" ".join(program.loops)):
        known *= program.fixed.get(letter) or factor[letter]
        depth += letter in factor
    base = (iterations / known) ** (1 / max(depth, 1))
    found = dict(program.fixed)
    taken = {int(axis) for axes in program.arrays.values() for axis in axes if axis.isdigit()}
    taken |= set(program.fixed.values())
    for letter in growing:
        size = max(_LEAST, round(base * factor[letter]))
        while taken & (own := _extents(program, letter, size)):
            size += 1
        found[letter] = size
        if spread != "same":
            taken |= own
    return found


def _extents(program: Program, letter: str, size: int) -> set[int]:
    """All extents that follow from the size of one letter.

    docc gives extents that are equal one symbol. Where that is not meant it must not happen, or the
    nest would be another one at other sizes.
    """
    found = {size}
    for axis in (axis for axes in program.arrays.values() for axis in axes):
        made = _MADE.fullmatch(axis)
        if made and made["letter"] == letter:
            found.add(int(made["factor"] or 1) * size + int(made["more"] or 0))
    return found


def text(program: Program, title: str, dtype: str, spread: str) -> str:
    """The workload file.

    Args:
        title: its first line.
        dtype: one of `DTYPES`.
        spread: one of `SIZES`.
    """
    names = {letter: f"N{letter.upper()}" for letter in program.letters}
    presets = {
        preset: {names[k]: v for k, v in sizes(program, spread, count).items() if k in names}
        for preset, count in PRESETS.items()
    }
    arguments = [*program.arrays, *program.scalars, *(names[c] for c in program.counts)]
    kernel = [_spelled(line, program.counts, names) for line in program.body]
    lines = [
        f'"""{title}"""',
        "",
        "import numpy as np",
        "",
        "PARAMETERS = {",
        *(f'    "{preset}": {values!r},' for preset, values in presets.items()),
        "}",
        "",
        "",
        f"def initialize({', '.join(names.values())}):",
        "    rng = np.random.default_rng(7)",
        "    return {",
        *(f'        "{a}": {_made(program, a, names, dtype)},' for a in program.arrays),
        *(f'        "{scalar}": {value},' for scalar, value in program.scalars.items()),
        "    }",
        "",
        "",
        f"def kernel({', '.join(arguments)}):",
        *(_INDENT + line for line in kernel),
    ]
    if program.reference:
        reference = [_spelled(line, program.counts, names) for line in program.reference]
        lines += ["", "", f"def reference({', '.join(arguments)}):"]
        lines += [_INDENT + line for line in reference]
    return "\n".join(lines) + "\n"


def _made(program: Program, array: str, names: Mapping[str, str], dtype: str) -> str:
    """Source text of an array's first values."""
    axes = [_spelled(axis, tuple(names), names) for axis in program.arrays[array]]
    shape = f"({', '.join(axes)}{',' if len(axes) == 1 else ''})"
    given = program.data.get(array)
    if given is None:
        return f"(0.5 + rng.random({shape})).astype({DTYPES[dtype]})"
    own = _spelled(given, tuple(names), names)
    return own.replace("SHAPE", shape).replace("TYPE", DTYPES[dtype])


def _spelled(line: str, letters: Sequence[str], names: Mapping[str, str]) -> str:
    """`line` with the names of sizes in place of their letters."""
    return _LETTER.sub(
        lambda found: names[found.group()] if found.group() in letters else found.group(), line
    )
