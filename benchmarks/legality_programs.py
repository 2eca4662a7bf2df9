"""The programs that `benchmarks.legality` draws: PolyBench's, the synthetic ones, and nests drawn
here, of all that makes an order matter: values carried by scalars and from element to element,
triangles, strides, branches, index arrays, neighbours that share their scalars, stages that hand
rows to each other."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from benchmarks import legality_made
from loopbook.workloads import polybench, synthetic
from loopbook.workloads.workload import Workload, read_workload

EXTRA = 6
"""Elements of each extent beyond the size: subscripts reach that far."""

DTYPES = ("np.float64", "np.float32", "np.int64", "np.int32")

MIXED = "mixed"
"""What the names of nests drawn here begin with."""

CALM = 0.5
"""So many programs that are drawn here write other arrays than they read, without scalars: more
steps are allowed on those."""

OWN_SHARE = 0.5
"""So many programs are drawn here; the others are PolyBench's and synthetic ones."""


def names(count: int, seed: int) -> list[str]:
    """The names of so many programs, none twice."""
    rng = random.Random(seed)
    found = dict.fromkeys(polybench.names())
    families = sorted(synthetic.FAMILIES)
    number = 0
    while len(found) < count:
        number += 1
        if rng.random() < OWN_SHARE:
            found[f"{MIXED}.{seed}.{number}"] = None
        else:
            family = synthetic.FAMILIES[families[number % len(families)]]
            found[family.name_of(family.draw(rng))] = None
    mixed = list(found)
    rng.shuffle(mixed)
    return mixed[:count]


def load(name: str) -> Workload:
    """A program by its name."""
    path = Path(__file__).with_name(f"{name}.py")
    if name.startswith(f"{MIXED}."):
        return read_workload(_Drawn(name).source(), path)
    if name.startswith(f"{legality_made.MADE}."):
        rng = random.Random(name)
        body, types = legality_made.body(name, rng)
        return read_workload(_source(body, rng.choice(types), "N"), path)
    if name in polybench.names():
        return polybench.load(name)
    return synthetic.load(name)


def _source(body: Sequence[str], dtype: str, columns: str = "M") -> str:
    """The workload file of a program with such statements and arrays of such numbers, whose
    products do not soon become too large, nor all the same. So many columns have its matrices."""
    spread = "* 9 + 1" if "int" in dtype else "+ 0.5"
    return "\n".join(
        [
            "import numpy as np",
            "PARAMETERS = {'S': {'N': 7, 'M': 6}}",
            "def initialize(N, M):",
            "    rng = np.random.default_rng(N)",
            f"    made = lambda *s: (rng.random(s) {spread}).astype({dtype})",
            f"    a, b, e = (made(N + {EXTRA}, {columns} + {EXTRA}) for _ in range(3))",
            f"    c, d, f = (made(N + M + {EXTRA}) for _ in range(3))",
            f"    p = rng.integers(0, min(N, M), N + M + {EXTRA}).astype(np.int64)",
            "    return a, b, c, d, e, f, p, N, M",
            "def kernel(a, b, c, d, e, f, p, N, M):",
            *(f"    {line}" for line in body),
            "",
        ]
    )


