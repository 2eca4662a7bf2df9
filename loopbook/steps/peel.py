from __future__ import annotations

from collections.abc import Sequence as TypeSequence
from dataclasses import dataclass, replace

from loopbook.dependence import domain, holds, linear
from loopbook.dependence.model import Linear
from loopbook.errors import IllegalStepError, SdfgError
from loopbook.program.expr import Expr, Polynomial, conjunction, mentioned, plus, text
from loopbook.program.tree import Branch, Case, Node, Sequence
from loopbook.program.tree import Loop as TreeLoop
from loopbook.steps.arguments import Keyword, Loop
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor
from loopbook.steps.region import Region, known_bounds, put_for


class Peel(Step):
    """Whole tiles apart from incomplete ones, so that their loops have constant bounds.

    Before ``peel L0``, where ``L0`` runs through a tile::

        for i in ii … min(ii + 4, n): S(i)

    and after it; loops inside have copies of their own (``L1.rest``)::

        if ii + 4 <= n:
            for i in ii … ii + 4: S(i)          # L0
        else:
            for i in ii … n: S(i)               # L0.rest

    With ``predicate`` the test stays in the loop.
    """

    name = "peel"
    textbook = "loop peeling, versioning of incomplete tiles"
    source = "Allen and Kennedy, Optimizing Compilers for Modern Architectures, 2001, section 5.7"
    example = "peel L0"
    makes = ("{loop}.rest", "*.rest")
    refines = True
    only_orders = True
    traits = {"peel": 0.3}

    loop = Loop()
    form = Keyword("predicate", optional=True)

    def apply(self, editor: Editor) -> None:
        """Always legal: the order stays what it was.

        Loops through tiles that are all that the loop holds are peeled with it, one test for all.
        """
        top = editor.loop(self.loop)
        tiles = _tiles(top, self._known(editor))
        ends = [(tile, end) for tile in tiles for end in tile.ends]
        complete = [end.reached({(): tile.last}, tile.start) for tile, end in ends]
        inside = [end.reached({(tile.loop.variable,): 1}, tile.start) for tile, end in ends]
        counted = {
            tile.loop.variable: f"({tile.loop.variable} + {text(tile.start)})" for tile in tiles
        }
        body = put_for(tiles[-1].loop.body, counted)
        guarded = Branch((Case(_all_less(inside), body),))
        rest = _nested(tiles, Sequence((guarded,)))
        if self.form == "predicate":
            editor.put(self.loop, rest)
            return
        cases = (
            Case(_all_less(complete), Sequence((_nested(tiles, body),))),
            Case(_any_not_less(complete), Sequence((editor.copied(rest, ".rest"),))),
        )
        editor.put(self.loop, Branch(cases))

    def _known(self, editor: Editor) -> TypeSequence[Linear]:
        """What holds around the loop; nothing where a loop's bounds are not affine."""
        try:
            return domain(Region.of(editor, editor.id_of(self.loop)).around)
        except IllegalStepError:
            return []


@dataclass(frozen=True)
class _End:
    """What a loop's variable, times a factor, stays below."""

    factor: int
    high: Polynomial

    def reached(self, value: Polynomial, start: Polynomial) -> tuple[Polynomial, Polynomial]:
        """What is less than what where the variable may be so much from a start."""
        return plus({}, plus(start, value), self.factor), self.high


@dataclass(frozen=True)
class _Tile:
    """A loop through a tile.

    Attributes:
        start: where it begins.
        size: what is between its beginning and its end if the tile is complete.
        last: the greatest value less than that, counted from its beginning.
        ends: where it ends if the tile is not complete.
    """

    loop: TreeLoop
    start: Polynomial
    size: int
    last: int
    ends: tuple[_End, ...]


def _tiles(top: TreeLoop, known: TypeSequence[Linear]) -> list[_Tile]:
    """A loop, and those that are all that it holds, as long as they run through tiles.

    Args:
        known: what holds around the first one.

    Raises:
        IllegalStepError: the first one does not.
    """
    tiles: list[_Tile] = []
    node: Node = top
    while isinstance(node, TreeLoop) and (tile := _tile(node, known)):
        counted = {other.loop.variable for other in tiles}
        highs = [end.high for end in tile.ends]
        if any(not counted.isdisjoint(mentioned(bound)) for bound in (tile.start, *highs)):
            break
        tiles.append(tile)
        if len(node.body.children) != 1:
            break
        (node,) = node.body.children
    if not tiles:
        raise IllegalStepError(f"the loop over {top.variable} runs through no tile")
    return tiles


def _tile(loop: TreeLoop, known: TypeSequence[Linear]) -> _Tile | None:
    bounds = known_bounds(loop)
    if len(bounds.lows) != 1 or bounds.step is None or bounds.step < 1 or not bounds.ends:
        return None
    (start,) = bounds.lows
    ends = [_end(room, loop.variable) for room in bounds.room]
    gaps = [plus(end.high, start, -1) if end.factor == 1 else None for end in ends]
    known_gaps = [gap for gap in gaps if gap is not None]
    if any(gap.keys() <= {()} and gap.get((), 0) <= 0 for gap in known_gaps):
        return None  # it never runs
    sizes = [gap[()] for gap in known_gaps if gap.keys() == {()}]
    # Of a tile in a tile, the end may be known as that of the outer one alone.
    sizes = sizes or [gap[()] for gap in known_gaps if gap.get((), 0) > 0 and _at_most(gap, known)]
    others = tuple(
        e for e, gap in zip(ends, gaps, strict=True) if gap is None or gap.keys() != {()}
    )
    if not sizes or not others:
        return None
    size = min(sizes)
    return _Tile(loop, start, size, (size - 1) // bounds.step * bounds.step, others)


def _end(room: Polynomial, variable: str) -> _End:
    """Where a loop ends whose variable is in such a polynomial, which is 0 or more until then."""
    factor = -room[(variable,)]
    return _End(factor, plus(room, {(variable,): factor, (): 1}))


def _at_most(gap: Polynomial, known: TypeSequence[Linear]) -> bool:
    """Whether a polynomial is never more than its constant term."""
    try:
        rest = linear.from_polynomial(plus({(): gap[()]}, gap, -1), frozenset())
    except SdfgError:
        return False
    return holds(known, rest)


def _nested(tiles: list[_Tile], body: Sequence) -> TreeLoop:
    """The loops around a body, each from 0 to the size of its tile."""
    for tile in reversed(tiles):
        loop = replace(
            tile.loop,
            init=Expr("0"),
            condition=Expr(f"({tile.loop.variable} < {tile.size})"),
            body=body,
        )
        body = Sequence((loop,))
    (outermost,) = body.children
    assert isinstance(outermost, TreeLoop)
    return outermost


def _all_less(pairs: TypeSequence[tuple[Polynomial, Polynomial]]) -> Expr:
    return conjunction(*(f"({text(less)} < {text(more)})" for less, more in pairs))


def _any_not_less(pairs: TypeSequence[tuple[Polynomial, Polynomial]]) -> Expr:
    tests = [f"({text(more)} <= {text(less)})" for less, more in pairs]
    return Expr(f"Or({', '.join(tests)})" if len(tests) > 1 else tests[0])
