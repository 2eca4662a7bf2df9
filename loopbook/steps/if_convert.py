from __future__ import annotations

from dataclasses import replace

from loopbook.dependence.scalars import private_scalars
from loopbook.errors import IllegalStepError
from loopbook.program import tree
from loopbook.program.tree import Node
from loopbook.program.walk import Inner, rebuilt
from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor, assignments
from loopbook.steps.minima import extreme


class IfConvert(Step):
    """Branches that keep the lesser or the greater of two whole numbers become minima and maxima.

    Compilers store under a mask where a branch says so, which some processors are slow at; a
    minimum is one vector instruction, and the store after it an ordinary one. Before
    ``if_convert L0``::

        if a < x[i]: x[i] = a

    and after it::

        x[i] = min(a, x[i])
    """

    name = "if_convert"
    recorded_as = "straighten"
    textbook = "if-conversion"
    source = "Allen, Kennedy, Porterfield and Warren, POPL 1983"
    example = "if_convert L0"
    refines = True
    traits = {"pivots": 2.0}

    loop = Loop()

    def apply(self, editor: Editor) -> None:
        """Legal for branches that stand directly in loops, each of which has loaded the element
        that it may write before: storing it unchanged is no new access. All such branches of the
        loop, and of those inside, are rewritten."""
        private = private_scalars(editor.program)

        def straight(node: Inner) -> Inner:
            if not isinstance(node, tree.Loop):
                return node
            children: list[Node] = []
            for child in node.body.children:
                found = extreme(child, children, private, editor.program.containers)
                if found is None:
                    children.append(child)
                    continue
                # The loop's variable is a whole number that is as wide as any.
                kept = editor.variable("kept", found.symbol or node.variable)
                subset = [index.text for index in found.subset]
                children.append(assignments([(kept, found.value)]))
                children.append(editor.copy((kept, ()), (found.array, subset)))
            if len(children) == len(node.body.children):
                return node
            return replace(node, body=replace(node.body, children=tuple(children)))

        loop = editor.loop(self.loop)
        new = straight(rebuilt(loop, straight))
        if new is loop:
            raise IllegalStepError(
                "no branch is known to keep the lesser or greater of two numbers"
            )
        assert isinstance(new, tree.Loop)
        editor.put(self.loop, new)
