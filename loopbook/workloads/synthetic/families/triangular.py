"""Loops over triangles: symmetric updates, products, solvers, factorisations."""

from __future__ import annotations

import re
from collections.abc import Sequence

from loopbook.workloads.synthetic.family import Choice, Family, subsets
from loopbook.workloads.synthetic.program import Code, Program, extent

PATTERNS = {
    "syrk": ("C[i, j] += A[i, k] * A[j, k]", "itk"),
    "syr2k": ("C[i, j] += A[i, k] * B[j, k] + B[i, k] * A[j, k]", "itk"),
    "weighted": ("C[i, j] += A[i, k] * w[k] * A[j, k]", "itk"),
    "product": ("C[i, j] += A[i, k] * B[k, j]", "itk"),
    "trmm": ("C[i, j] += A[i, k] * B[k, j]", "ijT"),
    "trmmright": ("C[i, j] += B[i, k] * A[k, j]", "ijR"),
    "twice": ("C[i, j] += A[i, k] * B[k, j]", "itT"),
    "syr": ("C[i, j] += x[i] * x[j]", "it"),
    "syr2": ("C[i, j] += x[i] * y[j] + y[i] * x[j]", "it"),
    "copy": ("C[i, j] = A[i, j]", "it"),
    "symmetrise": ("C[i, j] = 0.5 * (A[i, j] + A[j, i])", "it"),
    "add": ("C[i, j] += 0.5 * A[i, j]", "it"),
    "trmv": ("x[i] += A[i, j] * y[j]", "it"),
    "trmvback": ("x[j] += A[i, j] * y[i]", "it"),
    "rowsum": ("x[i] += A[i, j] * A[i, j]", "it"),
    "solve": ("x[i] -= 0.001 * A[i, j] * x[j]", "it"),
    "solvemany": ("C[i, j] -= 0.001 * A[i, k] * C[k, j]", "ijT"),
    "eliminate": ("C[i, j] -= 0.001 * C[i, k] * C[k, j]", "kSs"),
    "cholesky": ("C[i, j] -= 0.001 * C[i, k] * C[j, k]", "kSt"),
    "batch": ("C[b, i, j] += A[b, i, k] * A[b, j, k]", "bitk"),
    "batchsolve": ("y[b, i] -= 0.001 * A[b, i, j] * y[b, j]", "bit"),
}
"""The statement, and its loops from the outermost on: ``t``, the triangle, is ``j`` up to ``i`` (or
from it on), ``T`` and ``R`` are ``k`` bounded by ``i`` and by ``j``, ``S`` and ``s`` are ``i`` and
``j`` behind ``k``."""

STRICT = ("solve", "solvemany", "batchsolve", "eliminate", "cholesky")
"""Patterns that must leave the diagonal out."""

BATCH = 6

_BOUNDED = {"t": ("j", "i"), "T": ("k", "i"), "R": ("k", "j"), "S": ("i", "k"), "s": ("j", "k")}


def _arrays(pattern: str) -> dict[str, tuple[str, ...]]:
    """Arrays of the pattern's statement to their indices in it."""
    statement, _ = PATTERNS[pattern]
    found = re.findall(r"(\w+)\[([^]]*)\]", statement)
    return {name: tuple(indices.split(", ")) for name, indices in found}


def _turned(choice: Choice) -> tuple[str, ...]:
    """Which matrices are stored the other way round."""
    matrices = [name for name in _arrays(choice["pattern"]) if name.isupper()]
    return subsets(matrices)


def _sides(choice: Choice) -> tuple[str, ...]:
    return ("lower",) if choice["pattern"] in ("eliminate", "cholesky") else ("lower", "upper")


def _diagonals(choice: Choice) -> tuple[str, ...]:
    return ("without",) if choice["pattern"] in STRICT else ("with", "without")


