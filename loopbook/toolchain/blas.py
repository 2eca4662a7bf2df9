"""The BLAS that compiled programs call, with kernels for this processor.

OpenBLAS chooses its kernels by the processor's model when it is loaded. To a model that is newer
than itself it gives those for the first processors with 64 bits: a product of two matrices then
takes four times as long as NumPy's own (OpenBLAS 0.3.21 on a Xeon with 2 MiB of L2, 2026-11-26). To
an AMD processor with AVX-512 it gives those for AVX2, which take 1.5 to 3 times as long as NumPy's
own (61 and 100 GFLOP/s at 1,200 by 1,200, 0.62 and 0.22 ms for two rows by 1,000 by 1,000,
2026-11-27). It takes another core's kernels where it is told to, and this is where it is told.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from loopbook.errors import FolderError, RunError
from loopbook.toolchain import scratch
from loopbook.toolchain.sandbox import run_limited

NAMES = ("libblas.so.3", "libblas.so", "libblas.dylib")
"""What docc links ``-lblas`` is found as when a program is loaded."""

NEEDED = b"libblas."
"""In programs that call one: most are linked without."""

TUNED = ("openblas_get_config", "MKL_Get_Version", "bli_info_get_version_str", "appleblas_dgemm")
"""Functions that tell a BLAS with kernels for the processor from the reference implementation."""

VARIABLE = "OPENBLAS_CORETYPE"
"""Where OpenBLAS is told the core whose kernels it takes. What a user has chosen stays."""

OLD = frozenset(
    (
        "Generic",
        "Prescott",
        "Core2",
        "Penryn",
        "Dunnington",
        "Nehalem",
        "Atom",
        "Opteron",
        "Barcelona",
    )
)
"""Cores whose kernels use vectors of two doubles."""

NARROW = frozenset(
    ("Sandybridge", "Haswell", "Bulldozer", "Piledriver", "Steamroller", "Excavator", "Zen")
)
"""Cores whose kernels use vectors of four."""

CORES = (
    ("SkylakeX", {"avx512f", "avx512bw", "avx512dq", "avx512vl"}),
    ("Haswell", {"avx2", "fma"}),
)
"""Cores with kernels for more, and what Linux says of processors that these run on; best first."""

CPUINFO, LIBRARIES = Path("/proc/cpuinfo"), Path("/etc/ld.so.cache")

SECONDS = 10.0


@lru_cache(maxsize=1)
def load() -> ctypes.CDLL | None:
    """The BLAS, loaded before any program that calls it; None if there is none."""
    if VARIABLE in os.environ or not (core := _better()):
        return _found()
    os.environ[VARIABLE] = core
    try:
        return _found()
    finally:
        del os.environ[VARIABLE]  # NumPy's own, in a process that we start, knows better


def program(library: Path) -> ctypes.CDLL:
    """A compiled program, loaded; the BLAS before it, if it calls one.

    Raises:
        OSError: it cannot be loaded.
    """
    if NEEDED in library.read_bytes():
        load()
    return ctypes.CDLL(str(library))


@lru_cache(maxsize=1)
def has_tuned_blas() -> bool:
    """Whether compiled programs are linked with a BLAS that is faster than plain loops."""
    library = load()
    return library is not None and any(hasattr(library, function) for function in TUNED)


@lru_cache(maxsize=1)
def is_narrow() -> bool:
    """Whether the BLAS that is loaded has been told to take kernels for narrower vectors than this
    processor has."""
    try:
        flags = _said("flags", CPUINFO.read_text()).split()
    except OSError:
        return False
    return bool(better_core(core(load()), flags))


def core(library: ctypes.CDLL | None) -> str:
    """Whose kernels OpenBLAS has taken; empty for another one."""
    name = getattr(library, "openblas_get_corename", None)
    if name is None:
        return ""
    name.restype = ctypes.c_char_p
    return (name() or b"").decode(errors="replace")


def better_core(taken: str, flags: Iterable[str]) -> str:
    """The core whose kernels suit a processor better, by their vectors; empty if none do.

    Args:
        taken: whose kernels OpenBLAS takes by itself.
        flags: what the processor can do, as Linux says it.
    """
    wider = CORES if taken in OLD else CORES[:1] if taken in NARROW else ()
    can = set(flags)
    return next((name for name, wanted in wider if wanted <= can), "")


def _better() -> str:
    """A better core than OpenBLAS takes here by itself. It chooses but once, so a child finds out,
    for this process and later ones."""
    try:
        cpuinfo = CPUINFO.read_text()
        note = _note(cpuinfo)
    except (FolderError, OSError):
        return ""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return note.read_text()
    try:
        taken = run_limited(_taken, seconds=SECONDS, what="the BLAS")
    except RunError:
        return ""
    found = better_core(taken, _said("flags", cpuinfo).split())
    with contextlib.suppress(OSError):
        scratch.put(note, found)
    return found


def _note(cpuinfo: str) -> Path:
    """Where it is kept for this processor and the libraries that are installed."""
    processor = [_said(word, cpuinfo) for word in ("vendor_id", "cpu family", "model", "flags")]
    installed = LIBRARIES.stat().st_mtime_ns, os.environ.get("LD_LIBRARY_PATH", "")
    known = sorted(OLD), sorted(NARROW), [name for name, _ in CORES]
    about = hashlib.sha256(repr((processor, installed, known)).encode()).hexdigest()[:12]
    return scratch.kept() / f"blas-{about}"


def _said(word: str, cpuinfo: str) -> str:
    """What Linux says of the first processor."""
    found = re.search(rf"^{word}\s*:(.*)$", cpuinfo, re.MULTILINE)
    return found[1].strip() if found else ""


def _taken() -> str:
    return core(_found())


def _found() -> ctypes.CDLL | None:
    for name in NAMES:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None
