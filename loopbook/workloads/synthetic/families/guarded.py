"""Statements under conditions: thresholds, masks, borders, clipped values."""

from __future__ import annotations

from collections.abc import Sequence

from loopbook.workloads.synthetic.family import Choice, Family, orders
from loopbook.workloads.synthetic.program import Code, Program, element, extent

CONDITIONS = {
    "above": "{A} > 1.0",
    "below": "{A} < 0.8",
    "less": "{A} < {B}",
    "mask": "{M} > 1.0",
    "between": "{A} * {A} > {B}",
    "row": "{V} > 1.0",
}

THEN = {
    "copy": "{C} = {A}",
    "scale": "{C} = 2.0 * {A}",
    "sum": "{C} = {C} + {A}",
    "mix": "{C} = 0.5 * ({A} + {B})",
    "root": "{C} = np.sqrt({A})",
    "row": "{C} = {A} * {V}",
}

OTHERWISE = {"nothing": "", "zero": "{C} = 0.0", "other": "{C} = {B}", "less": "{C} = {C} - {A}"}


def write(choice: Choice) -> Program:
    indices = "ijk"[: int(choice["dims"])]
    condition, then = CONDITIONS[choice["condition"]], THEN[choice["then"]]
    otherwise = OTHERWISE[choice["otherwise"]]
    used = condition + then + otherwise
    places: dict[str, Sequence[str]] = {
        "A": choice["layout"], "B": indices, "C": indices, "M": indices, "V": indices[0],
    }  # fmt: skip
    arrays = {name: axes for name, axes in places.items() if f"{{{name}}}" in used}
    parts = {name: element(name, axes) for name, axes in arrays.items()}
    code = Code()
    for index in choice["order"]:
        code.loop(index, extent(index, arrays))
    code.open(f"if {condition.format(**parts)}")
    code.add(then.format(**parts))
    if otherwise:
        code.depth -= 1
        code.open("else")
        code.add(otherwise.format(**parts))
    return Program(arrays=arrays, body=code.lines, loops=indices, cost=2.0)


FAMILY = Family(
    name="guarded",
    about="a statement under a condition",
    work={
        "dims": ("1", "2", "2", "3"),
        "layout": lambda choice: orders("ijk"[: int(choice["dims"])]),
        "condition": tuple(CONDITIONS),
        "then": tuple(THEN),
        "otherwise": tuple(OTHERWISE),
    },
    writing={"order": lambda choice: orders("ijk"[: int(choice["dims"])])},
    write=write,
)
