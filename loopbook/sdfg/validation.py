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
from typing import Any

from loopbook.dependence import check_order, domain, same_points
from loopbook.dependence.model import Linear, replaced
from loopbook.errors import IllegalStepError, SdfgError
from loopbook.program import expr
from loopbook.sdfg.document import Types
from loopbook.sdfg.looptree import (
    LoopNode,
    Statement,
    Touch,
    Tree,
    private_scalars,
    read_header,
    touches,
)
from loopbook.sdfg.names import written
from loopbook.sdfg.updates import updates

Json = dict[str, Any]

Path = tuple[LoopNode, ...]
"""The loops around something, outermost first, without what is in them."""


@dataclass(frozen=True)
class Part:
    """Neighbouring elements of a program in two forms.

    Attributes:
        fault: what keeps the second form from standing for the first one; empty if nothing does.
    """

    before: list[Json]
    after: list[Json]
    fault: str


def compared(before: Json, after: Json) -> list[Part]:
    """The parts of an SDFG document before and after docc has moved its statements, in order.

    A part is as small as it can be: no statement has moved from one to another.
    """
    old, new = before["root"]["children"], after["root"]["children"]
    if set(_leaves(old)) != set(_leaves(new)):
        return [Part(old, new, "there are other statements")]
    try:
        private = private_scalars(before) & private_scalars(after)
    except SdfgError:  # some condition is of an unusual form
        private = frozenset()
    matching = _Matching(private, frozenset(_written(old)), Types(before["containers"]))
    return [Part(one, two, matching.fault(one, two)) for one, two in _cut(old, new)]


def _cut(before: Sequence[Json], after: Sequence[Json]) -> Iterator[tuple[list[Json], list[Json]]]:
    """The smallest runs of elements that hold the same statements in both forms."""
    ends = {held: place for place, held in _prefixes(after)}
    start, begun = 0, 0
    for place, held in _prefixes(before):
        if held in ends:
            yield list(before[start:place]), list(after[begun : ends[held]])
            start, begun = place, ends[held]


def _prefixes(siblings: Sequence[Json]) -> Iterator[tuple[int, frozenset[int]]]:
    """After how many elements, if something follows that holds a statement, which were before."""
    held: frozenset[int] = frozenset()
    for place, element in enumerate(siblings):
        inside = frozenset(_leaves([element]))
        if inside and held:
            yield place, held
        held |= inside
    yield len(siblings), held


def _body(element: Json) -> list[list[Json]]:
    """The sequences directly inside of a loop or a branch."""
    if "branches" in element:
        return [case["root"]["children"] for case in element["branches"]]
    return [element["root"]["children"]] if "root" in element else []


def _has_loops(element: Json) -> bool:
    inner = [child for body in _body(element) for child in body]
    return ("root" in element and "branches" not in element) or any(map(_has_loops, inner))


def _leaves(siblings: Sequence[Json]) -> Iterator[int]:
    """Element ids of what has no loops in it, in program order."""
    for element in siblings:
        if _has_loops(element):
            for body in _body(element):
                yield from _leaves(body)
        else:
            yield int(element["element_id"])


def _written(siblings: Sequence[Json]) -> Iterator[str]:
    """What is written somewhere: as part of an index or a bound it may be anything."""
    for element in siblings:
        yield from written(element)
        for body in _body(element):
            yield from _written(body)


def _shape(siblings: Sequence[Json]) -> tuple[Any, ...]:
    """Loops as tuples of their variable and what is in them, statements by their ids."""
    return tuple(
        (element.get("indvar"), *map(_shape, _body(element)))
        if _has_loops(element)
        else int(element["element_id"])
        for element in siblings
    )


