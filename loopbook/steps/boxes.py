"""The part of an array that a loop uses: a box, with an extent for each of the array's dimensions
that is the same whenever the loop runs.

Flattened indices are taken apart along their strides (`loopbook.dependence.subscripts`), each of
which is a dimension.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from loopbook.dependence import domain, holds, subscripts
from loopbook.dependence.body import LoopNode, statements
from loopbook.dependence.linear import inequalities, text
from loopbook.dependence.model import Linear, Monomial, minus, plus, replaced, shifted
from loopbook.dependence.touches import Touch
from loopbook.errors import IllegalStepError
from loopbook.program import expr
from loopbook.program.accesses import counted, written
from loopbook.steps.copying import tile_of

Path = tuple[LoopNode, ...]


@dataclass(frozen=True)
class Use:
    """An access, and the loops around it from the scope on.

    Attributes:
        path: the loops, with what the branches around the access say of their ends.
        certain: whether it is made in all iterations of `path`, and not where some other condition
            does not hold.
    """

    touch: Touch
    path: Path
    certain: bool = True


def uses(scope: LoopNode, container: str) -> Iterator[Use]:
    """All accesses to a container in a loop, in program order."""
    changing = written(scope.loop)
    for statement, path in statements(scope):
        yield from (_use(t, path, changing) for t in statement.touches if t.container == container)


def _use(touch: Touch, path: Path, changing: Set[str]) -> Use:
    variables = {loop.variable for loop in path}
    loops, certain = list(path), True
    for condition in touch.conditions:
        gaps = _gaps(condition, variables)
        known = bool(gaps) and condition.symbols.isdisjoint(changing - variables)
        certain = certain and known and all(_ended(loops, gap) for gap in gaps)
    return Use(touch, tuple(loops), certain)


def _gaps(condition: expr.Expr, variables: set[str]) -> Sequence[Linear]:
    """What is 0 or more just where a condition holds; nothing where that is not known."""
    if found := inequalities(condition, variables):
        tests = expr.arguments(expr.parse(condition.text), "and")
        return found if len(found) == len(list(tests)) else []
    return []


def _ended(loops: list[LoopNode], gap: Linear) -> bool:
    """Let a bound of the innermost loop that an inequality names say it, if it ends the loop."""
    for place in reversed(range(len(loops))):
        loop = loops[place]
        factor = gap.get(loop.variable, 0)
        if factor == -1:
            high = shifted(plus(gap, {loop.variable: 1}), 1)
            loops[place] = replace(loop, highs=[*loop.highs, high])
        if factor:
            return factor == -1
    return False


@dataclass(frozen=True)
class Side:
    """A dimension of a box.

    Attributes:
        stride: of the array along it.
        start: the least index that is used.
        extent: how many there are, if all loops run through whole tiles.
        ends: indices that all that is used stays below, should they not.
    """

    stride: Monomial
    start: Linear
    extent: int
    ends: tuple[Linear, ...]


@dataclass(frozen=True)
class Box:
    """The box of some accesses to one array.

    Attributes:
        sides: from the greatest stride to the least; all of which only one index is used are left
            out of buffers.
        exact: whether all that is in it is used, and nothing beyond.
    """

    sides: tuple[Side, ...]
    exact: bool

    @property
    def kept(self) -> list[Side]:
        """The sides that a buffer has."""
        return [side for side in self.sides if side.extent > 1]

    @property
    def extents(self) -> list[int]:
        """Of a buffer."""
        return [side.extent for side in self.kept] or [1]


Strides = Callable[[Sequence[expr.Polynomial], Collection[str]], frozenset[Monomial]]
"""What makes strides of indices, of which some may be multiplied with them."""


class Boxes:
    """Boxes of one array's accesses in a loop.

    Args:
        scope: the loop.
        around: the loops around it.
        indices: all flat indices of the array that are compared.
        strides: makes their strides of them.
    """

    def __init__(
        self,
        scope: LoopNode,
        around: Sequence[LoopNode],
        indices: Sequence[expr.Polynomial],
        strides: Strides = subscripts.strides,
    ) -> None:
        self._around = list(around)
        self._variables = {loop.variable for loop in around} | counted(scope.loop)
        self._along = strides(indices, self._variables)

    def parts(self, use: Use) -> Mapping[Monomial, Linear]:
        """An access's index along each stride.

        Raises:
            IllegalStepError: it is not known.
        """
        if len(use.touch.indices) != 1 or use.touch.indices[0] is None:
            raise IllegalStepError(f"where {use.touch.container} is used is not known")
        rows = domain([*self._around, *use.path])
        index = use.touch.indices[0]
        found = subscripts.apart(index, self._along, self._variables, rows, {})
        if found is None:
            raise IllegalStepError(f"where {use.touch.container} is used is not known")
        return found

    def around(self, members: Sequence[Use]) -> Box:
        """The box around some accesses.

        Raises:
            IllegalStepError: it has no constant size.
        """
        parts = [self.parts(use) for use in members]
        pairs = list(zip(parts, members, strict=True))
        sides = _sides(pairs)
        certain = [pair for pair in pairs if pair[1].certain]
        if not certain or _sides(certain) != sides:  # there may be nothing in memory
            raise IllegalStepError("what a branch uses is copied whether or not it is there")
        known = domain(self._around)
        for side in sides:  # what is copied without a loop is copied always
            if side.extent == 1 and not all(
                holds(known, minus(end, shifted(side.start, 1))) for end in side.ends
            ):
                raise IllegalStepError("one element is copied whether or not it is there")
        exact = len(certain) == len(pairs) and all(
            part == parts[0] and _is_exact(part, use.path) for part, use in pairs
        )
        return Box(sides, exact)


def _sides(pairs: Sequence[tuple[Mapping[Monomial, Linear], Use]]) -> tuple[Side, ...]:
    first, _ = pairs[0]
    strides = sorted(first, key=lambda stride: (len(stride), stride), reverse=True)
    return tuple(_joined([_side(s, part[s], use.path) for part, use in pairs]) for s in strides)


def _side(stride: Monomial, form: Linear, path: Path) -> Side:
    """What one access uses of a dimension."""
    start: Linear = form
    extent = 1
    tops: list[Linear] = [form]
    for loop in reversed(path):
        factor = form.get(loop.variable, 0)
        if factor < 0:
            raise IllegalStepError("an array is gone through backwards")
        if factor:
            tile = tile_of(loop, path)
            extent += factor * (tile.size - 1)
            start = replaced(start, {loop.variable: tile.start})
        tops = [last for top in tops for last in _greatest(top, loop)]
    complete = shifted(start, extent - 1)
    ends = tuple(shifted(top, 1) for top in tops if minus(top, complete))
    return Side(stride, start, extent, ends)


def _greatest(form: Linear, loop: LoopNode) -> list[Linear]:
    """What a form does not exceed, whatever a loop's variable is: each of these."""
    factor = form.get(loop.variable, 0)
    if not factor:
        return [form]
    ends = [shifted(high, -1) for high in loop.highs] if factor > 0 else loop.lows
    found: list[Linear] = [replaced(form, {loop.variable: end}) for end in ends]
    for room in loop.rooms if factor > 0 else ():
        if factor % room[loop.variable]:
            raise IllegalStepError(f"{loop.variable} has a factor in a bound")
        found.append(plus(form, room, -(factor // room[loop.variable])))
    return found


def _joined(sides: Sequence[Side]) -> Side:
    """One dimension of the box around several accesses, which differ by constants."""
    gaps = [minus(side.start, sides[0].start) for side in sides]
    if any(gap.keys() - {""} for gap in gaps):
        raise IllegalStepError("the accesses are not known to be beside each other")
    offsets = [gap.get("", 0) for gap in gaps]
    low, high = min(offsets), max(offsets)
    last = sides[offsets.index(high)]
    for offset, side in zip(offsets, sides, strict=True):
        ends = {tuple(sorted(shifted(end, high - offset).items())) for end in side.ends}
        if side.extent != last.extent or ends != {tuple(sorted(e.items())) for e in last.ends}:
            raise IllegalStepError("the accesses do not end beside each other")
    start = shifted(sides[0].start, low)
    return Side(last.stride, start, last.extent + high - low, last.ends)


def _is_exact(parts: Mapping[Monomial, Linear], path: Path) -> bool:
    """Whether an access goes through a whole box: each loop along one dimension, by ones, from and
    to where the others have no say."""
    inside = {loop.variable for loop in path}
    moving: list[str] = []
    for form in parts.values():
        names = [name for name in form if name in inside]
        if len(names) > 1 or any(form[name] != 1 or name in moving for name in names):
            return False
        moving += names
    if any(loop.rooms for loop in path):
        return False
    ends = [end for loop in path if loop.variable in moving for end in (*loop.lows, *loop.highs)]
    return all(inside.isdisjoint(end) for end in ends)


def flat(box: Box, along: Sequence[str]) -> str:
    """The array's flat index in terms of the buffer's loops.

    Args:
        along: a variable for each of the box's `kept` sides.
    """
    variables = iter(along)
    terms = []
    for side in box.sides:
        index = text(plus(side.start, {next(variables): 1} if side.extent > 1 else {}))
        terms.append("*".join([*side.stride, f"({index})"]) if side.stride else index)
    return " + ".join(terms)


def local(box: Box, parts: Mapping[Monomial, Linear]) -> list[str]:
    """An access's indices in the buffer."""
    return [text(plus(parts[side.stride], side.start, -1)) for side in box.kept] or ["0"]
