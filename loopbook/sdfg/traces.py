"""Keeps docc from looking up source lines that nobody reads.

docc prints a stack trace with each exception, and starts ``addr2line`` for every frame: a second or
two for a step that it refuses or a compile that fails. The function that does so (Boost.Stacktrace)
is exported, so a library of ours that is loaded before docc can take its place.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = """\
#include <string>
namespace boost { namespace stacktrace { namespace detail {
std::string addr2line(const char*, const void*) { return {}; }
}}}
"""


def library() -> Path:
    """Where the library is, once it is made."""
    tag = hashlib.sha256(SOURCE.encode()).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"loopbook-traces-{os.getuid()}-{tag}.so"


def make(compiler: Path) -> None:
    """Compile the library unless it is there. Where that fails, all works, only more slowly."""
    path = library()
    if path.exists():
        return
    partial = path.with_suffix(f".{os.getpid()}")
    command = [compiler, "-x", "c++", "-O1", "-fPIC", "-shared", "-", "-o", partial]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        subprocess.run(command, input=SOURCE.encode(), capture_output=True, check=True, timeout=60)
        partial.replace(path)


def shorten() -> None:
    """Load the library, if it is there and docc is not."""
    path = library()
    with contextlib.suppress(OSError):
        if path.stat().st_uid == os.getuid() and "docc.sdfg._sdfg" not in sys.modules:
            ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