@dataclass(frozen=True)
class _Matching:
    """Matches parts of two forms of one program.

    Attributes:
        private: scalars that carry nothing between statements in either form.
        written: what is written somewhere.
        types: of all containers.
    """

    private: frozenset[str]
    written: frozenset[str]
    types: Types

    def header(self, element: Json, path: Path) -> LoopNode:
        """A loop without what is in it, and without bounds that change as the program runs.

        Raises:
            IllegalStepError: it is not understood, or takes steps from where that changes.
        """
        loop = read_header(element, frozenset(outer.variable for outer in path))
        if loop.step > 1 and any(map(self.changes, loop.lows)):
            raise IllegalStepError(f"the loop over {loop.variable} begins elsewhere each time")
        loop.lows = [low for low in loop.lows if not self.changes(low)]
        loop.highs = [high for high in loop.highs if not self.changes(high)]
        return loop

    def changes(self, texts: Iterable[str]) -> bool:
        """Whether some expression has something in it that is written."""
        return any(not self.written.isdisjoint(expr.symbols(text)) for text in texts)

    def fault(self, before: Sequence[Json], after: Sequence[Json]) -> str:
        """See `Part`."""
        try:
            self.check(before, after, (), (), {})
        except (IllegalStepError, SdfgError) as error:
            return str(error)
        return ""

    def check(
        self,
        before: Sequence[Json],
        after: Sequence[Json],
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
        old = _Old(self, _neighbours(after), around)
        trees = old.trees(before, around)
        new = _New(self, old, around, now, names)
        moved = new.trees(after, now)
        check_order(trees, moved, new.values, around)
        for one, two, path, later, renamed in new.branches:
            bodies = _body(one), _body(two)
            for inner, other in zip(*bodies, strict=True):
                self.check(inner, other, path, later, renamed)


def _neighbours(siblings: Sequence[Json]) -> dict[int, int]:
    """For statements that follow directly on another one: its id."""
    found: dict[int, int] = {}
    for place, element in enumerate(siblings):
        if _has_loops(element):
            for body in _body(element):
                found |= _neighbours(body)
        elif place and not _has_loops(siblings[place - 1]):
            found[int(element["element_id"])] = int(siblings[place - 1]["element_id"])
    return found


class _Old:
    """Loop trees of the form before.

    Statements are cut where the form after does not have their elements next to each other.

    Attributes:
        known: by the element id of their first element: statements with the loops around them.
    """

    def __init__(self, matching: _Matching, neighbours: Mapping[int, int], around: Path) -> None:
        self._matching = matching
        self._neighbours = neighbours
        self._outer = {loop.variable for loop in around}
        self.known: dict[int, tuple[Statement, Path]] = {}

    def trees(self, siblings: Sequence[Json], path: Path) -> list[Tree]:
        found: list[Tree] = []
        variables = frozenset(loop.variable for loop in path)
        for element in siblings:
            if "indvar" in element:
                loop = self._matching.header(element, path)
                loop.children += self.trees(element["root"]["children"], (*path, loop))
                found.append(loop)
                continue
            last = found[-1] if found else None
            if not _has_loops(element) and isinstance(last, Statement):
                ahead = self._neighbours.get(int(element["element_id"]))
                if ahead == last.elements[-1]["element_id"]:
                    last.elements.append(element)
                    continue
            statement = Statement([element])
            self.known[int(element["element_id"])] = statement, path
            found.append(statement)
        for tree in found:
            if isinstance(tree, Statement):
                tree.touches += self._touches(tree.elements, variables)
        return found

    def _touches(self, elements: Sequence[Json], variables: frozenset[str]) -> list[Touch]:
        if _has_loops(elements[0]):
            return list(_anything(elements[0]))
        private = self._matching.private
        operators = updates(elements, self._matching.types)
        found = (t for element in elements for t in touches(element, operators))
        changes = self._matching.changes
        return [
            replace(t, subset=()) if changes(t.subset) else t
            for t in found
            if (t.subset or t.container not in private) and t.container not in variables
        ]


class _New:
    """Loop trees of the form after, of the statements of the form before.

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
        self.branches: list[tuple[Json, Json, Path, Path, dict[str, str]]] = []

    def trees(self, siblings: Sequence[Json], path: Path) -> list[Tree]:
        found: list[Tree] = []
        waiting: list[Json] = []
        for element in siblings:
            if "indvar" in element:
                loop = self._matching.header(element, path)
                loop.children += self.trees(element["root"]["children"], (*path, loop))
                found.append(loop)
            elif waiting:
                self._same(waiting.pop(0), element, self._renamed)
            else:
                statement, before = self._statement(element)
                self._renamed = self._match(statement, before, path)
                first, *waiting = statement.elements
                self._same(first, element, self._renamed)
                if _has_loops(first):
                    self.branches.append((first, element, before, path, self._renamed))
                found.append(statement)
        return found

    def _statement(self, element: Json) -> tuple[Statement, Path]:
        try:
            return self._old.known[int(element["element_id"])]
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

    def _same(self, before: Json, after: Json, names: Mapping[str, str]) -> None:
        """Refuse unless two elements touch the same, once variables are renamed."""
        if before["element_id"] != after["element_id"] or before["type"] != after["type"]:
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

    subset = tuple(expr.normal_form(text, rename) for text in touch.subset)
    return rename(touch.container), subset, touch.write


def _is_copy(name: str, original: str) -> bool:
    """Whether docc may have called a copy of a loop's variable so: it appends digits."""
    rest = name.removeprefix(original)
    return name == original or (rest != name and rest.isdigit())


def _anything(element: Json) -> Iterator[Touch]:
    """What is touched by something with loops in it; an array as a whole."""
    if "branches" in element:
        for case in element["branches"]:
            for name in expr.symbols(case["condition"]):
                yield Touch(name, (), False)
    elif "indvar" in element:
        for key in ("init", "condition", "update"):
            for name in expr.symbols(element[key]):
                yield Touch(name, (), False)
        yield Touch(element["indvar"], (), True)
    for child in (child for body in _body(element) for child in body):
        if _has_loops(child):
            yield from _anything(child)
        else:
            for touch in touches(child):
                yield Touch(touch.container, (), touch.write)
                for name in expr.symbols(" ".join(touch.subset)):
                    yield Touch(name, (), False)
