"""Factorisations and substitutions in place, without pivoting, in their various loop orders.

The variants of LU, Cholesky, LDL^T, Gram-Schmidt, substitution and inversion are those of G. H.
Golub and C. F. Van Loan, Matrix Computations (chapters 3 to 5), and of J. J. Dongarra, F. G.
Gustavson and A. Karp, Implementing linear algebra algorithms for dense matrices on a vector
pipeline machine, SIAM Review 26, 1984.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from loopbook.workloads.synthetic.family import Choice, Family, subsets
from loopbook.workloads.synthetic.program import Code, Program, extent

PATTERNS: dict[str, Sequence[str]] = {
    # Each line: depth, then a loop "index: bounds" or a statement.
    "luouter": (
        "0 k: N", "1 i: k + 1, N", "2 w[i] = A[i, k] / A[k, k]", "1 l: k + 1, N",
        "2 d[l] = A[k, l]", "1 p: k + 1, N", "2 A[p, k] = w[p]",
        "1 r: k + 1, N", "2 j: k + 1, N", "3 A[r, j] -= w[r] * d[j]",
    ),
    "luturned": (
        "0 k: N", "1 i: k + 1, N", "2 w[i] = A[i, k] / A[k, k]", "1 l: k + 1, N",
        "2 d[l] = A[k, l]", "1 p: k + 1, N", "2 A[p, k] = w[p]",
        "1 j: k + 1, N", "2 r: k + 1, N", "3 A[r, j] -= w[r] * d[j]",
    ),
    "ulouter": (
        "0 k: N - 1, -1, -1", "1 i: k", "2 w[i] = A[i, k] / A[k, k]", "1 l: k",
        "2 d[l] = A[k, l]", "1 p: k", "2 A[p, k] = w[p]",
        "1 r: k", "2 j: k", "3 A[r, j] -= w[r] * d[j]",
    ),
    "lucolumns": (
        "0 j: N", "1 i: N", "2 w[i] = A[i, j]", "1 k: j", "2 above = w[k]", "2 l: k + 1, N",
        "3 w[l] -= A[l, k] * above", "1 p: j + 1", "2 A[p, j] = w[p]",
        "1 q: j + 1, N", "2 A[q, j] = w[q] / w[j]",
    ),
    "cholouter": (
        "0 k: N", "1 d[k] = np.sqrt(A[k, k])", "1 i: k + 1, N", "2 w[i] = A[i, k] / d[k]",
        "1 A[k, k] = d[k]", "1 l: k + 1, N", "2 A[l, k] = w[l]",
        "1 r: k + 1, N", "2 j: k + 1, r + 1", "3 A[r, j] -= w[r] * w[j]",
    ),
    "cholcolumns": (
        "0 j: N", "1 i: j, N", "2 w[i] = A[i, j]", "1 k: j", "2 l: j, N",
        "3 w[l] -= A[l, k] * A[j, k]", "1 p: j, N", "2 A[p, j] = w[p] / np.sqrt(w[j])",
    ),
    "choldots": (
        "0 j: N", "1 i: j, N", "2 w[i] = A[i, j]", "2 k: j", "3 w[i] -= A[i, k] * A[j, k]",
        "1 p: j, N", "2 A[p, j] = w[p] / np.sqrt(w[j])",
    ),
    "cholback": (
        "0 i: N - 1, -1, -1", "1 j: N - 1, i, -1", "2 k: j + 1, N",
        "3 A[i, j] -= A[i, k] * A[j, k]", "2 A[i, j] = A[i, j] / A[j, j]",
        "1 p: i + 1, N", "2 A[i, i] -= A[i, p] * A[i, p]", "1 A[i, i] = np.sqrt(A[i, i])",
    ),
    "ldlouter": (
        "0 k: N", "1 d[k] = A[k, k]", "1 i: k + 1, N", "2 w[i] = A[i, k]",
        "1 r: k + 1, N", "2 j: k + 1, r + 1", "3 A[r, j] -= w[r] * w[j] / d[k]",
        "1 l: k + 1, N", "2 A[l, k] = w[l] / d[k]",
    ),
    "ldlrows": (
        "0 i: N", "1 j: i", "2 k: j", "3 A[i, j] -= A[i, k] * A[j, k]",
        "1 d[i] = A[i, i]", "1 p: i", "2 w[p] = A[i, p] / d[p]", "2 d[i] -= A[i, p] * w[p]",
        "1 q: i", "2 A[i, q] = w[q]",
    ),
    "forwardcolumns": (
        "0 k: N", "1 w[k] = x[k] / A[k, k]", "1 i: k + 1, N", "2 x[i] -= A[i, k] * w[k]",
    ),
    "backwardcolumns": (
        "0 k: N - 1, -1, -1", "1 w[k] = x[k] / A[k, k]", "1 i: k", "2 x[i] -= A[i, k] * w[k]",
    ),
    "leftouter": (
        "0 k: N", "1 j: M", "2 y[j] = B[k, j] / A[k, k]", "1 p: M", "2 B[k, p] = y[p]",
        "1 i: k + 1, N", "2 l: M", "3 B[i, l] -= A[i, k] * y[l]",
    ),
    "rightouter": (
        "0 j: N", "1 i: M", "2 y[i] = C[i, j] / A[j, j]", "1 p: M", "2 C[p, j] = y[p]",
        "1 k: j + 1, N", "2 l: M", "3 C[l, k] -= y[l] * A[k, j]",
    ),
    "crout": (
        "0 k: N", "1 i: k, N", "2 p: k", "3 A[i, k] -= A[i, p] * A[p, k]",
        "1 j: k + 1, N", "2 q: k", "3 A[k, j] -= A[k, q] * A[q, j]",
        "2 A[k, j] = A[k, j] / A[k, k]",
    ),
    "ldlleft": (
        "0 j: N", "1 k: j", "2 w[k] = A[j, k] * d[k]",
        "1 p: j", "2 A[j, j] -= A[j, p] * w[p]", "1 d[j] = A[j, j]",
        "1 i: j + 1, N", "2 q: j", "3 A[i, j] -= A[i, q] * w[q]",
        "2 A[i, j] = A[i, j] / d[j]",
    ),
    "modified": (
        "0 k: M", "1 d[k] = 0.0", "1 i: N", "2 d[k] += Q[i, k] * Q[i, k]",
        "1 d[k] = np.sqrt(d[k])", "1 p: N", "2 Q[p, k] = Q[p, k] / d[k]",
        "1 j: k + 1, M", "2 R[k, j] = 0.0", "2 q: N", "3 R[k, j] += Q[q, k] * Q[q, j]",
        "2 r: N", "3 Q[r, j] -= Q[r, k] * R[k, j]",
    ),
    "classical": (
        "0 k: M", "1 j: k", "2 R[j, k] = 0.0", "2 i: N", "3 R[j, k] += Q[i, j] * Q[i, k]",
        "1 l: k", "2 p: N", "3 Q[p, k] -= Q[p, l] * R[l, k]",
        "1 d[k] = 0.0", "1 q: N", "2 d[k] += Q[q, k] * Q[q, k]",
        "1 r: N", "2 Q[r, k] = Q[r, k] / np.sqrt(d[k])",
    ),
    "forward": (
        "0 i: N", "1 k: i", "2 x[i] -= A[i, k] * x[k]", "1 x[i] = x[i] / A[i, i]",
    ),
    "forwardunit": ("0 i: N", "1 k: i", "2 x[i] -= 0.01 * A[i, k] * x[k]"),
    "backward": (
        "0 i: N - 1, -1, -1", "1 k: i + 1, N", "2 x[i] -= A[i, k] * x[k]",
        "1 x[i] = x[i] / A[i, i]",
    ),
    "leftmany": (
        "0 i: N", "1 k: i", "2 j: M", "3 B[i, j] -= A[i, k] * B[k, j]",
        "1 l: M", "2 B[i, l] = B[i, l] / A[i, i]",
    ),
    "leftmanyback": (
        "0 i: N - 1, -1, -1", "1 k: i + 1, N", "2 j: M", "3 B[i, j] -= A[i, k] * B[k, j]",
        "1 l: M", "2 B[i, l] = B[i, l] / A[i, i]",
    ),
    "rightmany": (
        "0 i: M", "1 j: N", "2 k: j", "3 C[i, j] -= C[i, k] * A[j, k]",
        "2 C[i, j] = C[i, j] / A[j, j]",
    ),
    "invertrows": (
        "0 j: N", "1 G[j, j] = 1.0 / A[j, j]", "1 i: j + 1, N", "2 G[i, j] = 0.0",
        "2 k: j, i", "3 G[i, j] -= A[i, k] * G[k, j]", "2 G[i, j] = G[i, j] / A[i, i]",
    ),
    "gaussjordan": (
        "0 k: N", "1 j: M", "2 B[k, j] = B[k, j] / A[k, k]",
        "1 i: N", "2 if i != k", "3 l: M", "4 B[i, l] -= A[i, k] * B[k, l] * 0.01",
    ),
    "bidiagonal": (
        "0 j: M", "1 i: 1, N", "2 B[i, j] = (B[i, j] - a[i] * B[i - 1, j]) / c[i]",
        "1 k: N - 2, -1, -1", "2 B[k, j] -= 0.2 * a[k] * B[k + 1, j]",
    ),
    "tridiagonal": (
        "0 i: 1, N", "1 c[i] -= a[i] * a[i - 1] / c[i - 1]",
        "1 j: M", "2 B[i, j] -= a[i] * B[i - 1, j] / c[i - 1]",
        "0 k: N - 2, -1, -1", "1 l: M", "2 B[k, l] = (B[k, l] - a[k] * B[k + 1, l]) / c[k]",
    ),
}  # fmt: skip
"""Lines with their depth: loops, over ``N`` rows and ``M`` columns, and statements. Factors of
``A`` replace it, ``Q`` has orthogonal columns in the end, ``B`` and ``C`` are many right sides.

