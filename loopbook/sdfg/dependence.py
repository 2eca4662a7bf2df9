"""Whether a new order of statements keeps all dependences of the old one.

Every instance of a statement has a place in the old order and one in the new order, both vectors
of linear forms that are compared like words (Feautrier, IJPP 1992; the schedules of the polyhedral
model). An order is kept if no two instances that touch the same element, one of them writing,
change their order. That question is a system of linear constraints for each pair of accesses and
each pair of levels at which the orders are decided; see `loopbook.sdfg.affine`.

docc flattens arrays: ``A[i, j + 1]`` of N columns is ``A[1 + j + i*N]``. Such an index is taken
apart into one for each stride (Maslov's delinearisation, POPL 1992) where the loops' bounds prove
that no index reaches into the next row; where they do not, the accesses count as touching.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, product

from loopbook.errors import DependenceError, IllegalStepError, SdfgError
from loopbook.sdfg import affine, expr
from loopbook.sdfg.affine import Linear
from loopbook.sdfg.looptree import LoopNode, Statement, Touch, statements

Tree = LoopNode | Statement
Subset = tuple[str, ...]
Place = list[tuple[Linear, int]]
"""When an instance runs: positions among siblings (constants) and loop variables in turn, each with
the least by which two different ones differ."""

Moved = Mapping[Statement, Mapping[str, Linear]]
"""For each statement: variable of a new loop to its value in terms of the old loops' variables."""

WINDOWS = (0, -1, 1)
"""Rows, counted from the one that the index seems to be in, where an index may really be."""


def check_order(
    before: Sequence[Tree],
    after: Sequence[Tree],
    moved: Moved,
    around: Sequence[LoopNode],
    *,
    atomic: bool = True,
) -> None:
    """Refuse unless running `after` in place of `before` keeps every dependence.

    Both must run the same instances of the same statement objects. Updates of an element by the
    same operator may change places; see `loopbook.sdfg.updates`.

    Args:
        before, after: siblings in the order in which they run.
        moved: what new variables stand for; those not named stand for themselves.
        around: the loops around, outermost first.
        atomic: whether statements run one after the other; if not, updates count as plain accesses.

    Raises:
        DependenceError: some dependence may be turned round.
    """
    old = dict(_places(before, {}))
    new = dict(_places(after, moved))
    variables = {loop.variable for loop in around}
    domains: dict[Statement, list[Linear]] = {}
    for tree in before:
        for statement, path in statements(tree):
            loops = [*around, *path]
            variables |= {loop.variable for loop in path}
            domains[statement] = domain(loops)
    inner = variables - {loop.variable for loop in around}
    index = _Indexing(frozenset(variables), domains)

    def one(form: Linear) -> dict[str, int]:
        return _marked(form, inner, "'1")

    def two(form: Linear) -> dict[str, int]:
        return _marked(form, inner, "'2")

    for first, second in product(old, old):
        was = _earlier(_mapped(old[first], one), _mapped(old[second], two))
        will = _earlier(_mapped(new[second], two), _mapped(new[first], one))
        if not was or not will:
            continue
        inside = [one(f) for f in domains[first]] + [two(f) for f in domains[second]]
        for x, y in _conflicts(first, second, atomic):
            same = index.meeting(first, x, second, y)
            equations = [affine.minus(one(a), two(b)) for a, b in same]
            for equal, less in was:
                base = equations + equal, inside + less
                if not affine.empty(*base) and not all(
                    affine.empty(base[0] + again, base[1] + turned) for again, turned in will
                ):
                    raise DependenceError(f"{x.container} carries a dependence against it")


def carries_nothing(loop: LoopNode, around: Sequence[LoopNode]) -> bool:
    """Whether the iterations of `loop` may run in any order, or at once."""
    backwards = LoopNode(
        loop.element, loop.variable, loop.lows, loop.highs, loop.step, loop.children
    )
    turned = {s: {loop.variable: {loop.variable: -1}} for s, _ in statements(loop)}
    try:
        check_order([loop], [backwards], turned, around, atomic=False)
    except IllegalStepError:
        return False
    return True


