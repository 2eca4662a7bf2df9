"""Folders go with their block, or with their process."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile

import pytest

from loopbook.sdfg import scratch


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
        "from loopbook.sdfg import scratch\n"
        "(scratch.make() / 'library.so').write_text('')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        timeout=60,
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
