"""Recursive filters along the lines of an image, with their state in local variables.

Infinite impulse responses of order one to three, one way or there and back (R. Deriche, Fast
algorithms for low-level vision, IEEE PAMI 12, 1990; I. T. Young and L. J. van Vliet, Recursive
implementation of the Gaussian filter, Signal Processing 44, 1995), envelopes, running sums.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopbook.workloads.synthetic.family import Choice, Family
from loopbook.workloads.synthetic.program import Code, Program, element, extent

KINDS = ("pole", "pole", "zeros", "smooth", "envelope", "average")
"""Weighted earlier results; those and earlier pixels; a step towards the pixel; the largest value,
which decays; the sum of results and pixels."""

FEEDBACK, FORWARD = ("0.5", "0.2", "0.1"), ("0.3", "0.15", "0.1")

WAYS = ("forth", "back", "both", "both", "cascade")
"""Up the line, down it, both from the image, or down it from what the way up has made."""


def _orders(choice: Choice) -> tuple[str, ...]:
    return ("1", "2", "3") if choice["kind"] in ("pole", "zeros") else ("1",)


def _ends(choice: Choice) -> tuple[str, ...]:
    """What is done with two results: nothing, or their sum or product into an image."""
    return ("none", "sum", "sum", "product") if choice["ways"] == "both" else ("none",)


def _joints(choice: Choice) -> tuple[str, ...]:
    """Whether both ways of a line are done before the next line."""
    return ("lines", "apart") if choice["ways"] in ("both", "cascade") else ("apart",)


def write(choice: Choice) -> Program:
    indices = "ij" if choice["planes"] == "one" else "bij"
    across = "j" if choice["along"] == "i" else "i"
    arrays: dict[str, Sequence[str]] = {"A": indices, "P": indices}
    ways = {"both": "ud", "cascade": "ud", "forth": "u", "back": "d"}[choice["ways"]]
    if len(ways) == 2:
        arrays["Q"] = indices
    joint, code = choice["joint"] == "lines", Code()
    for number, way in enumerate(ways):
        if not (number and joint):
            code.depth = 0
            for index in indices.replace(choice["along"], ""):
                code.loop(index, extent(index, arrays))
        code.depth = len(indices) - 1
        source = "P" if choice["ways"] == "cascade" and number else "A"
        _line(code, choice, indices, way, (source, "PQ"[number]))
    if choice["end"] != "none":
        code.depth = 0
        arrays["C"] = indices
        outer = indices if choice["along"] == "j" else indices.replace(across, "") + across
        for index in outer:
            code.loop(f"{index}3", extent(index, arrays))
        places = [f"{index}3" for index in indices]
        sign = "+" if choice["end"] == "sum" else "*"
        code.add(
            f"{element('C', places)} = 0.5 * {element('P', places)} {sign} {element('Q', places)}"
        )
    return Program(
        arrays=arrays,
        body=code.lines,
        loops=indices,
        cost=(3.0 + 0.5 * int(choice["order"])) * len(ways) + (choice["end"] != "none"),
        fixed={"b": BATCH} if len(indices) == 3 else {},
        scalars={name: float(value) for name, value in _scalars(choice).items()},
    )


BATCH = 4


def _scalars(choice: Choice) -> dict[str, str]:
    """Arguments: ``zero``, which a state begins with, and perhaps the weights."""
    # A literal 0.0 before a loop is what docc 0.8 reads in all of its iterations.
    found = {"zero": "0.0"} if choice["start"] == "zero" else {}
    if choice["weights"] == "open":
        used = int(choice["order"])
        found |= {f"back{n + 1}": FEEDBACK[n] for n in range(used)}
        if choice["kind"] == "zeros":
            found |= {f"ahead{n + 1}": FORWARD[n] for n in range(used)}
    return found


def _line(code: Code, choice: Choice, indices: str, way: str, names: Sequence[str]) -> None:
    """One way along one line; local variables differ from way to way."""
    source, target = names
    along, order = choice["along"], int(choice["order"])
    own = f"{along}{'1' if way == 'u' else '2'}"
    size = f"A.shape[{indices.index(along)}]"
    places = [own if index == along else index for index in indices]
    pixel, result = element(source, places), element(target, places)
    first = ["0" if index == along else index for index in indices]
    if way == "d":
        first = [f"{size} - 1" if index == along else index for index in indices]
    begin = "zero" if choice["start"] == "zero" else element(source, first)
    past = [f"y{way}{n + 1}" for n in range(order)]
    pixels = [f"x{way}{n + 1}" for n in range(order)] if choice["kind"] == "zeros" else []
    for state in (*past, *pixels):
        code.add(f"{state} = {begin}")
    code.loop(own, size if way == "u" else f"{size} - 1, -1, -1")
    code.add(f"{result} = {_value(choice, pixel, past, pixels)}")
    for states, newest in ((past, result), (pixels, pixel)):
        for later, earlier in zip(states[:0:-1], states[-2::-1], strict=True):
            code.add(f"{later} = {earlier}")
        if states:
            code.add(f"{states[0]} = {newest}")


def _value(choice: Choice, pixel: str, past: Sequence[str], pixels: Sequence[str]) -> str:
    """Source text of the new value; never much more than the largest pixel."""
    given = choice["weights"] == "known"
    b = [FEEDBACK[n] if given else f"back{n + 1}" for n in range(len(past))]
    a = [FORWARD[n] if given else f"ahead{n + 1}" for n in range(len(pixels))]
    kind, swapped = choice["kind"], choice["operands"] == "swapped"
    if kind == "smooth":
        return f"{past[0]} + {b[0]} * ({pixel} - {past[0]})"
    if kind == "envelope":
        decayed = f"{b[0]} * {past[0]}"
        return f"max({decayed}, {pixel})" if swapped else f"max({pixel}, {decayed})"
    if kind == "average":
        return f"{b[0]} * ({past[0]} + {pixel})"
    terms = [f"0.2 * {pixel}"]
    terms += [f"{weight} * {state}" for weight, state in zip(a, pixels, strict=True)]
    terms += [f"{weight} * {state}" for weight, state in zip(b, past, strict=True)]
    return " + ".join(reversed(terms) if swapped else terms)


FAMILY = Family(
    name="filter",
    about="a recursive filter with its state in variables",
    work={
        "planes": ("one", "one", "many"),
        "along": ("i", "j"),
        "kind": KINDS,
        "order": _orders,
        "ways": WAYS,
        "end": _ends,
        "start": ("zero", "pixel"),
        "weights": ("known", "open"),
    },
    writing={"joint": _joints, "operands": ("given", "swapped")},
    write=write,
)
