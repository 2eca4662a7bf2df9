"""How `buffer` is done: which accesses run along two loops, what they run through there, and the
loops that copy just that.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from loopbook.dependence import domain, keep_apart, read_before_written
from loopbook.errors import IllegalStepError, SdfgError
from loopbook.program import expr
from loopbook.sdfg import affine
from loopbook.sdfg.affine import Linear
from loopbook.sdfg.looptree import Json, LoopNode, Subset, touches, write_loop
from loopbook.sdfg.rewrites.document import VECTORISED, Draft, elements, rewriting
from loopbook.sdfg.rewrites.region import Region
from loopbook.steps.buffer import Buffer

MAX_BYTES = 1 << 20
"""Of a buffer: it lies on the stack."""


@rewriting(Buffer)
def buffer(draft: Draft, loops: Sequence[int], numbers: Sequence[int]) -> None:
    """``buffer L0.tile L2 L1``: around ``L0.tile``, hold what runs along ``L2`` and ``L1`` inside.

    What is read is copied in before the scope, what is written back after it. Both loops run
    through tiles of constant size.

    Raises:
        IllegalStepError: no access runs along just these loops, another access may touch the same
            elements, or what the loops run through is not known.
    """
    scope_id, first_id, second_id = loops
    region = Region.of(draft, scope_id)
    scope = region.tree(scope_id)
    path = _path(scope, second_id)
    inside = {loop.element["element_id"]: loop for loop in path}
    if first_id == second_id or first_id not in inside or second_id not in inside:
        raise IllegalStepError("the loops are not nested in the scope")
    pair = (inside[first_id], inside[second_id])
    tiles = tuple(_tile(loop, path) for loop in pair)
    held = list(_held(scope, pair, region.around))
    if not held:
        raise IllegalStepError("nothing runs along just these loops")
    place = region.place(scope_id)
    name = draft.names.get(scope_id, "X")
    before: list[Json] = []
    after: list[Json] = []
    for part in held:
        element = _element_type(draft, part.container)
        extents = [tile.size for tile in tiles]
        if 8 * extents[0] * extents[1] > MAX_BYTES:
            raise IllegalStepError("the buffer would be too large")
        local = draft.fresh_buffer(f"{part.container}_buffer", element, extents)
        local_subset = tuple(
            affine.text(affine.minus({loop.variable: 1}, tile.start))
            for loop, tile in zip(pair, tiles, strict=True)
        )
        array = (part.container, part.subset)
        buffered = (local, local_subset)
        _redirect(draft, scope.element, array, buffered)
        bounds = _bounds(path, pair, tiles[0], written=part.written)
        copying = _Copying(draft, region, pair, bounds)
        before.append(copying.nest(f"{name}.load", array, buffered))
        if part.written:
            after.append(copying.nest(f"{name}.store", buffered, array))
    region.siblings[place : place + 1] = [*before, scope.element, *after]


@dataclass(frozen=True)
class _Tile:
    """Where a tile starts, and of how many iterations it is when it is complete."""

    start: Linear
    size: int


@dataclass(frozen=True)
class _Held:
    """Accesses to be held in a buffer: those to one container with one subset."""

    container: str
    subset: Subset
    written: bool


def _path(scope: LoopNode, element_id: int) -> list[LoopNode]:
    """The loops from `scope` to the one with an id."""
    if scope.element["element_id"] == element_id:
        return [scope]
    for child in scope.children:
        if isinstance(child, LoopNode) and (found := _path(child, element_id)):
            return [scope, *found]
    return []


def _tile(loop: LoopNode, path: Sequence[LoopNode]) -> _Tile:
    inside = {other.variable for other in path}
    for low in loop.lows:
        for high in loop.highs:
            size = affine.minus(high, low)
            if set(size) == {""} and size[""] > 0 and inside.isdisjoint(low) and loop.step == 1:
                return _Tile(low, size[""])
    raise IllegalStepError(f"the loop over {loop.variable} runs through no tile of the scope")


def _held(scope: LoopNode, pair: Sequence[LoopNode], around: Sequence[LoopNode]) -> Iterator[_Held]:
    """The accesses that run along the pair of loops and nothing else in the scope.

    What is only read, and before anything writes it, is as good in a copy.

    Raises:
        IllegalStepError: other accesses may touch the same elements, one of them writing.
    """
    counted = {e["indvar"] for e in elements(scope.element) if "indvar" in e}
    wanted = {loop.variable for loop in pair}
    found: dict[str, dict[Subset, bool]] = {}  # container to subsets, and whether they are written
    for leaf in elements(scope.element):
        if leaf.get("type") not in ("block", "assignment_block"):
            continue
        for touch in touches(leaf):
            subset = expr.normal_forms(touch.subset)
            subsets = found.setdefault(touch.container, {})
            subsets[subset] = subsets.get(subset, False) or touch.write
    written = {container for container, subsets in found.items() if any(subsets.values())}
    for container, subsets in found.items():
        for subset in sorted(filter(None, subsets)):
            used = {symbol for text in subset for symbol in expr.symbols(text)}
            if used & counted != wanted or used & written:
                continue
            stored = subsets[subset]
            others = [o for o, writes in subsets.items() if o != subset and (writes or stored)]
            if not all(o and keep_apart(scope, around, container, subset, o) for o in others):
                if stored or not all(others):
                    raise IllegalStepError(f"{container} is used in more than one place")
                if not read_before_written(scope, around, container, subset):
                    raise IllegalStepError(f"{container} is written before it is read")
            if stored and any(loop.element.get("sub_type") != "map" for loop in pair):
                raise IllegalStepError("iterations may write the same element")
            yield _Held(container, subset, stored)


def _element_type(draft: Draft, container: str) -> Json:
    kind = draft.document["containers"][container]
    element = kind.get("pointee_type", {})
    if kind.get("type") != "pointer" or element.get("type") != "scalar":
        raise IllegalStepError(f"{container} is no plain array")
    return element


def _bounds(
    path: Sequence[LoopNode], pair: Sequence[LoopNode], tile: _Tile, *, written: bool
) -> list[tuple[list[Linear], list[Linear]]]:
    """Lower and upper bounds of the pair's loops, in order, that hold for all loops between.

    Where a loop between does not run at all, neither must the copying: what that depends on
    becomes a bound, too.

    Args:
        tile: that the first of the loops runs through.

    Raises:
        IllegalStepError: they would be not exact.
    """
    rows = domain(path)
    names = [loop.variable for loop in pair]
    between = [loop for loop in path if loop not in pair]
    for loop in between:
        if loop.step != 1 and not any(_covers(other, loop) for other in path):
            raise IllegalStepError(f"the loop over {loop.variable} leaves iterations out")
    if written:
        own = {loop.variable for loop in between}
        if any(not own.isdisjoint(bound) for loop in pair for bound in (*loop.lows, *loop.highs)):
            raise IllegalStepError("what is written differs from one iteration to the next")
    try:
        for loop in reversed(between):
            rows = affine.projected(rows, loop.variable)
        inner = _solved(rows, names[1])
        rows = affine.projected(rows, names[1])
        lows, highs = _solved(rows, names[0])
        for row in affine.projected(rows, names[0]):
            if set(row) - {""}:
                guard = affine.shifted({name: tile.size * f for name, f in row.items()}, tile.size)
                highs.append(affine.plus(tile.start, guard))
        return [(lows, highs), inner]
    except SdfgError as error:
        raise IllegalStepError(str(error)) from None


def _covers(points: LoopNode, tiles: LoopNode) -> bool:
    """Whether `points` runs through the tiles of the loop `tiles`, without gaps."""
    start = {tiles.variable: 1}
    return start in points.lows and affine.shifted(start, tiles.step) in points.highs


def _solved(rows: Iterable[Linear], name: str) -> tuple[list[Linear], list[Linear]]:
    """Inclusive lower and exclusive upper bounds of one variable."""
    lows: list[Linear] = []
    highs: list[Linear] = []
    for row in rows:
        factor = row.get(name, 0)
        rest = {other: value for other, value in row.items() if other != name}
        if abs(factor) > 1:
            raise IllegalStepError(f"{name} has a factor in a bound")
        if factor == 1:
            lows.append({other: -value for other, value in rest.items()})
        elif factor == -1:
            highs.append(affine.shifted(rest, 1))
    return lows, highs


Reference = tuple[str, Subset]
"""A container and where in it."""


@dataclass
class _Copying:
    """Loops that copy between an array and its buffer.

    Attributes:
        pair: the loops along which the array is used.
        bounds: lower and upper bounds of the copying loops.
    """

    draft: Draft
    region: Region
    pair: Sequence[LoopNode]
    bounds: list[tuple[list[Linear], list[Linear]]]

    def nest(self, name: str, source: Reference, target: Reference) -> Json:
        new = {
            loop.variable: self.draft.fresh_variable(f"{loop.variable}_copy", loop.variable)
            for loop in self.pair
        }
        block = self.draft.copy_block(
            *(
                (container, tuple(expr.substitute(text, new) for text in subset))
                for container, subset in (source, target)
            )
        )
        values = {old: {variable: 1} for old, variable in new.items()}
        tree: LoopNode | None = None
        for loop, (lows, highs) in reversed(list(zip(self.pair, self.bounds, strict=True))):
            variable = new[loop.variable]
            element = self.draft.loop(name, variable, ("0", "0"), [] if tree else [block])
            element["type"] = element["sub_type"] = "map"
            renamed: list[list[Linear]] = [
                [affine.replaced(b, values) for b in bounds] for bounds in (lows, highs)
            ]
            node = LoopNode(element, variable, renamed[0], renamed[1], 1, [tree] if tree else [])
            tree = node
        assert tree is not None
        self.region.tighten(tree)
        inner = tree.children[0]
        assert isinstance(inner, LoopNode)
        inner.element["schedule_type"] = copy.deepcopy(VECTORISED)
        content = inner.element["root"]["children"]
        write_loop(tree)
        inner.element["root"]["children"] = content
        return tree.element


def _redirect(draft: Draft, root: Json, array: Reference, local: Reference) -> None:
    """Let all accesses to a place of an array go to its buffer."""
    kind = draft.document["containers"][local[0]]
    for block in elements(root):
        flow = block.get("dataflow")
        if not flow:
            continue
        nodes = {node["element_id"]: node for node in flow["nodes"]}
        moved: dict[int, int] = {}
        for edge in flow["edges"]:
            for end in ("src", "dst"):
                node = nodes[edge[end]]
                subset = expr.normal_forms(edge["subset"])
                if node.get("data") != array[0] or subset != array[1]:
                    continue
                if edge[end] not in moved:
                    moved[edge[end]] = draft.fresh_id()
                    copied = {**node, "data": local[0], "element_id": moved[edge[end]]}
                    flow["nodes"].append(copied)
                edge[end] = moved[edge[end]]
                edge["subset"], edge["base_type"] = list(local[1]), kind
        used = {edge[end] for edge in flow["edges"] for end in ("src", "dst")}
        left = set(moved) - used
        flow["nodes"] = [node for node in flow["nodes"] if node["element_id"] not in left]
