"""Exact dependence distances between array accesses with affine indices.

docc flattens arrays: ``A[i, j + 1]`` of N columns is ``A[1 + j + i*N]``. An access is taken apart
again into one index for each stride (``i`` for N, ``1 + j`` for 1). That is only right if every
index stays inside its dimension, which is proved from the loops' bounds; what cannot be proved is
refused. (Maslov, "Delinearization: an efficient way to break multiloop dependence equations", PLDI
1992; Allen and Kennedy, "Optimizing Compilers for Modern Architectures", 2001, chapter 3.)
"""

from __future__ import annotations

from collections import Counter
from enum import Enum
from functools import cached_property
from itertools import pairwise

from loopbook.errors import IllegalStepError
from loopbook.sdfg import expr
from loopbook.sdfg.nest import Access, Loop, Nest
from loopbook.sdfg.rewrites.document import upper_bounds

Indices = dict[expr.Monomial, expr.Polynomial]
"""Stride to index: what an access says of each dimension."""


class Meeting(Enum):
    """What two accesses say of the distance between iterations that touch the same element."""

    ANY = "any distance"
    NEVER = "they never meet"


class Indexing:
    """Takes the accesses inside a loop of a nest apart.

    Attributes:
        accesses: those inside the loop, in program order, with the indices of each.
    """

    def __init__(self, nest: Nest, loop: Loop) -> None:
        """
        Raises:
            IllegalStepError: if the subsets of an array that is written are not affine, or its
                dimensions may overlap.
        """
        self._nest = nest
        inside = [
            access
            for access in nest.accesses
            if nest.containers[access.container].is_array
            and loop in nest.ancestry(nest.blocks[access.block].parent)
        ]
        written = {access.container for access in inside if access.write}
        self.accesses: list[tuple[Access, Indices]] = []
        for container in sorted(written):
            found = [access for access in inside if access.container == container]
            self.accesses += zip(found, self._indices(found), strict=True)

    @cached_property
    def _bounds(self) -> dict[str, tuple[expr.Polynomial, list[expr.Polynomial]]]:
        found: dict[str, tuple[expr.Polynomial, list[expr.Polynomial]]] = {}
        for loop in self._nest.loops:
            if loop.indvar in found:
                raise IllegalStepError(f"two loops count {loop.indvar}")
            known = loop.step is not None and loop.step > 0
            bounds = upper_bounds(loop) if known else []
            found[loop.indvar] = (expr.polynomial(loop.init) if known else {}, bounds)
        return found

    def _indices(self, accesses: list[Access]) -> list[Indices]:
        """The index in each dimension of one array, for each access to it."""
        if any(len(access.subset) != 1 for access in accesses):
            raise IllegalStepError("an array has more than one flat dimension")
        apart = [self._take_apart(access.subset[0]) for access in accesses]
        strides = sorted(set().union(*apart), key=len)
        for indices in apart:
            for smaller, larger in pairwise(strides):
                room = _quotient(larger, smaller)
                if not room:
                    raise IllegalStepError("an array's strides do not divide each other")
                if not self._is_inside(indices.get(smaller, {}), room):
                    _borrow(indices, smaller, larger, room)
                    if not self._is_inside(indices[smaller], room):
                        raise IllegalStepError("an index may reach into the next row")
        return apart

    def _take_apart(self, text: str) -> Indices:
        changing = {c.data for c in self._nest.containers if c.written and not c.is_array}
        indices: dict[expr.Monomial, dict[expr.Monomial, int]] = {}
        for monomial, factor in expr.polynomial(text).items():
            inner = tuple(s for s in monomial if s in self._bounds)
            stride = tuple(s for s in monomial if s not in self._bounds)
            if len(inner) > 1 or changing & set(stride) or any("(" in s for s in stride):
                raise IllegalStepError(f"the index {text} is not affine")
            indices.setdefault(stride, {})[inner] = factor
        return dict(indices)

    def _is_inside(self, index: expr.Polynomial, room: expr.Monomial) -> bool:
        """Whether the index is in 0 … room - 1 for all iterations."""
        low: expr.Polynomial = {}
        highs: list[expr.Polynomial] = [{}]
        for monomial, factor in index.items():
            variable = monomial[0] if monomial else ""
            if variable not in self._bounds:
                low = plus(low, {monomial: factor})
                highs = [plus(high, {monomial: factor}) for high in highs]
                continue
            first, ends = self._bounds[variable]
            last = [plus(end, {(): 1}, -1) for end in ends]
            if factor < 0:
                low = plus(low, last[0] if last else {("?",): -1}, factor)
                highs = [plus(high, first, factor) for high in highs]
            else:
                low = plus(low, first, factor)
                highs = [plus(high, end, factor) for high in highs for end in last]
        inside = any(_positive(plus({room: 1}, high, -1)) for high in highs)
        return inside and _positive(plus(low, {(): 1}))


