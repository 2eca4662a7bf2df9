"""One call of the compiler for a small library of our own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from loopbook.errors import CompilerError
from loopbook.toolchain import scratch


def shared_library(compiler: Path, source: str, *words: str, to: Path | None = None) -> None:
    """Compile C++ into a library that only its owner can read.

    Compiler and linker keep their own temporary files in a folder of ours, which goes even if we
    are killed together with them. The library is put in its place when it is whole.

    Args:
        words: of the compiler's, besides those that every library takes.
        to: the library's place, in the temporary folder; none to see whether it can be made.

    Raises:
        CompilerError: it cannot be compiled.
        FolderError: there is nowhere to compile it.
    """
    common = ["-O2", "-fPIC", "-shared", "-x", "c++", "-"]
    with scratch.folder() as own:
        made = own / "made.so"
        try:
            done = subprocess.run(
                [compiler, *words, *common, "-o", made],
                input=source,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=60,
                umask=0o077,
                env=os.environ | {"TMPDIR": str(own)},
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise CompilerError(f"{compiler} cannot be run: {error}") from None
        if done.returncode:
            raise CompilerError(f"a library does not compile: {done.stderr.strip()[:200]}")
        try:
            if to:
                made.replace(to)
        except OSError as error:
            raise CompilerError(f"cannot write {to}: {error.strerror}") from None
