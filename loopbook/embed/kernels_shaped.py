"""Synthetic kernels with shapes and orders of their own: triangles, stencils, recurrences."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

from loopbook.embed.kernel_text import (
    LOOPS,
    Kernel,
    Text,
    Writer,
    element,
    finish,
    plus,
    shuffled,
    swapped,
)

_TRIANGULAR = {
    "syrk": ("C[i, j] += A[i, k] * A[j, k]", ("i", "j<=i", "k")),
    "syrk transposed": ("C[i, j] += A[k, i] * A[k, j]", ("i", "j<=i", "k")),
    "syr2k": ("C[i, j] += A[j, k] * B[i, k] + B[j, k] * A[i, k]", ("i", "j<=i", "k")),
    "trmm": ("C[i, j] += A[k, i] * B[k, j]", ("i", "j", "k>i")),
    "trmm lower": ("C[i, j] += A[i, k] * B[k, j]", ("i", "j", "k<i")),
    "symmetric upper": ("C[i, j] += A[i, k] * A[j, k]", ("i", "j>=i", "k")),
    "elimination": ("A[i, j] -= A[i, k] * A[k, j]", ("k", "i>k", "j>k")),
    "outer elimination": ("A[i, j] -= A[i, k] * A[j, k]", ("k", "i>k", "j<=i")),
    "triangular copy": ("C[i, j] = A[i, j]", ("i", "j<=i")),
    "mirror": ("A[j, i] = A[i, j]", ("i", "j<i")),
    "triangular vector": ("x[i] += A[i, j] * y[j]", ("i", "j<=i")),
    "solve": ("x[i] -= A[i, j] * x[j]", ("i", "j<i")),
    "solve transposed": ("x[i] -= A[j, i] * x[j]", ("i", "j<i")),
    "covariance": ("C[i, j] += A[k, i] * A[k, j]", ("i", "j>=i", "k")),
}


def triangular(rng: random.Random) -> Writer:
    """Triangular loops: symmetric updates, solves, eliminations."""
    name = rng.choice(list(_TRIANGULAR))
    statement, loops = _TRIANGULAR[name]
    style = rng.choice(("plain", "plain", "scaled", "divided"))
    divided = style == "divided" and loops[-1] not in ("k",)

    def write(rng: random.Random) -> Kernel:
        arrays = {a: ("i", "i") for a in "ABC" if f"{a}[" in statement}
        vectors = {a: ("i",) for a in "xy" if f"{a}[" in statement}
        text = Text(shuffled([*arrays, *vectors], rng))
        size = f"{next(iter(arrays))}.shape[0]"
        order = list(loops)
        if rng.random() < 0.5 and order[-1] == "k":
            order = [order[0], "k", *order[1:-1]]
        for loop in order:
            index, relation, other = loop[0], loop[1:-1], loop[-1]
            bounds = {
                "": size,
                "<": other,
                "<=": f"{other} + 1",
                ">": f"{other} + 1, {size}",
                ">=": f"{other}, {size}",
            }[relation if len(loop) > 1 else ""]
            text.loop(index, bounds)
        line = statement
        if style == "scaled":
            line = line.replace("= ", "= 1.5 * ", 1).replace("1.5 * A[j, k] * B", "A[j, k] * B")
        text.add(swapped(line, rng))
        if divided:
            text.depth -= 1
            index = loops[-2][0]
            target = "x[i]" if "x[i]" in statement else f"{next(iter(arrays))}[{index}, {index}]"
            text.add(f"{target} = {target} / 3.0")
        return finish("triangular " + name, label, text, {**arrays, **vectors}, rng)

    label = f"triangular {name} {'divided' if divided else style}"
    return write


def _neighbours(dimensions: int, shape: str) -> list[tuple[int, ...]]:
    if shape == "box":
        return list(itertools.product((-1, 0, 1), repeat=dimensions))
    reach = {"star": (-1, 1), "wide": (-2, -1, 1, 2), "forward": (1,), "backward": (-1,)}[shape]
    centre = (0,) * dimensions
    found: list[tuple[int, ...]] = [centre]
    for axis in range(dimensions):
        for step in reach:
            found.append((*centre[:axis], step, *centre[axis + 1 :]))
    return found


def stencil(rng: random.Random) -> Writer:
    """Sums over neighbours in one to three dimensions."""
    dimensions = rng.choice((1, 2, 2, 2, 3, 3))
    shape = rng.choice(("star", "star", "box", "wide", "forward", "backward"))
    where = rng.choice(("out", "out", "in place", "swap", "coefficients"))
    timed = where == "swap" or rng.random() < 0.4
    family = f"stencil {dimensions}d {'in place' if where == 'in place' else 'out'}"
    label = f"stencil {dimensions}d {shape} {where} {'timed' if timed else ''}"
    indices = LOOPS[:dimensions]
    points = _neighbours(dimensions, shape)
    reach = max(abs(step) for point in points for step in point)

    def write(rng: random.Random) -> Kernel:
        names = ["A"] if where == "in place" else ["A", "B"]
        if where == "coefficients":
            names.append("W")
        arrays: dict[str, Sequence[str]] = dict.fromkeys(names, indices)
        text = Text(shuffled(names, rng))
        shift = rng.choice((0, reach))
        if timed:
            text.loop("t", "20")
        depth = text.depth

        def sweep(source: str, target: str, order: Sequence[str]) -> None:
            text.depth = depth
            for index in order:
                axis = indices.index(index)
                extent = f"{source}.shape[{axis}]"
                low, high = (reach, f"{extent} - {reach}") if shift else (0, f"{extent} - {reach}")
                if not shift:
                    high = f"{extent} - {2 * reach}"
                text.loop(index, f"{low}, {high}")
            base = 0 if shift else reach

            def at(array: str, point: Sequence[int]) -> str:
                places = [plus(i, base + p) for i, p in zip(indices, point, strict=True)]
                return element(array, places)

            terms = [at(source, point) for point in points]
            rng.shuffle(terms)
            weight = rng.choice(("0.125 * ({})", "({}) * 0.2", "({}) * 0.333"))
            value = weight.format(" + ".join(terms))
            if where == "coefficients":
                value = f"{at('W', (0,) * dimensions)} * ({' + '.join(terms)})"
            text.add(f"{at(target, (0,) * dimensions)} = {value}")

        order = shuffled(indices, rng) if where != "in place" else list(indices)
        sweep("A", "A" if where == "in place" else "B", order)
        if where == "swap":
            sweep("B", "A", order)
        return finish(family, label, text, arrays, rng)

    return write


def recurrence(rng: random.Random) -> Writer:
    """Values that depend on earlier ones along one axis."""
    dimensions = rng.choice((1, 2, 2, 3))
    indices = LOOPS[:dimensions]
    along = rng.choice(indices)
    order = rng.choice((1, 1, 2))
    source = rng.choice(("none", "A", "W"))
    family = f"recurrence {dimensions}d"
    label = f"{family} along {along} order {order} with {source}"

    def write(rng: random.Random) -> Kernel:
        arrays: dict[str, Sequence[str]] = {"x": indices}
        if source == "A":
            arrays["A"] = indices
        if source == "W":
            arrays["W"] = (along,)
        text = Text(shuffled(list(arrays), rng))
        for index in shuffled(indices, rng):
            extent = f"x.shape[{indices.index(index)}]"
            text.loop(index, f"{order}, {extent}" if index == along else extent)
        terms = [
            element("x", [plus(i, -step) if i == along else i for i in indices])
            for step in range(1, order + 1)
        ]
        value = f"0.5 * {terms[0]}" + "".join(f" + 0.25 * {term}" for term in terms[1:])
        if source != "none":
            pair = [value, element(source, arrays[source])]
            rng.shuffle(pair)
            value = " + ".join(pair)
        text.add(f"{element('x', indices)} = {value}")
        return finish(family, label, text, arrays, rng)

    return write


_IMPERFECT = {
    "matvec and transpose": (
        ("i", "tmp = 0.0"),
        ("ij", "tmp += A[i, j] * x[j]"),
        ("ij", "y[j] += A[i, j] * tmp"),
    ),
    "two matvecs": (
        ("i", "y[i] = 0.0"),
        ("ij", "y[i] += A[i, j] * x[j]"),
        ("ij", "z[i] += B[i, j] * x[j]"),
    ),
    "bicg": (("ij", "z[j] += y[i] * A[i, j]"), ("ij", "w[i] += A[i, j] * x[j]")),
    "normalise rows": (
        ("i", "tmp = 0.0"),
        ("ij", "tmp += A[i, j] * A[i, j]"),
        ("ij", "A[i, j] = A[i, j] / tmp"),
    ),
    "centre columns": (
        ("j", "tmp = 0.0"),
        ("ji", "tmp += A[i, j]"),
        ("ji", "A[i, j] = A[i, j] - tmp"),
    ),
    "project": (
        ("k", "x[k] = 0.0"),
        ("ki", "x[k] += A[i, k] * A[i, k]"),
        ("ki", "B[i, k] = A[i, k] / x[k]"),
        ("kij", "A[i, j] -= B[i, k] * x[j]"),
    ),
    "row products": (
        ("ij", "y[j] = 0.0"),
        ("ijk", "y[j] += A[i, k] * B[k, j]"),
        ("ij", "A[i, j] = y[j]"),
    ),
    "shortest paths": (("kij", "A[i, j] = min(A[i, j], A[i, k] + A[k, j])"),),
    "factor": (
        ("ki", "A[i, k] = A[i, k] / A[k, k]"),
        ("kij", "A[i, j] -= A[i, k] * A[k, j]"),
    ),
    "scale then product": (
        ("ij", "C[i, j] *= 1.5"),
        ("ikj", "C[i, j] += A[i, k] * B[k, j]"),
    ),
    "rotate": (
        ("ij", "B[i, j] = A[i, j] + y[j]"),
        ("ij", "A[i, j] = B[i, j] * x[i]"),
    ),
}


def imperfect(rng: random.Random) -> Writer:
    """Several statements at several depths."""
    name = rng.choice(list(_IMPERFECT))
    statements = _IMPERFECT[name]
    renamed = rng.choice(("", " transposed"))

    def write(rng: random.Random) -> Kernel:
        body = "".join(f"{line}\n" for _, line in statements)
        arrays: dict[str, Sequence[str]] = {a: ("i", "i") for a in "ABC" if f"{a}[" in body}
        arrays |= {a: ("i",) for a in "xyzw" if f"{a}[" in body}
        text = Text(shuffled(list(arrays), rng))
        size = f"{next(iter(arrays))}.shape[0]"
        shared = statements[0][0][0]
        text.loop(shared, size)
        for loops, line in statements:
            text.depth = 2
            for index in loops[1:]:
                text.loop(index, size)
            text.add(_transposed(line) if renamed else swapped(line, rng))
        return finish("imperfect " + name, label, text, arrays, rng)

    label = f"imperfect {name}{renamed}"
    return write


def _transposed(line: str) -> str:
    """`line` with the matrix A stored the other way round."""
    for row, column in itertools.permutations("ijk", 2):
        line = line.replace(f"A[{row}, {column}]", f"A<{column}, {row}]")
    return line.replace("A<", "A[")
