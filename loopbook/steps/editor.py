"""A program while steps change one of its nests.

Programs are immutable (`loopbook.program`): the editor holds the one that there is now, and a step
puts another one in its place. Loops are told apart by docc's numbers, which they keep wherever they
go; what a step makes gets new ones, with the names that recipes are to call it by.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from loopbook.errors import IllegalStepError, LoopbookError
from loopbook.program import dataflow, walk
from loopbook.program.accesses import accesses, written
from loopbook.program.copies import copying
from loopbook.program.dataflow import AccessNode, Block, LibraryNode, Memlet, Tasklet
from loopbook.program.element import like, remembered
from loopbook.program.expr import Expr
from loopbook.program.kept import Kept
from loopbook.program.standing import loops
from loopbook.program.tree import Assignment, Assignments, Case, Loop, Node, Program, While
from loopbook.program.tree import Sequence as Body
from loopbook.program.types import Array, Pointer, Scalar, Storage, Type, on_stack
from loopbook.program.walk import Path

if TYPE_CHECKING:
    from loopbook.steps.base import Step

Copied = TypeVar("Copied", bound=Node | Case)

BYTES = {"int32": 4, "int64": 8, "float": 4, "double": 8}
"""Sizes of the types that new arrays are made of."""

MAX_BYTES = 1 << 20
"""Of a local buffer: it lies on the stack."""


class Editor:
    """A program while steps are applied to one of its nests.

    Args:
        program: what to begin with.
        ids: docc's number of each loop that recipes can name.
        data: what the program calls each container that they can name.

    Attributes:
        program: as it is now.
        made: number and wanted name of each loop that was made.
        buffers: local arrays that steps have made and that are filled before they are read; of each
            whether only what is used of it is copied back.
    """

    def __init__(
        self,
        program: Program,
        ids: Mapping[str, int],
        data: Mapping[str, str],
        buffers: Mapping[str, bool] = MappingProxyType({}),
    ) -> None:
        self.program = program
        self.made: dict[int, str] = {}
        self.buffers = dict(buffers)
        self._ids = dict(ids)
        self._names = {number: name for name, number in ids.items()}
        self._data = dict(data)
        self._paths: tuple[Body | None, dict[int, Path]] = None, {}

    def tried(self, step: Step) -> LoopbookError | None:
        """Apply a step; if the nest does not allow it, say why, and go on as if nothing was."""
        before = self.program, dict(self.made), dict(self.buffers)
        try:
            self._check_calls(step)
            step.apply(self)
            self._check_threads()
        except LoopbookError as refusal:
            self.program, self.made, self.buffers = before
            # Its frames hold who asked, and with them all trees, until Python looks for circles.
            refusal.__traceback__ = refusal.__context__ = None
            return refusal
        return None

    # -- finding --------------------------------------------------------------------------------

    @property
    def known(self) -> frozenset[int]:
        """The numbers of the nest's loops that had names before this step."""
        return frozenset(self._names)

    def id_of(self, name: str) -> int:
        """The number of a loop.

        Raises:
            IllegalStepError: there is none of this name.
        """
        try:
            return self._ids[name]
        except KeyError:
            known = ", ".join(self._ids)
            raise IllegalStepError(f"there is no loop {name}, only {known}") from None

    def name_of(self, loop: Loop | While, otherwise: str = "X") -> str:
        """What recipes call a loop."""
        return self._names.get(-1 if loop.id is None else loop.id, otherwise)

    def container(self, name: str) -> str:
        """What the program calls the array ``A0``.

        Raises:
            IllegalStepError: there is none.
        """
        try:
            return self._data[name]
        except KeyError:
            raise IllegalStepError(f"there is no container {name} in this nest") from None

    def path(self, number: int) -> Path:
        """Where the loop with docc's number stands.

        Raises:
            IllegalStepError: it is gone.
        """
        body, paths = self._paths
        if body is not self.program.body:
            paths = {one.id: one.path for one in loops(self.program) if one.id is not None}
            self._paths = self.program.body, paths
        if number not in paths:
            raise IllegalStepError("the loop is gone")
        return paths[number]

    def loop(self, name: str) -> Loop:
        """A counted loop by its name.

        Raises:
            IllegalStepError: there is none.
        """
        return self.at(self.id_of(name))

    def at(self, number: int) -> Loop:
        """A counted loop by docc's number.

        Raises:
            IllegalStepError: there is none.
        """
        found = walk.at(self.program, self.path(number))
        if not isinstance(found, Loop):
            raise IllegalStepError("a loop counts nothing")
        return found

    def around(self, name: str) -> list[Loop | While]:
        """The loops around a loop, outermost first."""
        way = walk.way(self.program, self.path(self.id_of(name))[:-1])
        return [node for node in way if isinstance(node, Loop | While)]

    def buffers_within(self, loop: Loop) -> frozenset[str]:
        """The `buffers` that nothing outside of a loop uses, and that have other values in each of
        its iterations."""
        inside = self.buffers.keys() & {access.container for access in accesses(loop)}
        if not inside or loop.id is None:
            return frozenset()
        elsewhere = walk.replaced(self.program, self.path(loop.id))
        return frozenset(inside - {access.container for access in accesses(elsewhere)})

    def _check_calls(self, step: Step) -> None:
        """Refuse to change a loop around a call of a library, whose pointers nobody follows.

        Raises:
            IllegalStepError: the step names such a loop.
        """
        for name in step.loops:
            number = self._ids.get(name)
            if number is not None and _calls_blas(walk.at(self.program, self.path(number))):
                raise IllegalStepError(f"{name} is around a call of a library")

    def _check_threads(self) -> None:
        """Refuse what takes local buffers into loops that threads share, or out of them.

        Each thread has its own of all that such a loop writes.

        Raises:
            IllegalStepError: a buffer that is written there is used elsewhere, too.
        """
        local = {name for name, kind in self.program.containers.items() if on_stack(kind)}
        local.difference_update(self.program.arguments)
        for one in loops(self.program) if local else ():
            if one.shared and (own := local & written(walk.at(self.program, one.path))):
                elsewhere = accesses(walk.replaced(self.program, one.path))
                if lost := own & {access.container for access in elsewhere}:
                    raise IllegalStepError(f"threads would lose the values of {min(lost)}")

    # -- changing -------------------------------------------------------------------------------

    def put(self, name: str, *nodes: Node) -> None:
        """Put other nodes in the place of a loop: none, one, or more.

        Raises:
            IllegalStepError: there is no such loop.
        """
        self.put_at(self.path(self.id_of(name)), *nodes)

    def put_at(self, path: Path, *nodes: Node) -> None:
        """`put` for what stands in a place, whatever it is."""
        self.program = walk.replaced(self.program, path, *nodes)

    def put_first(self, *nodes: Node) -> None:
        """Put nodes where the program begins."""
        body = self.program.body
        children = (*nodes, *body.children)
        self.program = replace(self.program, body=replace(body, children=children))

    def new_loop(
        self,
        name: str,
        variable: str,
        low: str,
        high: str,
        body: Iterable[Node] = (),
        *,
        by: int = 1,
        like: Loop | None = None,
    ) -> Loop:
        """A new loop ``for (variable = low; variable < high; variable += by)``, serial unless it is
        to be `like` another one.

        Args:
            name: what recipes are to call it.
        """
        return Loop(
            variable,
            Expr(low),
            Expr(f"({variable} < {high})"),
            Expr(f"{by} + {variable}"),
            Body(tuple(body)),
            kind="for" if like is None or like.kind == "reduce" else like.kind,
            id=self.new_number(name),
        )

    def copied(self, node: Copied, suffix: str) -> Copied:
        """A copy of a node, with new numbers for its loops and `suffix` behind their names.

        Nothing else needs numbers of its own: what a tree holds twice is written twice.
        """
        node = walk.with_new(node, [self.copied(child, suffix) for child in walk.children(node)])
        if isinstance(node, Loop | While):
            name = self.name_of(node, "")
            node = like(node, id=self.new_number(name and name + suffix))
        return node

    def new_number(self, name: str) -> int:
        """A new loop's number; recipes cannot name it if `name` is empty."""
        number = self.program.counter + 1
        self.program = like(self.program, counter=number)
        if name:
            self.made[number] = name
        return number

    # -- new containers -------------------------------------------------------------------------

    def variable(self, prefix: str, like: str) -> str:
        """A new scalar of the type of another one."""
        return self._declared(prefix, self.program.containers[like])

    def scalar(self, prefix: str, kind: Scalar) -> str:
        """A new scalar."""
        return self._declared(prefix, kind)

    def element_type(self, array: str) -> Scalar:
        """The type of an array's elements.

        Raises:
            IllegalStepError: it is no plain array.
        """
        kind = self.program.containers[array]
        if not isinstance(kind, Pointer) or not isinstance(kind.to, Scalar):
            raise IllegalStepError(f"{array} is no plain array")
        return kind.to

    def stack_array(self, prefix: str, element: Type, count: int) -> tuple[str, Type]:
        """A new array on the stack, and the type that memlets to it have.

        docc sees no loops that carry values in local arrays of fixed size, and takes stores to
        them for dead (seen with 0.8.1). Behind a pointer it keeps them.

        Raises:
            IllegalStepError: if the size of an element is not known.
        """
        size = BYTES.get(element.element)
        if size is None:
            raise IllegalStepError(f"{element.element} is a type that no array is made of")
        storage = Storage("CPU_Stack", 1, 1, Expr(str(size * count)))
        name = self._declared(prefix, Pointer(storage=storage))
        return name, Pointer(storage=element.storage, to=element)

    def fixed_array(
        self, prefix: str, element: Type, extents: Sequence[int], *, exact: bool = True
    ) -> str:
        """A new array of fixed size on the stack; `exact` as in `buffers`."""
        kind = element
        for extent in reversed(extents):
            kind = Array(of=kind, count=Expr(str(extent)), storage=element.storage)
        name = self._declared(prefix, kind)
        self.buffers[name] = exact
        return name

    def heap_array(
        self, prefix: str, element: Scalar, extents: Sequence[str], *, managed: bool = True
    ) -> tuple[str, Type]:
        """A new array on the heap for the whole program, and the type that memlets to it have.

        docc frees memory that it manages at the program's end, but what it writes to allocate it is
        no C++ (seen with 0.8.1): that is done by a block of the program.

        Args:
            extents: sizes known when the program begins; the array is the product of them long.
            managed: docc frees it, as above; else a block of the program has to.
        """
        kind = Pointer(storage=element.storage, to=element)
        storage = replace(element.storage, place="CPU_Heap", deallocation=1)
        name = self._declared(prefix, replace(kind, storage=storage) if managed else kind)
        size = "*".join([str(BYTES[element.dtype]), *extents])
        call = LibraryNode("Malloc", "", Kept.of({"size": size}))
        memlet = Memlet(0, 1, "_ret", "void", (), kind)
        self.put_first(dataflow.block((call, AccessNode(name)), (memlet,)))
        return name, kind

    def pointer(self, prefix: str, kind: Pointer) -> str:
        """A new pointer, to memory that it does not own."""
        to = kind.to
        if to is None:
            raise IllegalStepError("it is not known what the pointer points at")
        return self._declared(prefix, replace(kind, storage=to.storage))

    def _declared(self, prefix: str, kind: Type) -> str:
        number = 0
        while (name := f"{prefix}_{number}") in self.program.containers:
            number += 1
        self.program = self.program.declaring(**{name: kind})
        return name

    # -- new statements -------------------------------------------------------------------------

    def copy(
        self,
        source: tuple[str, Sequence[str]],
        target: tuple[str, Sequence[str]],
        *,
        source_type: Type | None = None,
    ) -> Block:
        """``target = source``, each a container and a subset of it.

        Args:
            source_type: what memlets from the source have as type, if not the container's own.
        """
        containers = self.program.containers
        (start, read), (end, write) = source, target
        kind = source_type or containers[start]
        return copying((start, map(Expr, read), kind), (end, map(Expr, write), containers[end]))

    def added(
        self, source: tuple[str, str], target: tuple[str, Sequence[Expr]], source_type: Type
    ) -> Block:
        """``target += source``, an element of an array added to one, or to a scalar.

        Args:
            source_type: what memlets from the source have as type.
        """
        (array, place), (name, at) = source, target
        kind = self.program.containers[name]
        code = "fp_add" if source_type.element in ("float", "double") else "int_add"
        adding = Tasklet(code, ("_in1", "_in2"), "_out")
        memlets = (
            Memlet(0, 2, "void", "_in1", tuple(at), kind),
            Memlet(1, 2, "void", "_in2", (Expr(place),), source_type),
            Memlet(2, 3, "_out", "void", tuple(at), kind),
        )
        nodes = AccessNode(name), AccessNode(array), adding, AccessNode(name)
        return dataflow.block(nodes, memlets)

    def address(self, source: str, target: str, index: str = "0") -> Block:
        """``target = &source[index]`` for pointers; the target's type is known."""
        kind = self.program.containers[target]
        memlet = Memlet(0, 1, "void", "ref", (Expr(index),), kind)
        return dataflow.block((AccessNode(source), AccessNode(target)), (memlet,))


def assignments(pairs: Iterable[tuple[str, str]]) -> Assignments:
    """Integer scalars, each with the expression that it is set to."""
    return Assignments(tuple(Assignment(name, Expr(text)) for name, text in pairs))


@remembered
def _calls_blas(node: Program | walk.Inner) -> bool:
    """Whether there is a call of BLAS below a node, or it is one."""
    if isinstance(node, Block):
        return any(isinstance(one, LibraryNode) and one.code == "GEMM" for one in node.nodes)
    return any(map(_calls_blas, walk.children(node)))
