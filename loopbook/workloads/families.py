"""What sort of program a kernel is, by its name: a family of made programs, PolyBench, or other."""

from __future__ import annotations

from functools import cache

POLYBENCH, ARRAYS, OTHER = "polybench", "arrays", "other"


@cache
def family_of(kernel: str) -> str:
    """The family of the kernel of this name."""
    from loopbook.workloads import polybench
    from loopbook.workloads.synthetic.registry import FAMILIES

    if kernel in polybench.names():
        return POLYBENCH
    first = kernel.partition(".")[0]
    return first if first in FAMILIES or first == ARRAYS else OTHER


def is_made(kernel: str) -> bool:
    """Whether the kernel of this name was made to fill books, rather than written by somebody."""
    return family_of(kernel) not in (POLYBENCH, OTHER)
