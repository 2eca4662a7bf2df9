from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from loopbook.dependence import Meeting
from loopbook.dependence.scalars import surely_written, upward_exposed
from loopbook.dependence.varying import is_same, varying
from loopbook.errors import IllegalStepError
from loopbook.program import expr, tree
from loopbook.program.accesses import names, written
from loopbook.program.dataflow import Block
from loopbook.program.expr import Expr
from loopbook.program.redirect import Element, redirected
from loopbook.program.types import Type
from loopbook.program.walk import Inner, preorder, with_children
from loopbook.steps.arguments import MAX_SIZE, Loop, VectorSize
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor
from loopbook.steps.plain import PlainNest, only_end
from loopbook.steps.region import duplicate, put_for, serialise_around

LONGEST = 4096
"""Longest strip: arrays of expanded scalars live on the stack."""


class StripAndSink(Step):
    """A parallel loop in strips, inside the loops that it held.

    Before ``strip_and_sink L0 8``::

        for i: S1; for j: S2; S3

    and after it; strips are ``L0``, ``L0.part``…, what is left of ``i`` runs as before::

        for ii by 8:                            # L0.tile
            for i in ii … ii + 8: S1
            for j:
                for i in ii … ii + 8: S2
            for i in ii … ii + 8: S3
        for i …: S1; for j: S2; S3              # L0.rest

    Strips can be vectorised where i is contiguous in memory, or unrolled, so that several
    recurrences over j run at the same time. Scalars that carry values from one strip to the next
    become arrays of a strip's length, unless they are the same in all iterations; those that
    branches and indices ask are loaded from there before, and stored behind.
    """

    name = "strip_and_sink"
    recorded_as = "sink"
    textbook = "strip mining, distribution and interchange with scalar expansion"
    source = "Allen and Kennedy, Optimizing Compilers for Modern Architectures, 2001, chapter 5"
    example = "strip_and_sink L0 8"
    makes = ("{loop}.tile", "{loop}.part", "*.rest")
    traits = {"strip_and_sink": 3.0}

    loop = Loop()
    size = VectorSize(2, MAX_SIZE)

    def apply(self, editor: Editor) -> None:
        """Legal if no iteration touches what another one of them writes, and scalars carry values
        within one iteration only. Strips are maps; so is the loop over them, unless expanded
        scalars make all share one array."""
        size = self.size
        if size > LONGEST:
            raise IllegalStepError(f"a strip is at most {LONGEST} long")
        nest = PlainNest(editor, self.loop, numbered=True)
        loop = nest.loop
        end = expr.text(only_end(loop, self.loop))
        conflicts = nest.conflicts()
        for one, two in conflicts.pairs():
            apart = conflicts.distance(one, two, loop.variable, loop.variable)
            if apart not in (0, Meeting.NEVER):
                raise IllegalStepError(f"iterations of {self.loop} may depend on each other")
        scalars = nest.scalars(bool)
        if not any(isinstance(node, tree.Loop) for node in preorder(loop) if node is not loop):
            raise IllegalStepError(f"{self.loop} holds no loop to be sunk into")
        start = f"({loop.init})"
        rest = duplicate(editor, loop)
        rest = replace(rest, init=Expr(f"{start} + {size}*idiv({end} - {start}, {size})"))
        tile = editor.variable(f"{loop.variable}_tile", loop.variable)
        whole = editor.new_loop(
            f"{self.loop}.tile", tile, str(loop.init), f"{end} - {size - 1}", by=size
        )
        groups = list(_groups(loop.body.children, loop.variable))
        varies = _set_in_strips(groups, varying(loop))
        shared = _shared(groups, scalars)
        arrays = _expanded(editor, [name for name in shared if name in varies], size)
        strips = _Strips(editor, self.loop, loop.variable, tile, size, arrays, nest.asked, varies)
        whole = with_children(whole, strips.sunk(loop.body.children))
        if not shared:
            whole = replace(whole, kind="map")
        around = [outer for outer in editor.around(self.loop) if isinstance(outer, tree.Loop)]
        editor.put(self.loop, whole, rest)
        if shared:  # all iterations of what is around have them in common
            serialise_around(editor, around)


Group = list[tree.Node]
"""Neighbours that go into one strip."""


