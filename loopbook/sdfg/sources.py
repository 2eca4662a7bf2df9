"""Writes the C++ of programs that are compiled together (see `loopbook.toolchain.batch`)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from docc.sdfg import StructuredSDFG

from loopbook.sdfg import passes, program
from loopbook.sdfg.transformed import Recipes, as_python, code_of, outermost, transform
from loopbook.toolchain.batch import Source
from loopbook.toolchain.built import Applied


def write_tuned(
    silent: Path,
    text: str,
    target: str,
    recipes: Recipes,
    folder: Path,
    patient: bool = False,
    timers: bool = True,
) -> Source:
    """Sources of a prepared SDFG with recipes; in this very process, whose PATH is
    changed: for a builder that has nothing to lose.

    Args:
        silent: see `loopbook.toolchain.batch.silent_compiler`.
        patient: see `loopbook.sdfg.transformed.transform`.
        timers: see `loopbook.sdfg.passes.build`.

    Raises:
        IllegalStepError: another step does not fit.
    """
    done = transform(text, target, recipes, patient=patient)
    sdfg = done.as_python()
    return _written(silent, sdfg, target, folder, done.owners, done.applied, timers=timers)


def write_unoptimised(silent: Path, text: str, target: str, folder: Path) -> Source:
    """As `write_tuned`: what docc makes of an SDFG without optimising it, to be compiled together
    with programs for `target`."""
    sdfg = program.baseline(text, "none")
    sdfg = as_python(sdfg, program.tree_of(sdfg))
    owners = {element: place for place, element in enumerate(outermost(sdfg))}
    return _written(silent, sdfg, target, folder, owners, {}, timers=False)


def _written(
    silent: Path,
    sdfg: StructuredSDFG,
    target: str,
    folder: Path,
    owners: Mapping[int, int],
    applied: Applied,
    *,
    timers: bool,
) -> Source:
    paths = os.environ.get("PATH", os.defpath).split(os.pathsep)
    if paths[0] != str(silent):
        os.environ["PATH"] = os.pathsep.join([str(silent), *paths])
    passes.build(sdfg, folder, target, timers=timers)
    return Source(folder / f"{sdfg.name}.cpp", sdfg.name, code_of(sdfg), owners, applied)
