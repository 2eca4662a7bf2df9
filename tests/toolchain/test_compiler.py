"""A compiler is found and gets the name that docc wants, or one clear line says what to do."""

from __future__ import annotations

import math
import os
import shutil
import stat
import subprocess
from pathlib import Path

import docc.sdfg
import numpy as np
import pytest
from sdfg_kit import doubled, random

from loopbook.errors import CompilerError, FolderError
from loopbook.sdfg import frontend
from loopbook.sdfg.build import build_baseline
from loopbook.toolchain import compiler, powers, scratch
from loopbook.toolchain.compiler import (
    DOCC_NAME,
    FLAGS,
    LINKERS,
    OLDEST,
    activate,
    find_compiler,
    has_vector_maths,
    quick_linker,
)


@pytest.fixture(autouse=True)
def own_environment(monkeypatch, tmp_path):
    """PATH is changed by what is tested, and wrappers go into a folder of the test's own."""
    monkeypatch.setenv("PATH", os.environ["PATH"])
    monkeypatch.delenv("LOOPBOOK_MARCH", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def fake(folder: Path, name: str, says: str) -> Path:
    """A command that prints its name and arguments, and `says` for its version."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "{says}" && exit\necho {name} "$@"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def compiled(text: str, folder: Path) -> bytes:
    """The program before it is linked: a linker may note the library's path in it."""
    build_baseline(text, "sequential", folder)
    (made,) = folder.glob("*.o")
    return made.read_bytes()


def test_the_machines_own_compiler_is_new_enough():
    compiler = find_compiler()
    assert compiler.path.exists()
    assert compiler.major >= OLDEST


def test_without_a_compiler_the_message_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.delenv("LOOPBOOK_CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CompilerError, match="apt-get install clang"):
        find_compiler()
    with pytest.raises(CompilerError, match="apt-get install clang"):
        build_baseline("{}", "sequential", tmp_path / "built")
    assert not (tmp_path / "built").exists()


def test_the_newest_compiler_is_taken_and_old_ones_are_not(monkeypatch, tmp_path):
    monkeypatch.delenv("LOOPBOOK_CXX", raising=False)
    folder = tmp_path / "compilers"
    fake(folder, "clang++", "clang version 14.0.6")
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(CompilerError, match="no clang"):
        find_compiler()
    for number in (17, 20, 18):
        fake(folder, f"clang++-{number}", f"Debian clang version {number}.1.0")
    assert find_compiler().path == folder / "clang++-20"
    assert find_compiler().major == 20


def test_a_broken_compiler_is_passed_over(monkeypatch, tmp_path):
    monkeypatch.delenv("LOOPBOOK_CXX", raising=False)
    folder = tmp_path / "compilers"
    fake(folder, "clang++-18", "clang version 18.1.0")
    broken = fake(folder, "clang++-19", "")
    broken.write_text("#!/bin/sh\nexit 1\n")
    monkeypatch.setenv("PATH", str(folder))
    assert find_compiler().path == folder / "clang++-18"


@pytest.mark.parametrize(("killed", "taken"), [(1, "clang++-19"), (9, "clang++-18")])
def test_a_compiler_that_was_killed_is_asked_again(monkeypatch, tmp_path, killed, taken):
    monkeypatch.delenv("LOOPBOOK_CXX", raising=False)
    folder, runs = tmp_path / "compilers", tmp_path / "runs"
    fake(folder, "clang++-18", "clang version 18.1.0")
    monkeypatch.setenv("PATH", f"{folder}:/bin:/usr/bin")
    fake(folder, "clang++-19", "").write_text(
        f"#!/bin/sh\necho >> {runs}\n[ $(wc -l < {runs}) -gt {killed} ] || kill -9 $$\n"
        "echo clang version 19.1.7\n"
    )
    monkeypatch.setattr(compiler, "_search_path", lambda: str(folder))
    assert find_compiler().path == folder / taken


@pytest.mark.parametrize("name", ["no-such-compiler", "/nowhere/clang++", ""])
def test_the_environments_choice_must_be_usable(monkeypatch, name: str):
    monkeypatch.setenv("LOOPBOOK_CXX", name)
    if name:
        with pytest.raises(CompilerError, match="LOOPBOOK_CXX"):
            find_compiler()
    else:  # empty is like unset
        assert find_compiler().major >= OLDEST


def test_the_environments_choice_is_taken(monkeypatch, tmp_path):
    path = fake(tmp_path / "mine", "my-compiler", "my own version 3")
    monkeypatch.setenv("LOOPBOOK_CXX", str(path))
    assert activate().path == path
    done = subprocess.run([DOCC_NAME, "a.cpp", "b c"], capture_output=True, text=True, check=True)
    own = ["-include", str(Path(os.environ["PATH"].split(os.pathsep)[0]) / powers.HEADER)]
    assert done.stdout.split() == ["my-compiler", *FLAGS.split(), *own, "a.cpp", "b", "c"]


@pytest.mark.parametrize("known", [*LINKERS, "none"])
def test_a_quick_linker_is_taken_where_the_compiler_has_one(monkeypatch, tmp_path, known: str):
    path = fake(tmp_path / "mine", "my-compiler", "my own version 3")
    lines = path.read_text().splitlines()
    others = f'case "$1" in -fuse-ld={known}) ;; -fuse-ld=*) exit 1 ;; esac'
    path.write_text("\n".join([lines[0], others, *lines[1:]]) + "\n")
    monkeypatch.setenv("LOOPBOOK_CXX", str(path))
    activate()
    done = subprocess.run([DOCC_NAME, "a.o", "-shared"], capture_output=True, text=True, check=True)
    chosen = [] if known == "none" else [f"-fuse-ld={known}"]
    assert done.stdout.split() == ["my-compiler", *FLAGS.split(), *chosen, "a.o", "-shared"]


@pytest.mark.parametrize(
    ("words", "behind"),
    [
        (["-shared"], "-L/own -lc"),
        (["-shared", "-fopenmp"], "-L/own -lomp"),
        (["-shared", "-flto"], ""),
        ([], ""),
    ],
)
def test_a_link_of_docc_s_goes_to_the_linker_itself(monkeypatch, tmp_path, words, behind):
    """And one with words that change what the driver would call it with does not. What a compile
    alone heeds is none of these."""
    for name in ("EXACT", "WRAPS", "NAMES", "EARLY"):
        monkeypatch.setenv(getattr(compiler, name), "1")
    path = fake(tmp_path / "mine", "my-compiler", "my own version 3")
    linker = fake(tmp_path / "mine", "my-linker", "")
    lines = path.read_text().splitlines()
    driver = (
        'if [ "$1" = "-###" ]; then for out do :; done\n'
        'case "$*" in *-fopenmp*) l=-lomp ;; *) l=-lc ;; esac\n'
        f'echo \\"{linker}\\" \\"-z\\" -o \\"$out\\" -L/own "${{out%so}}o" $l >&2; exit; fi'
    )
    path.write_text("\n".join([lines[0], driver, *lines[1:]]) + "\n")
    monkeypatch.setenv("LOOPBOOK_CXX", str(path))
    activate()
    given = ["-fPIC", "-O3", "-march=native", "a b.o", "-L", "/docc's", "-Wl,-rpath,/docc's", "-lm"]
    done = subprocess.run(
        [DOCC_NAME, *given, *words, "-o", "out.so"], capture_output=True, text=True, check=True
    )
    linked = f"my-linker -z -z defs a b.o -L /docc's -rpath /docc's -o out.so {behind}"
    kept = " ".join(["my-compiler", FLAGS, f"-fuse-ld={LINKERS[0]}", *given, *words, "-o out.so"])
    assert done.stdout.strip() == (linked if behind else kept)


@pytest.mark.parametrize(
    ("needed", "left"),
    [
        ("", []),
        ("cblas_ddot", ["libblas"]),
        ("__daisy_f", ["libblas", "libdaisy_rtl", "libstdc++"]),
    ],
)
def test_a_library_is_linked_with_what_it_needs(tmp_path, needed: str, left: list[str]):
    """And with all that docc names where less is not enough."""
    activate()
    source = tmp_path / "a.cpp"
    called = needed or "exp"
    declared = f"double {called}(double);"
    source.write_text(f'extern "C" {{ {declared} double f(double x) {{ return {called}(x); }} }}')
    subprocess.run([DOCC_NAME, "-fPIC", "-c", source, "-o", tmp_path / "a.o"], check=True)
    folder = Path(docc.sdfg.__file__).parent.parent / "lib"
    words = ["-fPIC", "-shared", "-L", folder, "-ldaisy_rtl", "-lm", "-lstdc++", "-lblas"]
    library = tmp_path / "a.so"
    subprocess.run([DOCC_NAME, *words, tmp_path / "a.o", "-o", library], check=True)
    names = ("libblas", "libdaisy_rtl", "libstdc++")
    found = [name for name in names if name.encode() in library.read_bytes()]
    assert found == (left if quick_linker(find_compiler().path) else [*names])


def test_activate_twice_changes_path_once():
    activate()
    once = os.environ["PATH"]
    activate()
    assert os.environ["PATH"] == once
    first = shutil.which(DOCC_NAME)
    assert first is not None
    assert Path(first).parent == Path(once.split(os.pathsep)[0])
    assert Path(first).parent.stat().st_mode & 0o077 == 0


def test_another_instruction_set_replaces_the_native_one(monkeypatch, tmp_path):
    path = fake(tmp_path / "mine", "my-compiler", "my own version 3")
    monkeypatch.setenv("LOOPBOOK_CXX", str(path))
    monkeypatch.setenv("LOOPBOOK_MARCH", "x86-64-v2")
    activate()
    command = [DOCC_NAME, "-O3", "-march=native", "-mtune=native", "my file.cpp"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    own = f"-include {Path(os.environ['PATH'].split(os.pathsep)[0]) / powers.HEADER}"
    assert done.stdout.strip() == f"my-compiler {FLAGS} {own} -O3 -march=x86-64-v2 my file.cpp"


def test_another_instruction_set_reaches_the_library(monkeypatch, tmp_path):
    text = frontend.trace(doubled, [random(9, 9), random(9, 9)])
    code = {}
    for march in ("x86-64-v2", "x86-64-v3"):
        monkeypatch.setenv("LOOPBOOK_MARCH", march)
        code[march] = compiled(text, tmp_path / march)
    assert code["x86-64-v2"] != code["x86-64-v3"]


@pytest.mark.parametrize("march", ["x; rm -rf /", "a b", "$(id)", ""])
def test_what_is_no_instruction_set_is_refused(monkeypatch, march: str):
    monkeypatch.setenv("LOOPBOOK_MARCH", march)
    with pytest.raises(CompilerError, match="LOOPBOOK_MARCH"):
        activate()


def test_a_folder_that_cannot_be_written(monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", "/proc/nowhere")
    monkeypatch.setattr(scratch, "_own", scratch.make)
    with pytest.raises(FolderError, match="TMPDIR"):
        activate()


def test_precompiled_headers_change_nothing(monkeypatch, tmp_path):
    """Not the code; and where they are damaged, everything compiles without them."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    text = frontend.trace(doubled, [random(9, 9), random(9, 9)])
    made = compiled(text, tmp_path / "first")
    (headers,) = tmp_path.glob("loopbook-kept-*/loopbook-cxx-*/*.pch")
    headers.write_bytes(headers.read_bytes()[:1000])
    assert compiled(text, tmp_path / "second") == made
    headers.unlink()  # as if it were being made, by a process that still has the folder
    assert compiled(text, tmp_path / "third") == made


def test_served_code_calls_vector_maths_and_docc_s_own_does_not(tmp_path):
    def waves(x, y):
        for i in range(x.shape[0]):
            y[i] = math.sin(x[i])

    x = np.linspace(-9.0, 9.0, 1001)
    args = [x, np.zeros_like(x)]
    text = frontend.trace(waves, args)
    own = build_baseline(text, "sequential", tmp_path / "own")
    vector = build_baseline(text, "sequential", tmp_path / "vector", vector_maths=True)
    assert own.code == vector.code
    assert b"_ZGV" not in own.library.read_bytes()
    if has_vector_maths(find_compiler().path):
        assert b"_ZGV" in vector.library.read_bytes()
    y = np.zeros_like(x)
    frontend.bind(waves, args, vector.library)(x, y)
    np.testing.assert_allclose(y, np.sin(x), rtol=1e-14, atol=1e-15)


def test_what_a_compiler_says_of_itself_is_asked_once(tmp_path, monkeypatch):
    compiler._probe.cache_clear()
    try:
        found = find_compiler()
        if found.path.read_bytes()[:4] != b"\x7fELF":
            pytest.skip("the compiler here is a script")
        (note,) = scratch.kept().glob("compiler-*")
        assert note.read_text() == found.version
        note.write_text("clang version 99.1")
        compiler._probe.cache_clear()
        assert find_compiler().major == 99
        note.write_text("")  # of no use
        compiler._probe.cache_clear()
        assert find_compiler() == found
        monkeypatch.setenv(
            "LOOPBOOK_CXX", str(fake(tmp_path / "bin", "mine", "clang version 40.0"))
        )
        assert find_compiler().major == 40
        assert list(scratch.kept().glob("compiler-*")) == [note]  # a script may call another one
    finally:
        compiler._probe.cache_clear()
