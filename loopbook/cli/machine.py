"""Commands about this machine and the workloads that come with loopbook."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from loopbook import display
from loopbook.cli import options, style
from loopbook.cli.answers import Answer, answers, listed, mirrored, write
from loopbook.cli.progress import progress
from loopbook.errors import InputError
from loopbook.targets import UNSCHEDULED, choice

KIB = 1024


def _hardware() -> Any:
    from loopbook.recipes.hardware import HardwareProfile

    return mirrored(HardwareProfile, key=str, compiler=str | None)


@answers(_hardware)
def hardware(
    threads: Annotated[int, typer.Option(help="threads used", min=1, max=4096)] = 1,
    measured: Annotated[bool, typer.Option(help="measure peak and bandwidth (a second)")] = True,
    json: options.Json = False,
) -> None:
    """Show what this machine is, and which compiler is used."""
    from loopbook.client.hardware import local_profile
    from loopbook.errors import CompilerError
    from loopbook.toolchain.compiler import find_compiler

    with progress("measuring this machine" if measured else "looking at this machine"):
        profile = local_profile(threads, measured=measured)
    try:
        compiler = find_compiler().version
    except CompilerError:
        compiler = None
    if json:
        write(_hardware(), {**profile.to_json(), "key": profile.key, "compiler": compiler})
        return
    caches = (profile.l1d_bytes, profile.l2_bytes, profile.l3_bytes)
    style.tell(
        style.pairs(
            ("processor", profile.cpu),
            ("class", profile.key),
            ("instructions", f"{profile.isa}, vectors of {profile.vector_bits} bits"),
            ("cores", f"{profile.cores}, {display.counted(profile.threads, 'thread')} used"),
            ("caches", ", ".join(f"{size // KIB:,} KiB" for size in caches if size)),
            ("peak", f"{profile.peak_gflops:.1f} GFLOP/s" if profile.peak_gflops else ""),
            ("memory", f"{profile.bandwidth_gbs:.1f} GB/s" if profile.bandwidth_gbs else ""),
            ("compiler", compiler or style.verdict(False, "none: see 'loopbook doctor'")),
        )
    )


class State(Answer):
    """Whether docc gets a kernel right.

    Attributes:
        target: see 'loopbook workloads --help'.
        ok: it compiles, and its numbers are Python's.
        reason: why not.
    """

    kernel: str
    target: str
    ok: bool
    reason: str


@answers(list[State])
def workloads(
    names: Annotated[list[str] | None, typer.Argument(help="kernels; default all")] = None,
    target: Annotated[
        list[str] | None, typer.Option(help=f"{UNSCHEDULED}, {choice()}; repeatable; default all")
    ] = None,
    json: options.Json = False,
) -> int:
    """List the PolyBench kernels, and whether docc gets them right.

    Exit code 1 if some kernel is not right.
    """
    with listed(State, json) as found, progress("reading the kernels") as shown:
        from loopbook.workloads import polybench
        from loopbook.workloads.state import TARGETS, states

        unknown = set(names or ()) - set(polybench.names())
        unknown |= set(target or ()) - set(TARGETS)
        if unknown:
            raise InputError(f"there is no kernel or target {', '.join(sorted(unknown))}")
        kernels, targets = names or polybench.names(), target or TARGETS
        total = len(kernels) * len(targets)
        shown.stage("compiling")
        for name, where, state in states(kernels, targets):
            found.append(State(kernel=name, target=where, ok=state.ok, reason=state.reason))
            shown.at(len(found), total, f"{name} {where}")
    if not json:
        _show_states(found, targets)
    return 0 if all(one.ok for one in found) else 1


def _show_states(found: list[State], targets: Any) -> None:
    """A row for each kernel, and a line for each that is not right."""
    rows = style.table("kernel", *targets)
    states = {(one.kernel, one.target): one.ok for one in found}
    for kernel in dict.fromkeys(one.kernel for one in found):
        cells = [style.verdict(states[kernel, where]) for where in targets]
        style.add(rows, kernel, *cells)
    style.tell(rows)
    wrong = [one for one in found if not one.ok]
    for one in wrong[:MOST_WRONG]:
        style.tell(style.joined(style.text(f"{one.kernel} {one.target}", style.NAME), one.reason))
    if len(wrong) > MOST_WRONG:
        style.tell(f"… {len(wrong) - MOST_WRONG} more (--json tells why)")
    style.tell("", style.verdict(not wrong, f"{len(found) - len(wrong)} of {len(found)} are right"))


MOST_WRONG = 8
"""Kernels of which is said what is wrong."""
