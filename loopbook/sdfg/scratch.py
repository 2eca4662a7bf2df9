"""Folders for what is built on the way.

They are deleted by who made them. A process that is killed cannot do that: its folders say whose
they are, and go when any process makes the next one.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PREFIX = "loopbook-of-"


def make() -> Path:
    """A new folder in the temporary folder, named after this process."""
    sweep()
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))


@contextmanager
def folder() -> Iterator[Path]:
    """A new folder that is deleted at the end of the block."""
    made = make()
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def sweep() -> None:
    """Delete the folders of our own processes that have ended."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        owner = re.match(rf"{PREFIX}(\d+)-", path.name)
        if owner is None or Path(f"/proc/{owner[1]}").exists():
            continue
        try:
            ours = path.stat().st_uid == os.getuid()
        except OSError:  # another process was quicker
            continue
        if ours:
            shutil.rmtree(path, ignore_errors=True)
