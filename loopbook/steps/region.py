"""What a step changes: a loop, its siblings, and the loops around, as `loopbook.dependence` sees
them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from loopbook.dependence import adds_up, domain, linear
from loopbook.dependence.body import LoopNode, read_header, read_loop, write_loop
from loopbook.dependence.model import Linear, minus, shifted
from loopbook.dependence.scalars import private_scalars, private_to_iterations
from loopbook.errors import IllegalStepError, SdfgError
from loopbook.program import walk
from loopbook.program.accesses import accesses
from loopbook.program.bounds import Bounds
from loopbook.program.element import like
from loopbook.program.expr import Expr
from loopbook.program.rename import Renamed, renamed
from loopbook.program.tree import (
    SEQUENTIAL,
    VECTORISED,
    Case,
    Loop,
    Node,
    While,
)
from loopbook.program.walk import Path
from loopbook.steps.editor import Editor


@dataclass(frozen=True)
class Region:
    """A loop in its place.

    Attributes:
        editor: of the program.
        parent: where the siblings are.
        around: the loops around it, outermost first, without what is in them, but with what the
            branches around it say of their variables.
    """

    editor: Editor
    parent: Path
    around: Sequence[LoopNode]

    @classmethod
    def of(cls, editor: Editor, number: int, *, rooms: bool = False) -> Region:
        """The region of the loop with docc's number.

        Args:
            rooms: whether loops around it may have some.

        Raises:
            IllegalStepError: it is inside of a loop that is not affine.
        """
        path = editor.path(number)
        around: list[LoopNode] = []
        for node in walk.way(editor.program, path[:-1]):
            # A loop that ends on a condition goes on in its order, whatever is done within a round.
            if isinstance(node, Loop):
                variables = [outer.variable for outer in around]
                around.append(read_header(node, variables, rooms=rooms))
            elif isinstance(node, Case):
                _narrow(around, node.condition)
        return cls(editor, path[:-1], around)

    @property
    def siblings(self) -> tuple[walk.Inner, ...]:
        """What stands where the loop stands, itself included."""
        return walk.children(walk.at(self.editor.program, self.parent))

    def place(self, number: int | None) -> int:
        """The place of a loop among its siblings.

        Raises:
            IllegalStepError: it is elsewhere.
        """
        for place, node in enumerate(self.siblings):
            if isinstance(node, Loop | While) and node.id == number:
                return place
        raise IllegalStepError("the loops are not neighbours")

    def read(
        self,
        number: int,
        *,
        whole: Loop | None = None,
        guards: bool = False,
        rooms: bool = False,
        whiles: bool = False,
    ) -> LoopNode:
        """One of the siblings, with what is in it.

        Args:
            whole: a loop whose body's statements are going to stay together: what is private to its
                iterations is left out.
            guards: whether there may be branches with loops in them (`Guard`).
            rooms: whether loops may have some.
            whiles: whether loops that count nothing are parts of statements.

        Raises:
            IllegalStepError: something is not affine, jumps, or is not understood.
        """
        loop = self.siblings[self.place(number)]
        assert isinstance(loop, Loop | While)
        program = self.editor.program
        variables = [outer.variable for outer in self.around]
        private = private_scalars(program)
        buffers: frozenset[str] = frozenset()
        if whole is not None:
            private |= private_to_iterations(program, whole)
            buffers = self.editor.buffers_within(whole)
        return read_loop(
            loop,
            variables,
            private,
            program.containers,
            buffers,
            guards=guards,
            rooms=rooms,
            whiles=whiles,
        )

    def tighten(self, loop: LoopNode) -> None:
        """Drop bounds of a loop, and of those inside of it, that others make needless."""
        _tighten(loop, self.around)

    def put(self, old: LoopNode, *nodes: LoopNode | Node, count: int = 1) -> None:
        """Put nodes in the place of `count` siblings, the first of which is a loop."""
        new = [write_loop(node) if isinstance(node, LoopNode) else node for node in nodes]
        siblings, place = self.siblings, self.place(old.id)
        inner = (*siblings[:place], *new, *siblings[place + count :])
        program = self.editor.program
        if not self.parent:
            self.editor.program = walk.with_children(program, inner)
            return
        holder = walk.with_children(walk.at(program, self.parent), inner)  # type: ignore[type-var]
        self.editor.program = walk.replaced(program, self.parent, holder)  # type: ignore[arg-type]


def read_in_place(
    editor: Editor,
    name: str,
    *,
    whole: Loop | None = None,
    guards: bool = False,
    rooms: bool = False,
    whiles: bool = False,
) -> tuple[Region, LoopNode]:
    """A loop with what is in it, and where it stands; see `Region.of` and `Region.read`."""
    number = editor.id_of(name)
    region = Region.of(editor, number, rooms=rooms)
    return region, region.read(number, whole=whole, guards=guards, rooms=rooms, whiles=whiles)


def neighbours(editor: Editor, first: str, second: str) -> tuple[Region, LoopNode, LoopNode]:
    """Two loops, of which the second one follows the first one, and where they stand.

    Raises:
        IllegalStepError: it does not, or something in them is not understood.
    """
    one, two = editor.id_of(first), editor.id_of(second)
    region = Region.of(editor, one)
    if region.place(two) != region.place(one) + 1:
        raise IllegalStepError("the second loop does not follow the first one")
    return region, region.read(one), region.read(two)


def _narrow(around: Sequence[LoopNode], condition: Expr) -> None:
    """Let bounds of loops say what a condition inside of them does."""
    for gap in linear.inequalities(condition, {loop.variable for loop in around}):
        for loop in reversed(around):
            factor = gap.get(loop.variable, 0)
            rest = {name: value for name, value in gap.items() if name != loop.variable}
            if factor == -1:
                loop.highs = [*loop.highs, shifted(rest, 1)]
            elif factor == 1:
                loop.lows = [*loop.lows, minus({}, rest)]
            if factor:
                break


def known_bounds(loop: Loop) -> Bounds:
    """What a loop's header says.

    Raises:
        IllegalStepError: it cannot be read.
    """
    try:
        return loop.bounds
    except SdfgError as error:
        raise IllegalStepError(str(error)) from None


def serial(loop: Loop) -> Loop:
    """A loop whose iterations may depend on each other, so that they are no vectors either.

    Raises:
        IllegalStepError: threads share them already.
    """
    if loop.schedule.is_shared:
        raise IllegalStepError("the iterations of a loop are shared out already")
    schedule = SEQUENTIAL if loop.schedule.name == VECTORISED.name else loop.schedule
    return like(loop, kind="for", reductions=None, schedule=schedule)


def in_order(node: Renamed, scalar: str) -> Renamed:
    """A node whose loops that add something up in a scalar are ordinary ones."""

    def mended(inner: walk.Inner) -> walk.Inner:
        if isinstance(inner, Loop) and scalar in {one.container for one in inner.reductions or ()}:
            return serial(inner)
        return inner

    return mended(walk.rebuilt(node, mended))  # type: ignore[return-value, arg-type]


def serialise(*loops: LoopNode) -> None:
    """Make loops ordinary ones, whose iterations may depend on each other."""
    for node in loops:
        node.loop = serial(node.loop)


def serialise_around(editor: Editor, loops: Iterable[Loop]) -> None:
    """Make loops of the program ordinary ones: what is inside of them now is not parallel.

    Raises:
        IllegalStepError: threads share one of them already.
    """
    for loop in loops:
        if loop.id is None or loop.kind == "for":
            continue
        editor.put_at(editor.path(loop.id), serial(editor.at(loop.id)))


def child_loop(parent: LoopNode, number: int) -> LoopNode:
    """A loop directly inside of another one.

    Raises:
        IllegalStepError: it is elsewhere.
    """
    for child in parent.children:
        if isinstance(child, LoopNode) and child.id == number:
            return child
    raise IllegalStepError("the second loop is not directly inside the first one")


def only_child(parent: LoopNode, number: int) -> LoopNode:
    """The loop that is all that another one holds.

    Raises:
        IllegalStepError: it is not.
    """
    inner = parent.children[0] if len(parent.children) == 1 else None
    if not isinstance(inner, LoopNode) or inner.id != number:
        raise IllegalStepError("the second loop is not all that the first one holds")
    return inner


def put_for(node: Renamed, values: Mapping[str, str]) -> Renamed:
    """A node with expressions in the place of loop variables, all at once.

    Raises:
        IllegalStepError: a variable is data of a computation, where no expression can stand.
    """
    for access in accesses(node):
        value = values.get(access.container)
        if value is not None and not value.isidentifier():
            raise IllegalStepError(f"{access.container} is used as a number")
    return renamed(node, values)


def duplicate(editor: Editor, loop: Loop) -> Loop:
    """A copy of a loop, with variables of its own for it and the loops inside, which are called
    like those that they are copies of, with ``.rest``."""
    twin = editor.copied(loop, ".rest")
    counted = [node.variable for node in walk.preorder(twin) if isinstance(node, Loop)]
    return put_for(twin, {name: editor.variable(name, name) for name in counted})


def _tighten(loop: LoopNode, around: Sequence[LoopNode]) -> None:
    if len(loop.lows) > 1 or len(loop.highs) > 1:
        known = domain(around)
        loop.lows = _decisive(loop.lows, known, 1)
        loop.highs = _decisive(loop.highs, known, -1)
    for child in loop.children:
        if isinstance(child, LoopNode):
            _tighten(child, [*around, loop])


def _decisive(bounds: list[Linear], known: list[Linear], sign: int) -> list[Linear]:
    """The bounds without those that others plainly make needless. isl would not know of more: of
    13,190 such questions that the recipes of the starter book ask, it never did.

    Args:
        known: what holds for the variables.
        sign: 1 if the greatest of the bounds counts (lower bounds), -1 if the least.
    """
    kept: list[Linear] = []
    for number, bound in enumerate(bounds):
        others = [*kept, *bounds[number + 1 :]]
        gaps = (minus(other, bound) for other in others)
        beyond = ({name: sign * f for name, f in gap.items()} for gap in gaps)
        if not any(adds_up(known, gap) for gap in beyond):
            kept.append(bound)
    return kept
