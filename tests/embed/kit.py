"""Kernels for the tests of `loopbook.embed`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from shared_kit import shared

from loopbook.embed.corpus import Document, trace_kernels
from loopbook.embed.kernels import Kernel, kernels

CLASSES, VARIANTS = 21, 2


def documents(classes: int = CLASSES, variants: int = VARIANTS) -> list[Document]:
    """Programs of every family, traced once for all processes: docc takes half a second for each.

    Args:
        classes, variants: so many at most.
    """
    found: dict[str, list[Kernel]] = {}
    for kernel in kernels(seed=0, classes=classes, variants=VARIANTS):
        found.setdefault(kernel.label, []).append(kernel)
    return [d for same in found.values() for kernel in same[:variants] for d in _traced(kernel)]


@cache
def _traced(kernel: Kernel) -> tuple[Document, ...]:
    return shared(repr(kernel), lambda: tuple(trace_kernels([kernel])))


def kernel_of(source: str, shapes: Sequence[tuple[int, ...]], label: str = "") -> Kernel:
    """A kernel from the text of its function; its arguments are zeros of these shapes."""
    head = source.partition("(")[2].partition(")")[0]
    data = ", ".join(
        f"'{name}': np.zeros({shape})" for name, shape in zip(head.split(", "), shapes, strict=True)
    )
    text = "import numpy as np\n\nPARAMETERS = {'S': {}}\n\n\ndef initialize():\n"
    return Kernel(label, label, f"{text}    return {{{data}}}\n\n\n{source}")
