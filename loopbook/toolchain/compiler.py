"""Finds a C++ compiler and gives docc the name that it wants.

docc runs a fixed command name (``clang++-21``) and ends the whole process when that is missing. So
before anything is compiled, `activate` looks for the newest usable ``clang++`` on the machine and
puts a private folder first on ``PATH`` in which docc's name leads to it.

What is compiled to be served calls the C library's vector versions of ``sin``, ``exp`` and the like
(`VECTOR_MATHS`), where there are any, and some functions of our own (`own_maths`); docc's own
compile does not.

Environment:
    LOOPBOOK_CXX: the compiler to take instead of looking for one.
    LOOPBOOK_MARCH: instruction set to compile for in place of ``native`` (``x86-64-v3``…), which
        makes one machine stand for several hardware profiles. A processor as another machine's
        compiler sees it (`loopbook.toolchain.march`) is a name and what it lacks, or has besides:
        ``znver4,-avx512f,+shstk``.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from loopbook import private
from loopbook.errors import CompilerError, FolderError
from loopbook.toolchain import (
    headers,
    linking,
    memory,
    own_maths,
    powers,
    scratch,
    traces,
    vector_functions,
)
from loopbook.toolchain.clang import shared_library

DOCC_NAME = "clang++-21"
"""The command that docc 0.8 runs."""

OLDEST = 17
"""docc generates C++20 and pragmas that clang understands from this version on."""

HOW_TO_INSTALL = "install one with 'apt-get install clang-19 libomp-19-dev libopenblas-dev'"


@dataclass(frozen=True, slots=True)
class Compiler:
    """A usable C++ compiler.

    Attributes:
        path: the executable.
        version: the first line that it prints about itself.
    """

    path: Path
    version: str

    @property
    def major(self) -> int:
        """Major version number, 0 when the text does not say."""
        found = re.search(r"version (\d+)", self.version)
        return int(found.group(1)) if found else 0


def find_compiler() -> Compiler:
    """The compiler that `activate` uses: ``LOOPBOOK_CXX``, else the newest ``clang++-N`` on PATH.

    Raises:
        CompilerError: if there is none that is new enough.
    """
    chosen = os.environ.get("LOOPBOOK_CXX")
    names = (
        [chosen] if chosen else [f"clang++-{n}" for n in range(30, OLDEST - 1, -1)] + ["clang++"]
    )
    for name in names:
        path = shutil.which(name, path=_search_path())
        if path is None:
            continue
        compiler = _probe(path)
        if compiler is not None and (chosen or compiler.major >= OLDEST):
            return compiler
    if chosen:
        raise CompilerError(f"LOOPBOOK_CXX names {chosen!r}, which is no usable compiler")
    raise CompilerError(f"no clang++ {OLDEST} or newer on PATH; {HOW_TO_INSTALL}")


PROBES = 3
"""How often a compiler is asked who it is, if it is killed meanwhile."""


@lru_cache(maxsize=16)
def _probe(path: str) -> Compiler | None:
    note = _note(path)
    with contextlib.suppress(OSError, UnicodeDecodeError):
        if note is not None and (version := note.read_text()):
            return Compiler(Path(path), version)
    for _ in range(PROBES):
        try:
            told = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20)
        except (OSError, subprocess.SubprocessError):
            return None
        if told.returncode >= 0:  # else somebody has killed it, which says nothing of it
            break
    if told.returncode:
        return None
    version = told.stdout.partition("\n")[0].strip()
    with contextlib.suppress(OSError):
        if note is not None:
            scratch.put(note, version, 0o600)
    return Compiler(Path(path), version)


def _note(path: str) -> Path | None:
    """Where later processes find what a compiler said of itself: to start it takes as long as many
    a plan. None for scripts, which may call another one tomorrow."""
    try:
        with open(path, "rb") as file:
            if file.read(4) != b"\x7fELF":
                return None
            found = os.fstat(file.fileno())
        about = path, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
        return scratch.kept() / f"compiler-{hashlib.sha256(repr(about).encode()).hexdigest()[:12]}"
    except (OSError, FolderError):
        return None


def activate() -> Compiler:
    """Make docc's compiler name lead to a usable compiler, for this process and its children.

    Cheap to call again: the folder is made once for each compiler and instruction set. The standard
    headers that generated code includes are kept there precompiled: the code comes out the same, in
    half the time.

    Raises:
        CompilerError: if there is no usable compiler.
        FolderError: if the folder cannot be made.
    """
    compiler = find_compiler()
    folder = _wrapper_folder(compiler, os.environ.get("LOOPBOOK_MARCH", "native"))
    traces.make(compiler.path)
    paths = os.environ.get("PATH", os.defpath).split(os.pathsep)
    if paths[0] != str(folder):
        kept = [p for p in paths if not _is_wrapper_folder(p)]
        os.environ["PATH"] = os.pathsep.join([str(folder), *kept])
    return compiler


def command(march: str) -> Path:
    """A compiler for another instruction set than ``LOOPBOOK_MARCH`` names, that takes docc's
    words.

    Raises:
        CompilerError, FolderError: as `activate`.
    """
    return _wrapper_folder(find_compiler(), march) / DOCC_NAME


_FOLDER_MARK = "loopbook-cxx-"


def _is_wrapper_folder(path: str) -> bool:
    return Path(path).name.startswith(_FOLDER_MARK)


def _search_path() -> str:
    """PATH without our own folders, so that a wrapper is never taken for a compiler."""
    paths = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(p for p in paths if not _is_wrapper_folder(p))


def _wrapper_folder(compiler: Compiler, march: str) -> Path:
    if not re.fullmatch(r"[A-Za-z0-9._+-]+(,[+-][a-z0-9._-]+)*", march):
        raise CompilerError(f"LOOPBOOK_MARCH={march!r} is no instruction set name")
    script = _script(compiler, march)
    headers_text = own_maths.TEXT + memory.TEXT + powers.TEXT + ONLY_TIMES
    everything = script + headers_text + vector_functions.LINES + linking.TRY
    tag = hashlib.sha256(everything.encode()).hexdigest()[:12]
    folder = private.folder(scratch.kept() / f"{_FOLDER_MARK}{tag}")
    target = folder / DOCC_NAME
    try:
        if not target.exists() or target.read_text() != script:
            if has_vector_maths(compiler.path):
                (folder / MATHS_MARK).touch(mode=0o600)
                table = folder / vector_functions.TABLE
                scratch.put(table, vector_functions.LINES, 0o600)
                if vector_functions.has_vector_functions(compiler.path, table):
                    (folder / vector_functions.MARK).touch(mode=0o600)
            if _makes_library(compiler.path, *EARLY_FLAGS.split()):
                (folder / EARLY_MARK).touch(mode=0o600)
            linker = quick_linker(compiler.path)
            if linker:
                scratch.put(folder / LINKER_MARK, f"{linker}\n", 0o600)
                for name, line in linking.commands(compiler.path, linker).items():
                    scratch.put(folder / name, line, 0o600)
            scratch.put(folder / own_maths.HEADER, own_maths.TEXT, 0o600)
            scratch.put(folder / ONLY_TIMES_HEADER, ONLY_TIMES, 0o600)
            scratch.put(folder / memory.HEADER, memory.TEXT, 0o600)
            scratch.put(folder / powers.HEADER, powers.TEXT, 0o600)
            scratch.put(target, script, 0o700)
    except OSError as error:
        raise FolderError(f"cannot write {target}: {error.strerror}; set TMPDIR") from None
    return folder


def _script(compiler: Compiler, march: str) -> str:
    command = shlex.quote(str(compiler.path))
    script = f"#!/bin/sh\n# {compiler.version}\numask 077\n"
    if march != "native":
        name, *features = march.split(",")
        tuned = f"word=-mtune={name}" if features else "continue"
        script += (
            "for word do\n"
            "  shift\n"
            '  case "$word" in\n'
            f"    -march=native) word=-march={name} ;;\n"
            f"    -mtune=native) {tuned} ;;\n"
            "  esac\n"
            '  set -- "$@" "$word"\n'
            "done\n"
        )
        for one in features:
            script += f'set -- "$@" -Xclang -target-feature -Xclang {one}\n'
    script += 'source=\nfor word do case "$word" in *.cpp) source=$word ;; esac; done\n'
    script += f'[ "$source" ] && set -- -include "${{0%/*}}/{powers.HEADER}" "$@"\n'
    script += f'[ "${VECTOR_MATHS}" ] && [ "$source" ] &&\n'
    script += f'  set -- -include "${{0%/*}}/{own_maths.HEADER}" "$@"\n'
    script += (
        f'if [ "${VECTOR_MATHS}" ] && [ -e "${{0%/*}}/{MATHS_MARK}" ]; then\n'
        f'  set -- {MATHS_FLAGS} "$@" {MATHS_LIBRARY}\n'
        f"{vector_functions.SCRIPT}"
        "fi\n"
    )
    # What only a compile heeds is kept from links, which would need the driver for it (`linking`).
    script += f'[ "$source" ] && grep -q \'{APART}\' "$source" && set -- "$@" {APART_FLAGS}\n'
    for name, flags in ((EXACT, EXACT_FLAGS), (WRAPS, "-fwrapv"), (NAMES, "-DLOOPBOOK_OWN_NAMES")):
        script += f'[ "${name}" ] && [ "$source" ] && set -- "$@" {flags}\n'
    script += f'[ "${EARLY}" ] && [ "$source" ] && [ -e "${{0%/*}}/{EARLY_MARK}" ] &&\n'
    script += f'  set -- "$@" {EARLY_FLAGS}\n'
    script += f'[ "${TIMED}" ] && [ "$source" ] &&\n'
    script += f'  set -- -include "${{0%/*}}/{ONLY_TIMES_HEADER}" "$@"\n'
    script += f'[ "${memory.ARENA}" ] && [ "$source" ] &&\n'
    script += f'  set -- -include "${{0%/*}}/{memory.HEADER}" "$@"\n'
    script += headers.SCRIPT.replace("CLANG FLAGS", f"{command} {FLAGS}")
    script += f"timed=${TIMED}\n{linking.SCRIPT}"
    script += (
        f'if [ -z "$source" ] && read -r linker 2>/dev/null <"${{0%/*}}/{LINKER_MARK}"; then\n'
        '  set -- "-fuse-ld=$linker" "$@"\n'
        "fi\n"
    )
    return script + f'exec {command} {FLAGS} "$@"\n'


def has_vector_maths(compiler: Path) -> bool:
    """Whether the compiler knows glibc's vector functions, and the library is there."""
    return _makes_library(compiler, MATHS_FLAGS.split()[-1], MATHS_LIBRARY)


