"""Sums over neighbours in one to three dimensions, out of place."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from loopbook.workloads.synthetic.family import Choice, Family, orders
from loopbook.workloads.synthetic.program import Code, Program, element, extent, plus

Point = tuple[int, ...]

STEPS = 10


def neighbours(dims: int, shape: str, radius: int) -> list[Point]:
    """The points that a stencil reads, relative to the one that it writes.

    Args:
        shape: "star" (along the axes), "box", "diagonal", "ahead" or "behind" (one side only),
            "line" (along the last axis), "column" (along the first).
    """
    centre: Point = (0,) * dims
    reach = [step for step in range(-radius, radius + 1) if step]
    if shape == "box":
        return list(product(range(-radius, radius + 1), repeat=dims))
    if shape == "diagonal":
        return [centre, *((step,) * dims for step in reach)]
    axes = {"line": [dims - 1], "column": [0]}.get(shape, list(range(dims)))
    if shape in ("ahead", "behind"):
        reach = [step for step in reach if (step > 0) == (shape == "ahead")]
    found: list[Point] = [centre]
    for axis in axes:
        found += [(*centre[:axis], step, *centre[axis + 1 :]) for step in reach]
    return found


def _shapes(choice: Choice) -> tuple[str, ...]:
    if choice["dims"] == "1":
        return ("star", "star", "ahead", "behind")
    return ("star", "star", "star", "box", "diagonal", "ahead", "behind", "line", "column")


def _radii(choice: Choice) -> tuple[str, ...]:
    """Boxes grow fast: in three dimensions, one of radius two has 125 points."""
    if choice["shape"] == "box":
        return ("1", "2") if choice["dims"] == "2" else ("1",)
    return ("1", "1", "2", "3", "4")


def weighted(points: Sequence[Point], indices: str, base: int, weights: str) -> str:
    """Source text of the sum.

    Args:
        base: what is added to all indices.
        weights: "one" for all, "each" with its own constant, "array" of a filter's weights,
            "field" with a coefficient for every point of the grid.
    """
    terms = []
    for number, point in enumerate(points):
        place = [plus(i, base + p) for i, p in zip(indices, point, strict=True)]
        term = element("A", place)
        if weights == "each":
            term = f"{round(0.9 / (number + 2), 4)} * {term}"
        elif weights == "array":
            term = f"W[{number}] * {term}"
        terms.append(term)
    total = " + ".join(terms)
    if weights == "one":
        return f"{round(1 / len(points), 4)} * ({total})"
    if weights == "field":
        return f"{element('W', [plus(i, base) for i in indices])} * ({total})"
    return total


def write(choice: Choice) -> Program:
    dims, radius, weights = int(choice["dims"]), int(choice["radius"]), choice["weights"]
    indices = "ijk"[:dims]
    points = neighbours(dims, choice["shape"], radius)
    if choice["operands"] == "swapped":
        points.reverse()
    arrays: dict[str, Sequence[str]] = {"A": indices, "B": indices}
    if weights in ("array", "field"):
        arrays["W"] = indices if weights == "field" else (str(len(points)),)
    timed = choice["sweeps"] != "single"
    code = Code()
    if timed:
        code.loop("t", "n")
    base = radius if choice["bounds"] == "zero" else 0
    outermost = code.depth
    for index in choice["order"]:
        size = extent(index, arrays)
        code.loop(index, f"{size} - {2 * radius}" if base else f"{radius}, {size} - {radius}")
    target = element("B", [plus(index, base) for index in indices])
    value = weighted(points, indices, base, weights)
    code.add(f"{target} = {f'{target} + {value}' if choice['kind'] == 'add' else value}")
    if choice["sweeps"] == "copied":
        code.depth = outermost
        for index in choice["order"]:
            code.loop(f"{index}2", f"{radius}, {extent(index, arrays)} - {radius}")
        back = [f"{index}2" for index in indices]
        code.add(f"{element('A', back)} = {element('B', back)}")
    return Program(
        arrays=arrays,
        body=code.lines,
        loops=indices,
        cost=len(points) * (STEPS if timed else 1) * 0.5,
        reference=_reference(choice, points, radius),
        fixed={"n": STEPS} if timed else {},
        counts=("n",) if timed else (),
        data={"W": f"np.linspace(0.2, 0.4, {len(points)}).astype(TYPE)"}
        if weights == "array"
        else {},
    )


def _reference(choice: Choice, points: Sequence[Point], radius: int) -> list[str]:
    """The same with slices."""
    weights = choice["weights"]

    def part(array: str, point: Point) -> str:
        slices = [f"{radius + p}:{array}.shape[{a}] - {radius - p}" for a, p in enumerate(point)]
        return f"{array}[{', '.join(slices)}]"

    centre = (0,) * len(points[0])
    terms = []
    for number, point in enumerate(points):
        factor = {"each": f"{round(0.9 / (number + 2), 4)} * ", "array": f"W[{number}] * "}
        terms.append(factor.get(weights, "") + part("A", point))
    value = " + ".join(terms)
    if weights == "one":
        value = f"{round(1 / len(points), 4)} * ({value})"
    if weights == "field":
        value = f"{part('W', centre)} * ({value})"
    sets = "+=" if choice["kind"] == "add" else "="
    lines = [f"{part('B', centre)} {sets} {value}"]
    if choice["sweeps"] == "copied":
        lines.append(f"{part('A', centre)} = {part('B', centre)}")
    if choice["sweeps"] == "single":
        return lines
    return ["for _ in range(n):", *(f"    {line}" for line in lines)]


FAMILY = Family(
    name="stencil",
    about="sums over neighbours",
    work={
        "dims": ("1", "2", "2", "3", "3"),
        "shape": _shapes,
        "radius": _radii,
        "weights": ("one", "one", "each", "array", "field"),
        "kind": ("set", "set", "add"),
        "sweeps": ("single", "single", "copied"),
    },
    writing={
        "order": lambda choice: orders("ijk"[: int(choice["dims"])]),
        "bounds": ("inner", "zero"),
        "operands": ("given", "swapped"),
    },
    write=write,
)
