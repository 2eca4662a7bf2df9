"""Work on all pairs of rows, each pair once: products with a symmetric matrix of which one half is
stored, and forces between bodies."""

from __future__ import annotations

import re
from dataclasses import dataclass

from loopbook.workloads.synthetic.family import Choice, Family
from loopbook.workloads.synthetic.program import Code, Program


@dataclass(frozen=True)
class Pairs:
    """What is done for a pair of rows, ``i`` and ``k``.

    Attributes:
        mine, other: what row ``i`` and row ``k`` get of it.
        result: the array that they get it in, with ROW in place of the row.
        own: what row ``i`` gets of itself; empty for nothing.
        arrays: name to the axes of each array.
        before: a statement that both shares need.
        free: whether there is a loop over columns ``j`` as well.
    """

    mine: str
    other: str
    result: str
    own: str
    arrays: dict[str, str]
    before: str = ""
    free: bool = False


_MATRIX = {"A": "ii", "B": "ij", "C": "ij"}
_TURNED = {"A": "ii", "B": "ji", "C": "ji"}
_VECTOR = {"A": "ii", "x": "i", "y": "i"}

PATTERNS = {
    "left": Pairs("B[k, j] * A[i, k]", "B[i, j] * A[i, k]", "C[ROW, j]", "B[i, j] * A[i, i]",
                  _MATRIX, free=True),
    "right": Pairs("B[j, k] * A[i, k]", "B[j, i] * A[i, k]", "C[j, ROW]", "B[j, i] * A[i, i]",
                   _TURNED, free=True),
    "skewleft": Pairs("B[k, j] * A[i, k]", "-B[i, j] * A[i, k]", "C[ROW, j]", "",
                      _MATRIX, free=True),
    "hadamard": Pairs("A[i, k] * B[i, k] * x[k]", "A[i, k] * B[i, k] * x[i]", "y[ROW]",
                      "A[i, i] * B[i, i] * x[i]", {**_VECTOR, "B": "ii"}),
    "vector": Pairs("A[i, k] * x[k]", "A[i, k] * x[i]", "y[ROW]", "A[i, i] * x[i]", _VECTOR),
    "skew": Pairs("A[i, k] * x[k]", "-A[i, k] * x[i]", "y[ROW]", "", _VECTOR),
    "laplacian": Pairs("A[i, k] * (x[k] - x[i])", "A[i, k] * (x[i] - x[k])", "y[ROW]", "", _VECTOR),
    "bodies": Pairs("force * w[k]", "-force * w[i]", "y[ROW]", "",
                    {"x": "i", "y": "i", "w": "i"},
                    before="force = (x[k] - x[i]) / (0.1 + (x[k] - x[i]) * (x[k] - x[i]))"),
    "columns": Pairs("A[i, k] * (B[k, j] - B[i, j])", "A[i, k] * (B[i, j] - B[k, j])",
                     "C[ROW, j]", "", _MATRIX, free=True),
}  # fmt: skip


def _orders(choice: Choice) -> tuple[str, ...]:
    """Orders of the loops. A sum in a scalar is over the pairs of one row and column; without
    columns, or with the sum in the array, they may be innermost."""
    if not PATTERNS[choice["pattern"]].free:
        return ("ik",)
    return ("ijk", "jik") if choice["sum"] == "scalar" else ("ijk", "jik", "ikj")


def _first(choice: Choice) -> tuple[str, ...]:
    """Which share is computed first. docc 0.8 loses the sum in a scalar that comes second."""
    one = choice["sum"] == "scalar" and choice["loops"] == "one"
    return ("mine",) if one else ("mine", "other")


def write(choice: Choice) -> Program:
    pairs, order = PATTERNS[choice["pattern"]], choice["order"]
    mine = pairs.result.replace("ROW", "i")
    sums = "total" if choice["sum"] == "scalar" else mine
    code = Code()
    bounds = {
        "i": "A.shape[0]" if "A" in pairs.arrays else "x.shape[0]",
        "j": f"B.shape[{pairs.arrays.get('B', 'j').index('j') if pairs.free else 0}]",
    }
    bounds["k"] = "i" if choice["half"] == "lower" else f"i + 1, {bounds['i']}"
    place = order.index("k")
    for index in order[:place]:
        code.loop(index, bounds[index])
    depth = code.depth
    _begin(code, choice, mine)
    shares = [
        f"{sums} += {pairs.mine}",
        f"{pairs.result.replace('ROW', 'k')} += {pairs.other}",
    ]
    if choice["first"] == "other":
        shares.reverse()
    parts = [shares] if choice["loops"] == "one" else [[share] for share in shares]
    for number, part in enumerate(parts):
        code.depth = depth
        lines = [pairs.before, *part] if pairs.before else part
        for index in order[place:]:
            # A variable of its own: docc 0.8 shares one that several loops use between threads.
            fresh = f"{index}{number + 1}" if number else index
            lines = [re.sub(rf"\b{index}\b", fresh, line) for line in lines]
            code.loop(fresh, bounds[index])
        for line in lines:
            code.add(line)
    code.depth = depth
    _end(code, choice, pairs, mine, bounds)
    return Program(
        arrays={name: tuple(axes) for name, axes in pairs.arrays.items()},
        body=code.lines,
        loops=("i", "i", "j") if pairs.free else ("i", "i"),
        cost=4.0 if pairs.before else 1.0,
    )


def _begin(code: Code, choice: Choice, mine: str) -> None:
    if choice["sum"] == "scalar":
        code.add("total = 0.0")
    elif choice["end"] == "scaled" and not choice["order"].endswith("kj"):
        code.add(f"{mine} *= 0.75")


def _end(code: Code, choice: Choice, pairs: Pairs, mine: str, bounds: dict[str, str]) -> None:
    """What a row gets of itself, and its sum where that is not there yet."""
    shares = [pairs.own] if pairs.own else []
    if choice["sum"] == "scalar":
        shares.append("total")
    if not shares:
        return
    if choice["order"].endswith("kj"):
        code.loop("j3", bounds["j"])
        shares = [re.sub(r"\bj\b", "j3", share) for share in shares]
        mine = re.sub(r"\bj\b", "j3", mine)
    old = f"0.75 * {mine}" if choice["end"] == "scaled" and choice["sum"] == "scalar" else mine
    code.add(f"{mine} = {' + '.join([old, *shares])}")


FAMILY = Family(
    name="symmetric",
    about="work on pairs of rows, each once",
    work={
        "pattern": tuple(PATTERNS),
        "half": ("lower", "upper"),
        "end": ("added", "scaled"),
    },
    writing={
        "sum": ("scalar", "element"),
        "loops": ("one", "one", "two"),
        "first": _first,
        "order": _orders,
    },
    write=write,
)
