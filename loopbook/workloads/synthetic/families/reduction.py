"""Sums, products, smallest and largest values along any axes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

from loopbook.workloads.synthetic.family import Choice, Family, orders
from loopbook.workloads.synthetic.program import Code, Program, element, extent

VALUES = {
    "plain": "{0}",
    "square": "{0} * {0}",
    "scaled": "0.5 * {0}",
    "root": "np.sqrt({0})",
    "exp": "np.exp(-{0})",
    "centred": "({0} - 0.25) * ({0} - 0.25)",
    "magnitude": "np.abs({0} - 1.0)",
}

OPERATORS = {"sum": "{0} + {1}", "least": "min({0}, {1})", "most": "max({0}, {1})"}
_NUMPY = {"sum": "np.sum", "least": "np.min", "most": "np.max"}
_NEUTRAL = {"sum": "0.0", "least": "1.0e9", "most": "-1.0e9"}
STYLES = ("update", "clear", "scalar", "mean")


def _kept(choice: Choice) -> tuple[str, ...]:
    """The axes that stay; none is written "0"."""
    indices = "ijk"[: int(choice["dims"])]
    found = ["".join(c) for n in range(len(indices)) for c in combinations(indices, n)]
    return tuple(kept or "0" for kept in found)


def _styles(choice: Choice) -> tuple[str, ...]:
    return STYLES if choice["operator"] == "sum" else ("update", "clear")


def _orders(choice: Choice) -> tuple[str, ...]:
    indices, kept = sorted(choice["layout"]), choice["kept"].strip("0")
    if choice["style"] == "update":
        return orders("".join(indices))
    inner = "".join(i for i in indices if i not in kept)
    return tuple(a + b for a, b in product(orders(kept), orders(inner)))


def write(choice: Choice) -> Program:
    layout, kept, style = choice["layout"], choice["kept"].strip("0"), choice["style"]
    operator = choice["operator"]
    arrays: dict[str, Sequence[str]] = {"A": layout, "s": kept or ("1",)}
    target = element("s", kept or ("0",))
    total = "total" if style == "scalar" else target
    value = VALUES[choice["value"]].format(element("A", layout))
    outside = len(kept) if style != "update" else -1
    code = Code()
    for place, index in enumerate(choice["order"]):
        if place == outside:
            code.add(f"{total} = {_NEUTRAL[operator]}")
        code.loop(index, extent(index, arrays))
    code.add(f"{total} = {OPERATORS[operator].format(total, value)}")
    if style in ("scalar", "mean"):
        code.depth = outside
        code.add(f"{target} = {'total' if style == 'scalar' else f'{target} * 0.125'}")
    return Program(
        arrays=arrays,
        body=code.lines,
        loops=sorted(layout),
        cost=4.0 if choice["value"] in ("root", "exp") else 1.0,
        reference=[_reference(choice, layout, kept)],
    )


def _reference(choice: Choice, layout: str, kept: str) -> str:
    axes = tuple(place for place, index in enumerate(layout) if index not in kept)
    operator, style = choice["operator"], choice["style"]
    value = f"{_NUMPY[operator]}({VALUES[choice['value']].format('A')}, axis={axes})"
    stay = [index for index in layout if index in kept]
    if stay != sorted(stay):
        value += f".transpose({', '.join(str(stay.index(index)) for index in sorted(stay))})"
    if style == "mean":
        value = f"0.125 * {value}"
    if style == "update":
        value = {
            "sum": f"s + {value}",
            "least": f"np.minimum(s, {value})",
            "most": f"np.maximum(s, {value})",
        }[operator]
    return f"s[...] = {value}"


FAMILY = Family(
    name="reduction",
    about="a reduction along some axes",
    work={
        "dims": ("1", "2", "2", "3", "3"),
        "layout": lambda choice: orders("ijk"[: int(choice["dims"])]),
        "kept": _kept,
        "operator": ("sum", "sum", "least", "most"),
        "value": tuple(VALUES),
        "style": _styles,
    },
    writing={"order": _orders},
    write=write,
)
