"""Schedules an SDFG that belongs to somebody else, without making a new one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from docc.sdfg import StructuredSDFG

from loopbook.sdfg import passes, program
from loopbook.sdfg.apply import StepPair, apply_steps
from loopbook.toolchain.stderr import quiet_stderr


def schedule(
    sdfg: StructuredSDFG,
    target: str,
    recipes: Mapping[int, Iterable[StepPair]] | None,
    *,
    normal: bool = True,
) -> None:
    """Schedule `sdfg` for `target`, in place.

    Args:
        recipes: nest position (of the SDFG normalised without fusion) to legal steps; None leaves
            everything to docc, fusion too.
        normal: whether docc is to normalise the SDFG; recipes need that.

    Raises:
        IllegalStepError: a step does not fit; the SDFG is half transformed then.
    """
    if normal:
        passes.normalise(sdfg, fuse=recipes is None, target=target)
    else:
        passes.simplify(sdfg, target=target)
    if recipes:
        for nest in program.nests(sdfg):
            if nest.position in recipes:
                apply_steps(sdfg, nest, recipes[nest.position])
    passes.finish(sdfg, target)


def expand(sdfg: StructuredSDFG, target: str) -> None:
    """docc's expansion of library nodes for `target`, in place."""
    with quiet_stderr():
        sdfg.expand(passes.options(target))


def build(
    sdfg: StructuredSDFG,
    folder: str,
    target: str,
    instrumentation: str,
    capture: bool,
    options: Mapping[str, Any],
) -> str:
    """Compile `sdfg` with docc's own instrumentation. A failing compile ends the process.

    Args:
        instrumentation, capture, options: as docc gives them to a target's compile function.

    Returns:
        Path of the shared library.
    """
    return sdfg._compile(
        output_folder=folder,
        target=target,
        instrumentation_mode=instrumentation,
        capture_args=capture,
        **options,
    )
