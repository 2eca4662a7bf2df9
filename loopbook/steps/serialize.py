from __future__ import annotations

from dataclasses import replace

from loopbook.errors import IllegalStepError
from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor


class Serialize(Step):
    """A reduction as a plain loop in its own order, whose sums can then be held in buffers.

    Before ``serialize L2``::

        reduce k with +: s += a[k]

    and after it::

        for k: s += a[k]
    """

    name = "serialize"
    recorded_as = "serial"
    textbook = "serialisation of a reduction"
    source = "its program's own order"
    example = "serialize L2"
    only_orders = True
    traits = {"serialize": 0.1}

    loop = Loop()

    def apply(self, editor: Editor) -> None:
        """Always legal: that is what its program said.

        docc marks loops that only add up as reductions. It refuses local buffers for what they add
        to, because the mark names the array.
        """
        loop = editor.loop(self.loop)
        if loop.kind != "reduce":
            raise IllegalStepError("the loop is no reduction")
        editor.put(self.loop, replace(loop, kind="for", reductions=None))
