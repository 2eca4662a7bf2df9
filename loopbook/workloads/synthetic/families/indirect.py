"""Arrays indexed by arrays: gathers, scatters, histograms, sparse matrices, look-up tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from loopbook.workloads.synthetic.family import Choice, Family
from loopbook.workloads.synthetic.program import Code, Program, extent

ANY = "rng.integers(0, {0}, SHAPE)"
"""Indices of rows, any of them."""
EACH = "rng.permutation({0})"
"""All indices, each once."""
ROWS = "np.sort(rng.integers(0, 8 * {0} + 1, SHAPE))"
"""Where the rows of a sparse matrix begin: eight elements each on average."""


class Pattern(NamedTuple):
    """One kind of access.

    Attributes:
        loops: variables, outermost first; ``v`` runs over a row of a sparse matrix.
        arrays: name to axes.
        indices: integer arrays to how they are made.
        statement: what is computed; VALUE stands for the value that is moved.
        values: what may be moved.
    """

    loops: str
    arrays: Mapping[str, Sequence[str]]
    indices: Mapping[str, str]
    statement: str
    values: Sequence[str]


_ONE = ("A[P[i]]", "2.0 * A[P[i]]", "A[P[i]] + B[i]", "A[P[i]] * B[i]", "A[P[i]] - A[i]")
_ROW = ("A[P[i], j]", "0.5 * A[P[i], j]", "A[P[i], j] + B[i, j]", "A[P[i], j] * w[i]")
_COLUMN = ("A[i, P[j]]", "0.5 * A[i, P[j]]", "A[i, P[j]] + B[i, j]", "A[i, P[j]] * w[i]")
_SENT = ("A[i]", "0.5 * A[i]", "A[i] * B[i]", "A[i] + 1.0")
_SENT_ROW = ("A[i, j]", "0.5 * A[i, j]", "A[i, j] * B[i, j]", "A[i, j] * w[i]")

_ROWS2 = {"A": "ij", "B": "ij", "w": "i"}

PATTERNS: Mapping[str, Pattern] = {
    "gather": Pattern("i", {"A": "i", "B": "i", "C": "i"}, {"P": "ANY i"}, "C[i] = VALUE", _ONE),
    "gatheradd": Pattern(
        "i", {"A": "i", "B": "i", "C": "i"}, {"P": "ANY i"}, "C[i] = C[i] + VALUE", _ONE
    ),
    "gatherrows": Pattern("ij", {**_ROWS2, "C": "ij"}, {"P": "ANY i"}, "C[i, j] = VALUE", _ROW),
    "gatherrowsadd": Pattern(
        "ij", {**_ROWS2, "C": "ij"}, {"P": "ANY i"}, "C[i, j] = C[i, j] + VALUE", _ROW
    ),
    "gathercolumns": Pattern(
        "ij", {**_ROWS2, "C": "ij"}, {"P": "ANY j"}, "C[i, j] = VALUE", _COLUMN
    ),
    "gathercolumnsadd": Pattern(
        "ij", {**_ROWS2, "C": "ij"}, {"P": "ANY j"}, "C[i, j] = C[i, j] + VALUE", _COLUMN
    ),
    "bag": Pattern("ij", {**_ROWS2, "C": "j"}, {"P": "ANY i"}, "C[j] = C[j] + VALUE", _ROW),
    "pick": Pattern(
        "ij", {"A": "ij", "B": "ij", "w": "i", "C": "i"}, {"P": "ANY j"},
        "C[i] = C[i] + VALUE", _COLUMN,
    ),
    "scatter": Pattern(
        "i", {"A": "i", "B": "i", "C": "i"}, {"P": "EACH i"}, "C[P[i]] = VALUE", _SENT
    ),
    "scatteradd": Pattern(
        "i", {"A": "i", "B": "i", "C": "i"}, {"P": "ANY i"}, "C[P[i]] = C[P[i]] + VALUE", _SENT
    ),
    "scatterrows": Pattern(
        "ij", {**_ROWS2, "C": "ij"}, {"P": "EACH i"}, "C[P[i], j] = VALUE", _SENT_ROW
    ),
    "scatterrowsadd": Pattern(
        "ij", {**_ROWS2, "C": "ij"}, {"P": "ANY i"}, "C[P[i], j] = C[P[i], j] + VALUE", _SENT_ROW
    ),
    "histogram": Pattern(
        "i", {"C": "i"}, {"P": "ANY i"}, "C[P[i]] = C[P[i]] + VALUE", ("1.0", "0.5")
    ),
    "csr": Pattern(
        "iv", {"D": ("8 * i",), "x": "i", "y": "i"}, {"R": "ROWS i", "Q": "ANY i"},
        "y[i] = y[i] + VALUE", ("D[v] * x[Q[v]]", "x[Q[v]]", "D[v] * D[v]", "0.5 * D[v] * x[Q[v]]"),
    ),
    "csrback": Pattern(
        "iv", {"D": ("8 * i",), "x": "i", "y": "i"}, {"R": "ROWS i", "Q": "ANY i"},
        "y[Q[v]] = y[Q[v]] + VALUE", ("D[v] * x[i]", "x[i]", "0.5 * D[v] * x[i]"),
    ),
    "csrmany": Pattern(
        "ivj", {"D": ("8 * i",), "X": "ij", "Y": "ij"}, {"R": "ROWS i", "Q": "ANY i"},
        "Y[i, j] = Y[i, j] + VALUE", ("D[v] * X[Q[v], j]", "X[Q[v], j]", "0.5 * D[v] * X[Q[v], j]"),
    ),
    "ell": Pattern(
        "is", {"D": "is", "x": "i", "y": "i"}, {"Q": "ANY i"},
        "y[i] = y[i] + VALUE", ("D[i, s] * x[Q[i, s]]", "x[Q[i, s]]", "0.5 * x[Q[i, s]]"),
    ),
    "ellturned": Pattern(
        "is", {"D": "si", "x": "i", "y": "i"}, {"Q": "ANY i"},
        "y[i] = y[i] + VALUE", ("D[s, i] * x[Q[s, i]]", "x[Q[s, i]]", "0.5 * x[Q[s, i]]"),
    ),
    "mesh": Pattern(
        "i", {"A": "i", "C": "i"}, {"P": "ANY i", "Q": "ANY i"}, "C[i] = VALUE",
        ("A[P[i]] - A[Q[i]]", "0.5 * (A[P[i]] + A[Q[i]])", "A[P[i]] * A[Q[i]]"),
    ),
}  # fmt: skip
"""For index arrays: how they are made, and the size that bounds their values."""

SLOTS = 8
"""Elements of each row of the matrices in ELLPACK form."""

_SHAPES = {
    "csr": {"R": ("i + 1",), "Q": ("8 * i",)},
    "csrback": {"R": ("i + 1",), "Q": ("8 * i",)},
    "csrmany": {"R": ("i + 1",), "Q": ("8 * i",)},
    "ell": {"Q": ("i", "s")},
    "ellturned": {"Q": ("s", "i")},
}


def _orders(choice: Choice) -> tuple[str, ...]:
    loops = PATTERNS[choice["pattern"]].loops
    if "v" in loops:
        return (loops,) if len(loops) < 3 else (loops, "ijv", "jiv")
    return (loops,) if len(loops) < 2 else (loops, loops[::-1])


def write(choice: Choice) -> Program:
    pattern = PATTERNS[choice["pattern"]]
    value = pattern.values[int(choice["value"])]
    factor = {"none": "{}", "scaled": "0.75 * ({})", "root": "np.sqrt({} + 2.0)"}
    statement = pattern.statement.replace("VALUE", factor[choice["function"]].format(value))
    used = set(re.findall(r"\b(\w+)\[", statement)) | ({"R"} if "v" in pattern.loops else set())
    shapes = _SHAPES.get(choice["pattern"], {})
    arrays: dict[str, Sequence[str]] = {
        name: tuple(axes) for name, axes in pattern.arrays.items() if name in used
    }
    data = {}
    for name, made in pattern.indices.items():
        if name in used:
            kind, bound = made.split()
            arrays[name] = shapes.get(name, (bound,) if choice["pattern"] != "bag" else ("i",))
            data[name] = {"ANY": ANY, "EACH": EACH, "ROWS": ROWS}[kind].format(bound)
    if choice["integers"] == "i4":
        data = {name: f"{text}.astype(np.int32)" for name, text in data.items()}
    code = Code()
    for index in choice["order"]:
        code.loop(index, "R[i], R[i + 1]" if index == "v" else _extent(index, arrays))
    code.add(statement)
    return Program(
        arrays=arrays,
        body=code.lines,
        loops=pattern.loops.replace("v", ""),
        cost=(4.0 if choice["function"] == "root" else 2.0) * (8 if "v" in pattern.loops else 1),
        fixed={"s": SLOTS} if "s" in pattern.loops else {},
        data=data,
    )


def _extent(index: str, arrays: Mapping[str, Sequence[str]]) -> str:
    """The size of a loop; of the rows of a sparse matrix, where only their beginnings tell it."""
    try:
        return extent(index, arrays)
    except ValueError:
        return "R.shape[0] - 1"


FAMILY = Family(
    name="indirect",
    about="arrays indexed by arrays",
    work={
        "pattern": tuple(PATTERNS),
        "value": lambda choice: tuple(
            str(number) for number in range(len(PATTERNS[choice["pattern"]].values))
        ),
        "function": ("none", "none", "scaled", "root"),
        "integers": ("i8", "i4"),
    },
    writing={"order": _orders},
    write=write,
)
