"""What was made of two parts of a program, in one program.

Programs share what they have in common: where a statement of the outermost sequence is the very
same node in both, nothing has happened to it.
"""

from __future__ import annotations

from typing import NamedTuple

from loopbook.program.element import like
from loopbook.program.rename import renamed
from loopbook.program.tree import Loop, Node, Program, Sequence
from loopbook.program.types import Type
from loopbook.program.walk import Inner, rebuilt


class Combined(NamedTuple):
    """Two trees in one.

    Attributes:
        shift: what was added to the numbers of the second one's new loops.
    """

    program: Program
    shift: int


def combined(given: Program, one: Program, other: Program) -> Combined | None:
    """`one`, with what `other` has made of another part of `given`, of which both were made; None
    where they cannot be told apart.

    New containers of `other` get names that `one` does not have, and new loops other numbers; what
    else is new has to be given numbers when it is written.
    """
    replaced, new = _difference(given.body.children, other.body.children)
    place = _place(one.body.children, replaced)
    known = given.containers
    if place is None or any(other.containers.get(name) != known[name] for name in known):
        return None
    own = {name: type_ for name, type_ in other.containers.items() if name not in known}
    names = {name: _fresh(name, one, own) for name in own if name in one.containers}
    shift = one.counter - given.counter

    def numbered(node: Inner) -> Inner:
        is_new = isinstance(node, Loop) and (node.id or 0) > given.counter
        return like(node, id=(node.id or 0) + shift) if is_new else node

    children = list(one.body.children)
    part = rebuilt(Sequence(tuple(renamed(node, names) for node in new)), numbered)
    children[place : place + len(replaced)] = part.children
    types: dict[str, Type] = {names.get(name, name): type_ for name, type_ in own.items()}
    body = like(one.body, children=tuple(children))
    whole = like(one, body=body, counter=shift + other.counter)
    return Combined(whole.declaring(**types) if types else whole, shift)


def _difference(
    before: tuple[Node, ...], after: tuple[Node, ...]
) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """The nodes that were replaced, and those in their place."""
    most = min(len(before), len(after))
    first = next((n for n in range(most) if before[n] is not after[n]), most)
    most -= first
    last = next((n for n in range(most) if before[-1 - n] is not after[-1 - n]), most)
    return before[first : len(before) - last], after[first : len(after) - last]


def _place(children: tuple[Node, ...], wanted: tuple[Node, ...]) -> int | None:
    """Where these very nodes stand, one after the other."""
    for place in range(len(children) if wanted else 0):
        found = children[place : place + len(wanted)]
        if len(found) == len(wanted) and all(a is b for a, b in zip(found, wanted, strict=True)):
            return place
    return None


def _fresh(name: str, one: Program, own: dict[str, Type]) -> str:
    number = 0
    while f"{name}_{number}" in one.containers or f"{name}_{number}" in own:
        number += 1
    return f"{name}_{number}"
