"""Folders go with their block, or with their process."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile

import pytest

from loopbook.toolchain import scratch


@pytest.fixture(autouse=True)
def private(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_a_folder_goes_with_its_block(tmp_path):
    with contextlib.suppress(KeyError), scratch.folder() as made:
        (made / "library.so").write_text("")
        assert made.parent == tmp_path
        raise KeyError
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_goes_with_the_next_folder(tmp_path):
    code = (
        "import os, signal\n"
        "from loopbook.toolchain import scratch\n"
        "(scratch.make() / 'library.so').write_text('')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        timeout=600,
        check=False,
    )
    (left,) = tmp_path.glob(f"{scratch.PREFIX}*")
    others = tmp_path / "loopbook-of-nobody"
    others.mkdir()
    ours = scratch.make()
    with scratch.folder() as second:
        assert ours.exists()
        assert second != ours
    assert not left.exists()
    assert sorted(tmp_path.iterdir()) == sorted([ours, others])


def test_what_a_killed_compiler_kept_for_itself_goes_with_the_next_folder(tmp_path, monkeypatch):
    compiler = tmp_path / "clang++"
    compiler.write_text(
        "#!/bin/sh\n"
        '[ "$1" = --version ] && echo "clang version 19.0.0" && exit\n'
        'touch "$TMPDIR/timers-0123.o"\n'
        "kill -KILL $PPID\n"
    )
    compiler.chmod(0o700)
    folder = tmp_path / "temporary"
    folder.mkdir()
    code = "from loopbook.toolchain.timers import timer_library\ntimer_library()\n"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": str(folder), "LOOPBOOK_CXX": str(compiler)},
        timeout=600,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    with scratch.folder() as ours:
        left = [path for path in folder.rglob("*") if path.is_file()]
    assert left == []
    assert not ours.exists()
