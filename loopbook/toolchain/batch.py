"""Compiles many programs with one call of the compiler, into one library.

Starting the compiler, reading headers and linking take longer than compiling a nest. So docc only
writes the sources (the name that it calls its compiler by leads to a script that notes the words
and does nothing); then one translation unit takes them all in, each function under a name of its
own. A source is written once and compiled for as many instruction sets as are wanted.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from loopbook import private
from loopbook.errors import CompilerError, DeadlineError
from loopbook.toolchain.built import Applied
from loopbook.toolchain.compiler import DOCC_NAME, TIMED, command
from loopbook.toolchain.sandbox import compile_error

_NOTES = """\
#!/bin/sh
for last do :; done
printf '%s\\n' "$@" >"${last%/*}/words$1"
"""
"""In the compiler's place. docc's words end with the output; those of a compile begin with -c."""

COMPILE_WORDS, LINK_WORDS = "words-c", "words-fPIC"

PATIENCE = 12.0, 3.0
"""Seconds for the first function of a compile, and for each other one."""


@dataclass(frozen=True)
class Source:
    """C++ of one program, not compiled.

    Attributes:
        path: the file; what docc would compile and link it with lies beside it.
        name: of its function.
        code: hash of the C++, without timers.
        owners, recipes: see `loopbook.toolchain.built.Built`.
    """

    path: Path
    name: str
    code: str
    owners: Mapping[int, int]
    recipes: Applied


def silent_compiler(folder: Path) -> Path:
    """Make `folder` one that, first on PATH, keeps docc from compiling."""
    folder = private.place(folder)
    script = folder / DOCC_NAME
    script.write_text(_NOTES)
    script.chmod(0o700)
    return folder


def symbols(names: Sequence[str]) -> list[str]:
    """What the functions of a library's sources are called in it: as docc named them, but for
    those whose name another one has taken."""
    taken: set[str] = set()
    called = []
    for place, name in enumerate(names):
        called.append(f"{name}_c{place}" if name in taken else name)
        taken.add(called[-1])
    return called


def compile_together(
    sources: Sequence[Source],
    library: Path,
    march: str = "native",
    *,
    words: Sequence[str] = (),
    seconds: float = 0.0,
) -> Path:
    """One library with the functions of all sources; see `symbols` for their names.

    Args:
        march: instruction set, in the compiler's words.
        words: for the compiler, behind docc's.
        seconds: limit; default `PATIENCE`.

    Raises:
        CompilerError: it does not compile.
        DeadlineError: it takes too long.
    """
    private.place(library.parent)
    limit = seconds or PATIENCE[0] + PATIENCE[1] * (len(sources) - 1)
    compiling, linking = _words(sources)
    together, built = library.with_suffix(".cpp"), library.with_suffix(".o")
    _include(sources, together)
    clang = str(command(march))
    _call([clang, *compiling, *words, str(together), "-o", str(built)], limit)
    _call([clang, str(built), *linking, "-o", str(library)], limit)
    return library


def _include(sources: Sequence[Source], together: Path) -> None:
    """Write the translation unit, and its headers, which the compiler may have precompiled."""
    headers = [source.path.with_suffix(".h").read_text().splitlines() for source in sources]
    header = together.with_suffix(".h")
    header.write_text("\n".join(dict.fromkeys(line for one in headers for line in one)) + "\n")
    lines = [f'#include "{header}"']
    called = symbols([source.name for source in sources])
    for source, name in zip(sources, called, strict=True):
        renamed = name != source.name
        lines += [f"#define {source.name} {name}"] if renamed else []
        lines += [f'#include "{source.path}"']
        lines += [f"#undef {source.name}"] if renamed else []
    together.write_text("\n".join(lines) + "\n")


def _call(words: Sequence[str], limit: float) -> None:
    """Run the compiler.

    Raises:
        CompilerError, DeadlineError: see `compile_together`.
    """
    with subprocess.Popen(
        words,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | {TIMED: "1"},
    ) as process:
        try:
            _, said = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # the compiler that a script has started, too
            raise DeadlineError(f"the compile did not end within {limit:g} s") from None
    if process.returncode:
        raise compile_error(said.strip() or f"exit code {process.returncode}")


def _words(sources: Sequence[Source]) -> tuple[list[str], list[str]]:
    """What docc would compile these with, and what it would link besides what is compiled.

    Raises:
        CompilerError: not all would be compiled with the same words.
    """
    compiling = {_noted(source, COMPILE_WORDS)[:-3] for source in sources}
    linking = {
        tuple(word for word in _noted(source, LINK_WORDS)[:-2] if not word.endswith(".o"))
        for source in sources
    }
    if len(compiling) != 1 or len(linking) != 1:
        raise CompilerError("these programs are not compiled with the same options")
    return [*compiling.pop()], [*linking.pop()]


def _noted(source: Source, name: str) -> tuple[str, ...]:
    return tuple(source.path.with_name(name).read_text().splitlines())
