"""Keeps docc from looking up source lines that nobody reads.

docc prints a stack trace with each exception, and starts ``addr2line`` for every frame: a second or
two for a step that it refuses or a compile that fails. The function that does so (Boost.Stacktrace)
is exported, so a library of ours that is loaded before docc can take its place.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import sys
from pathlib import Path

from loopbook import private
from loopbook.errors import CompilerError, FolderError
from loopbook.toolchain import scratch
from loopbook.toolchain.clang import shared_library

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
    if not path.exists():
        with contextlib.suppress(CompilerError, FolderError):
            shared_library(compiler, SOURCE, to=path)


def shorten() -> None:
    """Load the library, if it is there, in a folder that nobody else can reach, and docc is not."""
    if "docc.sdfg._sdfg" in sys.modules:
        return
    with contextlib.suppress(OSError, FolderError):
        ctypes.CDLL(str(private.check(scratch.shared()) / NAME), mode=ctypes.RTLD_GLOBAL)
