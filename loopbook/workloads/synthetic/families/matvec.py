"""Several products of matrices and vectors at once: the kernels of iterative solvers.

The bodies come from conjugate gradients and its kin, least squares and low-rank updates (J. G. Siek
et al., Build to Order Linear Algebra Kernels, 2008, lists such sequences).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from loopbook.workloads.synthetic.family import Choice, Family, subsets
from loopbook.workloads.synthetic.program import Code, Program, extent

PATTERNS = {
    "shared": ("y += A[i, j] * x[j]", "z += B[i, j] * x[j]"),
    "shared3": ("y += A[i, j] * x[j]", "z += B[i, j] * x[j]", "v += D[i, j] * x[j]"),
    "block": ("y += A[i, j] * x[j]", "z += A[i, j] * w[j]"),
    "block3": ("y += A[i, j] * x[j]", "z += A[i, j] * w[j]", "v += A[i, j] * u[j]"),
    "pairs": ("y += A[i, j] * x[j]", "z += B[i, j] * w[j]"),
    "sum": ("y += A[i, j] * x[j] + B[i, j] * w[j]",),
    "difference": ("y += (A[i, j] - B[i, j]) * x[j]", "z += A[i, j] * x[j]"),
    "norms": ("y += A[i, j] * x[j]", "z += A[i, j] * A[i, j]"),
    "both": ("y += A[i, j] * x[j]", "s[j] += A[i, j] * r[i]"),
    "bothpairs": ("y += A[i, j] * x[j]", "s[j] += B[i, j] * r[i]"),
    "both3": ("y += A[i, j] * x[j]", "s[j] += A[i, j] * r[i]", "z += B[i, j] * x[j]"),
    "scatter": ("s[j] += A[i, j] * r[i]", "t[j] += B[i, j] * r[i]"),
    "scattersum": ("s[j] += A[i, j] * r[i] + B[i, j] * q[i]",),
    "normal": ("y += A[i, j] * x[j]", "| s[j] += A[i, j] * 0.01 * y"),
    "normalpair": ("y += A[i, j] * x[j]", "| s[j] += B[i, j] * 0.01 * y"),
    "update": ("A[i, j] += r[i] * w[j]", "y += A[i, j] * x[j]"),
    "update2": ("A[i, j] += r[i] * w[j] - q[i] * u[j]", "y += A[i, j] * x[j]"),
    "updated": ("B[i, j] = A[i, j] + r[i] * w[j]", "s[j] += B[i, j] * q[i]"),
    "updateboth": ("A[i, j] += r[i] * w[j]", "y += A[i, j] * x[j]", "s[j] += A[i, j] * q[i]"),
    "weighted": ("y += A[i, j] * x[j]", "z += A[i, j] * x[j] * w[j]"),
}
"""Statements over rows ``i`` and columns ``j``; ``y``, ``z`` and ``v`` are of the row. What is
behind ``|`` needs the whole row before."""

MATRICES, OF_ROWS, ROWS, COLUMNS = "ABD", "yzv", "rq", "xwust"

ENDS = {
    "none": "",
    "scaled": "{0} = 0.75 * {0}",
    "combined": "{0} = 0.75 * {0} + 1.25 * {1}",
    "residual": "{0} = r[i] - {0}",
    "added": "{0} = {0} + {1}",
}


def _own(pattern: str) -> list[str]:
    """The results that a row has one element of."""
    text = " ".join(PATTERNS[pattern])
    return [name for name in OF_ROWS if re.search(rf"\b{name} \+=", text)]


def _turned(choice: Choice) -> tuple[str, ...]:
    """Which matrices are stored the other way round."""
    text = " ".join(PATTERNS[choice["pattern"]])
    matrices = [name for name in MATRICES if f"{name}[" in text]
    return subsets(matrices)


def _joints(choice: Choice) -> tuple[str, ...]:
    """Whether the products of a row share their loop."""
    lines = PATTERNS[choice["pattern"]]
    if any(line.startswith("|") for line in lines) or len(lines) == 1:
        return ("apart",)
    return ("fused", "apart")


def _ends(choice: Choice) -> tuple[str, ...]:
    own = _own(choice["pattern"])
    if not own:
        return ("none",)
    return tuple(ENDS) if len(own) > 1 else ("none", "scaled", "residual")


def _sums(choice: Choice) -> tuple[str, ...]:
    return ("element", "scalar") if _own(choice["pattern"]) else ("element",)


def write(choice: Choice) -> Program:
    own, joint = _own(choice["pattern"]), choice["joint"]
    lines = list(PATTERNS[choice["pattern"]])
    if choice["operands"] == "swapped":
        lines = [re.sub(r"(\w\[i, j\]) \* (\w\[[ij]\])", r"\2 * \1", line) for line in lines]
        if joint == "fused" and "A[i, j] +=" not in lines[0] and "B[i, j] =" not in lines[0]:
            lines.reverse()
    arrays = _arrays([*lines, ENDS[choice["end"]]], own)
    for name in choice["turned"].strip("0"):
        lines = [line.replace(f"{name}[i, j]", f"{name}[j, i]") for line in lines]
        arrays[name] = "ji"
    scalar = choice["sums"] == "scalar"
    names = {name: f"sum{name}" if scalar else f"{name}[i]" for name in own}
    code = Code()
    code.loop("i", extent("i", arrays))
    for name in own:
        if choice["start"] == "zero":
            # A literal 0.0 before a loop is what docc 0.8 reads in all of its iterations.
            code.add(f"{names[name]} = {'zero' if scalar else '0.0'}")
        elif choice["start"] == "scaled":
            code.add(f"{names[name]} = 0.5 * {name}[i]")
        elif scalar:
            code.add(f"{names[name]} = {name}[i]")
    for number, line in enumerate(lines):
        index = f"j{number + 1}" if number and joint == "apart" else "j"
        if not number or joint == "apart":
            code.depth = 1
            code.loop(index, extent("j", arrays))
        line = re.sub(r"\bj\b", index, line.removeprefix("| "))
        code.add(re.sub(r"\b([yzv])\b", lambda found: names[found.group()], line))
    code.depth = 1
    if ENDS[choice["end"]]:
        code.add(ENDS[choice["end"]].format(*names.values()))
    if scalar:
        for name in own:
            code.add(f"{name}[i] = {names[name]}")
    return Program(
        arrays=arrays,
        body=code.lines,
        loops="ij",
        scalars={"zero": 0.0} if scalar and choice["start"] == "zero" else {},
        cost=0.6 * len(lines) + 0.6 * len(choice["turned"].strip("0")),
    )


def _arrays(lines: Sequence[str], own: Sequence[str]) -> dict[str, Sequence[str]]:
    text = " ".join(lines)
    found: dict[str, Sequence[str]] = {name: "ij" for name in MATRICES if f"{name}[" in text}
    found |= {name: "j" for name in COLUMNS if f"{name}[j]" in text}
    found |= {name: "i" for name in ROWS if f"{name}[i]" in text}
    return found | dict.fromkeys(own, "i")


FAMILY = Family(
    name="matvec",
    about="products of matrices and vectors",
    work={
        "pattern": tuple(PATTERNS),
        "turned": _turned,
        "start": lambda choice: (
            ("zero", "kept", "scaled") if _own(choice["pattern"]) else ("kept",)
        ),
        "end": _ends,
    },
    writing={"sums": _sums, "joint": _joints, "operands": ("given", "swapped")},
    write=write,
)