def quick_linker(compiler: Path) -> str | None:
    """The first of `LINKERS` that the compiler has."""
    return next((name for name in LINKERS if _makes_library(compiler, f"-fuse-ld={name}")), None)


def _makes_library(compiler: Path, *words: str) -> bool:
    try:
        shared_library(compiler, "", *words)
    except CompilerError:
        return False
    return True


LINKERS = ("lld", "gold")
"""Either links one of docc's libraries in a fifth of the time of GNU's usual one, which is as long
as the compile of a small program."""

LINKER_MARK = "linker"
"""A file beside the wrapper with the name of what to link with, if not with the usual one."""

VECTOR_MATHS = "LOOPBOOK_VECTOR_MATHS"
"""Set in the environment of a compile, it makes loops call vector versions of maths functions."""

MATHS_MARK = "vector-maths"
"""A file beside the wrapper, if the compiler has them."""

MATHS_FLAGS = "-fno-math-errno -fveclib=libmvec"
"""glibc's are right to 4 units in the last place, where the scalar ones are to 1."""

MATHS_LIBRARY = "-l:libmvec.so.1"

EXACT = "LOOPBOOK_EXACT"
"""Set in the environment of a compile, it rounds each sum, product and quotient as NumPy does (see
`loopbook.program.rounds` and `loopbook.program.cancels`)."""

