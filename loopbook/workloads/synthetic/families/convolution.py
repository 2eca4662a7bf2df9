"""Filters that slide over one or two dimensions, with channels, strides and gaps; and pooling."""

from __future__ import annotations

from collections.abc import Sequence

from loopbook.workloads.synthetic.family import Choice, Family
from loopbook.workloads.synthetic.program import Code, Program, element, extent

FORMS = {
    "line": ("i", "i", "p"),
    "lines": ("bi", "bi", "p"),
    "batch": ("bi", "bi", "bp"),
    "plane": ("ij", "ij", "pq"),
    "depthwise": ("cij", "cij", "cpq"),
    "channels": ("cij", "dij", "dcpq"),
    "last": ("ijc", "ijd", "pqcd"),
    "pointwise": ("cij", "dij", "dc"),
    "linechannels": ("ci", "di", "dcp"),
    "pool": ("ij", "ij", "_pq"),
    "poolchannels": ("cij", "cij", "_pq"),
}
"""Indices of image, result and filter; with ``_`` there is no filter, and only the window's largest
value or its sum counts. Where the result has ``i``, the image is read at ``i`` and an offset ``p``.
"""

FIXED = {"b": 5, "c": 8, "d": 6}
OFFSETS = {"p": "i", "q": "j"}


def _orders(choice: Choice) -> tuple[str, ...]:
    """Loops over the result outside, inside, or in between those over the filter."""
    _, result, window = FORMS[choice["form"]]
    inner = "".join(index for index in window.strip("_") if index not in result)
    if choice["style"] in ("clear", "mean"):
        return tuple(dict.fromkeys((result + inner, result + inner[::-1])))
    middle = result[:-1] + inner + result[-1]
    found = (result + inner, inner + result, middle, result + inner[::-1], result[::-1] + inner)
    return tuple(dict.fromkeys(found))


def _kinds(choice: Choice) -> tuple[str, ...]:
    return ("most", "sum") if choice["form"].startswith("pool") else ("product", "difference")


def _strides(choice: Choice) -> tuple[str, ...]:
    return ("1",) if choice["form"] == "pointwise" else ("1", "1", "2")


def _gaps(choice: Choice) -> tuple[str, ...]:
    pools = choice["form"] in ("pool", "poolchannels", "pointwise")
    return ("1",) if pools or choice["stride"] != "1" else ("1", "1", "2")


def write(choice: Choice) -> Program:
    image, result, window = FORMS[choice["form"]]
    stride, gap, width = int(choice["stride"]), int(choice["gap"]), int(choice["width"])
    pooled = window.startswith("_")
    window = window.strip("_")
    slides = {of: offset for offset, of in OFFSETS.items() if offset in window}
    reach = gap * (width - 1)
    arrays: dict[str, Sequence[str]] = {
        "A": [f"{stride} * {i} + {reach}" if i in slides else i for i in image],
        "C": result,
    }
    open_width = choice["widths"] == "open" and not pooled
    if not pooled:
        arrays["W"] = [i if i not in OFFSETS or open_width else str(width) for i in window]
    source = element("A", [_place(i, slides.get(i), stride, gap) for i in image])
    target = element("C", result)
    factor = element("W", window)
    value = {
        "product": f"{source} * {factor}",
        "difference": f"({source} - {factor}) * ({source} - {factor})",
        "most": source,
        "sum": source,
    }[choice["kind"]]
    if choice["operands"] == "swapped" and choice["kind"] == "product":
        value = f"{factor} * {source}"
    code = Code()
    outside = len(result) if choice["style"] in ("clear", "mean") else -1
    for place, index in enumerate(choice["order"]):
        if place == outside:
            code.add(f"{target} = 0.0")
        small = index in OFFSETS and not open_width
        code.loop(index, str(width) if small else extent(index, {"C": result, **arrays}))
    if choice["kind"] == "most":
        code.add(f"{target} = max({target}, {value})")
    else:
        code.add(f"{target} = {target} + {value}")
    if choice["style"] == "mean":
        code.depth = len(result)
        code.add(f"{target} = 0.125 * {target}")
    offsets = {index: width for index in window if index in OFFSETS}
    return Program(
        arrays=arrays,
        body=code.lines,
        loops=[index for index in choice["order"] if index not in offsets],
        cost=float(width ** len(offsets)),
        fixed={
            **{index: n for index, n in FIXED.items() if index in image + result + window},
            **(offsets if open_width else {}),
        },
    )


def _place(index: str, offset: str | None, stride: int, gap: int) -> str:
    """Source text of the image's index."""
    if offset is None:
        return index
    first = index if stride == 1 else f"{stride} * {index}"
    return f"{first} + {offset if gap == 1 else f'{gap} * {offset}'}"


FAMILY = Family(
    name="convolution",
    about="a filter that slides over an image",
    work={
        "form": tuple(FORMS),
        "kind": _kinds,
        "stride": _strides,
        "gap": _gaps,
        "width": lambda choice: ("1",) if choice["form"] == "pointwise" else ("3", "3", "5", "4"),
        "widths": lambda choice: (
            ("known",) if choice["form"].startswith("po") else ("known", "open")
        ),
        "style": ("update", "clear", "mean"),
    },
    writing={"order": _orders, "operands": ("given", "swapped")},
    write=write,
)