def _borrow(
    indices: Indices, smaller: expr.Monomial, larger: expr.Monomial, room: expr.Monomial
) -> None:
    """Read ``(i + 1)*N - 1``, the last column of row i, as ``i*N + (N - 1)``."""
    indices[smaller] = plus(indices.get(smaller, {}), {room: 1})
    indices[larger] = plus(indices.get(larger, {}), {(): 1}, -1)


def distance(a: Indices, b: Indices, place: str | int, other: str | int) -> int | Meeting:
    """How far apart two iterations are that touch the same element.

    Args:
        a, b: indices of two accesses of one array.
        place, other: the loop variable around `a`, and that around `b`, that is asked for; a number
            for a statement that always runs at one place.

    Returns:
        ``other - place`` where the accesses may meet, if that is one number.
    """
    found: int | Meeting = Meeting.ANY
    for stride in a.keys() | b.keys():
        gap = _gap(dict(a.get(stride, {})), dict(b.get(stride, {})), place, other)
        if gap is Meeting.NEVER or (
            gap is not Meeting.ANY and found is not Meeting.ANY and found != gap
        ):
            return Meeting.NEVER
        if gap is not Meeting.ANY:
            found = gap
    if isinstance(place, int) and isinstance(other, int):
        return other - place
    return found


def _gap(
    x: dict[expr.Monomial, int],
    y: dict[expr.Monomial, int],
    place: str | int,
    other: str | int,
) -> int | Meeting:
    """``other - place`` from the two indices of one dimension."""
    own = 0 if isinstance(place, int) else x.pop((place,), 0)
    others = 0 if isinstance(other, int) else y.pop((other,), 0)
    rest = plus(x, y, -1)
    if set(rest) - {()}:
        return Meeting.ANY
    constant = rest.get((), 0)
    if own == others == 0:
        # Other variables that cancel out may differ between the two iterations.
        same = not constant or bool(set(x) - {()})
        return Meeting.ANY if same else Meeting.NEVER
    if set(x) - {()}:
        return Meeting.ANY
    if own == others == 1:
        return constant
    if isinstance(place, int) and others == 1:
        return constant - place
    if isinstance(other, int) and own == 1:
        return other + constant
    return Meeting.ANY


def check_plain(nest: Nest, loop: Loop) -> None:
    """Refuse loops with jumps, library calls, pointers, or bounds and indices that they compute.

    Raises:
        IllegalStepError: if there are any.
    """
    texts = [text for access in nest.accesses for text in access.subset]
    texts += [branch.condition for branch in nest.branches]
    texts += [text for other in nest.loops for text in (other.init, other.condition, other.update)]
    used = {symbol for text in texts for symbol in expr.symbols(text)}
    if computed := sorted(used & {c.data for c in nest.containers if c.written}):
        raise IllegalStepError(f"an index or bound depends on {computed[0]}, which the nest writes")
    for operation in nest.operations:
        if loop in nest.ancestry(nest.blocks[operation.block].parent) and (
            operation.op in ("break", "continue", "return", "reference", "symbol")
            or operation.op.startswith("lib:")
        ):
            raise IllegalStepError(f"{loop.name} holds an operation '{operation.op}'")


def plus(a: expr.Polynomial, b: expr.Polynomial, factor: int = 1) -> expr.Polynomial:
    """``a + factor*b``."""
    total = dict(a)
    for monomial, value in b.items():
        total[monomial] = total.get(monomial, 0) + factor * value
    return {monomial: value for monomial, value in total.items() if value}


def _quotient(larger: expr.Monomial, smaller: expr.Monomial) -> expr.Monomial | None:
    rest = Counter(larger)
    rest.subtract(smaller)
    if any(count < 0 for count in rest.values()):
        return None
    return tuple(sorted(rest.elements()))


def _positive(polynomial: expr.Polynomial) -> bool:
    """Whether it is at least 1 for all sizes, which are at least 1 themselves."""
    return (
        all(value > 0 for monomial, value in polynomial.items() if monomial)
        and not any(symbol == "?" or "(" in symbol for m in polynomial for symbol in m)
        and sum(polynomial.values()) >= 1
    )