BUT_SUMS = "but sums"
"""What it is where the source says which sums may be taken in any order even so (see
`loopbook.sdfg.any_order`), or no loop that reduces would vectorise."""

EXACT_FLAGS = "-ffp-contract=off -fno-reciprocal-math -fno-associative-math"

APART = "fp contract(off)"
"""In a source, it asks for products that are rounded by themselves (`loopbook.sdfg.grids`)."""

APART_FLAGS = "-ffp-contract=fast-honor-pragmas"

WRAPS = "LOOPBOOK_WRAPS"
"""Set in the environment of a compile, it lets whole numbers overflow as NumPy's do: ``x + 1 > x``
is not always true (see `loopbook.program.wraps`)."""

EARLY = "LOOPBOOK_EARLY"
"""Set in the environment of a compile, it leaves loads where they are: clang puts what only one
branch needs into that branch before it looks for vectors (see `loopbook.sdfg.early_loads`)."""

NAMES = "LOOPBOOK_NAMES"
"""Set in the environment of a compile, it leaves the names to C's functions that stand for ours
else (see `loopbook.toolchain.extremes`)."""

EARLY_MARK = "early-loads"
"""A file beside the wrapper, if the compiler can be told."""

EARLY_FLAGS = "-mllvm -instcombine-code-sinking=0"

TIMED = "LOOPBOOK_TIMED"
"""Set in the environment of a compile, it takes docc's count of operations out of regions that are
timed."""

ONLY_TIMES_HEADER = "times.h"

ONLY_TIMES = """\
#if __has_include(<daisy_rtl/daisy_rtl.h>)
#include <daisy_rtl/daisy_rtl.h>
#define __daisy_instrumentation_metric(...)
#endif
"""
"""docc counts operations in terms of variables of the loops inside, which have no values behind the
loops. Where clang sees that, it takes the end of the program for unreachable and leaves it out, and
the program crashes (docc 0.8.1, clang 19)."""

FLAGS = (
    "-mllvm -capture-tracking-max-uses-to-explore=100000 "
    "-mllvm -epilogue-vectorization-minimum-VF=4 -Wno-unused-command-line-argument"
) + (" -mstackrealign" if platform.machine() == "x86_64" else "")
"""clang follows 100 uses of a local buffer to see whether others may know where it lies; a register
tile has more. It then takes every store through a pointer for a change of the tile, and keeps the
tile in memory. Where it only links, it would warn of what it has no use for. And it puts vectors
that find no register across the borders of cache lines, wherever the stack happens to begin, unless
it is told to align that: a loop with `exp` took 1.0 ns for 0.6 then, three times of four. What its
vectors leave of a row it does in shorter ones only where they have 16 numbers: with those of 8 and
4, up to 31 elements of each row came one by one (rows of 60: dot products 0.42 to 0.30 ms, forms
x P x 4.0 to 1.9, AVX-512, 2026-11-28)."""
