"""The nodes of the program tree that hold others, and those that are neither loop nor dataflow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Literal

from loopbook.program.bounds import Bounds, bounds, step
from loopbook.program.dataflow import Block
from loopbook.program.element import Element, like
from loopbook.program.expr import Expr
from loopbook.program.kept import Kept
from loopbook.program.types import Scalar, Type


@dataclass(frozen=True, slots=True)
class Schedule:
    """How docc is to run a loop.

    Attributes:
        name: "SEQUENTIAL", "CPU_PARALLEL", "VECTORIZE" or another one of docc's.
        category: docc's number for the kind of schedule.
        properties: what belongs to the schedule, such as ``num_threads``.
    """

    name: str = "SEQUENTIAL"
    category: int = 3
    properties: tuple[tuple[str, str], ...] = ()

    @property
    def is_shared(self) -> bool:
        """Whether threads share the iterations, whatever else belongs to the schedule."""
        return self.name == THREADS.name


SEQUENTIAL = Schedule()
"""The schedule of a loop that nobody has scheduled."""

VECTORISED = Schedule("VECTORIZE", 2)
"""The schedule of a loop that clang is to vectorise."""

THREADS = Schedule("CPU_PARALLEL", 1)
"""The schedule of a loop whose iterations threads share."""


LoopKind = Literal["for", "map", "reduce"]

KINDS: Mapping[LoopKind, tuple[str, str]] = {
    "for": ("for", "for"),
    "map": ("map", "map"),
    "reduce": ("for", "reduce"),
}
"""docc's ``type`` and ``sub_type`` of each kind of loop."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """A container that all iterations of a loop add to, or another such operator."""

    op: str
    container: str


@dataclass(frozen=True, eq=False)
class Sequence(Element):
    """One node after the other."""

    children: tuple[Node, ...] = ()


@dataclass(frozen=True, eq=False)
class Loop(Element):
    """A counted loop ``for (variable = init; condition; variable = update)``.

    Attributes:
        kind: "map" if its iterations may run in any order, "reduce" if they may but for
            `reductions`, otherwise "for".
    """

    variable: str
    init: Expr
    condition: Expr
    update: Expr
    body: Sequence
    kind: LoopKind = "for"
    schedule: Schedule = SEQUENTIAL
    reductions: tuple[Reduction, ...] | None = field(default=None, repr=False)

    @cached_property
    def bounds(self) -> Bounds:
        """What its header says."""
        return bounds(self.variable, self.init, self.condition, self.update)

    @property
    def step(self) -> int | None:
        """That of `bounds`, by itself."""
        return step(self.variable, self.update)


@dataclass(frozen=True, eq=False)
class While(Element):
    """A loop that something inside leaves."""

    body: Sequence


@dataclass(frozen=True, eq=False)
class Case:
    """What a branch does if a condition holds."""

    condition: Expr
    body: Sequence


@dataclass(frozen=True, eq=False)
class Branch(Element):
    """The first of the cases whose condition holds, or nothing."""

    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class Assignment:
    """An integer is set to the value of an expression."""

    symbol: str
    expression: Expr


@dataclass(frozen=True, eq=False)
class Assignments(Element):
    """Integers that get values, one after the other."""

    assignments: tuple[Assignment, ...]


@dataclass(frozen=True, eq=False)
class Jump(Element):
    """A loop or the function is left.

    Attributes:
        value: what is returned: a container, a constant, or nothing.
        type: of a constant that is returned.
    """

    kind: Literal["break", "continue", "return"]
    value: str = ""
    type: Type | None = None


@dataclass(frozen=True, eq=False)
class Opaque(Element):
    """An element that is not understood, or has a member that is not: kept whole."""

    kept: Kept


Node = Sequence | Loop | While | Branch | Block | Assignments | Jump | Opaque
"""What can stand in a sequence."""


VOID = Scalar("void")

NOTHING_MORE = Kept('{"externals":[],"metadata":{},"structures":[]}')
"""What docc writes of a program besides what is understood, where there is nothing to say."""


@dataclass(frozen=True, eq=False)
class Program:
    """A whole program.

    Attributes:
        containers: the types of all variables, by name.
        arguments: the containers that callers hand in, in their order.
        body: what it does.
        counter: docc's number for the newest element.
        extra: further members, among them what front end and passes noted.
    """

    name: str
    containers: Mapping[str, Type]
    arguments: tuple[str, ...]
    body: Sequence
    returns: Type = VOID
    target: str = "CPU"
    counter: int = 0
    extra: Kept = field(default=NOTHING_MORE, repr=False)

    @cached_property
    def public(self) -> frozenset[str]:
        """The containers that others than the program see: arguments, and what is external."""
        return frozenset((*self.arguments, *self.extra.value.get("externals", ())))

    def taking(self, argument: str) -> Program:
        """The program with one argument more, which is declared already."""
        return replace(self, arguments=(*self.arguments, argument))

    def declaring(self, **containers: Type) -> Program:
        """The program with more containers, or some of another type."""
        known = MappingProxyType({**self.containers, **containers})
        return like(self, containers=known)