def read_before_written(
    loop: LoopNode, around: Sequence[LoopNode], container: str, subset: Sequence[str]
) -> bool:
    """Whether nothing inside of `loop` writes an element before it is read by this subset.

    Args:
        subset: of the reads, in its normal form.
    """
    places = dict(_places([loop], {}))
    domains = {s: domain([*around, *path]) for s, path in statements(loop)}
    inner = {o.variable for _, path in statements(loop) for o in path}
    index = _Indexing(frozenset(inner | {o.variable for o in around}), domains)

    def one(form: Linear) -> dict[str, int]:
        return _marked(form, inner, "'1")

    def two(form: Linear) -> dict[str, int]:
        return _marked(form, inner, "'2")

    for writer, reader in product(places, places):
        earlier = _earlier(_mapped(places[writer], one), _mapped(places[reader], two))
        inside = [one(f) for f in domains[writer]] + [two(f) for f in domains[reader]]
        for x, y in product(writer.touches, reader.touches):
            here = expr.normal_forms(y.subset) == tuple(subset)
            if not (x.write and x.container == container == y.container and here):
                continue
            same = index.meeting(writer, x, reader, y)
            if writer is reader and not affine.empty(
                [affine.minus(a, b) for a, b in same], domains[reader]
            ):
                return False
            equations = [affine.minus(one(a), two(b)) for a, b in same]
            if not all(affine.empty(equations + equal, inside + less) for equal, less in earlier):
                return False
    return True


def never_meet(
    statement: Statement, loops: Sequence[LoopNode], first: Touch, second: Touch
) -> bool:
    """Whether two accesses touch different elements, whenever the statement runs.

    Args:
        loops: all loops around the statement, and around both accesses.
    """
    rows = domain(loops)
    index = _Indexing(frozenset(loop.variable for loop in loops), {statement: rows})
    pairs = index.meeting(statement, first, statement, second)
    return affine.empty([affine.minus(a, b) for a, b in pairs], rows)


def keep_apart(
    scope: LoopNode, around: Sequence[LoopNode], container: str, one: Subset, two: Subset
) -> bool:
    """Whether two ways to index an array name different elements, within one run of a loop.

    Whichever iterations of the loop they are used in: the same one or two different ones.

    Args:
        around: the loops around `scope`.
        one, two: subsets in normal form; see `loopbook.sdfg.expr`.
    """
    outer = {loop.variable for loop in around}
    found = [(s, path) for s, path in statements(scope)]
    domains = {s: domain([*around, *path]) for s, path in found}
    variables = outer.union(*({loop.variable for loop in path} for _, path in found))
    index = _Indexing(frozenset(variables), domains)
    inner = variables - outer

    def uses(subset: Subset) -> Iterator[tuple[Statement, Touch]]:
        for statement, _ in found:
            for touch in dict.fromkeys(statement.touches):
                if touch.container == container and expr.normal_forms(touch.subset) == subset:
                    yield statement, touch

    def renamed(form: Linear, mark: str) -> dict[str, int]:
        return _marked(form, inner, mark)

    for (first, x), (second, y) in product(uses(one), uses(two)):
        same = [
            affine.minus(renamed(a, "'1"), renamed(b, "'2"))
            for a, b in index.meeting(first, x, second, y)
        ]
        inside = [renamed(f, "'1") for f in domains[first]]
        inside += [renamed(f, "'2") for f in domains[second]]
        if not affine.empty(same, inside):
            return False
    return True


def _marked(form: Linear, names: Collection[str], mark: str) -> dict[str, int]:
    """The form with a mark on these variables, to tell two runs of a statement apart."""
    return {f"{n}{mark}" if n in names else n: factor for n, factor in form.items()}


def domain(loops: Iterable[LoopNode]) -> list[Linear]:
    """Inequalities (0 or more) for the variables of loops, outermost first."""
    rows: list[Linear] = []
    for loop in loops:
        value = {loop.variable: 1}
        rows += [affine.minus(value, low) for low in loop.lows]
        rows += [affine.shifted(affine.minus(high, value), -1) for high in loop.highs]
    return rows


def _places(trees: Sequence[Tree], moved: Moved) -> Iterator[tuple[Statement, Place]]:
    def visit(siblings: Sequence[Tree], sofar: Place) -> Iterator[tuple[Statement, Place]]:
        for number, tree in enumerate(siblings):
            here: Place = [*sofar, ({"": number}, 1)]
            if isinstance(tree, LoopNode):
                yield from visit(tree.children, [*here, ({tree.variable: 1}, tree.step)])
            else:
                values = moved.get(tree, {})
                yield tree, [(affine.replaced(form, values), step) for form, step in here]

    yield from visit(trees, [])


def _mapped(place: Place, rename: Callable[[Linear], Linear]) -> Place:
    return [(rename(form), step) for form, step in place]


