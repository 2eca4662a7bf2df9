"""Line solvers and smoothers along one axis after the other, several times over.

Alternating-direction implicit steps (D. W. Peaceman and H. H. Rachford, J. SIAM 3, 1955), line
relaxation, and recursive smoothing by rows and by columns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from loopbook.workloads.synthetic.family import Choice, Family, orders
from loopbook.workloads.synthetic.program import Code, Program, element, extent, plus

STEPS = 6

KINDS = {
    "smooth": ("0.6 * {u} + 0.4 * {u-}", "0.6 * {u} + 0.4 * {u+}"),
    "solve": ("({u} - e[{a}] * {u-}) * f[{a}]", "{u} - g[{a}] * {u+}"),
    "fields": ("{u} - 0.2 * {u-} * {P} / {Q-}", "({u} - 0.2 * {P+} * {u+}) / {Q}"),
    "thomas": ("", "{q} + {p} * {u+}"),
    "implicit": ("", "{q} + {p} * {u+}"),
    "transfer": ("0.5 * {u} + 0.3 * {v} + 0.2 * {u-}", "0.5 * {u} + 0.3 * {v} + 0.2 * {u+}"),
}
"""What an element of the grid ``u`` becomes on the way up and on the way down a line: ``{u-}`` is
the element before it, ``{u+}`` the one behind it, ``{a}`` its place in the line. ``thomas`` and
``implicit`` keep quotients and partial solutions on the way up: the former solve for the grid
itself, the latter for the grid after half an explicit step across the lines."""

QUOTIENT = "0.3 / (1.6 - 0.3 * {p-})"
PARTIAL = "({right} + 0.3 * {q-}) / (1.6 - 0.3 * {p-})"


SOLVERS = ("thomas", "implicit")
"""Kinds that go both ways."""

DATA = {
    **dict.fromkeys("efg", "(0.2 + 0.3 * rng.random(SHAPE)).astype(TYPE)"),
    "Q": "(1.0 + rng.random(SHAPE)).astype(TYPE)",
}
"""Coefficients with which nothing grows."""


class _Way:
    """One loop over the elements of all lines, and what it does to each."""

    def __init__(self, indices: str, axis: int, sign: int, grids: Sequence[str]) -> None:
        self.indices, self.axis, self.sign = indices, axis, sign
        self.names = dict(zip("uv", grids, strict=True)) | {n: n.upper() for n in "pqPQ"}

    def at(self, name: str, step: int = 0, axis: int | None = None) -> str:
        axis = self.axis if axis is None else axis
        places = [plus(i, step * (a == axis)) for a, i in enumerate(self.indices)]
        return element(self.names[name], places)

    def told(self, pattern: str, right: str = "") -> str:
        """`pattern` with elements in place of its names."""
        found = pattern.replace("{a}", self.indices[self.axis]).replace("{right}", right)
        for name in self.names:
            for mark, step in (("-", -1), ("+", 1), ("", 0)):
                found = found.replace(f"{{{name}{mark}}}", self.at(name, step))
        return found


def _statements(choice: Choice, way: _Way) -> list[str]:
    kind = choice["kind"]
    up, down = KINDS[kind]
    if way.sign < 0 or up:
        pattern = up if way.sign > 0 else down
        if choice["operands"] == "swapped" and " + " in pattern:
            pattern = " + ".join(reversed(pattern.split(" + ")))
        return [f"{way.at('u')} = {way.told(pattern)}"]
    right = way.at("u")
    if kind == "implicit":
        across = (way.axis + 1) % len(way.indices)
        near = [way.at("v", -1, across), way.at("v", 1, across)]
        if choice["operands"] == "swapped":
            near.reverse()
        right = f"(0.4 * {way.at('v')} + 0.3 * {near[0]} + 0.3 * {near[1]})"
    return [
        f"{way.at('p')} = {way.told(QUOTIENT)}",
        f"{way.at('q')} = {way.told(PARTIAL, right)}",
    ]


def write(choice: Choice) -> Program:
    kind, axes = choice["kind"], choice["axes"]
    indices = "ijk"[: len(axes)]
    work = {"thomas": "PQ", "implicit": "PQ", "fields": "PQ"}.get(kind, "")
    grids = ["U", "V"] if kind in ("implicit", "transfer") else ["U", "U"]
    arrays: dict[str, Sequence[str]] = dict.fromkeys([*grids, *work], indices)
    code = Code()
    if kind == "solve":
        arrays |= {f"{name}{n}": index for n, index in enumerate(indices) for name in "efg"}
    code.loop("t", "n")
    for number, axis in enumerate(indices.index(index) for index in axes):
        grid = grids if number % 2 == 0 else grids[::-1]
        _pass(code, choice, indices, axis, number, grid, arrays)
    across = choice["joint"] == "across"  # no element waits for the one before it
    ways = 1 if choice["ways"] == "up" and kind not in SOLVERS else 2
    return Program(
        arrays=arrays,
        body=code.lines,
        loops=indices,
        cost=STEPS * len(axes) * ways * (4.0 if work else 2.0) / (3 if across else 1),
        fixed={"n": STEPS},
        counts=("n",),
        data={name: DATA[name[0]] for name in arrays if name[0] in DATA},
    )


def _pass(
    code: Code,
    choice: Choice,
    indices: str,
    axis: int,
    number: int,
    grids: Sequence[str],
    arrays: dict[str, Sequence[str]],
) -> None:
    """All lines along one axis, up and perhaps down."""
    kind = choice["kind"]
    signs = [1, -1] if kind in SOLVERS or choice["ways"] == "both" else [1]
    across = kind == "implicit"
    joint = choice["joint"] == "line"
    for sign in signs:
        # Variables of their own: docc 0.8 shares those that several loops use between threads.
        place = 2 * number + (sign < 0)
        lines = 2 * number + (sign < 0 and not joint)
        names = {index: f"{index}{place if index == indices[axis] else lines}" for index in indices}
        way = _Way(indices, axis, sign, grids)
        rest = [index for index in indices if index != indices[axis]]
        loops = [*rest, indices[axis]] if choice["joint"] != "across" else [indices[axis], *rest]
        begin = 1 if not joint or sign > 0 else 1 + len(rest)
        code.depth = begin
        for index in loops if begin == 1 else loops[-1:]:
            size = extent(index, arrays)
            if index == indices[axis]:
                bounds = f"1, {size} - 1" if sign > 0 else f"{size} - 2, 0, -1"
            else:
                bounds = f"1, {size} - 1" if across else size
            code.loop(names[index], bounds)
        for statement in _statements(choice, way):
            code.add(_spelled(statement, names, axis))


def _spelled(statement: str, names: dict[str, str], axis: int) -> str:
    found = re.sub(r"\b[ijk]\b", lambda match: names[match.group()], statement)
    return re.sub(r"\b([efg])\[", rf"\g<1>{axis}[", found)


FAMILY = Family(
    name="alternating",
    about="lines along one axis after the other",
    work={
        "kind": tuple(KINDS),
        "axes": (*orders("ij") * 4, *orders("ijk")),
        "ways": lambda choice: ("both",) if choice["kind"] in SOLVERS else ("both", "up"),
    },
    writing={"joint": ("line", "apart", "across"), "operands": ("given", "swapped")},
    write=write,
)
