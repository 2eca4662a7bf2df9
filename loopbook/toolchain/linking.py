"""Links without the compiler's driver.

The driver takes as long to start as the linker takes to link one of docc's libraries. So it is
asked once what it would call the linker with, and the wrapper around the compiler does so itself
(see `loopbook.toolchain.compiler`) for the words that docc links with.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

from loopbook.toolchain import scratch

PLAIN, THREADS = "link", "link-threads"
"""Files beside the wrapper: what the linker is called with, ``"$@"`` standing for docc's words."""

SCRIPT = f"""\
if [ -z "$source" ] && [ -z "$LIBRARY_PATH" ]; then
  link=${{0%/*}}/{PLAIN} before= shared=
  for word do
    case "$before$word" in
      -shared) shared=1 ;;
      -fopenmp) link=${{0%/*}}/{THREADS} ;;
      -L* | -o* | -l* | *.o | -Wl,-rpath,*) ;;
      -fPIC | -fstack-protector-strong | -O[0-3] | -D* | -march=* | -mtune=*) ;;
      -fno-strict-aliasing | -ffp-contract=* | -fassociative-math | -freciprocal-math) ;;
      -fno-signed-zeros | -fno-math-errno | -fveclib=*) ;;
      *) link= ;;
    esac
    before=
    case "$word" in -L | -o) before=$word ;; esac
  done
  if [ "$shared" ] && [ -e "$link" ]; then
    for word do
      shift
      case "$before$word" in
        -Wl,-rpath,*) set -- "$@" -rpath "${{word#-Wl,-rpath,}}" ;;
        -L* | -o* | -l* | *.o) set -- "$@" "$word" ;;
      esac
      before=
      case "$word" in -L | -o) before=$word ;; esac
    done
    . "$link"
  fi
fi
"""
"""For a shell: a link of docc's, without what only a compile heeds. Words that are not known leave
it to the driver."""


def commands(compiler: Path, linker: str) -> dict[str, str]:
    """What the compiler's driver calls a linker with, for each of the files that it can tell."""
    asked = {PLAIN: [], THREADS: ["-fopenmp"]}
    found = {
        name: _command(compiler, [f"-fuse-ld={linker}", *more]) for name, more in asked.items()
    }
    return {name: line for name, line in found.items() if line}


def _command(compiler: Path, words: list[str]) -> str:
    surroundings = {name: value for name, value in os.environ.items() if name != "LIBRARY_PATH"}
    with scratch.folder() as own:
        marker, out = own / "marker.o", own / "marker.so"
        marker.touch()
        try:
            said = subprocess.run(
                [compiler, "-###", *words, "-shared", "-fPIC", marker, "-o", out],
                capture_output=True,
                text=True,
                timeout=20,
                check=True,
                env=surroundings,
            ).stderr
            line = shlex.split(said.strip().rpartition("\n")[2])
        except (OSError, subprocess.SubprocessError, ValueError):
            return ""
    if line.count(str(marker)) != 1 or line.count(str(out)) != 1 or not os.path.isabs(line[0]):
        return ""
    line.remove("-o")
    line.remove(str(out))
    # docc's folders of libraries come before the driver's own.
    first = next(n for n, word in enumerate(line) if word.startswith("-L") or word == str(marker))
    behind = [word for word in line[first:] if word != str(marker)]
    return f'exec {shlex.join(line[:first])} "$@" {shlex.join(behind)}\n'
