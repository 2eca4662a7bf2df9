"""Rolls back what docc's normalisation has got wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from types import MappingProxyType

from loopbook.program.tree import Loop, Program
from loopbook.sdfg.validation import Part, compared


@dataclass(frozen=True)
class RolledBack:
    """A program made of parts of two.

    Attributes:
        undone: docc's numbers of the outermost loops that are as they were before.
    """

    program: Program
    undone: frozenset[int]


def rolled_back(before: Program, after: Program) -> RolledBack | None:
    """The normalised program with every part as it was before where it computed something else.

    Returns:
        Nothing if `after` is right as it is.
    """
    parts = compared(before, after)
    if not any(part.fault for part in parts):
        return None
    children = (n for part in parts for n in (part.before if part.fault else part.after))
    program = replace(
        after,
        containers=MappingProxyType({**before.containers, **after.containers}),
        body=replace(after.body, children=tuple(children)),
    )
    return RolledBack(program, frozenset(_undone(parts)))


def _undone(parts: Iterable[Part]) -> Iterator[int]:
    for part in parts:
        if part.fault:
            yield from (n.id for n in part.before if isinstance(n, Loop) and n.id is not None)
