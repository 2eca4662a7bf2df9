"""How far a program reaches into its arrays, by running it on intervals instead of numbers.

Loops run once, on all values of their variables at once; where numbers grow from iteration to
iteration, they are let grow as often as the loop runs. What is found holds all that can happen, and
maybe more: `b[i - j]` with ``j <= i`` seems to reach below zero.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from loopbook.errors import SdfgError
from loopbook.interpreter import intervals
from loopbook.interpreter.ends import Ends, ends_of, extremes
from loopbook.interpreter.flow import made
from loopbook.interpreter.intervals import ANYTHING, Interval, exactly, plus, times
from loopbook.program import expr
from loopbook.program.bounds import inequalities
from loopbook.program.dataflow import (
    AccessNode,
    Block,
    LibraryCall,
    Memlet,
    Operation,
    Reference,
    in_order,
)
from loopbook.program.expr import Expr, Monomial
from loopbook.program.tree import Assignments, Branch, Jump, Loop, Node, Program, Sequence, While
from loopbook.program.types import Array, Pointer, Scalar, Tensor, count, factors

MOST_VISITS = 100_000
"""Statements that are looked at: loops within one another are run several times each."""

Known = dict[str, Interval]


@dataclass(frozen=True)
class Excess:
    """An index that may leave its place: its row, or a local array.

    Attributes:
        names: what stands in the index.
        by: how far.
        row: the size that says how long a row is, if there is one.
        each: how many elements apart what is counted by that size is.
    """

    container: str
    names: frozenset[str]
    by: float
    row: str = ""
    each: int = 1


@dataclass
class Reach:
    """What parts of its arrays a program touches.

    Attributes:
        spans: container to the indices used, as if it had but one dimension.
        low: names in an index to how far below zero it seems to get.
        beyond: indices that may be too large.
    """

    spans: dict[str, Interval] = field(default_factory=dict)
    low: dict[frozenset[str], float] = field(default_factory=dict)
    beyond: set[Excess] = field(default_factory=set)


def reach(program: Program, known: Mapping[str, Interval], followed: frozenset[str]) -> Reach:
    """What a program touches.

    Args:
        known: what its scalar arguments and the elements of its arrays may be.
        followed: containers whose values matter to indices and bounds (`Roles.indices`).

    Raises:
        SdfgError: an expression cannot be read, or loops are too deep within one another.
    """
    walker = _Walker(program, dict(known), followed)
    walker.sequence(program.body)
    return walker.found


class _Walker:
    def __init__(self, program: Program, known: Known, followed: frozenset[str]) -> None:
        self.found = Reach()
        self._types = program.containers
        self._known = known
        self._fixed = {
            name for name in program.arguments if isinstance(self._types.get(name), Scalar)
        }
        self._followed = followed
        self._around: list[Ends] = []
        self._views: dict[str, tuple[str, Interval]] = {}
        self._jumped: list[list[Known]] = [[]]
        self._visits = 0

    def sequence(self, sequence: Sequence) -> None:
        for child in sequence.children:
            self._node(child)

    def _node(self, node: Node) -> None:
        self._visits += 1
        if self._visits > MOST_VISITS:
            raise SdfgError("the program's loops are too deep within one another to be followed")
        match node:
            case Sequence():
                self.sequence(node)
            case Loop():
                self._loop(node)
            case While():
                self._repeated(lambda: self.sequence(node.body), lambda: math.inf)
            case Branch():
                self._branch(node)
            case Assignments():
                for one in node.assignments:
                    self._known[one.symbol] = self._value(one.expression)
            case Jump():
                self._jumped[-1].append(dict(self._known))
            case Reference():
                self._reference(node)
            case Block():
                self._block(node)

    # -- control flow ---------------------------------------------------------------------------

    def _loop(self, loop: Loop) -> None:
        step = loop.step
        first = self._value(loop.init)
        room = inequalities(loop.condition)
        ends = ends_of(loop)
        falls = step is not None and step < 0
        unbounded = Interval(-math.inf, first.high) if falls else Interval(first.low, math.inf)
        trips = math.inf

        def body() -> None:
            own = unbounded
            for polynomial in room:
                own = intervals.narrowed(loop.variable, own, polynomial, self._known)
            if own.low > own.high:
                return  # it never runs
            nonlocal trips
            trips = (own.high - own.low) / abs(step or 1) + 1
            self._known[loop.variable] = own
            self._around.append(ends)
            self.sequence(loop.body)
            self._around.pop()

        self._repeated(body, lambda: trips)
        last = self._known.get(loop.variable, first)
        after = plus(last, exactly(step)) if step else ANYTHING
        self._known[loop.variable] = after.joined(first)

    def _repeated(self, body: Callable[[], None], trips: Callable[[], float]) -> None:
        """A loop's body, until nothing that it begins with gets larger."""
        self._jumped.append([])
        begin = dict(self._known)
        body()
        first = self._grown(begin, self._ended())
        if first:
            self._known = {**begin, **first}
            body()
            second = self._grown({**begin, **first}, self._ended())
            count = trips() - 1
            self._known = {
                name: _grown_on(own, first.get(name, own), second.get(name), count)
                for name, own in begin.items()
            }
            start = dict(self._known)
            body()
            ended = self._ended()
            self._known = {
                name: ended.get(name, ANYTHING).joined(own) for name, own in start.items()
            } | {name: own for name, own in ended.items() if name not in start}
        else:
            ended = self._ended()
            self._known = {
                name: own.joined(begin[name]) if name in begin else own
                for name, own in ended.items()
            }
        self._jumped.pop()

    def _ended(self) -> Known:
        """What is known where an iteration ends, however it does."""
        found = self._known
        for other in self._jumped[-1]:
            found = _joined(found, other)
        return found

    def _grown(self, begin: Known, end: Known) -> Known:
        """What was known at the beginning and may be something else at the end: what it may be."""
        found = {}
        for name, own in begin.items():
            both = own.joined(end.get(name, own))
            if name in self._followed and both != own:
                found[name] = both
        return found

    def _branch(self, branch: Branch) -> None:
        before = self._known
        ends: list[Known] = []
        for case in branch.cases:
            self._known = dict(before)
            possible = True
            for polynomial in inequalities(case.condition):
                for name in expr.mentioned(polynomial) & self._known.keys():
                    own = intervals.narrowed(name, self._known[name], polynomial, self._known)
                    possible &= own.low <= own.high
                    self._known[name] = own
            if possible:
                self.sequence(case.body)
                ends.append(self._known)
        self._known = before
        for other in ends:
            self._known = _joined(self._known, other)

    def _value(self, expression: Expr) -> Interval:
        try:
            return intervals.value(expression.text, self._known)
        except SdfgError:
            return ANYTHING

    def _within(self, expression: Expr) -> Interval:
        """`_value`, more narrowly: ends of the loops around may depend on one another."""
        try:
            return extremes(expression.polynomial, self._around, self._known)
        except SdfgError:
            return ANYTHING

    # -- dataflow -------------------------------------------------------------------------------

    def _block(self, block: Block) -> None:
        for memlet in block.memlets:
            for end in (block.nodes[memlet.source], block.nodes[memlet.target]):
                if isinstance(end, AccessNode) and memlet.subset:
                    self._touch(end.container, memlet)
        if isinstance(block, LibraryCall) and block.call.code == "GEMM":
            self._product(block)
        for place in in_order(block):
            if not isinstance(block.nodes[place], Operation):
                continue
            for memlet in block.outputs[place]:
                target = block.nodes[memlet.target]
                if isinstance(target, AccessNode) and target.container in self._followed:
                    self._store(target.container, made(block, place, self._known, self._types))

    def _store(self, container: str, value: Interval) -> None:
        name, _ = self._views.get(container, (container, ANYTHING))
        if name in self._known and not isinstance(self._types.get(name), Scalar):
            value = value.joined(self._known[name])
        self._known[name] = value

    def _reference(self, block: Block) -> None:
        for memlet in block.memlets:
            source, target = block.nodes[memlet.source], block.nodes[memlet.target]
            if isinstance(source, AccessNode) and isinstance(target, AccessNode):
                start = self._value(memlet.subset[0]) if len(memlet.subset) == 1 else ANYTHING
                base, more = self._views.get(source.container, (source.container, exactly(0)))
                self._views[target.container] = base, plus(start, more)

    def _product(self, block: LibraryCall) -> None:
        words = {name: Expr(str(said)) for name, said in block.call.fields.value.items()}
        m, n, k = (self._value(words[name]) for name in "mnk")
        for memlet in block.memlets:
            end = block.nodes[memlet.source]
            which = memlet.target_connector.strip("_").lower()
            if not isinstance(end, AccessNode) or which not in ("a", "b", "c"):
                continue
            rows, columns = {"a": (m, k), "b": (k, n), "c": (m, n)}[which]
            turned = f"trans_{which}"
            if turned in words and words[turned].text != "111":
                rows, columns = columns, rows
            leading = self._value(words[f"ld{which}"])
            last = plus(times(plus(rows, exactly(-1)), leading), plus(columns, exactly(-1)))
            self._spanned(end.container, Interval(0, max(last.high, 0)))

    def _touch(self, container: str, memlet: Memlet) -> None:
        kind = self._types.get(container)
        if kind is None or isinstance(kind, Scalar):
            return
        where = memlet.type if isinstance(kind, Pointer) else kind
        indices = [self._within(one) for one in memlet.subset]
        if isinstance(where, Tensor):
            steps = [self._value(one) for one in where.strides]
            total = self._value(where.offset)
            counted = frozenset[str]().union(*(one.symbols for one in where.strides))
            sizes = [
                self._value(one).high if one.symbols and one.symbols <= counted else math.inf
                for one in where.shape
            ]
        else:
            numbers = factors(where) or []
            steps = [exactly(one) for one in numbers]
            total = exactly(0)
            sizes = [a / b for a, b in pairwise(numbers)]
            sizes.insert(0, count(kind) / numbers[0] if isinstance(kind, Array) else math.inf)
        if len(steps) != len(indices):
            raise SdfgError(f"an element of {container} has another number of indices")
        for index, step, size, text in zip(indices, steps, sizes, memlet.subset, strict=True):
            total = plus(total, times(index, step))
            if index.high >= size:
                by = index.high - size + 1
                self.found.beyond.add(Excess(container, text.symbols, by))
            if index.low < 0:
                self.found.low[text.symbols] = min(
                    self.found.low.get(text.symbols, 0), max(index.low, -1e18)
                )
        if len(memlet.subset) == 1:
            self._rows(container, memlet.subset[0])
        self._spanned(container, total)

    def _rows(self, container: str, index: Expr) -> None:
        """See whether what stands in a row, and how far it goes, fits into a row: sizes that
        indices are multiplied by say how long rows are."""
        groups: dict[float, dict[Monomial, int]] = defaultdict(dict)
        for monomial, factor in index.polynomial.items():
            sizes = [self._known[one].low for one in monomial if self._is_size(one)]
            groups[abs(factor) * math.prod(sizes) if sizes else 1][monomial] = factor
        within: dict[Monomial, int] = {}
        inner, before = 1.0, Counter[str]()
        for step in sorted(groups):
            sizes = Counter(filter(self._is_size, next(iter(groups[step]))))
            if within:
                most = extremes(within, self._around, self._known).high
                if most >= step:
                    rows = [*(sizes - before)]
                    names = frozenset(expr.mentioned(within))
                    row, each = (rows[0], int(inner)) if len(rows) == 1 else ("", 1)
                    self.found.beyond.add(Excess(container, names, most - step + 1, row, each))
            within |= groups[step]
            inner, before = step, sizes

    def _is_size(self, symbol: str) -> bool:
        return symbol in self._fixed and symbol in self._known

    def _spanned(self, container: str, span: Interval) -> None:
        name, more = self._views.get(container, (container, exactly(0)))
        span = plus(span, more)
        before = self.found.spans.get(name, span)
        self.found.spans[name] = span.joined(before)


def _joined(a: Known, b: Known) -> Known:
    """What may be known after one of two ways."""
    return {name: own.joined(b[name]) if name in b else own for name, own in {**b, **a}.items()}


def _grown_on(begin: Interval, first: Interval, second: Interval | None, trips: float) -> Interval:
    """What a number may be that has grown in one iteration and, maybe, in the next: so often if it
    grows evenly."""
    if second is None:
        return first

    def end(zero: float, one: float, two: float) -> float:
        if two == one:
            return two
        even = two - one == one - zero and math.isfinite(trips)
        return zero + (one - zero) * trips if even else math.copysign(math.inf, two - one)

    low, high = (end(*ends) for ends in zip(begin, first, second, strict=True))
    return Interval(low, high)
