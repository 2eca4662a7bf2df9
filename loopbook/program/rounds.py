"""Programs in which the last place of a number decides a whole one.

``floor(x / h)`` is 3 where ``x / h`` is 3, and 2 where it is just below. Compilers that multiply by
``1 / h``, keep more digits of products or sum in another order than NumPy give another bin, cell or
shade of grey then, which is not a nearby one. So does a test whether two numbers are equal, or on
which side of 0 a difference of products is, such as a discriminant or the way that three points
turn: of equal products it is 0, but for those who keep more digits of one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from loopbook.program.dataflow import Block, MathsCall, Tasklet
from loopbook.program.tree import Case, Program
from loopbook.program.walk import preorder

_FLOATS = {"half", "bfloat", "float", "double"}
_STEPS = {"floor", "ceil", "round", "rint", "nearbyint", "trunc", "fmod", "remainder"}
"""Functions of C that jump."""

_EQUALITIES = {"fp_oeq", "fp_one", "fp_ueq", "fp_une"}

_EQUAL = re.compile(r"[=!]=|\b(Eq|Ne)\(")

_UPDATES = {"fp_add", "fp_sub", "fp_mul", "fp_fma"}

_SIGN = re.compile(r"(?<![\w.])0(?:\.0*)? <=? (\w+)|(\w+) <=? 0(?:\.0*)?(?![\w.])")


def rounds(program: Program) -> bool:
    """Whether it makes whole numbers of others, rounds them, or asks whether some are equal, or
    what sign they have where products may cancel out."""
    nodes = [*preorder(program)]
    cases = [node for node in nodes if isinstance(node, Case)]
    blocks = [node for node in nodes if isinstance(node, Block)]
    return (
        any(map(_rounds, blocks))
        or any(_compares(program, case) for case in cases)
        or (any(_asks_for_sign(program, case) for case in cases) and _cancels(blocks))
    )


def _asks_for_sign(program: Program, case: Case) -> bool:
    """Whether a condition asks of a float on which side of 0 it is."""
    names = (name for found in _SIGN.finditer(case.condition.text) for name in found.groups())
    kinds = (program.containers.get(name) for name in names if name)
    return any(kind is not None and _is_float(kind.element) for kind in kinds)


def _cancels(blocks: Sequence[Block]) -> bool:
    """Whether a product is subtracted from another one."""
    products: set[str] = set()
    differences: list[set[str]] = []
    for block in blocks:
        for place, node in enumerate(block.nodes):
            if isinstance(node, Tasklet) and node.code == "fp_mul":
                products |= {_container(block, memlet.target) for memlet in block.outputs[place]}
            elif isinstance(node, Tasklet) and node.code == "fp_sub":
                sides = [_container(block, memlet.source) for memlet in block.inputs[place]]
                if len(sides) > 1:
                    differences.append(set(sides))
    return any(sides <= products for sides in differences)


def _container(block: Block, place: int) -> str:
    return getattr(block.nodes[place], "container", "")


def _compares(program: Program, case: Case) -> bool:
    """Whether a condition asks of a float whether it is equal to something."""
    if not _EQUAL.search(case.condition.text):
        return False
    kinds = (program.containers.get(name) for name in case.condition.symbols)
    return any(kind is not None and _is_float(kind.element) for kind in kinds)


def accumulates(program: Program) -> bool:
    """Whether it sums up or multiplies floats in a place."""
    return any(isinstance(node, Block) and _accumulates(node) for node in preorder(program))


def _accumulates(block: Block) -> bool:
    for place, node in enumerate(block.nodes):
        if isinstance(node, Tasklet) and node.code in _UPDATES:
            sources = {_container(block, memlet.source) for memlet in block.inputs[place]} - {""}
            if sources & {_container(block, memlet.target) for memlet in block.outputs[place]}:
                return True
    return False


def _rounds(block: Block) -> bool:
    for place, node in enumerate(block.nodes):
        if isinstance(node, MathsCall) and node.function in _STEPS:
            return True
        if isinstance(node, Tasklet) and (
            node.code == "fp_rem" or node.code in _EQUALITIES or _converts(block, place)
        ):
            return True
    return False


def _converts(block: Block, place: int) -> bool:
    """Whether a node gets floats and gives whole numbers, as no comparison does."""
    node = block.nodes[place]
    assert isinstance(node, Tasklet)
    return node.code == "assign" and any(
        _is_float(before.type.element) and not _is_float(after.type.element)
        for before in block.inputs[place]
        for after in block.outputs[place]
    )


def _is_float(dtype: str) -> bool:
    return dtype in _FLOATS
