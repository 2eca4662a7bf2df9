"""Instructions that are added to a block of a finished program, for words of 64 bits."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from loopbook.program.dataflow import AccessNode, Block, Constant, Memlet, Node, Tasklet
from loopbook.program.types import Scalar

TWO = ("_in1", "_in2")
"""Connectors of an instruction with two operands."""

WORD = Scalar(dtype="int64")


@dataclass
class Instructions:
    """A block's nodes, to which some are added, and the memlets of these.

    Attributes:
        prefix: of the names of new scalars.
        scalars: those that the program needs in addition so far, with their types.
        kind: of words.
    """

    block: Block
    prefix: str
    scalars: dict[str, Scalar]
    kind: Scalar = WORD
    nodes: list[Node] = field(init=False)
    memlets: list[Memlet] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.nodes = list(self.block.nodes)

    def constant(self, value: int) -> int:
        """The place of a number."""
        self.nodes.append(Constant(str(value), self.kind))
        return len(self.nodes) - 1

    def computed(self, code: str, left: int | Memlet, right: int | Memlet) -> int:
        """The place of a new scalar that an instruction computes."""
        task, result = self._task(Tasklet(code, TWO, "_out"), self.kind)
        self.into(task, left, right)
        return result

    def assigned(self, source: int, to: Scalar) -> int:
        """The place of a new scalar of a type that takes over what another scalar is, or as much
        of it as it has bits for."""
        task, result = self._task(Tasklet("assign", ("_in",), "_out"), to)
        node = self.nodes[source]
        assert isinstance(node, AccessNode)
        kind = self.scalars[node.container]
        self.memlets.append(Memlet(source, task, "void", "_in", (), kind))
        return result

    def into(self, task: int, left: int | Memlet, right: int | Memlet) -> None:
        """Lead two nodes to an instruction, or what a memlet leads to another one."""
        for operand, name in zip((left, right), TWO, strict=True):
            self.memlets.append(
                replace(operand, target=task, target_connector=name)
                if isinstance(operand, Memlet)
                else Memlet(operand, task, "void", name, (), self.kind)
            )

    def _task(self, task: Tasklet, kind: Scalar) -> tuple[int, int]:
        """The places of an instruction and of the new scalar that it sets."""
        name = f"{self.prefix}_{len(self.scalars)}"
        self.scalars[name] = kind
        place = len(self.nodes)
        self.nodes += [task, AccessNode(name)]
        self.memlets.append(Memlet(place, place + 1, task.output, "void", (), kind))
        return place, place + 1
