"""Results as JSON lines, one written as soon as it is there: a run that ends early can go on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def read(file: Path) -> list[dict[str, Any]]:
    """The results so far. A last line that a kill cut off is removed from the file."""
    if not file.exists():
        return []
    with file.open("r+b") as stream:
        whole, newline, _ = stream.read().rpartition(b"\n")
        stream.truncate(len(whole) + len(newline))
    return [json.loads(line) for line in whole.splitlines()]


def append(file: Path, result: dict[str, Any]) -> None:
    """One more result."""
    with file.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(result) + "\n")
