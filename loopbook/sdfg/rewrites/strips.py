"""How `sink` is done: iterations must be independent, and scalars that carry values from one strip
to the next become arrays of `size` elements.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

from loopbook.errors import IllegalStepError
from loopbook.program import expr
from loopbook.program.nest import Loop, Nest
from loopbook.sdfg.rewrites import scalars
from loopbook.sdfg.rewrites.distances import Conflicts, Meeting, check_plain
from loopbook.sdfg.rewrites.document import (
    Draft,
    Json,
    elements,
    render,
    replace,
    rewriting,
    upper_bounds,
)
from loopbook.steps.sink import Sink

MAX_SIZE = 4096
"""Longest strip: arrays of expanded scalars live on the stack."""

_PLAIN = {"debug_info", "type", "sub_type", "code", "function_stem", "base_type", "data_type"}


@rewriting(Sink)
def sink(draft: Draft, loops: Sequence[int], sizes: Sequence[int]) -> None:
    """Sink one loop into all loops below it, in strips.

    Args:
        loops: the loop; its iterations must be independent.
        sizes: iterations in a strip.

    Raises:
        IllegalStepError: if iterations depend on each other, or may do so.
    """
    nest, loop = draft.nest_with(loops[0])
    (size,) = sizes
    if size > MAX_SIZE:
        raise IllegalStepError(f"a strip is at most {MAX_SIZE} long")
    check_plain(nest, loop)
    ends = upper_bounds(loop)
    if loop.step != 1 or len(ends) != 1:
        raise IllegalStepError(f"{loop.name} is no plain counting loop")
    check_independent(nest, loop)
    written = scalars.written_scalars(nest, loop)
    for name, accesses in written.items():
        place = scalars.home(nest, accesses)
        if place is None or loop not in nest.ancestry(place.index):
            raise IllegalStepError(f"the scalar {name} carries values between iterations")
    body = draft.element(loop.element_id)
    counted = {other.indvar for other in nest.loops if loop in nest.ancestry(other.index)}
    scalars.check_unused_outside(draft.document, body, set(written) | counted)
    if not any("indvar" in element for element in elements(body["root"])):
        raise IllegalStepError(f"{loop.name} holds no loop to be sunk into")

    end, start = render(ends[0]), f"({loop.init})"
    rest = _rest(draft, body, f"{start} + {size}*idiv({end} - {start}, {size})")
    name = draft.names.get(loop.element_id, loop.name)
    strips = _Strips(draft, body, name, size, set(written))
    main = draft.loop(
        f"{name}.tile",
        strips.tile,
        (loop.init, f"{end} - {size - 1}"),
        strips.sunk(body["root"]["children"]),
        by=size,
    )
    if not strips.expand():
        # Each iteration works for itself; with expanded scalars, all would share one array.
        main["type"] = main["sub_type"] = "map"
    replace(draft.document["root"], body, [main, rest])


def check_independent(nest: Nest, loop: Loop) -> None:
    """Refuse a loop whose iterations touch what others of them write.

    Raises:
        IllegalStepError: if they do, or may do so.
    """
    conflicts = Conflicts(nest, loop)
    for first, a in conflicts.accesses:
        for second, b in conflicts.accesses:
            if first.container != second.container or not (first.write or second.write):
                continue
            if conflicts.distance(a, b, loop.indvar, loop.indvar) not in (0, Meeting.NEVER):
                raise IllegalStepError(f"iterations of {loop.name} may depend on each other")


def _rest(draft: Draft, body: Json, start: str) -> Json:
    """The loop once more, from `start` on, for the iterations that fill no strip."""
    rest = draft.renumbered(body)
    rest["init"] = start
    for old, new in zip(elements(body), elements(rest), strict=True):
        if "indvar" in old:
            name = draft.names.get(old["element_id"], "X")
            draft.made[new["element_id"]] = f"{name}.rest"
            _rename_loop(new, draft.fresh_variable(new["indvar"], new["indvar"]))
    return rest


def _rename_loop(loop: Json, variable: str) -> None:
    """Give a loop a variable of its own; its start is evaluated outside of it."""
    start = loop.pop("init")
    rename(loop, loop["indvar"], variable)
    loop["init"] = start


class _Strips:
    """The strips that one loop is cut into."""

    def __init__(self, draft: Draft, body: Json, name: str, size: int, written: set[str]) -> None:
        self._draft = draft
        self._indvar = body["indvar"]
        self._name = name
        self._size = size
        self._written = written
        self._loops: list[Json] = []
        self.tile = draft.fresh_variable(f"{self._indvar}_tile", self._indvar)

    def sunk(self, children: Sequence[Json]) -> Iterator[Json]:
        """`children` of the loop or of one below it, with strips around what is no loop."""
        group: list[Json] = []
        for child in children:
            if "indvar" not in child or self._varies(child):
                group.append(child)
                continue
            yield from self._strip(group)
            group = []
            child["root"]["children"] = list(self.sunk(child["root"]["children"]))
            yield child
        yield from self._strip(group)

    def _varies(self, loop: Json) -> bool:
        """Whether the loop runs differently in each iteration of the sunk one."""
        bounds = f"{loop['init']} {loop['condition']} {loop['update']}"
        return self._indvar in expr.symbols(bounds)

    def _strip(self, group: list[Json]) -> Iterator[Json]:
        if not group:
            return
        variable = self._draft.fresh_variable(f"{self._indvar}_strip", self._indvar)
        for element in group:
            rename(element, self._indvar, variable)
        name = f"{self._name}.part" if self._loops else self._name
        bounds = (self.tile, f"{self._size} + {self.tile}")
        strip = self._draft.loop(name, variable, bounds, group)
        strip["type"] = strip["sub_type"] = "map"
        self._loops.append(strip)
        yield strip

    def expand(self) -> bool:
        """Give the scalars that more than one strip uses an element for each iteration.

        Returns:
            Whether there are any.
        """
        expanded = False
        used = [_data(strip) & self._written for strip in self._loops]
        for scalar in sorted(self._written):
            users = [s for s, names in zip(self._loops, used, strict=True) if scalar in names]
            if len(users) < 2:
                continue
            array, array_type = self._draft.fresh_array(f"{scalar}_strip", scalar, self._size)
            for strip in users:
                index = f"{strip['indvar']} - {self.tile}"
                for block in elements(strip):
                    if "dataflow" in block:
                        _redirect(block["dataflow"], scalar, array, index, array_type)
            expanded = True
        return expanded


def _data(strip: Json) -> set[str]:
    """The containers that dataflow below an element touches."""
    return {
        node["data"]
        for block in elements(strip)
        for node in block.get("dataflow", {}).get("nodes", ())
        if "data" in node
    }


def _redirect(flow: Json, scalar: str, array: str, index: str, array_type: Json) -> None:
    """Let a block's dataflow use an element of `array` instead of `scalar`."""
    moved = {node["element_id"] for node in flow["nodes"] if node.get("data") == scalar}
    for node in flow["nodes"]:
        if node["element_id"] in moved:
            node["data"] = array
    for edge in flow["edges"]:
        if edge["src"] in moved or edge["dst"] in moved:
            edge["subset"] = [index]
            edge["base_type"] = copy.deepcopy(array_type)


def rename(value: Any, old: str, new: str) -> None:
    """Put `new`, a name or an expression in brackets, for a symbol below an element, in place."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(items):
        if key in _PLAIN:
            continue
        if isinstance(inner, str):
            value[key] = expr.substitute(inner, {old: new})
        elif isinstance(inner, dict | list):
            rename(inner, old, new)
