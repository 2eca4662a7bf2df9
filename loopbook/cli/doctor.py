"""``loopbook doctor``: whether all is there that loopbook needs, and what to do where it is not."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from loopbook.cli import extras, options, style
from loopbook.cli.answers import Answer, answers, write
from loopbook.cli.progress import progress
from loopbook.errors import CompilerError, JailError, LoopbookError

OK, WARN, FAIL = "ok", "warn", "fail"

SIGNS = {OK: ("✓", style.GOOD), WARN: ("!", "yellow"), FAIL: ("✗", style.BAD)}


class Finding(Answer):
    """What came of one check.

    Attributes:
        state: "ok"; "warn" where something optional is missing; "fail" where something needed is.
        advice: what to do about it; empty if all is well.
    """

    check: str
    state: str
    told: str
    advice: str = ""


class Health(Answer):
    """Whether all is there that loopbook needs.

    Attributes:
        ok: all that is needed is there.
    """

    ok: bool
    checks: list[Finding]


@answers(Health)
def doctor(json: options.Json = False) -> int:
    """Check what loopbook needs here, and say what to do.

    Compiler, libraries, jail, extras, books and server. Exit code 1 if something needed is missing.
    """
    with progress("checking"):
        found = [finding for check in CHECKS for finding in check()]
    well = all(one.state != FAIL for one in found)
    if json:
        write(Health, {"ok": well, "checks": found})
        return 0 if well else 1
    rows = style.table("", "check", "found", fold=["found"])
    for one in found:
        told = f"{one.told}; {one.advice}" if one.advice else one.told
        style.add(rows, style.text(*SIGNS[one.state]), one.check, told)
    style.tell(rows, "")
    style.tell(
        style.verdict(well, "all that is needed is there" if well else "something is missing")
    )
    return 0 if well else 1


def _compiler() -> Iterator[Finding]:
    from loopbook.toolchain.compiler import HOW_TO_INSTALL, activate

    try:
        compiler = activate()
    except (CompilerError, OSError) as error:
        yield Finding("compiler", FAIL, str(error))
        return
    yield Finding("compiler", OK, compiler.version)
    openmp = "#include <omp.h>\nint main() { return omp_get_max_threads() < 1; }\n"
    blas = 'extern "C" void dgemm_();\nint main() { return &dgemm_ == nullptr; }\n'
    for check, code, flag in (("OpenMP", openmp, "-fopenmp"), ("BLAS", blas, "-lblas")):
        if _links(str(compiler.path), code, flag):
            yield Finding(check, OK, "programs are linked with it")
        else:
            yield Finding(check, FAIL, "programs can't be linked with it", HOW_TO_INSTALL)


def _links(compiler: str, code: str, flag: str) -> bool:
    import subprocess

    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "check.cpp"
        source.write_text(code)
        words = [compiler, str(source), flag, "-o", str(Path(folder) / "check")]
        try:
            return subprocess.run(words, capture_output=True, timeout=60).returncode == 0
        except (OSError, subprocess.SubprocessError):
            return False


def _speed_of_blas() -> Iterator[Finding]:
    from loopbook.toolchain.blas import core, has_tuned_blas, load

    if has_tuned_blas():
        kernels = core(load())
        told = f"made for this processor ({kernels})" if kernels else "made for this processor"
        yield Finding("fast BLAS", OK, told)
    else:
        told = "products are not handed to BLAS: it is missing or the plain one"
        yield Finding("fast BLAS", WARN, told, "apt-get install libopenblas-dev")


def _jail() -> Iterator[Finding]:
    from loopbook.toolchain import jail

    try:
        jail.check()
    except JailError as error:
        yield Finding("jail", WARN, f"no server or farm here for strangers' programs: {error}")
    else:
        yield Finding("jail", OK, "strangers' programs can be run behind walls")


def _extras() -> Iterator[Finding]:
    for name, (_, purpose) in extras.EXTRAS.items():
        missing = extras.missing(name)
        if missing:
            told, advice = f"without {', '.join(missing)}", f"pip install 'loopbook[{name}]'"
            yield Finding(f"extra {name}", WARN, f"{purpose}: {told}", advice)
        else:
            yield Finding(f"extra {name}", OK, purpose)


def _explorer() -> Iterator[Finding]:
    from loopbook.explorer import assets

    if assets.are_built():
        yield Finding("explorer", OK, "its pages are built")
    else:
        yield Finding("explorer", WARN, "no 'ui', 'report': its pages are not built", assets.HOW)


def _books() -> Iterator[Finding]:
    from loopbook.client.places import downloaded_path, own_path, starter_path

    for name, path in (
        ("own book", own_path()),
        ("downloaded book", downloaded_path()),
        ("starter book", starter_path()),
    ):
        if path is None:
            yield Finding(name, OK, "left out: $LOOPBOOK_STARTER is empty")
        elif path.exists():
            yield _book(name, path)
        elif name == "starter book":
            yield Finding(name, FAIL, f"there is none at {path}", "install loopbook anew")
        else:
            yield Finding(name, OK, f"none yet at {path}")


def _book(name: str, path: Path) -> Finding:
    from loopbook.embed.inference import Encoder
    from loopbook.recipes.book import Book

    try:
        with Book.open(path, readonly=True) as book:
            records, encoders = book.count(), book.encoders()
    except LoopbookError as error:
        return Finding(name, FAIL, str(error), f"loopbook book verify {path}")
    told = f"{records} records in {path}"
    if name == "own book" and not os.access(path, os.W_OK):
        return Finding(
            name, WARN, f"{told}, which can't be written", "nothing can be tuned into it"
        )
    if records and Encoder.load().version not in encoders:
        return Finding(name, WARN, f"{told}, with vectors of another encoder", "they are made anew")
    return Finding(name, OK, told)


def _server() -> Iterator[Finding]:
    from loopbook.client.places import SERVER_VARIABLE
    from loopbook.client.remote.client import Client

    address = os.environ.get(SERVER_VARIABLE)
    if not address:
        return
    try:
        with Client(address) as client:
            client.info()
    except LoopbookError as error:
        yield Finding("server", FAIL, str(error), f"check ${SERVER_VARIABLE} and $LOOPBOOK_TOKEN")
    else:
        yield Finding("server", OK, f"{address} answers")


CHECKS: tuple[Callable[[], Iterator[Finding]], ...] = (
    _compiler,
    _speed_of_blas,
    _jail,
    _extras,
    _explorer,
    _books,
    _server,
)
