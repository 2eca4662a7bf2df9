"""Python's remainder as docc writes it: ``t = a % b; s = t + b; out = s % b``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from loopbook.program.dataflow import Block, Constant, Memlet, Tasklet, container_at
from loopbook.program.expr import Expr


@dataclass(frozen=True)
class Modulo:
    """The three instructions by their places in a block.

    Attributes:
        rest, sum: of the nodes that hold ``t`` and ``s``.
        added, last: of the addition and of the last division.
        dividend, divisor: what leads ``a`` to the first division, and ``b`` to the addition.
    """

    rest: int
    sum: int
    added: int
    last: int
    dividend: Memlet
    divisor: Memlet


def modulos(block: Block) -> Iterator[Modulo]:
    """The remainders that a block takes."""
    for last in _instructions(block, "int_srem"):
        sum_, by = _operands(block, last)
        added = _computed_by(block, sum_.source, "int_add")
        if added is None:
            continue
        operands = _operands(block, added)
        for rest, divisor in (operands, operands[::-1]):
            first = _computed_by(block, rest.source, "int_srem")
            if first is None:
                continue
            dividend, of = _operands(block, first)
            if _name(block, divisor) == _name(block, by) == _name(block, of) != ("", ()):
                yield Modulo(rest.source, sum_.source, added, last, dividend, divisor)


def _instructions(block: Block, code: str) -> Iterator[int]:
    for place, node in enumerate(block.nodes):
        if isinstance(node, Tasklet) and node.code == code and len(block.inputs[place]) == 2:
            yield place


def _operands(block: Block, place: int) -> tuple[Memlet, Memlet]:
    task = block.nodes[place]
    assert isinstance(task, Tasklet)
    by_name = {memlet.target_connector: memlet for memlet in block.inputs[place]}
    return by_name[task.inputs[0]], by_name[task.inputs[1]]


def _computed_by(block: Block, place: int, code: str) -> int | None:
    """The instruction of this kind that sets a scalar of the block, which nothing else does."""
    into = block.inputs[place]
    return next(
        (p for p in _instructions(block, code) if len(into) == 1 and into[0].source == p), None
    )


def _name(block: Block, memlet: Memlet) -> tuple[str, tuple[Expr, ...]]:
    """What comes along a memlet: a number, or a container and where in it."""
    node = block.nodes[memlet.source]
    text = node.text if isinstance(node, Constant) else container_at(block, memlet.source)
    return text, memlet.subset
