"""What we build lies where nobody else can put his own in its place."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from client_kit import product, text_of
from docc.python import native
from sdfg_kit import doubled, random

import loopbook
from loopbook import private
from loopbook.client import target
from loopbook.errors import FolderError
from loopbook.sdfg import frontend
from loopbook.sdfg.build import build_tuned
from loopbook.toolchain import scratch
from loopbook.toolchain.compiler import DOCC_NAME, activate
from loopbook.toolchain.timers import timer_library

SOMEBODY = 4711
"""A user number that is not ours."""

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary folder as /tmp is one, in use."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    folder.chmod(0o1777)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("PATH", os.environ["PATH"])
    timer_library.cache_clear()
    scratch._own.cache_clear()
    yield folder
    timer_library.cache_clear()
    scratch._own.cache_clear()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_folders_are_made_for_us_alone(tmp_path):
    old = os.umask(0)
    try:
        made = private.folder(tmp_path / "a" / "b")
    finally:
        os.umask(old)
    assert [mode(made), mode(made.parent)] == [0o700, 0o700]
    made.chmod(0o755)
    assert private.check(made) == made
    assert mode(private.folder(made)) == 0o700


def test_links_of_ours_are_followed(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "here").symlink_to("there/../there")
    assert private.folder(tmp_path / "here" / "x") == tmp_path.resolve() / "there" / "x"
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(FolderError, match="too many symbolic links"):
        private.folder(tmp_path / "loop" / "x")


@pytest.mark.parametrize("open_to", [0o777, 0o770, 0o707, 0o1777])
def test_where_others_write_nothing_is_built(tmp_path, monkeypatch, open_to):
    wide = tmp_path / "wide"
    wide.mkdir()
    wide.chmod(open_to)
    monkeypatch.setattr(private, "_own_group", lambda: None)  # as for one of the group "users"
    with pytest.raises(FolderError, match="can be written by others"):
        private.folder(wide)
    with pytest.raises(FolderError, match="can be written by others"):
        private.check(wide)
    if not open_to & stat.S_ISVTX:  # nobody renames ours in a sticky one
        with pytest.raises(FolderError, match="can be written by others"):
            private.folder(wide / "deep" / "deeper")


def test_a_group_of_our_own_is_nobody_else(tmp_path, monkeypatch):
    tmp_path.chmod(0o770)
    monkeypatch.setattr(private, "_own_group", lambda: tmp_path.stat().st_gid)
    assert private.check(tmp_path) == tmp_path.resolve()
    tmp_path.chmod(0o772)
    with pytest.raises(FolderError, match="can be written by others"):
        private.check(tmp_path)


def test_a_folder_that_is_chosen_must_be_ours(tmp_path):
    text = text_of(product)
    tmp_path.chmod(0o777)
    with pytest.raises(FolderError, match="can be written by others"):
        build_tuned(text, "sequential", {}, tmp_path / "built")
    assert [*tmp_path.iterdir()] == []


@as_root
def test_what_somebody_else_made_first_is_not_used(shared):
    theirs = shared / "theirs"
    theirs.mkdir(mode=0o755)
    os.chown(theirs, SOMEBODY, SOMEBODY)
    for path in (theirs, theirs / "below"):
        with pytest.raises(FolderError, match="belongs to somebody else"):
            private.folder(path)
    home = shared / "home"
    home.mkdir(mode=0o700)
    link = shared / "link"
    link.symlink_to(home)
    os.chown(link, SOMEBODY, SOMEBODY, follow_symlinks=False)
    with pytest.raises(FolderError, match="a symbolic link of somebody else's"):
        private.folder(link / "below")
    assert [*home.iterdir()] == [*theirs.iterdir()] == []


def test_what_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(FolderError):
            private.folder(path)
    with pytest.raises(FolderError, match="No such file"):
        private.check(tmp_path / "nothing")


def test_a_temporary_folder_that_is_not_to_be_trusted(tmp_path, monkeypatch):
    tmp_path.chmod(0o777)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(FolderError, match=r"can be written by others; set TMPDIR"):
        scratch.make()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(FolderError, match="set TMPDIR"):
        scratch.make()


@as_root
@pytest.mark.parametrize("how", ["folder", "link"])
def test_nobody_lays_a_compiler_or_a_library_ready(shared, how):
    """Whoever makes our folder first has his programs run and his libraries loaded."""
    theirs = shared / f"{scratch.KEPT}{os.getuid()}"
    if how == "folder":
        theirs.mkdir(mode=0o777)
    else:
        theirs.symlink_to(shared)
    os.chown(theirs, SOMEBODY, SOMEBODY, follow_symlinks=False)
    activate()
    used = Path(os.environ["PATH"].split(os.pathsep)[0])
    assert used.parent == scratch.kept()
    assert timer_library().parent == scratch.kept()
    assert (used / DOCC_NAME).exists()
    assert mode(scratch.kept()) == 0o700
    assert scratch.kept().name.startswith(scratch.PREFIX)


def test_all_that_a_build_makes_is_ours_alone(shared):
    """Whatever umask we were called with."""
    old = os.umask(0)
    try:
        library = build_tuned(
            frontend.trace(doubled, [random(9, 9), random(9, 9)]),
            "sequential",
            {},
            scratch.make() / "built",
            timers=True,
        ).library
        timer_library()
    finally:
        os.umask(old)
    assert library.exists()
    made = [path for path in shared.rglob("*") if not path.is_symlink()]
    assert any(path.suffix == ".pch" for path in made)
    open_to_others = [path for path in made if mode(path) & 0o077]
    assert [path for path in open_to_others if path.parent == shared] == []
    assert open_to_others == []


@pytest.mark.parametrize("decorate", [loopbook.native, native(target="loopbook")])
def test_doccs_own_folder_is_not_used(tmp_path, monkeypatch, decorate):
    """docc makes one of this name, and whoever was quicker has his library loaded."""
    monkeypatch.setenv("DOCC_TMP", str(tmp_path / "docc"))
    given = random(9, 9)
    out = given.copy()
    decorate(doubled)(given, out)
    assert (out == 2.0 * given).all()
    assert not (tmp_path / "docc").exists()


@as_root
def test_doccs_targets_leave_a_folder_of_somebody_elses_alone(shared):
    """docc names the folder after the function, and takes it whosever it is."""
    docc = shared / "somebody" / "DOCC"
    docc.mkdir(parents=True)
    theirs = docc / "kernel-0123456789abcdef"
    theirs.mkdir(mode=0o777)
    for path in (docc.parent, docc, theirs):
        os.chown(path, SOMEBODY, SOMEBODY)
    text = text_of(product)
    from docc.sdfg import StructuredSDFG

    sdfg = StructuredSDFG.parse(text)
    target._state.sdfg, target._state.text = sdfg, text
    library = Path(target.build("sequential", sdfg, str(theirs), "", False, {}))
    assert library.exists()
    assert [*theirs.iterdir()] == []
    assert mode(next(p for p in library.parents if p.parent == shared)) == 0o700
    mine = shared / "chosen" / "by-me"
    target._state.sdfg, target._state.text = sdfg, text
    library = Path(target.build("sequential", sdfg, str(mine), "", False, {}))
    assert mine in library.parents


@as_root
def test_a_planted_library_is_not_loaded_at_import(shared):
    """The one against docc's stack traces is loaded by whoever imports us."""
    from loopbook.toolchain import traces

    planted = scratch.shared()
    planted.mkdir()
    (planted / traces.NAME).write_text("")
    code = "import ctypes, sys\nctypes.CDLL = lambda *a, **k: print(a)\nimport loopbook.sdfg\n"

    def loads() -> str:
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "TMPDIR": str(shared)},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    assert traces.NAME in loads()
    os.chown(planted, SOMEBODY, SOMEBODY)
    assert traces.NAME not in loads()