def _orders(choice: Choice) -> tuple[str, ...]:
    """Orders in which every bounded loop is inside the one that bounds it.

    Solvers keep theirs, which is what makes them solvers.
    """
    loops = PATTERNS[choice["pattern"]][1]
    free = [place for place, kind in enumerate(loops) if kind in "k"]
    found = [loops]
    if choice["pattern"] not in STRICT and free:
        rest = loops.replace("k", "")
        found += [rest[:place] + "k" + rest[place:] for place in range(len(rest))]
    if loops == "ijT":
        found += ["iTj"]
    if loops == "ijR" and choice["pattern"] not in STRICT:
        found += ["jRi", "jiR"]
    return tuple(dict.fromkeys(found))


def _bounds(kind: str, choice: Choice, size: str) -> str:
    _, other = _BOUNDED[kind]
    without = choice["diagonal"] == "without"
    if choice["side"] == "upper" or kind in "Ss":
        start = f"{other} + 1" if without else other
        return f"{start}, {size}" if not (kind == "s" and without) else f"{other} + 1, {size}"
    return other if without else f"{other} + 1"


def write(choice: Choice) -> Program:
    pattern, turned = choice["pattern"], choice["turned"]
    statement, _ = PATTERNS[pattern]
    arrays: dict[str, Sequence[str]] = {}
    for name, indices in _arrays(pattern).items():
        arrays[name] = tuple("b" if index == "b" else "i" for index in indices)
    for name in _panels(pattern):
        arrays[name] = ("b", "i", "k") if pattern == "batch" else ("i", "k")
    for name in turned.strip("0"):
        statement = _flipped(statement, name)
        *batch, row, column = arrays[name]
        arrays[name] = (*batch, column, row)
    if "w" in arrays:
        arrays["w"] = ("k",)
    loops, code = choice["order"], Code()
    free = "bk" if any("k" in axes for axes in arrays.values()) else "b"
    letters = [kind if kind in free else "i" for kind in loops]
    for kind, letter in zip(loops, letters, strict=True):
        index, size = _BOUNDED.get(kind, (kind, ""))[0], extent(letter, arrays)
        code.loop(index, _bounds(kind, choice, size) if kind in _BOUNDED else size)
    code.add(statement)
    if choice["end"] == "scaled":
        code.depth = loops.index(_row(loops)) + 1
        own = _own(statement)
        code.add(f"{own} = 0.5 * {own}")
    return Program(
        arrays=arrays,
        body=code.lines,
        loops=letters,
        fixed={"b": BATCH} if "b" in loops else {},
        cost=0.6,
    )


def _panels(pattern: str) -> str:
    """The matrices that need not be square."""
    return {"syrk": "A", "weighted": "A", "syr2k": "AB", "batch": "A"}.get(pattern, "")


def _flipped(statement: str, name: str) -> str:
    """`statement` with the last two indices of an array exchanged."""
    return re.sub(rf"\b{name}\[(b, )?(\w), (\w)\]", rf"{name}[\1\3, \2]", statement)


def _row(loops: str) -> str:
    return "S" if "S" in loops else "i"


def _own(statement: str) -> str:
    """The element of the result that belongs to row i: the diagonal's, of a matrix."""
    target = re.split(r" \S?= ", statement)[0]
    return re.sub(r"\bj\b", "i", target)


def _ends(choice: Choice) -> tuple[str, ...]:
    """Whether each row ends with a statement of its own; only where there are rows."""
    statement, loops = PATTERNS[choice["pattern"]]
    rows = loops.startswith(("it", "bit", "kS")) and "x[j] +=" not in statement
    return ("none", "none", "scaled") if rows else ("none",)


FAMILY = Family(
    name="triangular",
    about="work on a triangle",
    work={
        "pattern": tuple(PATTERNS),
        "turned": _turned,
        "side": _sides,
        "diagonal": _diagonals,
        "end": _ends,
    },
    writing={
        "order": lambda choice: (
            _orders(choice) if choice["end"] == "none" else (PATTERNS[choice["pattern"]][1],)
        ),
    },
    write=write,
)
