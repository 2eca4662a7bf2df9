"""Going through a program tree, and putting something else in a place of it.

A place is a `Path`: which child to take, from the node where the path starts. Trees share subtrees,
so a node alone does not say which of its places is meant. Children are those of the sequences that
a node holds; a branch's children are its cases.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from loopbook.program import tree
from loopbook.program.element import like
from loopbook.program.tree import Branch, Case, Loop, Program, While

Path = tuple[int, ...]
Inner = tree.Node | Case
"""What can be a child."""

Outer = TypeVar("Outer", bound=Program | tree.Node | Case)


def children(node: Program | Inner) -> tuple[Inner, ...]:
    """The nodes directly in a node."""
    kind = type(node)  # asked so often that a `match` shows
    if kind is Loop or kind is Case or kind is While or kind is Program:
        return node.body.children  # type: ignore[union-attr]
    if kind is tree.Sequence:
        return node.children  # type: ignore[union-attr]
    if kind is Branch:
        return node.cases  # type: ignore[union-attr]
    return ()


def with_children(node: Outer, inner: Sequence[Inner]) -> Outer:
    """The node with other children."""
    match node:
        case Program() | Loop() | While() | Case():
            return like(node, body=like(node.body, children=tuple(inner)))
        case tree.Sequence():
            return like(node, children=tuple(inner))
        case Branch():
            return like(node, cases=tuple(inner))
    if inner:
        raise TypeError(f"a {type(node).__name__} holds nothing")
    return node


def with_new(node: Outer, inner: Sequence[Inner]) -> Outer:
    """`with_children`, but the node itself if its children are these."""
    old = children(node)
    same = len(inner) == len(old) and all(map(operator.is_, inner, old))
    return node if same else with_children(node, inner)


def preorder(node: Program | Inner) -> Iterator[Program | Inner]:
    """A node and all below it, each before what is in it."""
    waiting: list[Program | Inner] = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += children(node)[::-1]


def places(node: Program | Inner, at: Path = ()) -> Iterator[tuple[Path, Program | Inner]]:
    """`preorder` with the path of each node."""
    waiting: list[tuple[Path, Program | Inner]] = [(at, node)]
    while waiting:
        path, node = waiting.pop()
        yield path, node
        if inner := children(node):
            waiting += [((*path, number), inner[number]) for number in range(len(inner))][::-1]


def with_loops(
    node: Program | Inner, around: tuple[Loop | While, ...] = ()
) -> Iterator[tuple[Program | Inner, tuple[Loop | While, ...]]]:
    """`preorder` with the loops around each node, outermost first."""
    yield node, around
    if isinstance(node, Loop | While):
        around = (*around, node)
    for child in children(node):
        yield from with_loops(child, around)


def band(loop: Loop) -> list[Loop]:
    """The loops from `loop` on of which each is all that the one before holds."""
    found = [loop]
    while len(inner := found[-1].body.children) == 1 and isinstance(inner[0], Loop):
        found.append(inner[0])
    return found


def outermost(node: Program | Inner) -> Iterator[Loop | While]:
    """The loops below a node, or itself, that stand in no other loop with a counter. A loop that
    ends on a condition (until something has converged) stands around nests, and is one itself only
    where it holds none."""
    if isinstance(node, Loop):
        yield node
        return
    inner = [loop for child in children(node) for loop in outermost(child)]
    yield from inner or ([node] if isinstance(node, While) else [])


def has_loops(loop: Loop) -> bool:
    """Whether other loops stand in a loop."""
    return any(isinstance(node, Loop) for node in preorder(loop.body))


def path_to(node: Program | Inner, wanted: Program | Inner) -> Path | None:
    """The first place where a node itself stands; None if it stands nowhere."""
    return next((path for path, inner in places(node) if inner is wanted), None)


def way(node: Program | Inner, path: Path) -> Iterator[Program | Inner]:
    """The nodes on the way to a place: the one where it starts, …, what stands in the place."""
    yield node
    for number in path:
        node = children(node)[number]
        yield node


def at(node: Program | Inner, path: Path) -> Program | Inner:
    """What stands in a place."""
    for number in path:
        node = children(node)[number]
    return node


def children_at(node: Program | Inner, path: Path) -> tuple[Inner, ...]:
    """The nodes beside each other below the one at a path."""
    return children(at(node, path))


def changed(node: Outer, path: Path, change: Callable[[Inner], Sequence[Inner]]) -> Outer:
    """The tree with what `change` makes of the node in a place in its place: none, one or more.

    All that does not lead there is shared with the old tree.
    """
    number, *rest = path
    inner = list(children(node))
    old = inner[number]
    inner[number : number + 1] = [changed(old, tuple(rest), change)] if rest else change(old)
    return with_children(node, inner)


def replaced(node: Outer, path: Path, *new: Inner) -> Outer:
    """The tree with other nodes in a place."""
    return changed(node, path, lambda old: new)


def rebuilt(node: Outer, change: Callable[[Inner], Inner]) -> Outer:
    """The tree with what `change` makes of each node below in its place, innermost first.

    What has not changed is shared with the old tree.
    """
    return spread(node, lambda inner: (change(inner),))


def spread(node: Outer, change: Callable[[Inner], Sequence[Inner]]) -> Outer:
    """`rebuilt` with none, one or more in the place of each node."""
    new = [part for child in children(node) for part in change(spread(child, change))]
    return with_new(node, new)