class _Drawn:
    """A program of nests that belong to nothing."""

    def __init__(self, name: str) -> None:
        self._rng = random.Random(name)
        self._dtype = self._rng.choice(DTYPES)
        self._scalars: list[str] = []
        self._number = 0
        self._calm = self._rng.random() < CALM

    def source(self) -> str:
        """Its workload file."""
        body = [line for _ in range(self._rng.choice((1, 1, 2, 3))) for line in self._nest()]
        return _source(body, self._dtype)

    def _nest(self) -> Iterator[str]:
        self._number += 1
        if self._rng.random() < 0.2:
            yield from self._stages()
            return
        if not self._calm and self._rng.random() < 0.4 and "s" not in self._scalars:
            self._scalars.append("s")
            yield "s = c[0]"
        if self._rng.random() < 0.25:
            yield f"for t{self._number} in range(3):"
            yield from (f"    {line}" for line in self._loop([], 0))
            return
        yield from self._loop([], 0)

    def _stages(self) -> Iterator[str]:
        """Loops in a loop, each of which needs what the one before it has made of a row."""
        rng, time = self._rng, f"t{self._number}"
        yield f"for {time} in range({rng.choice(('3', 'N'))}):"
        row = f"{rng.choice('ab')}[{time}, i + {{}}]"
        places = [row, f"{rng.choice('cd')}[i + {{}}]", "b[i, 1 + {}]", "d[i + {}]"]
        rng.shuffle(places)
        low = rng.randrange(2)
        for source, target in pairwise(places[: rng.choice((3, 3, 4))]):
            one, other = (source.format(rng.randrange(3)) for _ in range(2))
            yield f"    for i in range({low}, M):"
            yield f"        {target.format(rng.randrange(2))} = {one} {rng.choice('+-')} {other}"

    def _loop(self, around: list[tuple[str, str]], depth: int) -> Iterator[str]:
        """A loop with what is in it; `around`: variables with their sizes."""
        rng = self._rng
        variable = f"{'ijk'[depth]}{self._number}"
        size = rng.choice("NM") if depth else "N"
        low, high, by = "0", size, 1
        if around and rng.random() < 0.35:
            outer = rng.choice(around)[0]
            form = rng.randrange(4)
            if form == 0:
                low = outer
            elif form == 1:
                high = f"{outer} + 1"
            elif form == 2:
                low = f"{outer} + 1"
            else:
                high = outer
            size = "N" if "N" in (size, dict(around)[outer]) else "M"
        elif rng.random() < 0.2:
            low, high = rng.choice((("1", size), ("0", f"{size} - 1"), ("1", f"{size} - 1")))
        if rng.random() < 0.15:
            by = rng.choice((2, 3))
        yield f"for {variable} in range({low}, {high}, {by}):"
        inner = [*around, (variable, size)]
        parts = 1 if rng.random() < (0.8 if self._calm else 0.6) else 2
        carried = f"v{self._number}{depth}" if rng.random() < 0.3 and not self._calm else ""
        if carried:
            yield f"    {carried} = {self._read(inner)}"
            self._scalars.append(carried)
        for _ in range(parts):
            if depth < 2 and rng.random() < (0.85 if depth == 0 else 0.5):
                lines = self._loop(inner, depth + 1)
            else:
                lines = self._statement(inner)
            yield from (f"    {line}" for line in lines)
        if carried:
            yield f"    {self._written(inner)} = {carried} + {self._read(inner)}"
            self._scalars.remove(carried)

    def _statement(self, around: list[tuple[str, str]]) -> Iterator[str]:
        rng = self._rng
        if rng.random() < 0.2:
            if rng.random() < 0.3:
                first = rng.choice((f"{around[0][0]} < 3", "N > M", f"N == {around[0][0]} + 2"))
                yield f"if {first}:"
                yield from (f"    {line}" for line in self._simple(around))
                yield "else:"
                yield from (f"    {line}" for line in self._simple(around))
                return
            if len(around) > 1 and rng.random() < 0.6:
                one, other = rng.sample([name for name, _ in around], 2)
                yield f"if {one} {rng.choice(('<', '>', '<=', '!='))} {other}:"
            else:
                yield f"if {self._read(around)} > {self._read(around)}:"
            yield from (f"    {line}" for line in self._simple(around))
            if rng.random() < 0.3:
                yield "else:"
                yield from (f"    {line}" for line in self._simple(around))
            return
        yield from self._simple(around)

    def _simple(self, around: list[tuple[str, str]]) -> Iterator[str]:
        rng = self._rng
        where = self._written(around, "bd" if self._calm else "abcd")
        if self._scalars and rng.random() < 0.35:
            where = rng.choice(self._scalars)
        form = rng.randrange(5)
        if form < 2:
            yield f"{where} += {self._read(around)} * {self._read(around)}"
        elif form == 2:
            yield f"{where} = {self._read(around)} + {self._read(around)}"
        elif form == 3:
            yield f"{where} = {where} + {self._read(around)} - {self._read(around)}"
        else:
            yield f"{where} = {self._read(around)} * {rng.randrange(2, 4)}"

    def _read(self, around: list[tuple[str, str]]) -> str:
        rng = self._rng
        if self._scalars and rng.random() < 0.2:
            return rng.choice(self._scalars)
        if rng.random() < 0.08:
            return f"c[p[{rng.choice(around)[0]} + {rng.randrange(3)}]]"
        return self._written(around, "ac" if self._calm else "abcd")

    def _written(self, around: list[tuple[str, str]], arrays: str = "abcd") -> str:
        """An element of one of some arrays."""
        rng = self._rng
        flat, grids = (sorted({*arrays} & {*own}) for own in ("cd", "ab"))
        if rng.random() < 0.35 or len(around) < 1:
            name = rng.choice(flat)
            if rng.random() < 0.06:
                return f"{name}[p[{rng.choice(around)[0]}]]"
            if len(around) > 1 and rng.random() < 0.2:
                one, other = rng.sample([name for name, _ in around], 2)
                return f"{name}[{one} + {other} + {rng.randrange(2)}]"
            return f"{name}[{rng.choice(around)[0]} + {rng.randrange(4)}]"
        name = rng.choice(grids)
        rows = [n for n, s in around if s == "N"] or [around[0][0]]
        columns = [n for n, s in around if s == "M"]
        row = rng.choice(rows)
        if columns:
            column = rng.choice(columns)
        else:
            return f"{name}[{row} + {rng.randrange(3)}, {rng.randrange(4)}]"
        return f"{name}[{row} + {rng.randrange(3)}, {column} + {rng.randrange(3)}]"
