"""Servers in processes of their own, for benchmarks to ask."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence

LOOPBOOK = [sys.executable, "-m", "loopbook"]


def serve(
    store: str,
    *options: str,
    prefix: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
) -> tuple[subprocess.Popen[str], str, str]:
    """Start a server over a store, and wait until it answers.

    Args:
        options: more words for ``loopbook serve``.
        prefix: words before the command, such as ``taskset -c 0``.
        env: set for the server, besides what is set here.

    Returns:
        The process, its address, and a token for look-ups.
    """
    made = [*LOOPBOOK, "token", "create", "bench", "--quiet", "--store", store]
    token = subprocess.run(made, capture_output=True, text=True, check=True).stdout.strip()
    words = [*prefix, *LOOPBOOK, "serve", "--port", "0", "--store", store, *options]
    return *_started(words, env or {}), token


def demo_serve() -> tuple[subprocess.Popen[str], str]:
    """Start a demo server with the answers that come with us: the process and its address."""
    return _started([*LOOPBOOK, "demo-server", "--port", "0"], {})


def _started(words: Sequence[str], env: Mapping[str, str]) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **env},
    )
    assert process.stdout is not None
    for line in process.stdout:
        if "serving" in line:
            return process, line.split()[-1]
    raise SystemExit("the server did not start")
