"""Who takes part, and how a program is given to each of them.

A system is asked in a child process (`worker`) and in the interpreter that has it; so nothing is
imported here before it is needed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from warnings import WarningMessage

from benchmarks.npbench_suite import by_hand
from benchmarks.npbench_suite.programs import Program, parameters
from benchmarks.systems.registry import Entry

NUMPY, DOCC, OURS, REMOTE, HAND = "numpy", "docc", "loopbook", "remote", "hand"

NUMBA_VERSIONS = ("n", "np", "npr", "o", "op", "opr")
"""NPBench's: without Python or with it (n, o), parallel (p), with parallel ranges (r)."""

SYSTEMS = {
    entry.name: entry
    for entry in (
        Entry(NUMPY, "NumPy", __name__),
        Entry(DOCC, "docc", __name__),
        Entry("numba", "Numba", __name__, requires="numba"),
        Entry("dace", "DaCe", __name__, requires="dace"),
        Entry(OURS, "loopbook", __name__),
        Entry(REMOTE, "docc through our server", __name__),
        Entry(HAND, "C by hand", __name__),
    )
}

SAME_PROGRAM = (NUMPY, DOCC, OURS, REMOTE)
"""Who runs NumPy's version itself; the others run what NPBench's authors wrote for them."""


@dataclass(frozen=True)
class Ready:
    """A program in the hands of a system.

    Attributes:
        call: runs it on its arguments; the first call may compile.
        notes: what the system says of itself after the first call (JSON), whose warnings it gets.
        settling: how many calls after the first one are not like those that follow.
    """

    call: Callable[[Sequence[Any]], Any]
    notes: Callable[[Sequence[WarningMessage]], dict[str, Any]] = lambda warned: {}
    settling: int = 0


def versions(system: str, program: Program) -> list[str]:
    """Of a program for a system; the best counts. Empty if there is none."""
    if system in SAME_PROGRAM:
        return ["numpy"]
    if system == HAND:
        return [HAND] if by_hand.source(program.name).exists() else []
    names = [f"numba_{kind}" for kind in NUMBA_VERSIONS] if system == "numba" else [system]
    return [name for name in names if program.file(name).exists()]


def ready(
    system: str, program: Program, version: str, preset: str, arguments: Sequence[Any], threads: int
) -> Ready:
    """A program in the hands of a system.

    Args:
        system: a name in `SYSTEMS`.
        program: what to run.
        version: one of `versions`.
        preset: the size.
        arguments: as they will be at the first call; not to be written to.
        threads: how many the runs may use.
    """
    if system == "dace":
        return _dace(program, version, preset, arguments)
    if system == HAND:
        return Ready(by_hand.function(program.name, program.inputs))
    function = program.load(version)
    found = wrapped(system, function, threads)
    if system != OURS:
        return found
    from loopbook.client.variants.rival import ROUNDS

    # The call after the first one only finds the short way in, on which the comparisons are made.
    settling = 1 + ROUNDS
    return Ready(found.call, lambda warned: how(warned) | _front(function, arguments), settling)


def wrapped(system: str, function: Callable[..., Any], threads: int) -> Ready:
    """A Python function in the hands of a system that takes such."""
    from loopbook.targets import for_threads

    target = for_threads(threads).name
    if system in (DOCC, REMOTE):
        from docc.python import native as docc_native

        from loopbook.toolchain.compiler import activate

        activate()  # docc itself only knows one compiler's name
        function = docc_native(target=target, remote_tuning=system == REMOTE)(function)
    elif system == OURS:
        import loopbook

        function = loopbook.native(target=target)(function)
    return Ready(lambda values: function(*values))


def how(warned: Sequence[WarningMessage]) -> dict[str, Any]:
    """How ours ran: ``how`` is ``compiled`` or ``python``, ``why`` the reason in one line."""
    for one in warned:
        if one.category.__name__ == "InterpretedWarning":
            words = " ".join(str(one.message).split())
            return {"how": "python", "why": words.partition(" runs as plain Python: ")[2] or words}
    return {"how": "compiled"}


def _front(function: Callable[..., Any], arguments: Sequence[Any]) -> dict[str, float]:
    """Seconds that loops take to be made of a function, and to be compared with it."""
    from loopbook.errors import LoweringError
    from loopbook.frontend import check, lower

    begun = time.perf_counter()
    try:
        lowered = lower(function, arguments)
        found = {"translate_s": time.perf_counter() - begun}
        if lowered is not None:
            begun = time.perf_counter()
            check(function, lowered, arguments)
            found["compare_s"] = time.perf_counter() - begun
    except LoweringError:
        return {}
    return found


def _dace(program: Program, version: str, preset: str, arguments: Sequence[Any]) -> Ready:
    """NPBench's version through DaCe's own optimiser for CPUs."""
    import dace  # pyright: ignore[reportMissingImports]
    from dace.transformation.auto.auto_optimize import (  # pyright: ignore[reportMissingImports]
        auto_optimize,
    )

    from benchmarks.systems.dace_suite import find_mkl

    find_mkl()
    dace.Config.set("compiler", "allow_view_arguments", value=True)
    function = program.load(version)
    sdfg = function.to_sdfg(simplify=True)
    sizes = program.sizes(preset)
    auto_optimize(sdfg, dace.DeviceType.CPU)
    compiled = sdfg.compile()
    wanted = set(sdfg.arglist())
    names = [name for name in parameters(function.f) if name in program.inputs]
    places = {name: program.inputs.index(name) for name in names}
    constants = dict(zip(program.inputs, arguments, strict=True)) | sizes
    fixed = {name: value for name, value in constants.items() if name in wanted - set(places)}

    def call(values: Sequence[Any]) -> Any:
        given = {name: values[place] for name, place in places.items() if name in wanted}
        return compiled(**given, **fixed)

    return Ready(call)
