"""A cheap temporary, computed where it is used.

Before::

    for i: for k: t[i, k] = alpha * A[i, k]
    for i: for k: y[i] += t[i, k] * x[k]

and after::

    for i: for k: y[i] += alpha * A[i, k] * x[k]

(Forward substitution; inlining in Halide: Ragan-Kelley et al., PLDI 2013.) A temporary costs three
trips through memory. Computing an element again for every neighbour of a stencil that wants it
costs some instructions, which vector units do meanwhile; `MOST_WORK` says how many.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopbook.dependence.model import Linear, domain
from loopbook.dependence.touches import Touch
from loopbook.errors import SdfgError
from loopbook.normal_form.producer import Producer, producer_of, work_of
from loopbook.program import expr, walk
from loopbook.program.accesses import Access, own_accesses
from loopbook.program.dataflow import Block
from loopbook.program.expr import Expr
from loopbook.program.redirect import Element, redirected
from loopbook.program.rename import renamed
from loopbook.program.tree import Branch, Loop, Program, While
from loopbook.steps.editor import Editor
from loopbook.steps.order import check_reads, headers_of, in_order
from loopbook.steps.temporaries import (
    Temporary,
    accesses_of,
    changed,
    has_calls,
    parent,
    without,
    without_each,
)

MOST_WORK = 32
"""Instructions that an iteration may take for a temporary of which it loads several elements.
Chosen: with two vector instructions a cycle memory is no faster at about so many. Not measured."""

MOST_BODY = 128
"""Instructions of a loop's body: docc looks at every two of them."""


def inlined(program: Program) -> Program:
    """The program without the temporaries that can be computed where they are used."""
    return without_each(program, inlined_one)


def inlined_one(program: Program, temporary: Temporary) -> Program:
    """The program without one temporary.

    Raises:
        LoopbookError: it has to stay.
    """
    name, uses = temporary.container, temporary.uses
    if not uses:
        return without(program, temporary, (), {})
    above = parent(uses)
    holder = walk.at(program, above)
    if isinstance(holder, Branch):
        raise SdfgError("it is filled in one case and read in another")
    siblings, depth = walk.children(holder), len(above)
    first, *consumers = sorted({path[depth] for path in uses})
    if not consumers or any(
        path[depth] != first and any(a.write for a in accesses_of(walk.at(program, path), name))
        for path in uses
    ):
        raise SdfgError("more than one nest writes it")
    producer = producer_of(program, siblings[first], temporary)
    if any(producer.reads & changed(node) for node in siblings[first + 1 : consumers[-1]]):
        raise SdfgError("what it is made of changes before it is read")
    around = [node for node in walk.way(program, above) if isinstance(node, Loop | While)]
    changes: dict[int, walk.Inner | None] = {first: producer.rest}
    for place in consumers:
        inliner = _Inliner(program, producer, around)
        made = inliner.nest(siblings[place])
        if overwritten := producer.reads & changed(made):
            for container in sorted(overwritten):
                check_reads(inliner.program, made, around, container, inliner.read_of(container))
            made = in_order(made)
        program = inliner.program
        changes[place] = made
    return without(program, temporary, above, changes)


class _Inliner:
    """Puts a producer's work into a nest that reads its temporary.

    Args:
        around: the loops around the nest, outermost first.

    Attributes:
        program: the one given, with the scalars that this takes.
    """

    def __init__(
        self, program: Program, producer: Producer, around: Sequence[Loop | While]
    ) -> None:
        self._editor = Editor(program, {}, {})
        self._producer = producer
        self._around = list(around)
        self._outside = len(around)
        self._loads = 0
        self._read: dict[str, set[tuple[str, ...]]] = {}

    @property
    def program(self) -> Program:
        return self._editor.program

    def read_of(self, container: str) -> set[tuple[str, ...]]:
        """The places in which the work reads a container.

        Raises:
            SdfgError: it reads it as a whole, as a scalar or in an index.
        """
        found = self._read.get(container)
        if not found or () in found:
            raise SdfgError(f"{container} changes before it is read")
        return found

    def nest(self, nest: walk.Inner) -> Loop | While:
        """The nest with the work in it.

        Raises:
            LoopbookError: it would have too much of it, or is no nest.
        """
        if not isinstance(nest, Loop | While) or has_calls(nest, self._producer.name):
            raise SdfgError("it is read by something else than loops")
        (made,) = self._nodes([nest], {})
        assert isinstance(made, Loop | While)
        if self._loads > 1 and self._loads * self._producer.work > MOST_WORK:
            raise SdfgError("it would be computed too often")
        for loop in walk.preorder(made):
            blocks = (node for node in walk.children(loop) if isinstance(node, Block))
            if sum(map(work_of, blocks)) > MOST_BODY:
                raise SdfgError("the loop's body would be too large")
        return made

    def _nodes(self, nodes: Sequence[walk.Inner], known: dict[str, str]) -> list[walk.Inner]:
        """Nodes one after the other.

        Args:
            known: the scalars that elements have been computed into, by their index; gets more.
        """
        made: list[walk.Inner] = []
        for node in nodes:
            if isinstance(node, Block):
                made += self._block(node, known)
            elif isinstance(node, Loop | While):
                self._around.append(node)
                made.append(walk.with_new(node, self._nodes(walk.children(node), {})))
                self._around.pop()
            else:
                made.append(walk.with_new(node, self._nodes(walk.children(node), dict(known))))
            moved = changed(node) if known else frozenset()
            for index in [i for i in known if not moved.isdisjoint(expr.symbols(i))]:
                del known[index]
        return made

    def _block(self, block: Block, known: dict[str, str]) -> list[walk.Inner]:
        name, before = self._producer.name, []
        for access in own_accesses(block):
            if access.container == name:
                if access.write or len(access.subset) != 1:
                    raise SdfgError("it is not only read")
                index = access.subset[0]
                if index.text not in known:
                    known[index.text], nodes = self._computed(index)
                    before += nodes

        def target(access: Access) -> Element | None:
            if access.container != name:
                return None
            return Element(known[access.subset[0].text], (), self._producer.element)

        return [*before, redirected(block, target)]

    def _computed(self, index: Expr) -> tuple[str, Sequence[walk.Inner]]:
        """The scalar that an element is computed into, and how."""
        producer = self._producer
        self._loads += 1
        for loop in self._around[self._outside :] if producer.work else ():
            if isinstance(loop, While) or loop.variable not in index.symbols:
                raise SdfgError("it would be computed again in every iteration of a loop")
        digits = producer.radix.digits(index, *self._iterations())
        values = zip(producer.loops, map(expr.text, digits), strict=True)
        names = {loop.variable: value for loop, value in values}
        for scalar in sorted(producer.own):
            names[scalar] = self._editor.variable(f"{producer.name}_of", scalar)
        result = self._editor.scalar(f"{producer.name}_at", producer.element)

        def target(access: Access) -> Element | None:
            filled = access.container == producer.name
            return Element(result, (), producer.element) if filled else None

        nodes = [redirected(renamed(node, names), target) for node in producer.body]
        for access in (a for n in nodes for inner in walk.preorder(n) for a in own_accesses(inner)):
            if not access.write:
                place = Touch(access.container, access.subset, False).place
                self._read.setdefault(access.container, set()).add(place)
        return result, nodes

    def _iterations(self) -> tuple[list[Linear], frozenset[str]]:
        """What is 0 or more where we are, and the variables of the loops around."""
        headers = headers_of(self._around)
        return domain(headers), frozenset(one.variable for one in headers)
