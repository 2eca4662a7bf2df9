"""Python's own ``max`` and ``min`` of floats, which are not NumPy's.

docc makes C's ``fmax`` of both. Which one is meant, only the function says that it reads: that is
noted in the program's metadata where all of them are Python's. Its ``max(a, b)`` is ``a`` unless
``b`` is greater, also of a NaN and of two zeros, and one instruction; NumPy's keeps a NaN wherever
it stands, and takes three.

Books, steps and docc know one function, so that the others are put in last, to what is served.
docc would not know ours: two of C's that no program calls stand for them in what is compiled
(`loopbook.toolchain.extremes`). Maxima of 2 by 2 elements take 38 us in place of 49 (16 planes of
128 by 128, AVX-512, 2026-11-27).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from loopbook.program.dataflow import Block, MathsCall
from loopbook.program.tree import Program
from loopbook.program.walk import Inner, spread
from loopbook.sdfg.known_wrong.nans import are_pythons

NOTE = "loopbook_extremes"
"""The key in a program's metadata."""

_PYTHONS = "python"

OWN = {"fmax": "ldexp", "fmin": "frexp"}
"""What stands for Python's, by what stands for either."""


def note(document: dict[str, Any], func: Callable[..., Any]) -> None:
    """Note in a program's JSON that the extremes in it are Python's own, if they are.

    Args:
        func: what docc has read.
    """
    if are_pythons(func):
        document["metadata"][NOTE] = _PYTHONS


def are_noted(program: Program) -> bool:
    return program.extra.value.get("metadata", {}).get(NOTE) == _PYTHONS


def with_own_extremes(program: Program) -> Program:
    """A finished program with Python's own extremes; itself if they are NumPy's, or it has none."""
    return spread(program, _chosen) if are_noted(program) else program


def _chosen(node: Inner) -> list[Inner]:
    if not isinstance(node, Block):
        return [node]
    made = tuple(
        replace(one, function=own, name=one.name.replace(one.function, own))
        if isinstance(one, MathsCall) and (own := OWN.get(one.function))
        else one
        for one in node.nodes
    )
    return [node if made == node.nodes else replace(node, nodes=made)]
