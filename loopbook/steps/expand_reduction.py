from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from loopbook.dependence import carries_nothing, linear
from loopbook.dependence.body import LoopNode, statements
from loopbook.errors import IllegalStepError
from loopbook.program import dataflow, expr, tree
from loopbook.program.accesses import Access, written
from loopbook.program.dataflow import AccessNode, Constant, Memlet, Tasklet
from loopbook.program.expr import Expr
from loopbook.program.redirect import Element, redirected
from loopbook.program.types import Scalar, Type
from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.boxes import Use, uses
from loopbook.steps.editor import Editor
from loopbook.steps.region import Region, read_in_place, serialise_around

NEUTRAL = {"float": "-0.0", "double": "-0.0", "int32": "0", "int64": "0"}
"""What a number may be added to without changing; by adding 0.0, -0.0 would become 0.0."""


class ExpandReduction(Step):
    """Each iteration adds up what it has in places of its own, and all are added in the end.

    A loop in which every iteration adds to the same elements cannot be shared among threads. Before
    ``expand_reduction L0``, most often of a loop over tiles::

        for ii by 500:
            for i in ii … ii + 500: for j: s[j] += A[i, j] * r[i]

    and after it, with ``L0`` a parallel loop::

        for ii by 500:
            for j: own[ii / 500, j] = -0.0          # L0.zero
            for i in ii … ii + 500: for j: own[ii / 500, j] += A[i, j] * r[i]
        for ii by 500:                              # L0.sum
            for j: s[j] += own[ii / 500, j]         # L0.sum
    """

    name = "expand_reduction"
    textbook = "reduction expansion, array privatisation"
    source = "Pottenger and Eigenmann, Idiom recognition in the Polaris compiler, ICS 1995"
    example = "expand_reduction L0.tile"
    makes = ("{loop}.zero", "{loop}.sum")
    frees = True
    traits = {"expand": 0.5, "threads": 0.5}

    loop = Loop()

    def apply(self, editor: Editor) -> None:
        """Legal if nothing but such sums is carried from one iteration to the next.

        A sum is an array to which the loop only adds, at one place in terms of loops inside of it
        whose ends do not change. How often the loop and these run must be known when the program
        begins, where the memory is allocated. Iterations of what is around share it, and are not
        parallel then.
        """
        number = editor.id_of(self.loop)
        region, node = read_in_place(editor, self.loop, whole=editor.at(number))
        sums = list(_sums(editor, node))
        if not sums:
            raise IllegalStepError("its iterations add nothing to elements that all of them share")
        region.put(node, redirected(node.loop, _apart(sums, node.variable)))
        told = region.read(number, whole=editor.at(number))
        if not carries_nothing(told, region.around):
            raise IllegalStepError("its iterations may depend on each other besides")
        turns = _Turns(editor.program, node)
        owns = [_Own.make(editor, one, turns) for one in sums]
        region = Region.of(editor, number)  # allocations have moved it
        targets = [own.target for own in owns]
        loop = replace(node.loop, kind="map", reductions=None)
        for target in targets:
            loop = redirected(loop, target)
        zeros = [own.zero(f"{self.loop}.zero") for own in owns]
        loop = replace(loop, body=replace(loop.body, children=(*zeros, *loop.body.children)))
        region.put(node, loop, *(own.added(f"{self.loop}.sum") for own in owns))
        serialise_around(editor, [outer.loop for outer in region.around])


@dataclass(frozen=True)
class _Sum:
    """An array that a loop only adds to.

    Attributes:
        path: the loops inside that its index runs along, outermost first.
        index: of the element, in terms of their variables.
    """

    container: str
    path: tuple[LoopNode, ...]
    index: Expr

    @property
    def form(self) -> tuple[object, ...]:
        """What is the same for all accesses, whatever their loops are called."""
        names = {loop.variable: f"_{place}" for place, loop in enumerate(self.path)}
        index = expr.normal_form(self.index.renamed(names).text)
        ends = [(sorted(one.items()) for one in (*p.lows, *p.highs)) for p in self.path]
        return index, [[*map(tuple, end)] for end in ends]

    @property
    def extent(self) -> list[str]:
        """How often each of the loops runs."""
        return [_length(loop) for loop in self.path]

    def place(self, names: Sequence[str]) -> str:
        """A number from 0 on for each of the elements, in terms of these variables."""
        found = "0"
        for name, loop, length in zip(names, self.path, self.extent, strict=True):
            found = f"({found})*{length} + {name} - ({linear.text(loop.lows[0])})"
        return expr.normal_form(found)


def _length(loop: LoopNode) -> str:
    return f"max(1, {linear.text(loop.highs[0])} - ({linear.text(loop.lows[0])}))"


def _sums(editor: Editor, node: LoopNode) -> Iterator[_Sum]:
    """What is added up in a loop: at the same places in each iteration, and nowhere read."""
    program = editor.program
    touched = {
        touch.container
        for statement, _ in statements(node)
        for touch in statement.touches
        if touch.subset
    }
    for name in sorted(touched):
        element = program.containers[name].element
        if element not in NEUTRAL:
            continue
        found = [_sum(program, use) for use in uses(node, name)]
        first = found[0]
        if first is not None and all(one and one.form == first.form for one in found):
            yield first