def _conflicts(first: Statement, second: Statement, atomic: bool) -> Iterator[tuple[Touch, Touch]]:
    for x, y in product(dict.fromkeys(first.touches), dict.fromkeys(second.touches)):
        if atomic and x.update and x.update == y.update:
            continue
        if x.container == y.container and (x.write or y.write):
            yield x, y


def _earlier(one: Place, two: Place) -> list[tuple[list[Linear], list[Linear]]]:
    """The ways in which one place comes before another: equations and inequalities of each."""
    ways: list[tuple[list[Linear], list[Linear]]] = []
    equal: list[Linear] = []
    for (a, step), (b, _) in zip(one, two, strict=False):
        gap = affine.minus(b, a)
        if set(gap) <= {""}:
            if gap.get("", 0) > 0:
                ways.append((list(equal), []))
            if gap:
                break
            continue
        ways.append((list(equal), [affine.shifted(gap, -step)]))
        equal.append(gap)
    return ways


class _Indexing:
    """Takes accesses apart into one linear index for each dimension."""

    def __init__(
        self, variables: frozenset[str], domains: Mapping[Statement, Sequence[Linear]]
    ) -> None:
        self._variables = variables
        self._domains = domains
        self._written = {t.container for s in domains for t in s.touches if t.write}

    def meeting(
        self, first: Statement, x: Touch, second: Statement, y: Touch
    ) -> list[tuple[Linear, Linear]]:
        """Pairs of forms that are equal where two accesses touch the same element.

        Nothing where that is not known: then they always may.
        """
        if len(x.subset) != len(y.subset):
            return []
        pairs: list[tuple[Linear, Linear]] = []
        for one, two in zip(x.subset, y.subset, strict=True):
            try:
                left, right = self._terms(one), self._terms(two)
                strides = _strides(left, self._variables) | _strides(right, self._variables)
                parts = [
                    self._apart(terms, strides, self._domains[statement])
                    for terms, statement in ((left, first), (right, second))
                ]
            except SdfgError:
                continue
            pairs += [(parts[0].get(s, {}), parts[1].get(s, {})) for s in strides]
        return pairs

    def _terms(self, text: str) -> expr.Polynomial:
        if not self._written.isdisjoint(expr.symbols(text)):
            raise SdfgError(f"{text} is an indirect index")
        return expr.polynomial(text)

    def _apart(
        self, terms: expr.Polynomial, strides: set[expr.Monomial], rows: Sequence[Linear]
    ) -> dict[expr.Monomial, Linear]:
        """Stride to index.

        Raises:
            SdfgError: some index may reach into the next row, or is not affine.
        """
        order = sorted(strides, key=len)
        parts: dict[expr.Monomial, dict[str, int]] = {stride: {} for stride in order}
        for monomial, factor in terms.items():
            inner = tuple(s for s in monomial if s in self._variables)
            own = tuple(s for s in monomial if s not in self._variables)
            if len(inner) > 1 or any(
                "(" in s and not self._variables.isdisjoint(expr.symbols(s)) for s in own
            ):
                raise SdfgError("an index is not affine")
            within = [own] if inner else [s for s in order if _over(own, s) is not None]
            if not within:
                raise SdfgError("an index has a part that belongs to no dimension")
            stride = max(within, key=len)
            rest = _over(own, stride) or ()
            name = "*".join((*inner, *rest))
            parts[stride] = affine.plus(parts[stride], {name: factor})
        for small, large in pairwise(order):
            width = _over(large, small)
            if width is None:
                raise SdfgError("strides that do not divide each other")
            row = {"*".join(width): 1}
            for window in WINDOWS:
                index = affine.plus(parts[small], row, -window)
                above = affine.minus(index, row)
                below = {n: -f for n, f in affine.shifted(index, 1).items()}
                if affine.empty([], [*rows, above]) and affine.empty([], [*rows, below]):
                    parts[small] = index
                    parts[large] = affine.shifted(parts[large], window)
                    break
            else:
                raise SdfgError("an index may reach into the next row")
        return dict(parts)


def _strides(terms: expr.Polynomial, variables: frozenset[str]) -> set[expr.Monomial]:
    """What loop variables are multiplied with, and 1."""
    return {()} | {
        tuple(s for s in monomial if s not in variables)
        for monomial in terms
        if not variables.isdisjoint(monomial)
    }


def _over(large: expr.Monomial, small: expr.Monomial) -> expr.Monomial | None:
    """``large / small`` if that is a monomial."""
    rest = Counter(large)
    rest.subtract(small)
    if any(count < 0 for count in rest.values()):
        return None
    return tuple(sorted(rest.elements()))
