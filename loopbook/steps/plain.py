"""Nests that are simple enough for whole loops to move in them.

Steps that move loops with all that is in them ask only for distances between accesses to arrays. So
there must be nothing else that orders iterations: no jumps, no calls, no pointers, no index or
bound that the nest computes, and no scalar that carries a value from one iteration to another.
What branches ask may be computed in the same iteration, as of ``y[i] = max(s, 0)``: what they may
do counts as done. So may, for some steps, indices of arrays that are only read.
"""

from __future__ import annotations

from collections.abc import Callable

from loopbook.dependence.arrays import Conflicts
from loopbook.dependence.scalars import (
    Loops,
    check_unused_outside,
    homes,
    private_scalars,
    upward_exposed,
)
from loopbook.errors import IllegalStepError
from loopbook.program import expr, tree
from loopbook.program.accesses import counted, own_accesses, own_symbols, written
from loopbook.program.dataflow import Block, LibraryNode, Reference
from loopbook.program.expr import Polynomial
from loopbook.program.tree import Assignments, Case, Jump, Loop, Opaque
from loopbook.program.walk import preorder
from loopbook.steps.editor import Editor

MAX_FACTOR = 8
"""How far space may be skewed for each time step."""


class PlainNest:
    """A loop that may move with all that is in it.

    Args:
        name: of the loop.
        numbered: whether whole numbers that it computes may be set, and be indices of arrays that
            the nest only reads: who moves the loop takes care of them as of other scalars.

    Attributes:
        loop: itself.
        asked: what branches and indices in it ask, or assignments set, and the nest computes.

    Raises:
        IllegalStepError: it holds jumps, library calls, pointers, or bounds and indices that the
            nest computes.
    """

    def __init__(self, editor: Editor, name: str, *, numbered: bool = False) -> None:
        self._editor = editor
        self._numbered = numbered
        self.loop = editor.loop(name)
        self._around = editor.around(name)
        self._nest = (*self._around, self.loop)[0]
        self.name = name
        types = editor.program.containers
        private = private_scalars(editor.program)
        self._private = frozenset(n for n in private if n in types and not types[n].is_array)
        self.asked = self._check()

    def _check(self) -> frozenset[str]:
        stored = written(self._nest)
        nodes = list(preorder(self._nest))
        headers = [node for node in nodes if isinstance(node, Loop | Block)]
        used = frozenset().union(*(self._places(node, stored) for node in headers))
        if computed := sorted(used & stored):
            raise IllegalStepError(
                f"an index or bound depends on {computed[0]}, which the nest writes"
            )
        if any(isinstance(node, Opaque) for node in nodes):
            raise IllegalStepError("the nest holds something that is not understood")
        for node in preorder(self.loop):
            if operation := self._hindrance(node):
                raise IllegalStepError(f"{self.name} holds an operation '{operation}'")
        asking = [node for node in nodes if isinstance(node, Case | Assignments)]
        asking += [node for node in nodes if isinstance(node, Block)] if self._numbered else []
        asked = frozenset().union(*map(own_symbols, asking))
        if self._numbered:
            asked |= frozenset().union(*(written(n) for n in nodes if isinstance(n, Assignments)))
            before = sorted(asked & stored & upward_exposed(self.loop.body))
            if before:
                raise IllegalStepError(f"the scalar {before[0]} carries values between iterations")
        return stored & asked

    def _places(self, node: Loop | Block, stored: frozenset[str]) -> frozenset[str]:
        """What bounds are made of, and the indices that decide which iterations meet."""
        if isinstance(node, Loop) or not self._numbered:
            return own_symbols(node)
        read = [a.subset for a in own_accesses(node) if a.container not in stored]
        only_read = frozenset().union(*(index.symbols for subset in read for index in subset))
        others = [a.subset for a in own_accesses(node) if a.container in stored]
        met = frozenset().union(*(index.symbols for subset in others for index in subset))
        return own_symbols(node) - (only_read - met)

    def end(self, loop: Loop) -> Polynomial:
        """The bound of a loop that advances by one, from and to what the nest does not change.

        Raises:
            IllegalStepError: it is another one.
        """
        end = only_end(loop, self._editor.name_of(loop))
        used = loop.init.symbols | expr.mentioned(end)
        if used & counted(self._nest):
            name = self._editor.name_of(loop)
            raise IllegalStepError(f"the bounds of {name} change inside the nest")
        return end

    def conflicts(self) -> Conflicts:
        """Where iterations touch what others of them write."""
        containers = self._editor.program.containers
        arrays = {name for name, kind in containers.items() if kind.is_array}
        return Conflicts(self.loop, self._around, arrays)

    def scalars(self, alone: Callable[[Loops], bool]) -> list[str]:
        """The scalars that are written in it, but for those that carry no value from one statement
        to another one.

        Args:
            alone: whether it is enough that iterations of these loops have one for themselves.

        Raises:
            IllegalStepError: one of them carries a value from one iteration to another, or the
                program may use what is left in one, or in a loop's variable.
        """
        program = self._editor.program
        found = homes(self.loop, program.containers)
        found = {name: own for name, own in found.items() if name not in self._private}
        for name, own in found.items():
            if not alone(own):
                raise IllegalStepError(f"the scalar {name} carries values between iterations")
        check_unused_outside(program, self.loop, found.keys() | counted(self.loop))
        return list(found)

    def _hindrance(self, node: tree.Node | Case | tree.Program) -> str:
        """What a node does that no loop around it may be moved with, or nothing."""
        match node:
            case Jump(kind=kind):
                return kind
            case Assignments(assignments=assigned):
                known = self._editor.program.containers if self._numbered else self._private
                if any(one.symbol not in known for one in assigned):
                    return "symbol"
            case Reference():
                return "reference"
            case Block(nodes=nodes):
                return next((one.op for one in nodes if isinstance(one, LibraryNode)), "")
        return ""


def only_end(loop: Loop, name: str) -> Polynomial:
    """The bound of a loop that advances by one.

    Raises:
        IllegalStepError: it has another step, or several bounds.
    """
    ends = loop.bounds.highs
    if loop.step != 1 or len(ends) != 1:
        raise IllegalStepError(f"{name} is no plain counting loop")
    return ends[0]
