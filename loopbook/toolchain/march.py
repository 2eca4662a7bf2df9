"""This machine's instruction set in words with which the same compiler, on any machine, makes the
code that it makes here for ``native``."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from loopbook.toolchain.compiler import find_compiler

SECONDS = 20


def portable() -> str:
    """A value for ``LOOPBOOK_MARCH`` elsewhere. Empty if no words say the same as ``native`` does.

    Processors of one name differ: a virtual machine may hide part of one, and some have what most
    of that name have not. So the words are a name and what is lacking, with what there is if that
    does not say it all, and whether it does is tried.

    Raises:
        CompilerError: there is no compiler.
    """
    chosen = os.environ.get("LOOPBOOK_MARCH", "native")
    if chosen != "native":
        return chosen
    clang = find_compiler().path
    told = _clang(clang, "-march=native", "-###", "-c")
    name = re.search(r'"-target-cpu" "([\w.-]+)"', told)
    if name is None:
        return ""
    native = _defined(clang, "-march=native", "-mtune=native")
    for kinds in ("-", "-+"):
        features = sorted(set(re.findall(rf'"-target-feature" "([{kinds}][\w.-]+)"', told)))
        words = [w for one in features for w in ("-Xclang", "-target-feature", "-Xclang", one)]
        same = _defined(clang, f"-march={name[1]}", f"-mtune={name[1]}", *words)
        if features and native and native == same:
            return ",".join((name[1], *features))
    return ""


def _defined(clang: Path, *words: str) -> list[str]:
    """What the compiler says of the machine: macros, and whom it schedules for."""
    macros = _clang(clang, *words, "-dM", "-E").splitlines()
    tuned = re.findall(r'"-tune-cpu" "[^"]*"', _clang(clang, *words, "-###", "-c"))
    return [*sorted(macros), *tuned] if macros else []


def _clang(clang: Path, *words: str) -> str:
    try:
        done = subprocess.run(
            [clang, *words, "-x", "c++", os.devnull, "-o", "-"],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout + done.stderr
