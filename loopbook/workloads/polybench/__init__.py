"""The 30 kernels of PolyBench/C 4.2.1 as plain Python loops, one workload file each.

Loop order and structure are those of the C code, sizes and initialisation too (PolyBench/C 4.2.1,
Louis-Noël Pouchet and Tomofumi Yuki, https://polybench.sourceforge.net). Loop bounds are array
shapes, as NumPy users write them. All arrays are double, except for the integers of floyd-warshall
and nussinov.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from loopbook.errors import WorkloadError
from loopbook.workloads.workload import Workload, load_workload

PRESETS = ("MINI", "SMALL", "MEDIUM", "LARGE", "EXTRALARGE")
"""PolyBench's data-set sizes."""

FAMILIES = {
    "datamining": ("correlation", "covariance"),
    "kernels": ("2mm", "3mm", "atax", "bicg", "doitgen", "mvt"),
    "blas": ("gemm", "gemver", "gesummv", "symm", "syr2k", "syrk", "trmm"),
    "solvers": ("cholesky", "durbin", "gramschmidt", "lu", "ludcmp", "trisolv"),
    "medley": ("deriche", "floyd-warshall", "nussinov"),
    "stencils": ("adi", "fdtd-2d", "heat-3d", "jacobi-1d", "jacobi-2d", "seidel-2d"),
}
"""PolyBench's folders, and the kernels in them."""

_NAMES = tuple(name for names in FAMILIES.values() for name in names)


def names() -> tuple[str, ...]:
    """PolyBench's names of the kernels, in PolyBench's order."""
    return _NAMES


def family(name: str) -> tuple[str, ...]:
    """The kernels of PolyBench's folder that a kernel is in, itself among them.

    Raises:
        WorkloadError: if PolyBench has no kernel of this name.
    """
    for members in FAMILIES.values():
        if name in members:
            return members
    raise WorkloadError(f"PolyBench has no kernel {name!r}; it has {', '.join(_NAMES)}")


def path(name: str) -> Path:
    """The workload file of one kernel.

    Raises:
        WorkloadError: if PolyBench has no kernel of this name.
    """
    if name not in _NAMES:
        raise WorkloadError(f"PolyBench has no kernel {name!r}; it has {', '.join(_NAMES)}")
    stem = name.replace("-", "_")
    return Path(__file__).with_name(f"k{stem}.py" if stem[0].isdigit() else f"{stem}.py")


def load(name: str) -> Workload:
    """One kernel as a workload, under its PolyBench name.

    Raises:
        WorkloadError: if PolyBench has no kernel of this name.
    """
    return replace(load_workload(path(name)), name=name)
