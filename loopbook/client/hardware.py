"""The profile of the machine that we are on, measured once and remembered."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from loopbook import private
from loopbook.errors import CompilerError, FolderError, InputError, RunError
from loopbook.recipes import hardware
from loopbook.recipes.folders import cache_folder
from loopbook.recipes.hardware import HardwareProfile


def local_profile(threads: int = 1, *, measured: bool = True, march: str = "") -> HardwareProfile:
    """This machine, used with `threads` threads.

    Peak GFLOP/s and bandwidth are measured at the first call (about a second) and kept in the
    user's cache folder, ``$XDG_CACHE_HOME/loopbook``; where that cannot be written, in memory.
    Where that fails, for want of a compiler say, they stay 0, which means unknown.

    Args:
        measured: False reads only what the system tells, at once.
        march: instruction set to compile for; default what ``LOOPBOOK_MARCH`` says.
    """
    return _profile(threads, measured, march or _march())


@lru_cache(maxsize=8)
def _profile(threads: int, measured: bool, march: str) -> HardwareProfile:
    profile = hardware.read(threads)
    for name, isa in hardware.ISAS.items():
        if march and march == isa.march:
            profile = replace(profile, isa=name, vector_bits=isa.vector_bits)
    if not measured:
        return profile
    kept = _kept(profile, march)
    if kept is not None:
        return kept
    from loopbook.recipes.measure import measure
    from loopbook.toolchain.compiler import find_compiler

    try:
        profile = measure(profile, find_compiler().path, march)
    except (CompilerError, FolderError, RunError):
        return profile
    _keep(profile, march)
    return profile


def _file(profile: HardwareProfile, march: str) -> Path:
    return cache_folder() / f"hardware-{profile.threads}-{march}.json"


def _march() -> str:
    return os.environ.get("LOOPBOOK_MARCH", "native")


def _kept(profile: HardwareProfile, march: str) -> HardwareProfile | None:
    """The measured profile from the cache, if it is of this machine."""
    try:
        kept = HardwareProfile.from_json(json.loads(_file(profile, march).read_text()))
    except (OSError, ValueError, InputError):
        return None
    bare = replace(kept, peak_gflops=0.0, bandwidth_gbs=0.0)
    return kept if bare == replace(profile, peak_gflops=0.0, bandwidth_gbs=0.0) else None


def _keep(profile: HardwareProfile, march: str) -> None:
    file = _file(profile, march)
    partial = file.with_name(f".{file.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        private.make_folders(file.parent)
        partial.unlink(missing_ok=True)
        with private.new_file(partial) as opened:
            opened.write(json.dumps(profile.to_json(), indent=1).encode())
        partial.replace(file)
