"""Answers of servers, kept on disk with the time when they came."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from pathlib import Path
from typing import Any, NamedTuple

from loopbook.recipes.folders import cache_folder

MAX_FILES = 4096


class Kept(NamedTuple):
    """An answer from the cache, and its age in seconds."""

    value: dict[str, Any]
    age: float


class AnswerCache:
    """One file for each question, in a folder of the user's. What cannot be read or written is
    as good as not there.

    Args:
        folder: default ``remote`` in loopbook's cache folder.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or cache_folder() / "remote"

    def get(self, question: Any) -> Kept | None:
        """The answer to a question, however old; None if there is none."""
        try:
            told = json.loads(self._file(question).read_text())
            value, at = told["value"], float(told["at"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        return Kept(value, max(0.0, time.time() - at)) if isinstance(value, dict) else None

    def put(self, question: Any, value: dict[str, Any]) -> None:
        """Keep an answer."""
        file = self._file(question)
        partial = file.with_name(f".{file.name}.{os.getpid()}")
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            partial.write_text(json.dumps({"at": time.time(), "value": value}))
            partial.replace(file)
            self._prune()

    def _prune(self) -> None:
        files = list(self._folder.glob("*.json"))
        if len(files) > MAX_FILES:
            files.sort(key=lambda file: file.stat().st_mtime)
            for file in files[: MAX_FILES // 4]:
                file.unlink(missing_ok=True)

    def _file(self, question: Any) -> Path:
        text = json.dumps(question, sort_keys=True, default=str)
        return self._folder / f"{hashlib.sha256(text.encode()).hexdigest()[:40]}.json"
