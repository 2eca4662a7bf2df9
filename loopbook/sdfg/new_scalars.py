"""Scalars that a finished program gets in addition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from loopbook.dependence.scalars import private_scalars
from loopbook.program.dataflow import AccessNode, Block, Memlet, Node, Tasklet, block
from loopbook.program.tree import Program
from loopbook.program.types import Scalar
from loopbook.program.walk import Inner, spread


@dataclass
class NewScalars:
    """Scalars that a program is to have besides its own.

    Attributes:
        made: their types, by name.
    """

    program: Program
    made: dict[str, Scalar] = field(default_factory=dict)

    def of(self, prefix: str, kind: Scalar) -> str:
        """The name of one more."""
        name = f"{prefix}{len(self.made)}"
        while name in self.program.containers or name in self.made:
            name += "_"
        self.made[name] = kind
        return name


@dataclass
class LoopRewriting:
    """One way to rewrite loops of a finished program, with the scalars that this needs in addition.

    Attributes:
        private: scalars that carry nothing from one statement to another one.
    """

    program: Program
    private: frozenset[str]
    new: NewScalars

    @classmethod
    def of(cls, program: Program) -> Program:
        """The program rewritten; itself if nothing is to be done."""
        work = cls(program, private_scalars(program), NewScalars(program))
        made = spread(program, work.of_loop)
        return made.declaring(**work.new.made) if work.new.made else made

    def of_loop(self, node: Inner) -> Sequence[Inner]:
        """What stands in a loop's place; other nodes alone."""
        raise NotImplementedError


def set_to(source: Node, name: str, kind: Scalar) -> Block:
    """The block that gives a scalar a number or the value of another one."""
    return block(
        (source, Tasklet("assign", ("_in",), "_out"), AccessNode(name)),
        (Memlet(0, 1, "void", "_in", (), kind), Memlet(1, 2, "_out", "void", (), kind)),
    )
