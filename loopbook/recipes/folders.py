"""Where files go that are nobody's but loopbook's."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """Where loopbook keeps what it can make again."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "loopbook"
