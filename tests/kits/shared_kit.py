"""What takes long to make and is the same in all test processes: whoever needs it first makes it.

The folder is one run's own, so nothing that an older loopbook or docc has made is ever found.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

FOLDER: Path | None = None
"""Set when a run of tests begins."""


def begin(folder: Path) -> None:
    """Share what is made with the processes that call this with the same folder."""
    global FOLDER
    folder.mkdir(exist_ok=True)
    FOLDER = folder


def shared(key: str | bytes, make: Callable[[], T]) -> T:
    """What `make` returns, which depends on `key` alone; from another process if it has made it.

    Two that need it at the same time both make it: to wait would take as long.
    """
    if FOLDER is None:
        return make()
    text = key.encode() if isinstance(key, str) else key
    path = FOLDER / hashlib.sha256(text).hexdigest()
    try:
        return pickle.loads(path.read_bytes())
    except FileNotFoundError:
        pass
    made = make()
    descriptor, partial = tempfile.mkstemp(dir=FOLDER)
    with os.fdopen(descriptor, "wb") as file:
        pickle.dump(made, file)
    os.replace(partial, path)
    return made