def _sum(program: tree.Program, use: Use) -> _Sum | None:
    """An access as one to a sum; None if it is none."""
    touch, (outer, *inner) = use.touch, use.path
    if touch.update != "add" or touch.hidden or len(touch.subset) != 1 or None in touch.indices:
        return None
    (index,) = touch.subset
    path = tuple(loop for loop in inner if loop.variable in index.symbols)
    if outer.variable in index.symbols or not all(_is_fixed(program, loop) for loop in path):
        return None
    return _Sum(touch.container, path, index)


def _is_fixed(program: tree.Program, loop: LoopNode) -> bool:
    """Whether a loop runs by ones over a range that is known when the program begins."""
    if len(loop.lows) != 1 or len(loop.highs) != 1 or loop.step != 1 or loop.rooms:
        return False
    return _is_known(program, [*loop.lows[0], *loop.highs[0]])


def _is_known(program: tree.Program, names: Collection[str]) -> bool:
    """Whether these are arguments that stay what they are."""
    return set(names) - {""} <= set(program.arguments) - written(program)


def _apart(sums: Sequence[_Sum], variable: str):
    """Lets each iteration have elements of its own, as `loopbook.dependence` sees that best."""
    names = {one.container for one in sums}

    def target(access: Access) -> Element | None:
        if access.container not in names or access.memlet is None:
            return None
        return Element(access.container, (Expr(variable), *access.subset), access.memlet.type)

    return target


class _Turns:
    """The iterations of the loop whose sums are taken apart.

    Raises:
        IllegalStepError: it is not known how many there are when the program begins.
    """

    def __init__(self, program: tree.Program, node: LoopNode) -> None:
        if len(node.lows) != 1 or len(node.highs) != 1 or node.rooms:
            raise IllegalStepError("the loop has more than one end")
        if not _is_known(program, [*node.lows[0], *node.highs[0]]):
            raise IllegalStepError("it is not known beforehand how often the loop runs")
        self.node = node
        self._low, self._high = linear.text(node.lows[0]), linear.text(node.highs[0])

    @property
    def count(self) -> str:
        """How many there are, at least 1."""
        return f"max(1, {self._number(f'{self._high} - ({self._low}) + {self.node.step - 1}')})"

    def at(self, variable: str) -> str:
        """The number of an iteration, from 0 on."""
        return self._number(f"{variable} - ({self._low})")

    def _number(self, distance: str) -> str:
        return distance if self.node.step == 1 else f"idiv({distance}, {self.node.step})"

    def loop(self, editor: Editor, name: str, variable: str, body: list[tree.Node]) -> tree.Loop:
        """Another loop that runs as often."""
        step = self.node.step
        return editor.new_loop(name, variable, self._low, self._high, body, by=step)


@dataclass(frozen=True)
class _Own:
    """The places of their own that iterations have for a sum."""

    editor: Editor
    sum: _Sum
    turns: _Turns
    name: str
    type: Type
    element: Scalar

    @classmethod
    def make(cls, editor: Editor, one: _Sum, turns: _Turns) -> _Own:
        """Declare and allocate them, where the program begins."""
        element = editor.element_type(one.container)
        extents = [turns.count, *one.extent]
        name, kind = editor.heap_array(f"{one.container}_own", element, extents)
        return cls(editor, one, turns, name, kind, element)

    def _index(self, turn: str, names: Sequence[str]) -> str:
        return "*".join([f"({self.turns.at(turn)})", *self.sum.extent]) + (
            f" + {self.sum.place(names)}"
        )

    def target(self, access: Access) -> Element | None:
        """An iteration's own place for an element."""
        if access.container != self.sum.container:
            return None
        names = [loop.variable for loop in self.sum.path]
        return Element(self.name, (Expr(self._index(self.turns.node.variable, names)),), self.type)

    def zero(self, name: str) -> tree.Loop | dataflow.Block:
        """Sets them to nought in one iteration."""
        names = self._variables
        index = self._index(self.turns.node.variable, names)
        nodes = (
            Constant(NEUTRAL[self.element.dtype], self.element),
            AccessNode(self.name),
            Tasklet("assign", ("_in",), "_out"),
        )
        memlets = (
            Memlet(0, 2, "void", "_in", (), self.element),
            Memlet(2, 1, "_out", "void", (Expr(index),), self.type),
        )
        return self._through(name, names, dataflow.block(nodes, memlets))

    def added(self, name: str) -> tree.Loop:
        """Adds those of all iterations to the sum."""
        turn, names = self.editor.variable("_turn", self.turns.node.variable), self._variables
        at = self.sum.index.renamed(
            {loop.variable: own for loop, own in zip(self.sum.path, names, strict=True)}
        )
        target = self.sum.container, (at,)
        block = self.editor.added((self.name, self._index(turn, names)), target, self.type)
        return self.turns.loop(self.editor, name, turn, [self._through(name, names, block)])

    @cached_property
    def _variables(self) -> list[str]:
        return [self.editor.variable("_place", loop.variable) for loop in self.sum.path]

    def _through(
        self, name: str, names: Sequence[str], block: dataflow.Block
    ) -> tree.Loop | dataflow.Block:
        """A block for each of a sum's elements."""
        inner: tree.Loop | dataflow.Block = block
        for variable, loop in reversed([*zip(names, self.sum.path, strict=True)]):
            low, high = linear.text(loop.lows[0]), linear.text(loop.highs[0])
            made = self.editor.new_loop(name, variable, low, high, [inner])
            inner = replace(made, kind="map")
        return inner
