"""Dynamic programs over intervals: a triangular table, and the best place to split an interval.

Orders of matrix products, search trees, triangulations, parsing, RNA folding (T. H. Cormen et al.,
Introduction to Algorithms, chapter on dynamic programming; R. Durbin et al., Biological Sequence
Analysis, chapter 10).
"""

from __future__ import annotations

from collections.abc import Sequence

from loopbook.workloads.synthetic.family import Choice, Family
from loopbook.workloads.synthetic.program import Code, Program, element, extent, plus

KINDS = {
    "minplus": "min",
    "maxplus": "max",
    "maxtimes": "max",
    "maxmin": "max",
    "minmax": "min",
    "count": "",
    "decayed": "",
}
"""How two parts make a whole, and which function chooses among wholes; none where all count."""

WHOLES = {
    "minplus": "{0} + {1}",
    "maxplus": "0.6 * ({0} + {1})",
    "maxtimes": "0.9 * {0} * {1}",
    "maxmin": "min({0}, {1})",
    "minmax": "max({0}, {1})",
    "count": "0.005 * {0} * {1}",
    "decayed": "0.005 * ({0} + {1})",
}

DATA = {
    "minplus": "(rng.random(SHAPE) ** 4).astype(TYPE)",
    "maxtimes": "(rng.random(SHAPE) ** 0.25).astype(TYPE)",
}
"""Values with which intervals of many parts can be the best, and none grows with their number."""

FILLS = ("bottom", "left", "diagonal")
"""Order of the table: rows from the last up, columns from the first on, or short ones first."""


def _costs(choice: Choice) -> tuple[str, ...]:
    """What a split costs besides: nothing, by its place, or as a matrix product does."""
    if choice["kind"] == "maxtimes":
        return ("none", "place")
    return ("none", "none", "place", "product")


def write(choice: Choice) -> Program:
    far = "j" if choice["fill"] != "diagonal" else "i + d"
    shared = choice["parts"] == "shared"
    arrays: dict[str, Sequence[str]] = {"T": "ii"}
    other = "T"
    if choice["tables"] == "two":
        arrays["G"], other = "ii", "G"
    first, second = _cell(choice, "T", "i", "k"), _cell(choice, other, "k", far, 0 if shared else 1)
    if choice["operands"] == "swapped":
        first, second = second, first
    whole = WHOLES[choice["kind"]].format(first, second)
    if choice["cost"] == "place":
        arrays["w"] = "i"
        whole += " * w[k]" if choice["kind"] == "maxtimes" else " + 0.1 * w[k]"
    if choice["cost"] == "product":
        arrays["w"] = "i"
        whole += f" + 0.1 * w[i] * w[k] * w[{far}]"
    target = _cell(choice, "T", "i", far)
    best = "best" if choice["sums"] == "scalar" else target
    code, size = Code(), extent("i", arrays)
    _fill(code, choice["fill"], size)
    inside = code.depth
    if best != target:
        code.add(f"best = {target}")
    if choice["way"] == "up":
        code.loop("k", f"{'i + 1' if shared else 'i'}, {far}")
    else:
        code.loop("k", f"{far} - 1, {'i' if shared else 'i - 1'}, -1")
    code.add(_counted(choice, best, whole))
    code.depth = inside
    for line in _ends(choice, arrays, best, far):
        code.add(line)
    if best != target:
        code.add(f"{target} = best")
    return Program(
        arrays=arrays,
        body=code.lines,
        loops="iii",
        cost=0.17,
        data=dict.fromkeys(arrays, DATA[choice["kind"]]) if choice["kind"] in DATA else {},
    )


def _fill(code: Code, fill: str, size: str) -> None:
    if fill == "bottom":
        code.loop("i", f"{size} - 2, -1, -1")
        code.loop("j", f"i + 1, {size}")
    elif fill == "left":
        code.loop("j", f"1, {size}")
        code.loop("i", "j - 1, -1, -1")
    else:
        code.loop("d", f"1, {size}")
        code.loop("i", f"{size} - d")


def _cell(choice: Choice, table: str, row: str, column: str, shift: int = 0) -> str:
    """Source text of the cell of an interval; lower tables have its end first."""
    places = [plus(row, shift), column]
    return element(table, places if choice["side"] == "upper" else places[::-1])


def _counted(choice: Choice, best: str, whole: str) -> str:
    chooses = KINDS[choice["kind"]]
    return f"{best} = {chooses}({best}, {whole})" if chooses else f"{best} += {whole}"


def _ends(choice: Choice, arrays: dict[str, Sequence[str]], best: str, far: str) -> list[str]:
    """Statements after all splits of an interval."""
    end = choice["end"]
    if end == "weight":
        arrays["C"] = "ii"
        return [f"{best} = 0.9 * {best} + 0.1 * {_cell(choice, 'C', 'i', far)}"]
    if end == "pair":
        arrays["x"] = "i"
        inner = element("T", ["i + 1", plus(far, -1)][:: 1 if choice["side"] == "upper" else -1])
        return [_counted(choice, best, f"0.01 * {inner} + 0.1 * x[i] * x[{far}]")]
    if end == "shorter":
        cells = _cell(choice, "T", "i", far, 1), _cell(choice, "T", "i", plus(far, -1))
        return [_counted(choice, best, f"0.01 * ({cells[0]} + {cells[1]})")]
    return []


FAMILY = Family(
    name="interval",
    about="the best way to split intervals",
    work={
        "kind": tuple(KINDS),
        "parts": ("apart", "shared"),
        "tables": ("one", "one", "two"),
        "cost": _costs,
        "end": ("none", "none", "weight", "pair", "shorter"),
        "side": ("upper", "lower"),
    },
    writing={
        "fill": FILLS,
        "way": ("up", "up", "down"),
        "sums": ("element", "scalar"),
        "operands": ("given", "swapped"),
    },
    write=write,
)
