"""What nodes of the program tree read and write.

Accesses are read conservatively: all that a branch may do counts as done.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from loopbook.errors import IllegalStepError, SdfgError
from loopbook.program import expr, tree
from loopbook.program.accesses import own_accesses, own_symbols
from loopbook.program.dataflow import Block, LibraryNode, Memlet, Reference
from loopbook.program.expr import Expr

Subset = tuple[Expr, ...]
"""Where in a container, one index for each dimension."""


@dataclass(frozen=True)
class Touch:
    """One access.

    Attributes:
        container: what is accessed.
        subset: where; none: a scalar.
        update: the operator if it is part of an update; see `loopbook.dependence.updates`.
        hidden: whether the subset says nothing, since a scalar in it has another value each time.
        conditions: of the branches that it stands in.
    """

    container: str
    subset: Subset
    write: bool
    update: str = ""
    hidden: bool = False
    conditions: tuple[Expr, ...] = field(default=(), compare=False)

    @cached_property
    def place(self) -> tuple[str, ...]:
        """The subset in normal form."""
        return _place(self.subset)

    @cached_property
    def indices(self) -> tuple[expr.Polynomial | None, ...]:
        """The subset as polynomials, None for what is not known."""
        return (None,) * len(self.subset) if self.hidden else _indices(self.subset)

    @property
    def certain(self) -> bool:
        """Whether no branch and no index that is not known may leave it out."""
        return not self.conditions and not self.hidden


@lru_cache(maxsize=16384)
def _place(subset: Subset) -> tuple[str, ...]:
    return expr.normal_forms(index.text for index in subset)


@lru_cache(maxsize=16384)
def _indices(subset: Subset) -> tuple[expr.Polynomial | None, ...]:
    return tuple(map(_index, subset))


def _index(index: Expr) -> expr.Polynomial | None:
    try:
        return index.polynomial
    except SdfgError:
        return None


def touches(node: tree.Node, operators: Mapping[Memlet, str] | None = None) -> Iterator[Touch]:
    """What a node without loops reads and writes.

    Args:
        operators: of updates, by memlet.

    Raises:
        IllegalStepError: it jumps, calls a library, or moves pointers.
    """
    match node:
        case Block():
            yield from _block_touches(node, operators or {})
        case tree.Assignments():
            for assignment in node.assignments:
                for name in expr.symbols(assignment.expression.text):
                    yield Touch(name, (), False)
                yield Touch(assignment.symbol, (), True)
        case tree.Branch():
            for case in node.cases:
                for name in expr.symbols(case.condition.text):
                    yield Touch(name, (), False)
            for case in node.cases:
                for child in case.body.children:
                    for touch in touches(child, operators):
                        conditions = (case.condition, *touch.conditions)
                        yield replace(touch, conditions=conditions)
        case tree.While():
            for child in node.body.children:
                yield from _repeated(child, operators)
        case _:
            raise IllegalStepError(f"a {type(node).__name__.lower()} cannot be moved")


def _repeated(node: tree.Node, operators: Mapping[Memlet, str] | None) -> Iterator[Touch]:
    """The same of what a while loop repeats, which may jump out of it."""
    match node:
        case tree.Jump(kind="break" | "continue"):
            pass
        case tree.Branch():
            for case in node.cases:
                yield from (Touch(name, (), False) for name in expr.symbols(case.condition.text))
                for child in case.body.children:
                    yield from _repeated(child, operators)
        case _:
            yield from touches(node, operators)


def _block_touches(block: Block, operators: Mapping[Memlet, str]) -> Iterator[Touch]:
    for node in block.nodes:
        if isinstance(node, LibraryNode):
            raise IllegalStepError(f"a {node.code} cannot be moved")
    if isinstance(block, Reference):
        raise IllegalStepError("pointers that are moved cannot be followed")
    for name in sorted(own_symbols(block)):
        yield Touch(name, (), False)
    for write in (False, True):
        for access in own_accesses(block):
            if access.write == write and access.memlet is not None:
                operator = operators.get(access.memlet, "")
                yield Touch(access.container, access.subset, write, operator)


class Operators:
    """Of updates, by memlet; the same only as the very same mapping."""

    def __init__(self, of: Mapping[Memlet, str]) -> None:
        self.of = of

    def __hash__(self) -> int:
        return id(self.of)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Operators) and self.of is other.of


@lru_cache(maxsize=1024)
def seen_touches(
    nodes: tuple[tree.Node, ...],
    operators: Operators,
    changing: frozenset[str],
    private: frozenset[str],
    ignored: frozenset[str],
    needed: frozenset[str],
) -> tuple[Touch, ...]:
    """The touches of a statement, remembered: steps leave most statements as they are."""
    return tuple(
        _seen(touch, changing)
        for touch in (
            *(touch for leaf in nodes for touch in touches(leaf, operators.of)),
            *(Touch(name, (), False) for name in sorted(needed)),
        )
        if (touch.subset or touch.container not in private) and touch.container not in ignored
    )


def _seen(touch: Touch, changing: frozenset[str]) -> Touch:
    """The access as it is seen from other statements, where scalars have other values."""
    hidden = any(not changing.isdisjoint(index.symbols) for index in touch.subset)
    return replace(touch, hidden=True) if hidden else touch


def places(nodes: Iterable[object]) -> dict[str, dict[tuple[str, ...], bool]]:
    """The places of each container that blocks and assignments use, and whether they write them.

    Raises:
        IllegalStepError: one of them calls a library, or moves pointers.
    """
    found: dict[str, dict[tuple[str, ...], bool]] = {}
    for node in nodes:
        if isinstance(node, Block | tree.Assignments):
            for touch in touches(node):
                stored = found.setdefault(touch.container, {})
                stored[touch.place] = stored.get(touch.place, False) or touch.write
    return found
