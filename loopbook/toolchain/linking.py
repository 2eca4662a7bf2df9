"""Links without the compiler's driver.

The driver takes as long to start as the linker takes to link one of docc's libraries. So it is
asked once what it would call the linker with, and the wrapper around the compiler does so itself
(see `loopbook.toolchain.compiler`) for the words that docc links with.

docc names the same libraries for every program, and most need none of them but the C library and
its maths: to read the others' symbols takes most of a link, to load them as long as the rest. So
the link is tried with fewer at first (`LEAN`), and the linker says whether these are enough.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

from loopbook.toolchain import scratch

PLAIN, THREADS = "link", "link-threads"
"""Files beside the wrapper: what the linker is called with, ``"$@"`` standing for docc's words."""

LEAN = "-l*", "-lstdc++ | -ldaisy_rtl"
"""Which of docc's libraries the first and the second try leave out, as patterns for a shell."""

NOT_LEAN = "-lstdc++", "-lgcc_s"
"""The driver's own that both leave out."""

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

TRY = """\
[ -z "$timed" ] && (
  for word do
    shift
    case "$word" in {pattern}) ;; *) set -- "$@" "$word" ;; esac
  done
  exec {before} -z defs "$@" {behind}
) 2>/dev/null && exit
"""
"""For a shell: a link with fewer libraries. What is timed (``$timed``) calls docc's own."""


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
    return _script(line[:first], [word for word in line[first:] if word != str(marker)])


def _script(before: list[str], behind: list[str]) -> str:
    words = {
        "before": shlex.join(before),
        "behind": shlex.join(word for word in behind if word not in NOT_LEAN),
    }
    tries = "".join(TRY.format(pattern=pattern, **words) for pattern in LEAN)
    return f'{tries}exec {words["before"]} "$@" {shlex.join(behind)}\n'