Outer products copy what they take from ``A`` first: without that their loops, which docc calls
parallel, look as if they overwrote what they read (`loopbook.dependence.missed`)."""

AXES: dict[str, Sequence[str]] = {
    "A": "ii", "B": "ij", "C": "ji", "G": "ii", "Q": ("2 * j", "j"), "R": "jj",
    "a": "i", "c": "i", "x": "i", "y": "j",
}  # fmt: skip

DATA = {
    "A": "(0.5 + rng.random(SHAPE) + 2 * i * np.eye(i)).astype(TYPE)",
    "c": "(4.0 + rng.random(SHAPE)).astype(TYPE)",
}
"""Values with which the diagonal outweighs the rest of its row."""


COSTS = {"iii": 0.08, "iij": 0.1, "jjj": 2.0, "ii": 0.5, "ij": 4.0}
"""Loops to the work in one iteration; part of them is left out by the bounds."""

_LOOP = re.compile(r"(\w): (.*)")
_DIVISION = re.compile(r" / (\w\[[^]]*\])$")


def _matrices(pattern: str) -> list[str]:
    text = " ".join(PATTERNS[pattern])
    return [name for name in AXES if name.isupper() and f"{name}[" in text]


def _turned(choice: Choice) -> tuple[str, ...]:
    """Which matrices are stored the other way round."""
    matrices = _matrices(choice["pattern"])
    return subsets(matrices)


def _divisions(choice: Choice) -> tuple[str, ...]:
    """Whether a loop divides by what stays the same in it, or multiplies with its reciprocal."""
    given = PATTERNS[choice["pattern"]]
    for head, line in pairwise(given):
        loop, division = _LOOP.fullmatch(head[2:]), _DIVISION.search(line)
        if loop and division and loop[1] not in re.findall(r"\w+", division[1]):
            return ("divided", "reciprocal")
    return ("divided",)


def _sums(choice: Choice) -> tuple[str, ...]:
    """Whether sums over an innermost loop are kept in a local variable."""
    return ("element", "scalar") if _summed(PATTERNS[choice["pattern"]]) else ("element",)


def _summed(given: Sequence[str]) -> list[int]:
    """Places of the loops whose only statement adds to one element."""
    found = []
    for place, (head, line) in enumerate(pairwise(given)):
        loop = _LOOP.fullmatch(head[2:])
        after = given[place + 2] if place + 2 < len(given) else "0"
        alone = line[0] > head[0] and after[0] < line[0] and re.search(r" [-+]= ", line)
        if loop and alone and loop[1] not in re.findall(r"\w+", _target(line[2:])):
            found.append(place)
    return found


def write(choice: Choice) -> Program:
    given, turned = PATTERNS[choice["pattern"]], choice["turned"].strip("0")
    arrays = _arrays(given, turned)
    summed = _summed(given) if choice["sums"] == "scalar" else []
    code = Code()
    for place, line in enumerate(given):
        code.depth, rest = int(line[0]), _flipped(line[2:], turned)
        following = _flipped(given[place + 1][2:], turned) if place + 1 < len(given) else ""
        if loop := _LOOP.fullmatch(rest):
            if place in summed:
                code.add(f"total = {_target(following)}")
            if pivot := _pivot(choice, following, loop[1]):
                code.add(f"pivot = 1.0 / {pivot}")
            code.loop(loop[1], _bounds(loop[2], arrays))
        elif rest.startswith("if "):
            code.open(rest)
        elif place - 1 in summed:
            code.add(rest.replace(_target(rest), "total", 1))
            code.depth -= 1
            code.add(f"{_target(rest)} = total")
        else:
            inside = _LOOP.fullmatch(given[place - 1][2:])
            pivot = _pivot(choice, rest, inside[1]) if inside else ""
            code.add(rest.replace(f"/ {pivot}", "* pivot") if pivot else rest)
    loops = _loops(given, arrays)
    return Program(
        arrays=arrays,
        body=code.lines,
        loops=loops,
        cost=COSTS[loops],
        data={name: data for name, data in DATA.items() if name in arrays},
    )


def _arrays(given: Sequence[str], turned: str) -> dict[str, Sequence[str]]:
    text = " ".join(given)
    found = {name: axes for name, axes in AXES.items() if f"{name}[" in text}
    columns = "j" if "Q" in found else "i"
    found |= {name: (columns,) for name in "dw" if f"{name}[" in text}
    return {name: axes[::-1] if name in turned else axes for name, axes in found.items()}


def _loops(given: Sequence[str], arrays: dict[str, Sequence[str]]) -> str:
    """Sizes of the loops around the innermost statement."""
    depth = len({line[0] for line in given if _LOOP.fullmatch(line[2:])})
    if "Q" in arrays:
        return "jjj"
    if "B" in arrays or "C" in arrays:
        return "iij" if depth == 3 else "ij"
    return "i" * depth


def _bounds(bounds: str, arrays: dict[str, Sequence[str]]) -> str:
    """Source text of a loop's bounds, with array shapes for ``N`` and ``M``."""
    rows = "2 * j" if "Q" in arrays else "i"
    sizes = {"N": rows, "M": "j"}
    return re.sub(r"\b[NM]\b", lambda found: extent(sizes[found.group()], arrays), bounds)


def _flipped(line: str, turned: str) -> str:
    for name in turned:
        line = re.sub(rf"\b{name}\[([^],]*), ([^]]*)\]", rf"{name}[\2, \1]", line)
    return line


def _target(statement: str) -> str:
    return re.split(r" \S?= ", statement)[0]


def _pivot(choice: Choice, statement: str, index: str) -> str:
    """What `statement` divides by in each step of its loop, if its reciprocal is to be kept."""
    found = _DIVISION.search(statement)
    kept = (
        found and choice["division"] == "reciprocal" and index not in re.findall(r"\w+", found[1])
    )
    return found[1] if found and kept else ""


FAMILY = Family(
    name="factorisation",
    about="a factorisation or a substitution in place",
    work={"pattern": tuple(PATTERNS), "turned": _turned, "division": _divisions},
    writing={"sums": _sums},
    write=write,
)
