"""The families, and programs by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from loopbook.errors import WorkloadError
from loopbook.workloads.synthetic.families import (
    alternating,
    closure,
    contraction,
    convolution,
    coupled,
    elementwise,
    factorisation,
    filter,
    guarded,
    imperfect,
    indirect,
    interval,
    matvec,
    modes,
    recurrence,
    reduction,
    stencil,
    sweep,
    symmetric,
    transpose,
    triangular,
)
from loopbook.workloads.synthetic.family import Family

_MODULES = (
    contraction,
    stencil,
    triangular,
    elementwise,
    imperfect,
    reduction,
    recurrence,
    convolution,
    transpose,
    indirect,
    sweep,
    guarded,
    closure,
    interval,
    matvec,
    filter,
    coupled,
    alternating,
    factorisation,
    symmetric,
    modes,
)

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {module.FAMILY.name: module.FAMILY for module in _MODULES}
)
"""All families by name, in the order in which they take turns."""


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
