from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from loopbook.dependence import carries_nothing, domain, holds
from loopbook.dependence import linear as forms
from loopbook.dependence.body import LoopNode, Statement
from loopbook.dependence.model import Linear, minus, plus
from loopbook.errors import IllegalStepError
from loopbook.program import expr
from loopbook.program.dataflow import AccessNode, Block, Constant, MathsCall, Memlet
from loopbook.program.types import Type, type_of
from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor
from loopbook.steps.region import neighbours, serialise


class Join(Step):
    """Two neighbouring loops that do the same on neighbouring ranges become one loop.

    Before ``join L0 L1``::

        for i in a … b: S(i)
        for i in b … c: S(i)

    and after it::

        for i in a … c: S(i)
    """

    name = "join"
    textbook = "inverse of index-set splitting"
    source = "Wolfe, High Performance Compilers for Parallel Computing, 1996, the other way round"
    example = "join L2 L3"
    traits = {"right_looking": 0.5}

    first_loop = Loop()
    second_loop = Loop()

    def apply(self, editor: Editor) -> None:
        """Legal if the ranges meet, neither of which may end before it begins, and both bodies
        write the same expressions to the same places, once the second loop's variable is counted
        from where the first loop ends: the iterations run in the same order as before. The bodies
        may hold no loops or branches."""
        region, first, second = neighbours(editor, self.first_loop, self.second_loop)
        if [len(b) for b in (first.highs, second.lows, second.highs)] != [1, 1, 1] or (
            first.step,
            second.step,
        ) != (1, 1):
            raise IllegalStepError("the loops do not run over simple ranges")
        gap = minus(first.highs[0], second.lows[0])
        counted = minus({first.variable: 1}, gap)
        values = {second.variable: f"({forms.text(counted)})"}
        types = editor.program.containers
        if _meaning(first, types, {}) != _meaning(second, types, values):
            raise IllegalStepError("the loops do not do the same")
        for loop, which in ((first, "first"), (second, "second")):
            for low in loop.lows:
                if not _reaches(region.around, low, loop.highs[0]):
                    raise IllegalStepError(f"the {which} loop may end before it begins")
        joined = replace(first, highs=[plus(high, gap) for high in second.highs])
        # Neither range says anything of iterations in both.
        if joined.loop.kind != "for" and not carries_nothing(joined, region.around):
            serialise(joined)
        region.put(first, joined, count=2)


def _reaches(around: Sequence[LoopNode], low: Linear, high: Linear) -> bool:
    """Whether ``low <= high`` wherever the loops around run."""
    return holds(domain(around), minus(high, low))


def _meaning(loop: LoopNode, types: Mapping[str, Type], values: Mapping[str, str]) -> list[str]:
    """What one iteration writes, in order, as text that is free of docc's temporary names."""
    written: list[str] = []
    for child in loop.children:
        if not isinstance(child, Statement):
            raise IllegalStepError("a loop to be joined holds loops")
        public = {touch.container for touch in child.touches}
        for node in child.nodes:
            if not isinstance(node, Block):
                raise IllegalStepError("a loop to be joined holds branches")
            written.append(_Reader(node, public, types, values).written())
    return written


class _Reader:
    """Reads what a block writes, backwards.

    Args:
        public: the containers that carry values into the block, or out of it.
        types: of all containers.
        values: what stands for loop variables.
    """

    def __init__(
        self,
        block: Block,
        public: Collection[str],
        types: Mapping[str, Type],
        values: Mapping[str, str],
    ) -> None:
        self._block = block
        self._public = public
        self._types = types
        self._values = values

    def written(self) -> str:
        """The block as an assignment.

        Raises:
            IllegalStepError: it is none, or more than one.
        """
        writes = [
            f"{self._place(target, memlet)} = {self._value(memlet)}"
            for memlet in self._block.memlets
            if isinstance(target := self._block.nodes[memlet.target], AccessNode)
            and target.container in self._public
        ]
        if len(writes) != 1:
            raise IllegalStepError("a block writes more than one place")
        return writes[0]

    def _place(self, node: AccessNode, memlet: Memlet) -> str:
        subset = expr.normal_forms(index.renamed(self._values).text for index in memlet.subset)
        return f"{node.container}[{', '.join(subset)}]"

    def _value(self, memlet: Memlet, depth: int = 0) -> str:
        """What flows along a memlet."""
        if depth > 64:
            raise IllegalStepError("an expression is too deep")
        node, into = self._block.nodes[memlet.source], self._block.inputs[memlet.source]
        if isinstance(node, Constant):
            return node.text
        if isinstance(node, AccessNode):
            public = node.container in self._public
            if len(into) == 1 and not public:
                kind = type_of(node.container, self._types).element  # what it can hold of the value
                return f"{kind} {self._value(into[0], depth + 1)}"
            if into:
                raise IllegalStepError("a block reads what it has written")
            if not public:
                raise IllegalStepError("a value comes from another block")
            return self._place(node, memlet)
        parts = sorted((one.target_connector, self._value(one, depth + 1)) for one in into)
        return f"{node.name if isinstance(node, MathsCall) else node.op}{parts}"
