"""Answers of servers, kept on disk with the time when they came."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import time
from pathlib import Path
from typing import Any, NamedTuple

from loopbook import private
from loopbook.client.remote.answer import MAX_ANSWER, json_of
from loopbook.errors import FolderError
from loopbook.recipes.folders import cache_folder

MAX_FILES = 4096

MAX_BYTES = 256 << 20
"""Of all answers together; the oldest go first."""


class Kept(NamedTuple):
    """An answer from the cache, and its age in seconds."""

    value: dict[str, Any]
    age: float


class AnswerCache:
    """One file for each question, in a folder of the user's that nobody else can reach into. What
    cannot be read or written, or might be somebody else's, is as good as not there.

    Args:
        folder: default ``remote`` in loopbook's cache folder.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or cache_folder() / "remote"

    def get(self, question: Any) -> Kept | None:
        """The answer to a question, however old; None if there is none."""
        file = self._file(question)
        try:
            private.check(self._folder)
            if file.stat().st_size > 2 * MAX_ANSWER:
                return None
            told = json_of(file.read_bytes())
            value, at = told["value"], float(told["at"])
        except (FolderError, OSError, ValueError, KeyError, TypeError, OverflowError):
            return None
        age = time.time() - at
        if not isinstance(value, dict) or not math.isfinite(age):
            return None
        return Kept(value, age if age >= 0 else math.inf)  # nobody knows when it came

    def put(self, question: Any, value: dict[str, Any]) -> None:
        """Keep an answer."""
        file = self._file(question)
        partial = file.with_name(f".{file.name}.{os.getpid()}")
        with contextlib.suppress(OSError, FolderError):
            private.folder(self._folder)
            partial.unlink(missing_ok=True)
            with private.new_file(partial) as opened:
                opened.write(json.dumps({"at": time.time(), "value": value}).encode())
            partial.replace(file)
            self._prune()

    def _prune(self) -> None:
        status = {file: file.stat() for file in self._folder.glob("*.json")}
        left = sum(one.st_size for one in status.values())
        if len(status) <= MAX_FILES and left <= MAX_BYTES:
            return
        oldest = sorted(status, key=lambda file: status[file].st_mtime)
        for number, file in enumerate(oldest):
            if number >= len(oldest) - 3 * MAX_FILES // 4 and left <= 3 * MAX_BYTES // 4:
                return
            left -= status[file].st_size
            file.unlink(missing_ok=True)

    def _file(self, question: Any) -> Path:
        text = json.dumps(question, sort_keys=True, default=str)
        return self._folder / f"{hashlib.sha256(text.encode()).hexdigest()[:40]}.json"
