"""Stencils in place, whose points are read after some of them have been written: Gauss-Seidel."""

from __future__ import annotations

from collections.abc import Sequence

from loopbook.workloads.synthetic.families.stencil import Point, neighbours
from loopbook.workloads.synthetic.family import Choice, Family, orders
from loopbook.workloads.synthetic.program import Code, Program, element, extent, plus

STEPS = 10

SHAPES = {
    "1": ("star", "ahead", "behind"),
    "2": ("star", "star", "box", "diagonal", "ahead", "behind", "line", "column"),
    "3": ("star", "star", "box", "diagonal", "ahead", "behind", "line", "column"),
}


def _sweeps(choice: Choice) -> tuple[str, ...]:
    """One sweep, or several: with a border that repeats, or as they are.

    Of sweeps without a border, docc 0.8 moves the time loop inwards, which is wrong, unless a star
    or a box of two dimensions or more stops it.
    """
    stops = choice["shape"] in ("star", "box") and choice["dims"] != "1"
    return ("single", "periodic", "several") if stops else ("single", "periodic")


def write(choice: Choice) -> Program:
    dims, radius = int(choice["dims"]), int(choice["radius"])
    indices = "ijk"[:dims]
    points = neighbours(dims, choice["shape"], radius)
    if choice["operands"] == "swapped":
        points.reverse()
    arrays: dict[str, Sequence[str]] = {"A": indices}
    if choice["source"] != "none":
        arrays["W"] = indices
    code = Code()
    timed = choice["sweeps"] != "single"
    if timed:
        code.loop("t", "n")
    for index in choice["order"]:
        code.loop(index, _bounds(choice["way"], extent(index, arrays), radius))
    code.add(f"{element('A', indices)} = {_value(choice, points, indices)}")
    if choice["sweeps"] == "periodic":
        code.depth = 1
        _wrap(code, indices, radius)
    return Program(
        arrays=arrays,
        body=code.lines,
        loops=indices,
        cost=2.0 * len(points) * (STEPS if timed else 1),
        fixed={"n": STEPS} if timed else {},
        counts=("n",) if timed else (),
    )


def _wrap(code: Code, indices: str, radius: int) -> None:
    """Make the first axis periodic: its end is what lies before its beginning.

    It also keeps the time loop outside (see `_sweeps`).
    """
    rest = [f"{index}2" for index in indices[1:]]
    for axis, index in enumerate(rest, 1):
        code.loop(index, f"A.shape[{axis}]")
    last = f"A.shape[0] - {2 * radius}"
    code.add(f"{element('A', ['0', *rest])} = {element('A', [last, *rest])}")


def _bounds(way: str, size: str, radius: int) -> str:
    if way == "down":
        return f"{size} - {radius + 1}, {radius - 1}, -1"
    return f"{radius}, {size} - {radius}"


def _value(choice: Choice, points: Sequence[Point], indices: str) -> str:
    """Source text of the new value; its weights add up to less than one, so that nothing grows."""
    terms = [
        element("A", [plus(i, p) for i, p in zip(indices, point, strict=True)]) for point in points
    ]
    value = f"{round(0.75 / len(points), 4)} * ({' + '.join(terms)})"
    if choice["source"] == "added":
        value += f" + 0.125 * {element('W', indices)}"
    if choice["source"] == "factor":
        value = f"{element('W', indices)} * {value}"
    return value


FAMILY = Family(
    name="sweep",
    about="sums over neighbours in place",
    work={
        "dims": ("1", "2", "2", "3"),
        "shape": lambda choice: SHAPES[choice["dims"]],
        "radius": lambda choice: ("1",) if choice["shape"] == "box" else ("1", "1", "2", "3"),
        "source": ("none", "added", "factor"),
        "sweeps": _sweeps,
        "way": ("up", "up", "down"),
    },
    writing={
        "order": lambda choice: orders("ijk"[: int(choice["dims"])]),
        "operands": ("given", "swapped"),
    },
    write=write,
)
