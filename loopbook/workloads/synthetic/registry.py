"""The families, and programs by name."""

from __future__ import annotations

from types import MappingProxyType

from loopbook.errors import WorkloadError
from loopbook.workloads.synthetic.families import (
    contraction,
    reduction,
    stencil,
    sweep,
    transpose,
)
from loopbook.workloads.synthetic.family import Family

FAMILIES = MappingProxyType(
    {
        module.FAMILY.name: module.FAMILY
        for module in (contraction, stencil, reduction, transpose, sweep)
    }
)
"""All families by name."""


def source(name: str) -> str:
    """The text of the workload file of one program.

    Raises:
        WorkloadError: if no family writes a program of this name.
    """
    family = FAMILIES.get(name.partition(".")[0])
    if family is None:
        known = ", ".join(FAMILIES)
        raise WorkloadError(f"there is no synthetic program {name!r}; the families are {known}")
    return family.source(family.choice_of(name))
