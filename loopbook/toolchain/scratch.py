"""Folders for what is built on the way, which nobody else can reach into.

They are deleted by who made them. A process that is killed cannot do that: its folders say whose
they are, and go when any process makes the next one. What is worth keeping for the next process
lies in one folder of the user's.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from loopbook import private
from loopbook.errors import FolderError

PREFIX = "loopbook-of-"

KEPT = "loopbook-kept-"
"""What the folder is called that processes of one user share, before the user's number."""


def make() -> Path:
    """A new folder in the temporary folder, named after this process.

    Raises:
        FolderError: the temporary folder is not to be trusted, or cannot be written.
    """
    sweep()
    return private.temporary(f"{PREFIX}{os.getpid()}-")


@contextmanager
def folder() -> Iterator[Path]:
    """A new folder that is deleted at the end of the block.

    Raises:
        FolderError: as `make`.
    """
    made = make()
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def kept() -> Path:
    """The folder for what later processes use too. Where somebody else was there first, one of this
    process alone.

    Raises:
        FolderError: as `make`.
    """
    try:
        return private.folder(shared())
    except FolderError:
        return _own()


def shared() -> Path:
    """Where the folder is that processes of one user share, whatever is there."""
    return private.above() / f"{KEPT}{os.getuid()}"


def put(path: Path, text: str, mode: int = 0o600) -> None:
    """Write all of a file or nothing.

    Raises:
        OSError: it cannot be written.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_text(text)
    partial.chmod(mode)
    partial.replace(path)


@lru_cache(maxsize=1)
def _own() -> Path:
    return make()


def sweep() -> None:
    """Delete the folders of our own processes that have ended."""
    for path in private.above().glob(f"{PREFIX}*"):
        owner = re.match(rf"{PREFIX}(\d+)-", path.name)
        if owner is None or Path(f"/proc/{owner[1]}").exists():
            continue
        try:
            ours = path.lstat().st_uid == os.getuid()
        except OSError:  # another process was quicker
            continue
        if ours:
            shutil.rmtree(path, ignore_errors=True)
