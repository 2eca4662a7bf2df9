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
from pathlib import Path

from loopbook import private
from loopbook.errors import FolderError
from loopbook.sdfg import scratch

SOURCE = """\
#include <string>
namespace boost { namespace stacktrace { namespace detail {
std::string addr2line(const char*, const void*) { return {}; }
}}}
"""


NAME = f"traces-{hashlib.sha256(SOURCE.encode()).hexdigest()[:12]}.so"


def make(compiler: Path) -> None:
    """Compile the library unless it is there. Where that fails, all works, only more slowly."""
    path = scratch.kept() / NAME
    if path.exists():
        return
    partial = path.with_suffix(f".{os.getpid()}")
    command = [compiler, "-x", "c++", "-O1", "-fPIC", "-shared", "-", "-o", partial]
    with contextlib.suppress(OSError, subprocess.SubprocessError, FolderError):
        with scratch.folder() as own:  # what it writes for itself goes, even if it is killed
            subprocess.run(
                command,
                input=SOURCE.encode(),
                capture_output=True,
                check=True,
                timeout=60,
                umask=0o077,
                env=os.environ | {"TMPDIR": str(own)},
            )
        partial.replace(path)


def shorten() -> None:
    """Load the library, if it is there, in a folder that nobody else can reach, and docc is not."""
    if "docc.sdfg._sdfg" in sys.modules:
        return
    with contextlib.suppress(OSError, FolderError):
        ctypes.CDLL(str(private.check(scratch.shared()) / NAME), mode=ctypes.RTLD_GLOBAL)
