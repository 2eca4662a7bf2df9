"""Arrays in which each iteration of some loops has a temporary of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from loopbook.dependence.body import LoopNode
from loopbook.errors import IllegalStepError
from loopbook.program import tree
from loopbook.program.accesses import Access, own_symbols
from loopbook.program.dataflow import Block
from loopbook.program.expr import Expr
from loopbook.program.redirect import Element, redirected
from loopbook.program.rename import renamed
from loopbook.program.types import Pointer, Scalar, Type
from loopbook.program.walk import Inner, preorder, spread
from loopbook.steps.editor import Editor


@dataclass(frozen=True)
class Temporary:
    """What is expanded: `extent` is the text of an array's size, empty for a scalar."""

    name: str
    extent: str = ""


@dataclass(frozen=True)
class Wide:
    """A temporary's expanded form.

    Attributes:
        new: the array.
        type: what memlets to it have as type.
        path: the loops of which each iteration has a copy, outermost first.
        sizes: how often each of them runs; they begin at 0.
    """

    editor: Editor
    old: Temporary
    new: str
    type: Type
    path: Sequence[LoopNode]
    sizes: Sequence[str]

    @classmethod
    def make(
        cls, editor: Editor, old: Temporary, path: Sequence[LoopNode], sizes: Sequence[str]
    ) -> Wide:
        """Declare and allocate it, where the program begins.

        Raises:
            IllegalStepError: the temporary holds no floating-point numbers.
        """
        kind = editor.program.containers[old.name]
        element = kind.to if isinstance(kind, Pointer) else kind
        if not isinstance(element, Scalar):
            raise IllegalStepError(f"{old.name} is no plain array")
        if element.dtype not in ("float", "double"):
            raise IllegalStepError(f"{old.name} holds no floating-point numbers")
        extents = [*sizes, old.extent] if old.extent else sizes
        new, memlet_type = editor.heap_array(f"{old.name}_wide", element, extents)
        return cls(editor, old, new, memlet_type, path, sizes)

    def _index(self, variables: Sequence[str], place: str) -> str:
        """Where an iteration has its own copy of one place of the temporary."""
        extents = [*self.sizes[1:], *([self.old.extent] if self.old.extent else [])]
        terms = [place] if place else []
        for number, variable in enumerate(variables):
            terms.append("*".join([variable, *extents[number:]]))
        return " + ".join(terms)

    def put(self, loop: tree.Loop) -> tree.Loop:
        """The outermost of the loops, with each iteration's own copy for the temporary.

        Raises:
            IllegalStepError: the temporary is used where no element of an array can stand.
        """
        variables = [node.variable for node in self.path]

        def own(access: Access) -> Element | None:
            if access.container != self.new:
                return None
            place = "".join(f"({index})" for index in access.subset)
            return Element(self.new, (Expr(self._index(variables, place)),), self.type)

        if not self.old.extent:
            loop = spread(loop, self._asked_of_a_copy)
        for node in preorder(loop):
            named = set(own_symbols(node))
            if isinstance(node, tree.Assignments):
                named.update(one.symbol for one in node.assignments)
            if self.old.name in named:
                what = "as an index" if isinstance(node, Block) else "where no array can be"
                raise IllegalStepError(f"{self.old.name} is used {what}")
        return redirected(renamed(loop, {self.old.name: self.new}), own)

    def _asked_of_a_copy(self, node: Inner) -> list[Inner]:
        """A branch whose conditions ask of another scalar what they ask of the temporary: in a
        condition, no element of an array can stand."""
        name = self.old.name
        if not isinstance(node, tree.Branch):
            return [node]
        if not any(name in case.condition.symbols for case in node.cases):
            return [node]
        asked = self.editor.variable(f"{name}_asked", name)
        cases = [
            replace(case, condition=case.condition.renamed({name: asked})) for case in node.cases
        ]
        return [self.editor.copy((name, []), (asked, [])), replace(node, cases=tuple(cases))]

    def copied_back(self) -> tree.Loop:
        """Loops over the last iteration only that put an array's values back."""
        editor = self.editor
        new = [editor.variable(f"{node.variable}_last", node.variable) for node in self.path]
        name = f"{editor.name_of(self.path[0].loop)}.last"
        inner = editor.variable("place", self.path[-1].variable)
        source, target = (self.new, [self._index(new, inner)]), (self.old.name, [inner])
        block = editor.copy(source, target, source_type=self.type)
        nest = editor.new_loop(name, inner, "0", self.old.extent, [block])
        for variable, size in reversed(list(zip(new, self.sizes, strict=True))):
            nest = editor.new_loop(name, variable, f"max(0, {size} - 1)", size, [nest])
        return nest
