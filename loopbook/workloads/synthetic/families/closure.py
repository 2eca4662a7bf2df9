"""All-pairs closures in place: shortest, widest and most reliable paths, reachability.

The algorithm of Floyd, Warshall and Kleene over several semirings (D. J. Lehmann, Algebraic
structures for transitive closure, Theoretical Computer Science 4, 1977). The pivot's loop is
outermost; its row and column may be read from copies.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from loopbook.workloads.synthetic.family import Choice, Family
from loopbook.workloads.synthetic.program import Code, Program, element, extent

WHOLE = "rng.integers(1, 1000, SHAPE)"

SEMIRINGS = {
    "minplus": ("{0} + {1}", "<", "rng.random(SHAPE) ** 4"),
    "maxplus": ("{0} + {1}", ">", "-(rng.random(SHAPE) ** 4)"),
    "maxmin": ("min({0}, {1})", ">", "rng.random(SHAPE)"),
    "minmax": ("max({0}, {1})", "<", "rng.random(SHAPE)"),
    "hops": ("{0} + {1}", "<", WHOLE),
    "gains": ("{0} + {1}", ">", f"-{WHOLE}"),
    "grades": ("min({0}, {1})", ">", WHOLE),
    "maxtimes": ("{0} * {1}", ">", "rng.random(SHAPE) ** 0.25"),
    "mintimes": ("{0} * {1}", "<", "1.0 + 5.0 * rng.random(SHAPE) ** 4"),
    "maybe": ("{0} * {1}", "", "0.1 * rng.random(SHAPE)"),
    "damped": ("0.001 * {0} * {1}", "", "rng.random(SHAPE)"),
    "share": ("0.001 * {0} * {1} / (1.0 + {2})", "", "rng.random(SHAPE)"),
}
"""The worth of a path from its parts (and the pivot's loop), which of two paths counts, and data
with which paths of many edges do count and no cycle is worth anything."""

BATCH = 5


def _forms(choice: Choice) -> tuple[str, ...]:
    return ("call", "branch") if SEMIRINGS[choice["semiring"]][1] else ("call",)


def _copies(choice: Choice) -> tuple[str, ...]:
    """What each pivot begins with: copies of its column, its row, both, or of its diagonal.

    Without them docc 0.8 moves the pivot's loop inwards, which is wrong, unless there is a branch.
    """
    copies = ("i", "j", "both", "pivot")
    return (*copies, "none", "none") if choice["form"] == "branch" else copies


def _extras(choice: Choice) -> tuple[str, ...]:
    """What else is kept: a toll for each pivot, or the last stop before the end."""
    return ("none", "toll", "stops") if choice["form"] == "branch" else ("none", "toll")


def write(choice: Choice) -> Program:
    batch = ["b"] if choice["batch"] == "many" else []
    arrays: dict[str, Sequence[str]] = {"M": [*batch, "i", "i"]}
    code = Code()
    if batch:
        code.loop("b", extent("b", arrays))
    code.loop("k", extent("i", arrays))
    inside = code.depth
    parts = [element("M", [*batch, "i", "k"]), element("M", [*batch, "k", "j"])]
    if choice["reading"] == "turned":
        parts = [element("M", [*batch, "k", "i"]), element("M", [*batch, "j", "k"])]
    if choice["reading"] == "rows":
        parts[1] = element("M", [*batch, "j", "k"])
    for place, index in enumerate("ij"):
        if choice["copies"] in ("both", index):
            copy = "rs"[place]
            arrays[copy] = ("i",)
            code.loop(f"{index}1", extent("i", arrays))
            # A variable of its own: docc 0.8 shares one that several loops use between threads.
            own = re.sub(rf"\b{index}\b", f"{index}1", parts[place])
            code.add(f"{copy}[{index}1] = {own}")
            code.depth = inside
            parts[place] = f"{copy}[{index}]"
    if choice["copies"] == "pivot":
        arrays["r"] = ("i",)
        code.add(f"r[k] = {element('M', [*batch, 'k', 'k'])}")
    if choice["extra"] == "toll":
        arrays["w"] = ("i",)
    if choice["extra"] == "stops":
        arrays["P"] = arrays["M"]
    for index in choice["order"]:
        code.loop(index, extent("i", arrays))
    _update(code, choice, parts, batch)
    return Program(
        arrays=arrays,
        body=code.lines,
        loops=[*batch, *"iii"],
        cost=1.0,
        fixed={"b": BATCH} if batch else {},
        data=dict.fromkeys(arrays, _data(choice)),
    )


def _data(choice: Choice) -> str:
    data = SEMIRINGS[choice["semiring"]][2]
    return f"({data}).astype({'np.int32' if WHOLE in data else 'TYPE'})"


def _update(code: Code, choice: Choice, parts: Sequence[str], batch: Sequence[str]) -> None:
    """The statement over a pair of nodes."""
    path, better, _ = SEMIRINGS[choice["semiring"]]
    own = element("M", [*batch, "i", "j"])
    first, second = reversed(parts) if choice["operands"] == "swapped" else parts
    value = path.format(first, second, element("M", [*batch, "k", "k"]))
    if choice["extra"] == "toll":
        value += " * w[k]" if "*" in path else " + w[k]"
    if choice["form"] == "branch":
        code.open(f"if {value} {better} {own}")
        code.add(f"{own} = {value}")
        if choice["extra"] == "stops":
            code.add(f"{element('P', [*batch, 'i', 'j'])} = {element('P', [*batch, 'k', 'j'])}")
    elif better:
        code.add(f"{own} = {'min' if better == '<' else 'max'}({own}, {value})")
    elif choice["semiring"] == "maybe":
        code.add(f"{own} = {own} + (1.0 - {own}) * {value}")
    else:
        code.add(f"{own} += {value}")


FAMILY = Family(
    name="closure",
    about="paths between all pairs",
    work={
        "semiring": tuple(SEMIRINGS),
        "reading": ("direct", "direct", "turned", "rows"),
        "form": _forms,
        "copies": _copies,
        "extra": _extras,
        "batch": ("one", "one", "many"),
    },
    writing={"order": ("ij", "ji"), "operands": ("given", "swapped")},
    write=write,
)