def _parts(children: Sequence[tree.Node], variable: str) -> Iterator[tree.Loop | Group]:
    """Loops that run the same way in each iteration of the loop that is sunk, and groups of what
    stands between them.

    Args:
        variable: of the loop that is sunk.
    """
    group: Group = []
    for child in children:
        if isinstance(child, tree.Loop) and variable not in (
            child.init.symbols | child.condition.symbols | child.update.symbols
        ):
            if group:
                yield group
                group = []
            yield child
        else:
            group.append(child)
    if group:
        yield group


def _groups(children: Sequence[tree.Node], variable: str) -> Iterator[Group]:
    """All that goes into strips."""
    for part in _parts(children, variable):
        if isinstance(part, tree.Loop):
            yield from _groups(part.body.children, variable)
        else:
            yield part


Arrays = dict[str, tuple[str, Type]]
"""Scalar to the array that takes its place, and the type that memlets to it have."""


def _divided(group: Group, varies: frozenset[str]) -> tuple[Group, Group]:
    """What a group begins with that is the same for a whole strip, and what goes into the strip."""
    once = list(takewhile(lambda node: is_same(node, varies), group))
    return once, group[len(once) :]


def _set_in_strips(groups: Sequence[Group], varies: frozenset[str]) -> frozenset[str]:
    """`varies` with what strips set all the same: the next iteration may read it before that."""
    found = varies
    while True:
        rest = [node for group in groups for node in _divided(group, found)[1]]
        more = found.union(*map(written, rest))
        if more == found:
            return found
        found = more


def _shared(groups: Sequence[Group], scalars: Sequence[str]) -> list[str]:
    """The scalars that more than one strip uses."""
    used = [frozenset().union(*map(names, group)) for group in groups]
    return sorted(name for name in scalars if sum(name in one for one in used) > 1)


def _expanded(editor: Editor, scalars: Sequence[str], size: int) -> Arrays:
    """Arrays with an element for each iteration of a strip."""
    types = editor.program.containers
    return {name: editor.stack_array(f"{name}_strip", types[name], size) for name in scalars}


@dataclass
class _Strips:
    """The strips that one loop is cut into.

    Attributes:
        name: of the loop that is sunk; the first strip inherits it.
        variable: of the loop that is sunk.
        tile: the variable of the loop over strips.
        asked: scalars that branches and indices ask, or assignments set: no element of an array can
            stand there.
        varies: what is not the same in all iterations of the loop that is sunk, or set in strips.
    """

    editor: Editor
    name: str
    variable: str
    tile: str
    size: int
    arrays: Arrays
    asked: frozenset[str]
    varies: frozenset[str]
    made: int = 0

    def sunk(self, children: Sequence[tree.Node]) -> list[Inner]:
        """`children` of the loop or of one below it, with strips around what is no loop."""
        made: list[Inner] = []
        for part in _parts(children, self.variable):
            if isinstance(part, tree.Loop):
                made.append(with_children(part, self.sunk(part.body.children)))
                continue
            once, rest = _divided(part, self.varies)
            made += [*once, self._strip(rest)] if rest else once
        return made

    def _strip(self, group: Group) -> tree.Loop:
        variable = self.editor.variable(f"{self.variable}_strip", self.variable)
        name = f"{self.name}.part" if self.made else self.name
        self.made += 1
        body = [put_for(node, {self.variable: variable}) for node in group]
        strip = self.editor.new_loop(name, variable, self.tile, f"{self.size} + {self.tile}", body)
        place = (Expr(f"{variable} - {self.tile}"),)
        own = {name: Element(array, place, kind) for name, (array, kind) in self.arrays.items()}
        kept = sorted(own.keys() & self.asked & names(strip))
        first, last = upward_exposed(strip.body), written(strip)
        first |= last - surely_written(strip.body)  # what it was is stored again
        loads = [self._moved(name, own[name], write=False) for name in kept if name in first]
        stores = [self._moved(name, own[name], write=True) for name in kept if name in last]
        for name in kept:
            del own[name]
        strip = redirected(strip, lambda access: own.get(access.container))
        return replace(with_children(strip, [*loads, *strip.body.children, *stores]), kind="map")

    def _moved(self, name: str, element: Element, *, write: bool) -> Block:
        """A scalar loaded from its element, or stored in it."""
        same = self.editor.copy((name, ()), (name, ()))
        return redirected(same, lambda access: element if access.write == write else None)
