"""docc's own passes, one call each: simplify, normalise, schedule, compile."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from docc.sdfg import StructuredSDFG, TargetOptions

from loopbook import private, targets
from loopbook.errors import SdfgError
from loopbook.sdfg.any_order import with_any_order
from loopbook.sdfg.blas_threads import with_blas_threads
from loopbook.sdfg.flags import with_flags
from loopbook.sdfg.gram import with_halves
from loopbook.sdfg.grids import with_grids
from loopbook.sdfg.incomplete_tiles import with_loops_kept
from loopbook.sdfg.restrict import with_restrict
from loopbook.sdfg.restrict_in_threads import with_restrict_in_threads
from loopbook.sdfg.seldom import with_seldom_choices, with_seldom_wraps
from loopbook.sdfg.short_vectors import with_short_rows
from loopbook.toolchain import compiler
from loopbook.toolchain.stderr import quiet_stderr

CATEGORY = "server"
"""docc's machine category; its CPU schedules do not depend on it."""


def expand(sdfg: StructuredSDFG, target: str) -> None:
    """Expand library nodes, in place, as docc does for `target`."""
    with quiet_stderr():
        sdfg.expand(options(target))


def parse(text: str) -> StructuredSDFG:
    """docc's SDFG from its JSON text.

    Raises:
        SdfgError: if docc cannot read it.
    """
    try:
        with quiet_stderr():
            sdfg = StructuredSDFG.parse(text)
            sdfg.validate()
    except (RuntimeError, IndexError, ValueError, KeyError, TypeError) as error:
        raise SdfgError(f"docc cannot read this SDFG: {first_line(error)}") from None
    return sdfg


def simplify(
    sdfg: StructuredSDFG,
    *,
    fuse: bool = True,
    inline: bool = True,
    target: str = targets.DEFAULT,
) -> StructuredSDFG:
    """Expand and simplify `sdfg`, in place: what docc does even for its target without a schedule.

    Args:
        fuse: let docc fuse maps, as it does on its own way to a schedule.
        inline: let docc compute elements where they are read, once for each place.

    Raises:
        SdfgError: if docc cannot.
    """
    wanted = _fusing(fuse)
    wanted.use_new_fusion_in_simplify = inline
    try:
        expand(sdfg, target)
        with quiet_stderr():
            sdfg.simplify(wanted)
    except (RuntimeError, IndexError, ValueError) as error:
        raise SdfgError(f"docc cannot simplify this SDFG: {first_line(error)}") from None
    return sdfg


def reorder(sdfg: StructuredSDFG, *, fuse: bool) -> StructuredSDFG:
    """Normalise what is simplified, in place: docc distributes and interchanges loops, and fuses
    maps. Doing so again changes nothing.

    Raises:
        SdfgError: if docc cannot.
    """
    try:
        with quiet_stderr():
            sdfg.normalize(_fusing(fuse))
    except (RuntimeError, IndexError, ValueError) as error:
        raise SdfgError(f"docc cannot normalise this SDFG: {first_line(error)}") from None
    return sdfg


def _fusing(fuse: bool) -> TargetOptions:
    options = TargetOptions()
    options.enable_fusion_in_normalize = fuse
    return options


def finish(sdfg: StructuredSDFG, target: str) -> StructuredSDFG:
    """Give every loop that no recipe has scheduled docc's own schedule for `target`, in place."""
    wanted = options(target)
    wanted.already_normalized = True
    with quiet_stderr():
        sdfg.schedule(wanted, True)
    return sdfg


AS_COMPILED = "py5.post_sched"
"""How docc marks the file with the SDFG that it compiles."""


def build(
    sdfg: StructuredSDFG,
    folder: Path,
    target: str,
    *,
    timers: bool = False,
    wanted: Mapping[str, Any] | None = None,
    dump: bool = False,
    noalias: bool = False,
) -> Path:
    """Generate C++, compile and link it.

    A failing compile ends the process, whose environment is changed: call this through
    `loopbook.toolchain.sandbox.run_limited`, after `loopbook.toolchain.compiler.activate`.

    Args:
        folder: where sources and the library go.
        timers: call docc's region hooks around every outermost loop
            (see `loopbook.toolchain.timers`).
        wanted: docc's own options, where one of its users has chosen them.
        dump: write the SDFG beside its sources, as docc does for its users: what it builds in for
            instrumentation speaks of element ids.
        noalias: callers see to it that arrays do not overlap (`loopbook.sdfg.restrict`), and
            docc's code is ours to mend. Nothing is made of it where loops are timed, or docc's
            users have chosen.

    Returns:
        The shared library.

    Raises:
        FolderError: others can write in the folder, or put their own in its place.
    """
    folder = private.place(folder)
    sdfg.output_dir = str(folder)
    options: dict[str, Any] = {
        "instrumentation_mode": "ols" if timers else "",
        "capture_args": False,
        "debug_build": False,
        "threads": 1,
        "reuse_sources": False,
    }
    plain = not timers and not wanted
    options |= wanted or {}
    if plain and (source := _source(sdfg, target, noalias)):
        (folder / f"{sdfg.name}.cpp").write_text(source)
        options["reuse_sources"] = True
    if dump:
        sdfg.dump(
            str(folder), AS_COMPILED, dump_dot=True, dump_json=True, record_for_instrumentation=True
        )
    if timers:
        os.environ[compiler.TIMED] = "1"
    else:
        os.environ.pop(compiler.TIMED, None)
    return Path(sdfg._compile(output_folder=str(folder), target=_docc(target), **options))


_PREAMBLE = re.compile(r"(?:#pragma once\n|#include <.*>\n|\n)*(?=extern \"C\" )")


def source_of(sdfg: StructuredSDFG, target: str, *, noalias: bool) -> str:
    """The C++ that `build` compiles where nothing is timed and docc's users have chosen nothing."""
    return _source(sdfg, target, noalias) or sdfg.to_cpp()


def _source(sdfg: StructuredSDFG, target: str, noalias: bool) -> str:
    """The source file that docc would write, with what its own lacks; empty if that is nothing."""
    code = sdfg.to_cpp()
    preamble = _PREAMBLE.match(code)
    if preamble is None:
        return ""
    own = code[preamble.end() :]
    said = with_short_rows(with_halves(with_loops_kept(own)))
    if noalias:
        seldom = with_seldom_choices(with_seldom_wraps(with_restrict(said)))
        said = with_restrict_in_threads(with_flags(seldom))
        if os.environ.get(compiler.EXACT) == compiler.BUT_SUMS:
            said = with_any_order(said)
        elif not os.environ.get(compiler.EXACT):
            said = with_grids(said)
    if target in targets.TARGETS:
        said = with_blas_threads(said, target)
    if said == own:
        return ""
    blas = "#include <cblas.h>\n" if "cblas_" in said else ""
    return f'#include "{sdfg.name}.h"\n{blas}{said}'


def options(target: str) -> TargetOptions:
    """What docc wants to know of a target.

    Raises:
        InputError: nothing can be compiled for it here.
    """
    return TargetOptions(_docc(target), CATEGORY)


def _docc(target: str) -> str:
    return target if target == targets.UNSCHEDULED else targets.runnable(target).docc


def first_line(error: Exception) -> str:
    """What one of docc's exceptions says, in short."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
