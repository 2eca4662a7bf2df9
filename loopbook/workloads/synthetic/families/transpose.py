"""Copies and sums between memory layouts of two to four dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from loopbook.workloads.synthetic.family import Choice, Family, orders
from loopbook.workloads.synthetic.program import Code, Program, element, extent

KINDS = {
    "copy": "{source}",
    "scale": "2.0 * {source}",
    "add": "{target} + {source}",
    "product": "{target} * {source}",
    "mean": "0.5 * ({target} + {source})",
    "shifted": "{source} - 0.25",
}


def write(choice: Choice) -> Program:
    layout = choice["layout"]
    indices = "".join(sorted(layout))
    arrays: dict[str, Sequence[str]] = {"A": layout, "C": indices}
    code = Code()
    for index in choice["order"]:
        code.loop(index, extent(index, arrays))
    value = KINDS[choice["kind"]]
    target = element("C", indices)
    code.add(f"{target} = {value.format(source=element('A', layout), target=target)}")
    axes = ", ".join(str(layout.index(index)) for index in indices)
    turned = value.format(source=f"A.transpose({axes})", target="C")
    return Program(
        arrays=arrays,
        body=code.lines,
        loops=indices,
        reference=[f"C[...] = {turned}"],
    )


FAMILY = Family(
    name="transpose",
    about="a copy from one memory layout to another",
    work={
        "dims": ("2", "3", "3", "4", "4"),
        "layout": lambda choice: orders("ijkl"[: int(choice["dims"])]),
        "kind": tuple(KINDS),
    },
    writing={"order": lambda choice: orders("".join(sorted(choice["layout"])))},
    write=write,
)
