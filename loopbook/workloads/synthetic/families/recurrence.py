"""Values that depend on earlier ones: scans, filters, dynamic programs, tridiagonal sweeps."""

from __future__ import annotations

from collections.abc import Sequence

from loopbook.workloads.synthetic.family import Choice, Family, orders
from loopbook.workloads.synthetic.program import Code, Program, element, extent, plus

KINDS = ("sum", "filter", "decay", "most", "corner", "quotient")
"""How earlier values count: added, weighted, weighted by an array, the largest one, those along two
axes at once, divided by."""


def _kinds(choice: Choice) -> tuple[str, ...]:
    return KINDS if int(choice["dims"]) > 1 else tuple(k for k in KINDS if k != "corner")


def _reaches(choice: Choice) -> tuple[str, ...]:
    return ("1",) if choice["kind"] in ("corner", "quotient") else ("1", "1", "2", "3")


def _along(choice: Choice) -> tuple[str, ...]:
    indices = "ijk"[: int(choice["dims"])]
    if choice["kind"] == "corner":
        return tuple(a + b for a in indices for b in indices if a < b)
    return tuple(indices)


def write(choice: Choice) -> Program:
    indices, along = "ijk"[: int(choice["dims"])], choice["along"]
    reach = int(choice["reach"])
    arrays: dict[str, Sequence[str]] = {"x": indices}
    if choice["source"] != "none":
        arrays["A"] = indices if choice["source"] == "full" else along
    if choice["kind"] == "decay":
        arrays["W"] = along
    code = Code()
    down = choice["way"] == "down"
    for index in choice["order"]:
        size = extent(index, {"x": indices})
        if index not in along:
            code.loop(index, size)
        elif down:
            code.loop(index, f"{size} - {reach + 1}, -1, -1")
        else:
            code.loop(index, f"{reach}, {size}")
    value = _value(choice, indices, 1 if down else -1)
    if "A" in arrays:
        source = element("A", arrays["A"])
        terms = [value, f"0.25 * {source}"]
        if choice["operands"] == "swapped":
            terms.reverse()
        value = " + ".join(terms)
    code.add(f"{element('x', indices)} = {value}")
    return Program(arrays=arrays, body=code.lines, loops=indices, cost=2.0 + reach)


def _value(choice: Choice, indices: str, sign: int) -> str:
    """What the earlier values contribute; never more than the largest of them."""
    along, kind = choice["along"], choice["kind"]

    def earlier(axes: str, step: int) -> str:
        return element("x", [plus(i, sign * step) if i in axes else i for i in indices])

    own = element("x", indices)
    if kind == "corner":
        first, second = (earlier(axis, 1) for axis in along)
        return f"0.25 * {own} + 0.25 * max({first}, {second}) + 0.25 * {earlier(along, 1)}"
    values = [earlier(along, step) for step in range(1, int(choice["reach"]) + 1)]
    if kind == "sum":
        return f"{own} + {' + '.join(f'0.25 * {v}' for v in values)}"
    if kind == "most":
        largest = own
        for v in values:
            largest = f"max({largest}, 0.9 * {v})"
        return largest
    if kind == "decay":
        return " + ".join([f"0.1 * {own}", *(f"0.2 * {element('W', along)} * {v}" for v in values)])
    if kind == "quotient":
        return f"{own} / (1.0 + {values[0]})"
    return " + ".join(f"{round(0.5 / (n + 1), 3)} * {v}" for n, v in enumerate(values))


FAMILY = Family(
    name="recurrence",
    about="values that depend on earlier ones",
    work={
        "dims": ("1", "2", "2", "3", "3"),
        "kind": _kinds,
        "reach": _reaches,
        "along": _along,
        "source": ("none", "full", "full", "line"),
        "way": ("up", "up", "down"),
    },
    writing={
        "order": lambda choice: orders("ijk"[: int(choice["dims"])]),
        "operands": ("given", "swapped"),
    },
    write=write,
)
