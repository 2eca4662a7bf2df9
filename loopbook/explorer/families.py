"""What sort of program a record's kernel is: families of made programs, PolyBench, or other."""

from __future__ import annotations

from functools import cache

OTHER = "other"


@cache
def _known() -> tuple[frozenset[str], frozenset[str]]:
    from loopbook.workloads import polybench
    from loopbook.workloads.synthetic.registry import FAMILIES

    return frozenset(polybench.names()), frozenset(FAMILIES) | {"arrays"}


@cache
def family_of(kernel: str) -> str:
    """The family of a kernel's name."""
    suite, made = _known()
    if kernel in suite:
        return "polybench"
    first = kernel.partition(".")[0]
    return first if first in made else OTHER
