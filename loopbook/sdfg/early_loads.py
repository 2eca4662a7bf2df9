"""Loads in front of the branches that they stand in, where that makes vectors of a loop.

Before::

    for i: if c[i] > 0: s = a[i]
           else: s = b[i]

and after::

    for i: x = a[i]; y = b[i]
           if c[i] > 0: s = x
           else: s = y

clang makes selections of branches that compute, but loads only what the program would have loaded:
there may be no memory there. We know how large arrays are. Where an index stays inside whatever
the branch decides, the load does no harm (if-conversion: J. R. Allen, K. Kennedy, C. Porterfield,
J. Warren, Conversion of control dependence to data dependence, POPL 1983).

That is done last, to what is served: all steps, and what the book knows, see branches as they were.
clang has to be told not to put the loads back (`loopbook.toolchain.compiler.EARLY`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

from loopbook.dependence.scalars import private_to_iterations, upward_exposed
from loopbook.errors import SdfgError
from loopbook.normal_form.extents import extents
from loopbook.program.accesses import Access, accesses, own_symbols, written
from loopbook.program.copies import copying
from loopbook.program.dataflow import Block, Memlet, Statement
from loopbook.program.expr import Polynomial
from loopbook.program.inside import Around, is_element, within
from loopbook.program.redirect import Element, redirected
from loopbook.program.tree import Assignments, Branch, Case, Loop, Program
from loopbook.program.types import Pointer, Scalar
from loopbook.program.walk import Inner, children, preorder, with_new
from loopbook.sdfg.new_scalars import NewScalars

MOST = 12
"""How many loads are made in front of a branch at most."""

_TOGETHER = re.compile(r"\b(And|Or)\(|&&|\|\|")

PREFIX = "early_"
"""Of the scalars that they go to."""


def with_early_loads(program: Program) -> Program:
    """A finished program with loads in front of the branches of innermost loops; itself if none
    can be there."""
    if not any(isinstance(node, Branch) for node in preorder(program)):
        return program
    sizes = extents(program)
    if not sizes:
        return program
    work = _Loads(program, sizes, NewScalars(program))
    body = with_new(program.body, [work.below(child, ()) for child in program.body.children])
    return replace(program, body=body).declaring(**work.new.made) if work.new.made else program


def has_early_loads(program: Program) -> bool:
    """Whether there are loads in a program that clang must leave in front of branches: such ones,
    and what is tested together, for which it would wait until the first test has been made."""
    return any(name.startswith(PREFIX) for name in program.containers) or any(
        isinstance(node, Case) and _TOGETHER.search(node.condition.text)
        for node in preorder(program)
    )


@dataclass
class _Loads:
    """The program on the way through it.

    Attributes:
        sizes: how many elements arrays have.
        new: the scalars that loads go to.
    """

    program: Program
    sizes: Mapping[str, Polynomial]
    new: NewScalars

    def below(self, node: Inner, around: Around) -> Inner:
        """A node with early loads in the loops below it."""
        if isinstance(node, Loop | Case):
            try:
                around = within(around, node)
            except SdfgError:
                return node
        if isinstance(node, Loop) and _may_be_vectors(node) and not self._chooses(node):
            return with_new(node, self._all_early(children(node), around, set()))
        return with_new(node, [self.below(child, around) for child in children(node)])

    def _chooses(self, loop: Loop) -> bool:
        """Whether a branch sets what later iterations compare with and something else that lasts,
        as the least number and where it stands: no compiler makes vectors of that, and a branch
        that is hardly ever taken is not waited for."""
        carried = upward_exposed(loop.body)
        for branch in (one for child in children(loop) for one in preorder(child)):
            if isinstance(branch, Branch) and (set_there := written(branch)) & carried:
                lasting = set_there - private_to_iterations(self.program, loop)
                if len(lasting) > 1 and not lasting & _brought_in(branch, set()):
                    return True
        return False

    def _all_early(self, nodes: Sequence[Inner], around: Around, given: Set[str]) -> list[Inner]:
        """What an innermost loop holds, or a case in it, with loads in front of branches.

        Args:
            given: what has a value of this very iteration in front of it.
        """
        done: list[Inner] = []
        for node in nodes:
            done += self._early(node, around, given) if isinstance(node, Branch) else [node]
            given = given | (frozenset() if isinstance(node, Branch) else written(node))
        return done

    def _early(self, node: Branch, around: Around, given: Set[str]) -> list[Inner]:
        """A branch behind what is loaded in front of it."""
        loads, branch = self._taken_out(node, around, given)
        cases = [with_new(c, self._all_early(children(c), around, given)) for c in branch.cases]
        return [*loads, with_new(branch, cases)]

    def _taken_out(
        self, branch: Branch, around: Around, given: Set[str]
    ) -> tuple[list[Block], Branch]:
        """What is loaded in front of a branch, and the branch without it."""
        changing = written(branch)
        stored = {access.container for access in accesses(branch) if access.write and access.subset}
        if stored & self.program.public:
            return [], branch  # which may be other names for what is loaded
        if _brought_in(branch, given) & changing:
            return [], branch  # it reduces, which clang knows as it is
        loads: dict[tuple[str, str], tuple[str, Memlet]] = {}

        def early(access: Access) -> Element | None:
            if access.write or access.container in stored or len(access.subset) != 1:
                return None
            (index,) = access.subset
            key = access.container, index.text
            if key not in loads:
                memlet, kind = access.memlet, self._kind(access)
                if memlet is None or kind is None or len(loads) == MOST:
                    return None
                inside = is_element((index,), access.container, self.sizes, around)
                if index.symbols & changing or not inside:
                    return None
                loads[key] = self.new.of(PREFIX, kind), memlet
            name, _ = loads[key]
            return Element(name, (), self.new.made[name])

        new = redirected(branch, early)
        made = self.new.made
        copies = [
            copying((array, memlet.subset, memlet.type), (name, (), made[name]))
            for (array, _), (name, memlet) in loads.items()
        ]
        return copies, new

    def _kind(self, access: Access) -> Scalar | None:
        """What an element of a plain array is; None for other accesses."""
        kind = self.program.containers.get(access.container)
        taken = access.memlet.type if access.memlet is not None else None
        if not isinstance(kind, Pointer) or not isinstance(kind.to, Scalar) or taken is None:
            return None
        return kind.to if taken.element == kind.to.dtype else None


def _brought_in(branch: Branch, given: Set[str]) -> set[str]:
    """What a branch reads of what was set before it, but not in this iteration (`given`)."""
    found: set[str] = set()
    for case in branch.cases:
        known = set(given)
        for node in children(case):
            if isinstance(node, Branch):
                found |= _brought_in(node, known)
            else:
                read = {a.container for a in accesses(node) if not a.write and not a.subset}
                found |= (read | own_symbols(node)) - known
                known |= written(node)
    return found


def _may_be_vectors(loop: Loop) -> bool:
    """Whether a loop holds nothing but statements and branches."""
    return all(
        isinstance(node, Statement | Assignments | Branch | Case)
        for child in children(loop)
        for node in preorder(child)
    )
