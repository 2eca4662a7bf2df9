"""Loops with statements at several depths, and several loops inside one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from loopbook.workloads.synthetic.family import Choice, Family, subsets
from loopbook.workloads.synthetic.program import Code, Program, extent

PATTERNS: Mapping[str, Sequence[str]] = {
    "matvectwice": (
        "i: z[i] = 0.0",
        "ij: z[i] += A[i, j] * x[j]",
        "ij: B[i, j] = A[i, j] * z[i]",
    ),
    "twomatvecs": (
        "i: y[i] = 0.0",
        "ij: y[i] += A[i, j] * x[j]",
        "ij: z[i] += B[i, j] * x[j]",
    ),
    "normalise": (
        "i: z[i] = 1.0",
        "ij: z[i] += A[i, j] * A[i, j]",
        "ij: A[i, j] = A[i, j] / z[i]",
    ),
    "centre": (
        "i: z[i] = 0.0",
        "ij: z[i] += A[i, j]",
        "ij: A[i, j] -= 0.01 * z[i]",
    ),
    "softmax": (
        "i: z[i] = 0.0",
        "ij: B[i, j] = np.exp(-A[i, j])",
        "ij: z[i] += B[i, j]",
        "ij: B[i, j] = B[i, j] / z[i]",
    ),
    "largest": (
        "i: z[i] = 0.0",
        "ij: z[i] = max(z[i], A[i, j])",
        "ij: B[i, j] = A[i, j] - z[i]",
    ),
    "scaleproduct": (
        "ij: C[i, j] *= 0.75",
        "ikj: C[i, j] += A[i, k] * B[k, j]",
    ),
    "clearproduct": (
        "ij: C[i, j] = 0.0",
        "ijk: C[i, j] += A[i, k] * B[k, j]",
    ),
    "endproduct": (
        "ijk: C[i, j] += A[i, k] * B[k, j]",
        "ij: C[i, j] = C[i, j] * x[j] + z[i]",
    ),
    "activate": (
        "ikj: C[i, j] += A[i, k] * B[k, j]",
        "ij: C[i, j] = max(C[i, j], 40.0)",
    ),
    "products": (
        "ijk: C[i, j] += A[i, k] * B[k, j]",
        "ijk: D[i, j] += B[k, j] * A[i, k]",
    ),
    "chain": (
        "ik: G[i, k] = A[i, k] * w[k]",
        "ijk: C[i, j] += G[i, k] * B[k, j]",
    ),
    "rank": (
        "ik: z[i] += A[i, k] * w[k]",
        "ij: C[i, j] += z[i] * x[j]",
    ),
    "rotate": (
        "ij: D[i, j] = C[i, j] + x[j]",
        "ij: C[i, j] = D[i, j] * z[i]",
    ),
    "copies": (
        "ij: D[i, j] = 0.5 * C[i, j]",
        "ij: F[i, j] = C[i, j] + D[i, j]",
    ),
    "moments": (
        "i: y[i] = 0.0",
        "i: z[i] = 0.0",
        "ij: y[i] += A[i, j]",
        "ij: z[i] += A[i, j] * A[i, j]",
    ),
    "moments2": (
        "ij: y[i] += A[i, j]",
        "i: y[i] = 0.01 * y[i]",
        "ij: z[i] += A[i, j] * y[i]",
    ),
    "deep": (
        "ij: C[i, j] = 0.0",
        "ijk: C[i, j] += A[i, k] * B[k, j]",
        "ij: C[i, j] += x[j]",
    ),
    "deepsum": (
        "i: z[i] = 0.0",
        "ij: y[i] = 0.0",
        "ijk: y[i] += A[i, k] * B[k, j]",
        "ij: z[i] += y[i] * y[i]",
    ),
    "powers": (
        "ij: D[i, j] = C[i, j] * C[i, j]",
        "i: z[i] = 0.0",
        "ij: z[i] += D[i, j]",
    ),
    "distance": (
        "ij: C[i, j] = 0.0",
        "ijk: C[i, j] += (A[i, k] - B[k, j]) * (A[i, k] - B[k, j])",
        "ij: C[i, j] = np.sqrt(C[i, j])",
    ),
    "forces": (
        "i: z[i] = 0.0",
        "ij: z[i] += (x[j] - y[i]) / (0.1 + (x[j] - y[i]) * (x[j] - y[i]))",
        "i: y[i] += 0.001 * z[i]",
    ),
}
"""Statements, each behind its loops, outermost first. All share the first loop, and perhaps more of
those that all have in common (see `_joints`)."""

_OPERATIONS = {"plain": "{}", "scaled": "0.5 * ({})", "shifted": "0.25 + ({})"}
MATRICES = "ABCDFG"


def _statements(pattern: str) -> list[tuple[str, str]]:
    """The loops and the text of each statement."""
    parts = [line.partition(": ") for line in PATTERNS[pattern]]
    return [(loops, statement) for loops, _, statement in parts]


def _axes(pattern: str) -> dict[str, tuple[str, ...]]:
    """Arrays of the pattern to their indices where they are first used."""
    found: dict[str, tuple[str, ...]] = {}
    for _, statement in _statements(pattern):
        for name, indices in re.findall(r"(\w+)\[([^]]*)\]", statement):
            found.setdefault(name, tuple(indices.split(", ")))
    return found


def _turned(choice: Choice) -> tuple[str, ...]:
    """Which matrices are stored the other way round."""
    matrices = [name for name in _axes(choice["pattern"]) if name in MATRICES]
    return subsets(matrices)


def _joints(choice: Choice) -> tuple[str, ...]:
    """How many loops the statements share: from one to all that they have in common."""
    loops = [loops for loops, _ in _statements(choice["pattern"])]
    depth = min(map(len, loops))
    shared = 1
    while shared < depth and len({each[: shared + 1] for each in loops}) == 1:
        shared += 1
    return tuple(map(str, range(1, shared + 1)))


def _inner(choice: Choice) -> tuple[str, ...]:
    """Whether the loops that a statement has to itself are turned round."""
    joint = int(choice["joint"])
    deep = any(len(loops) - joint > 1 for loops, _ in _statements(choice["pattern"]))
    return ("given", "turned") if deep else ("given",)


def write(choice: Choice) -> Program:
    pattern, joint = choice["pattern"], int(choice["joint"])
    statements = _statements(pattern)
    arrays: dict[str, Sequence[str]] = dict(_axes(pattern))
    for name in choice["turned"].strip("0"):
        row, column = arrays[name]
        arrays[name] = (column, row)
    code = Code()
    for index in statements[0][0][:joint]:
        code.loop(index, extent(index, arrays))
    for number, (loops, statement) in enumerate(statements):
        code.depth = joint
        line = _changed(statement, choice, last=number == len(statements) - 1)
        own = loops[joint:]
        for index in reversed(own) if choice["inner"] == "turned" else own:
            # A variable of its own: docc 0.8 shares one that several loops use between threads.
            fresh = f"{index}{number + 1}" if number else index
            line = re.sub(rf"\b{index}\b", fresh, line)
            code.loop(fresh, extent(index, arrays))
        code.add(line)
    deepest = max((loops for loops, _ in statements), key=len)
    return Program(
        arrays=arrays,
        body=code.lines,
        loops=deepest,
        cost=0.7 * len(statements),
    )


def _changed(statement: str, choice: Choice, last: bool) -> str:
    """A statement with its arrays' layouts; the last one with the operation, too."""
    for name in choice["turned"].strip("0"):
        statement = re.sub(rf"\b{name}\[(\w), (\w)\]", rf"{name}[\2, \1]", statement)
    if last and choice["operation"] != "plain":
        target, sign, value = re.split(r" (\S?=) ", statement, maxsplit=1)
        statement = f"{target} {sign} {_OPERATIONS[choice['operation']].format(value)}"
    return statement


FAMILY = Family(
    name="imperfect",
    about="statements at several depths",
    work={
        "pattern": tuple(PATTERNS),
        "turned": _turned,
        "operation": tuple(_OPERATIONS),
    },
    writing={"joint": _joints, "inner": _inner},
    write=write,
)
