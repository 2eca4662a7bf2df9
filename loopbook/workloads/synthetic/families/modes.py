"""Arrays of two to four axes multiplied by a matrix along one of them, a fibre at a time."""

from __future__ import annotations

from loopbook.workloads.synthetic.family import Choice, Family
from loopbook.workloads.synthetic.program import Code, Program, element, extent

OUTER = "rqo"
"""Axes that stay as they are. The one that is multiplied is ``p``, or ``s`` where it is read."""

FINISHES = {
    "copy": "{0} = {1}",
    "scaled": "{0} = 0.1 * {1}",
    "added": "{0} += 0.1 * {1}",
    "clipped": "{0} = max(0.1 * {1}, 0.5)",
    "shifted": "{0} = 0.1 * {1} + w[{2}]",
}
"""What becomes of an element of the product, 1, and where it goes, 0; its index is 2."""

FORMS = ("vector", "vector", "cleared", "apart", "scalar")
"""Where the product goes: back into the array by way of a vector, which may be cleared at once or
element by element; or to another array."""


def _axes(choice: Choice, letter: str = "p") -> tuple[str, ...]:
    """The array's axes, ``letter`` that along which it is multiplied."""
    outer = list(OUTER[: int(choice["outer"])])
    outer.insert(int(choice["axis"]), letter)
    return tuple(outer)


def _orders(choice: Choice) -> tuple[str, ...]:
    """Orders of the two loops of the product; sums of elements need theirs."""
    return ("ps",) if choice["form"] in ("vector", "scalar") else ("sp", "ps")


def write(choice: Choice) -> Program:
    form, outer = choice["form"], OUTER[: int(choice["outer"])]
    arrays = {"A": _axes(choice), "M": ("p", "p")}
    if form in ("apart", "scalar"):
        arrays["B"] = _axes(choice)
    if form in ("vector", "cleared"):
        arrays["v"] = ("p",)
    if choice["finish"] == "shifted":
        arrays["w"] = ("p",)
    code = Code()
    for letter in outer:
        code.loop(letter, extent(letter, arrays))
    depth, size = code.depth, extent("p", arrays)

    def finish(p: str) -> str:
        return FINISHES[choice["finish"]].format(_result(choice, p), _sum(choice, p), p)

    code.loop("p", size)
    code.add(f"{_sum(choice, 'p')} = 0.0")
    if form in ("vector", "scalar"):
        code.loop("s", size)
        code.add(_update(choice, "p"))
    else:
        code.depth = depth
        for letter in choice["order"]:
            code.loop("p2" if letter == "p" else letter, size)
        code.add(_update(choice, "p2"))
    if form == "scalar":
        code.depth = depth + 1
        code.add(finish("p"))
    elif form != "apart":
        code.depth = depth
        code.loop("p3", size)
        code.add(finish("p3"))
    return Program(
        arrays=arrays,
        body=code.lines,
        loops=(*outer, "p", "p"),
        reference=_reference(choice),
    )


def _result(choice: Choice, p: str) -> str:
    """The element that the product goes to."""
    return element("B" if choice["form"] in ("apart", "scalar") else "A", _axes(choice, p))


def _sum(choice: Choice, p: str) -> str:
    """Where the product is summed up."""
    sums = {"scalar": "total", "apart": _result(choice, p)}
    return sums.get(choice["form"], f"v[{p}]")


def _update(choice: Choice, p: str) -> str:
    matrix = f"M[s, {p}]" if choice["matrix"] == "right" else f"M[{p}, s]"
    return f"{_sum(choice, p)} += {element('A', _axes(choice, 's'))} * {matrix}"


def _reference(choice: Choice) -> list[str]:
    """The same with `numpy.einsum`."""
    axes, form = _axes(choice), choice["form"]
    matrix = "sp" if choice["matrix"] == "right" else "ps"
    subscripts = f"{''.join(_axes(choice, 's'))},{matrix}->{''.join(axes)}"
    target = "B" if form in ("apart", "scalar") else "A"
    bias = ", ".join(":" if axis == "p" else "None" for axis in axes)
    value = {
        "copy": "product",
        "scaled": "0.1 * product",
        "added": f"{target} + 0.1 * product",
        "clipped": "np.maximum(0.1 * product, 0.5)",
        "shifted": f"0.1 * product + w[{bias}]",
    }[choice["finish"]]
    lines = [f'product = np.einsum("{subscripts}", A, M)']
    if form in ("vector", "cleared"):
        last = ", ".join(":" if axis == "p" else "-1" for axis in axes)
        lines.append(f"v[...] = product[{last}]")
    return [*lines, f"{target}[...] = {value}"]


def _finishes(choice: Choice) -> tuple[str, ...]:
    return ("copy",) if choice["form"] == "apart" else tuple(FINISHES)


FAMILY = Family(
    name="modes",
    about="an array times a matrix along one axis",
    work={
        "outer": ("1", "2", "2", "3"),
        "axis": lambda choice: tuple(map(str, range(int(choice["outer"]) + 1))),
        "matrix": ("right", "left"),
        "form": FORMS,
        "finish": _finishes,
    },
    writing={"order": _orders},
    write=write,
)
