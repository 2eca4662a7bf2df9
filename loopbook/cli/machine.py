"""Commands about this machine and the workloads that come with loopbook."""

from __future__ import annotations

from typing import Annotated

import typer

from loopbook.cli import options
from loopbook.printable import show
from loopbook.targets import UNSCHEDULED, choice


def hardware(
    threads: Annotated[int, typer.Option(help="threads used", min=1, max=4096)] = 1,
    measured: Annotated[bool, typer.Option(help="measure peak and bandwidth (a second)")] = True,
    json: options.Json = False,
) -> None:
    """Show what this machine is, and which compiler is used."""
    from loopbook.client.hardware import local_profile
    from loopbook.errors import CompilerError
    from loopbook.toolchain.compiler import find_compiler

    profile = local_profile(threads, measured=measured)
    try:
        compiler = find_compiler().version
    except CompilerError:
        compiler = None
    told = {**profile.to_json(), "key": profile.key, "compiler": compiler}
    if json:
        options.print_json(told)
        return
    for name, value in told.items():
        show(f"{name:<15} {value}")


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
    from loopbook.errors import InputError
    from loopbook.workloads import polybench
    from loopbook.workloads.state import TARGETS, states

    unknown = set(names or ()) - set(polybench.names())
    unknown |= set(target or ()) - set(TARGETS)
    if unknown:
        raise InputError(f"there is no kernel or target {', '.join(sorted(unknown))}")
    failed = False
    for name, where, state in states(names or polybench.names(), target or TARGETS):
        failed |= not state.ok
        if json:
            told = {"kernel": name, "target": where, "ok": state.ok, "reason": state.reason}
            options.print_json(told)
        else:
            show(f"{name:<16} {where:<11} {'right' if state.ok else state.reason}", flush=True)
    return 1 if failed else 0
