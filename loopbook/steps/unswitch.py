from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from loopbook.errors import IllegalStepError
from loopbook.program import tree
from loopbook.program.accesses import counted, written
from loopbook.program.conditions import covers_all
from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor


class Unswitch(Step):
    """A branch that a loop takes the same way each time, around the loop.

    Before ``unswitch L0``::

        for i:
            if c: S(i)
            else: T(i)
            U(i)

    and after it, the second loop being ``L0.part1``::

        if c:
            for i: S(i); U(i)
        else:
            for i: T(i); U(i)
    """

    name = "unswitch"
    textbook = "loop unswitching"
    source = "Allen and Cocke, A catalogue of optimizing transformations, 1972"
    example = "unswitch L0"
    makes = ("{loop}.part", "*.part")
    frees = True
    only_orders = True
    traits = {"branch": 0.5}

    loop = Loop()

    def apply(self, editor: Editor) -> None:
        """Legal for a branch directly in the loop, one case of which always holds, if nothing in
        the loop changes what its conditions speak of."""
        loop = editor.loop(self.loop)
        place, branch = _unchanging(loop, counted(loop) | written(loop))
        children = loop.body.children
        cases: list[tree.Case] = []
        for number, case in enumerate(branch.cases):
            around = [*children[:place], *children[place + 1 :]]
            part = loop
            if number:
                around = [editor.copied(child, f".part{number}") for child in around]
                part = replace(loop, id=editor.new_number(f"{self.loop}.part{number}"))
            own = (*around[:place], *case.body.children, *around[place:])
            part = replace(part, body=replace(part.body, children=own))
            cases.append(replace(case, body=replace(case.body, children=(part,))))
        editor.put(self.loop, replace(branch, cases=tuple(cases)))


def _unchanging(loop: tree.Loop, changing: Set[str]) -> tuple[int, tree.Branch]:
    """The first branch of a loop that it takes the same way each time, with its place.

    Raises:
        IllegalStepError: there is none.
    """
    reason = ""
    for place, child in enumerate(loop.body.children):
        if not isinstance(child, tree.Branch):
            continue
        conditions = [case.condition for case in child.cases]
        found = sorted(changing & set[str]().union(*(one.symbols for one in conditions)))
        if not found and covers_all(conditions):
            return place, child
        reason = reason or (f"{found[0]} changes in it" if found else "none of the cases may hold")
    raise IllegalStepError(reason or "it holds no branch")
