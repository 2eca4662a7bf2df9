"""Kernels for the tests of `loopbook.embed`."""

from __future__ import annotations

from collections.abc import Sequence

from loopbook.embed.kernels import Kernel


def kernel_of(source: str, shapes: Sequence[tuple[int, ...]], label: str = "") -> Kernel:
    """A kernel from the text of its function; its arguments are zeros of these shapes."""
    head = source.partition("(")[2].partition(")")[0]
    data = ", ".join(
        f"'{name}': np.zeros({shape})" for name, shape in zip(head.split(", "), shapes, strict=True)
    )
    text = "import numpy as np\n\nPARAMETERS = {'S': {}}\n\n\ndef initialize():\n"
    return Kernel(label, label, f"{text}    return {{{data}}}\n\n\n{source}")
