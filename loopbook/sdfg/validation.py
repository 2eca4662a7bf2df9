"""Whether docc's normalisation has kept what a program computes.

docc 0.8 distributes and interchanges loops that carry dependences: those around the two halves of a
right-looking LU factorisation, say, or the outermost one of Floyd and Warshall's shortest paths. It
moves whole blocks with their element ids though, so each single run of it can be checked afterwards
by what moved where (translation validation; Pnueli, Siegel and Singerman, TACAS 1998): statements
of both forms are matched, and `loopbook.dependence` decides whether the new order keeps every
dependence of the old one.

What cannot be matched or understood counts as not kept; where nothing has moved, nothing is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from loopbook.dependence import check_order, domain, same_points
from loopbook.dependence.body import Body, LoopNode, Statement, read_header
from loopbook.dependence.model import Linear, replaced
from loopbook.dependence.scalars import private_scalars
from loopbook.dependence.touches import Touch, touches
from loopbook.dependence.updates import updates
from loopbook.errors import IllegalStepError, SdfgError
from loopbook.program import expr
from loopbook.program.accesses import own_symbols, written
from loopbook.program.expr import Expr
from loopbook.program.tree import Branch, Loop, Node, Opaque, Program, While
from loopbook.program.types import Type
from loopbook.program.walk import preorder

Nodes = Sequence[Node]
"""Nodes that follow each other."""

Path = tuple[LoopNode, ...]
"""The loops around something, outermost first, without what is in them."""


@dataclass(frozen=True)
class Part:
    """Neighbouring nodes of a program in two forms.

    Attributes:
        fault: what keeps the second form from standing for the first one; empty if nothing does.
    """

    before: Nodes
    after: Nodes
    fault: str


def compared(before: Program, after: Program) -> list[Part]:
    """The parts of a program before and after docc has moved its statements, in order.

    A part is as small as it can be: no statement has moved from one to another.
    """
    old, new = before.body.children, after.body.children
    if set(_leaves(old)) != set(_leaves(new)):
        return [Part(old, new, "there are other statements")]
    try:
        private = private_scalars(before) & private_scalars(after)
    except SdfgError:  # some condition is of an unusual form
        private = frozenset()
    matching = _Matching(private, _changing(before), before.containers)
    return [Part(one, two, matching.fault(one, two)) for one, two in _cut(old, new)]


def _cut(before: Nodes, after: Nodes) -> Iterator[tuple[Nodes, Nodes]]:
    """The smallest runs of nodes that hold the same statements in both forms."""
    ends = {held: place for place, held in _prefixes(after)}
    start, begun = 0, 0
    for place, held in _prefixes(before):
        if held in ends:
            yield before[start:place], after[begun : ends[held]]
            start, begun = place, ends[held]


def _prefixes(siblings: Nodes) -> Iterator[tuple[int, frozenset[Key]]]:
    """After how many nodes, if something follows that holds a statement, which were before."""
    held: frozenset[Key] = frozenset()
    for place, node in enumerate(siblings):
        inside = frozenset(_leaves([node]))
        if inside and held:
            yield place, held
        held |= inside
    yield len(siblings), held


def _bodies(node: Node) -> list[Nodes]:
    """What follows each other directly inside of a loop or a branch."""
    match node:
        case Branch():
            return [case.body.children for case in node.cases]
        case Loop() | While():
            return [node.body.children]
    return []


def _has_loops(node: Node) -> bool:
    if isinstance(node, Loop | While):
        return True
    return any(_has_loops(child) for body in _bodies(node) for child in body)


Key = int | str | None
"""What tells statements apart that docc moves whole."""


def _key(node: Node) -> Key:
    return node.kept.text if isinstance(node, Opaque) else node.id


def _leaves(siblings: Nodes) -> Iterator[Key]:
    """The keys of what has no loops in it, in program order."""
    for node in siblings:
        if _has_loops(node):
            for body in _bodies(node):
                yield from _leaves(body)
        else:
            yield _key(node)


def _changing(program: Program) -> frozenset[str]:
    """What is written somewhere: as part of an index or a bound it may be anything."""
    unknown = [own_symbols(node) for node in preorder(program) if isinstance(node, Opaque)]
    return written(program).union(*unknown)


def _shape(siblings: Nodes) -> tuple[object, ...]:
    """Loops as tuples of their variable and what is in them, statements by their keys."""
    return tuple(
        (node.variable if isinstance(node, Loop) else None, *map(_shape, _bodies(node)))
        if _has_loops(node)
        else _key(node)
        for node in siblings
    )


@dataclass(frozen=True)
class _Matching:
    """Matches parts of two forms of one program.

    Attributes:
        private: scalars that carry nothing between statements in either form.
        written: what is written somewhere.
        containers: the types of all containers.
    """

    private: frozenset[str]
    written: frozenset[str]
    containers: Mapping[str, Type]

    def header(self, node: Loop, path: Path) -> LoopNode:
        """A loop without what is in it, and without bounds that change as the program runs.

        Raises:
            IllegalStepError: it is not understood, or takes steps from where that changes.
        """
        loop = read_header(node, [outer.variable for outer in path])
        if loop.step > 1 and any(map(self._varies, loop.lows)):
            raise IllegalStepError(f"the loop over {loop.variable} begins elsewhere each time")
        loop.lows = [low for low in loop.lows if not self._varies(low)]
        loop.highs = [high for high in loop.highs if not self._varies(high)]
        return loop

    def _varies(self, bound: Linear) -> bool:
        """Whether a bound has something in it that is written."""
        return any(not self.written.isdisjoint(expr.symbols(name)) for name in bound)

    def changes(self, subset: Iterable[Expr]) -> bool:
        """Whether some index has something in it that is written."""
        return any(not self.written.isdisjoint(index.symbols) for index in subset)

    def fault(self, before: Nodes, after: Nodes) -> str:
        """See `Part`."""
        try:
            self.check(before, after, (), (), {})
        except (IllegalStepError, SdfgError) as error:
            return str(error)
        return ""

    def check(
        self,
        before: Nodes,
        after: Nodes,
        around: Path,
        now: Path,
        names: Mapping[str, str],
    ) -> None:
        """Refuse unless siblings stand for others.

        Args:
            around, now: the loops around them in each form.
            names: of the variables of `now` to those of `around`.

        Raises:
            IllegalStepError: they do not, or that is not understood.
        """
        if _shape(before) == _shape(after):
            return
        old = _Old(self, _neighbours(after))
        trees = old.trees(before, around)
        new = _New(self, old, around, now, names)
        moved = new.trees(after, now)
        check_order(trees, moved, new.values, around)
        for one, two, path, later, renamed in new.branches:
            bodies = _bodies(one), _bodies(two)
            for inner, other in zip(*bodies, strict=True):
                self.check(inner, other, path, later, renamed)


def _neighbours(siblings: Nodes) -> dict[Key, Key]:
    """For statements that follow directly on another one: its key."""
    found: dict[Key, Key] = {}
    for place, node in enumerate(siblings):
        if _has_loops(node):
            for body in _bodies(node):
                found |= _neighbours(body)
        elif place and not _has_loops(siblings[place - 1]):
            found[_key(node)] = _key(siblings[place - 1])
    return found


class _Old:
    """Loops and statements of the form before.

    Statements are cut where the form after does not have their nodes next to each other.

    Attributes:
        known: by the key of their first node: statements with the loops around them.
    """

    def __init__(self, matching: _Matching, neighbours: Mapping[Key, Key]) -> None:
        self._matching = matching
        self._neighbours = neighbours
        self.known: dict[Key, tuple[Statement, Path]] = {}

    def trees(self, siblings: Nodes, path: Path) -> list[Body]:
        found: list[Body] = []
        variables = frozenset(loop.variable for loop in path)
        for node in siblings:
            if isinstance(node, Loop):
                loop = self._matching.header(node, path)
                loop.children += self.trees(node.body.children, (*path, loop))
                found.append(loop)
                continue
            last = found[-1] if found else None
            if not _has_loops(node) and isinstance(last, Statement):
                ahead = self._neighbours.get(_key(node))
                if ahead is not None and ahead == _key(last.nodes[-1]):
                    last.nodes = [*last.nodes, node]
                    continue
            statement = Statement([node])
            self.known[_key(node)] = statement, path
            found.append(statement)
        for tree in found:
            if isinstance(tree, Statement):
                tree.touches += self._touches(tree.nodes, variables)
        return found

    def _touches(self, nodes: Nodes, variables: frozenset[str]) -> list[Touch]:
        if _has_loops(nodes[0]):
            return list(_anything(nodes[0]))
        private = self._matching.private
        operators = updates(nodes, self._matching.containers)
        found = (touch for node in nodes for touch in touches(node, operators))
        changes = self._matching.changes
        return [
            replace(t, subset=()) if changes(t.subset) else t
            for t in found
            if (t.subset or t.container not in private) and t.container not in variables
        ]


class _New:
    """Loops of the form after, with the statements of the form before.

    Attributes:
        values: for each statement: variables to those of the form before.
        branches: what has loops in it, but counts as one statement: in both forms, with the loops
            around each and the names of their variables.
    """

    def __init__(
        self, matching: _Matching, old: _Old, around: Path, now: Path, names: Mapping[str, str]
    ) -> None:
        self._matching = matching
        self._old = old
        self._around = around
        self._now = now
        self._names = names
        self.values: dict[Statement, dict[str, Linear]] = {}
        self.branches: list[tuple[Node, Node, Path, Path, dict[str, str]]] = []

    def trees(self, siblings: Nodes, path: Path) -> list[Body]:
        found: list[Body] = []
        waiting: list[Node] = []
        for node in siblings:
            if isinstance(node, Loop):
                loop = self._matching.header(node, path)
                loop.children += self.trees(node.body.children, (*path, loop))
                found.append(loop)
            elif waiting:
                self._same(waiting.pop(0), node, self._renamed)
            else:
                statement, before = self._statement(node)
                self._renamed = self._match(statement, before, path)
                first, *waiting = statement.nodes
                self._same(first, node, self._renamed)
                if _has_loops(first):
                    self.branches.append((first, node, before, path, self._renamed))
                found.append(statement)
        return found

    def _statement(self, node: Node) -> tuple[Statement, Path]:
        try:
            return self._old.known[_key(node)]
        except KeyError:
            raise IllegalStepError("statements are in an order that is not followed") from None

    def _match(self, statement: Statement, before: Path, after: Path) -> dict[str, str]:
        """Variables of the loops around a statement, now to before."""
        names = dict(self._names)
        own = {loop.variable: loop for loop in before[len(self._around) :]}
        free = set(own)
        inner = after[len(self._now) :]
        if len(inner) != len(free):
            raise IllegalStepError("a statement has other loops around it")
        for loop in sorted(inner, key=lambda loop: loop.variable not in free):
            fitting = [name for name in free if _is_copy(loop.variable, name)]
            if not fitting:
                raise IllegalStepError("a statement has other loops around it")
            names[loop.variable] = max(fitting, key=len)
            free.remove(names[loop.variable])
        values: dict[str, Linear] = {new: {name: 1} for new, name in names.items()}
        for loop in inner:
            model = own[names[loop.variable]]
            lows = [replaced(low, values) for low in loop.lows]
            if loop.step != model.step or (loop.step > 1 and lows != model.lows):
                raise IllegalStepError("a loop takes other steps")
        rows = [replaced(row, values) for row in domain(after)]
        if not same_points(domain(before), rows):
            raise IllegalStepError("a statement runs for other values of its loops' variables")
        self.values[statement] = values
        return names

    def _same(self, before: Node, after: Node, names: Mapping[str, str]) -> None:
        """Refuse unless two nodes touch the same, once variables are renamed."""
        if _key(before) != _key(after) or type(before) is not type(after):
            raise IllegalStepError("statements are in an order that is not followed")
        if _has_loops(before):
            return
        one = sorted(_normal(touch, {}) for touch in touches(before))
        two = sorted(_normal(touch, names) for touch in touches(after))
        if one != two:
            raise IllegalStepError("a statement touches other elements")


def _normal(touch: Touch, names: Mapping[str, str]) -> tuple[str, tuple[str, ...], bool]:
    def rename(name: str) -> str:
        return names.get(name, name)

    subset = tuple(expr.normal_form(index.text, rename) for index in touch.subset)
    return rename(touch.container), subset, touch.write


def _is_copy(name: str, original: str) -> bool:
    """Whether docc may have called a copy of a loop's variable so: it appends digits."""
    rest = name.removeprefix(original)
    return name == original or (rest != name and rest.isdigit())


def _anything(node: Node) -> Iterator[Touch]:
    """What is touched by something with loops in it; an array as a whole."""
    match node:
        case Branch():
            for case in node.cases:
                yield from _read(case.condition)
        case Loop():
            yield from _read(node.init, node.condition, node.update)
            yield Touch(node.variable, (), True)
    for child in (child for body in _bodies(node) for child in body):
        if _has_loops(child):
            yield from _anything(child)
        else:
            for touch in touches(child):
                yield Touch(touch.container, (), touch.write)
                yield from _read(*touch.subset)


def _read(*expressions: Expr) -> Iterator[Touch]:
    for expression in expressions:
        for name in expr.symbols(expression.text):
            yield Touch(name, (), False)
