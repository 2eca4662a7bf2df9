"""A ``loopbook serve`` in a process of its own, for benchmarks to ask."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence


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
    command = [sys.executable, "-m", "loopbook"]
    made = [*command, "token", "create", "bench", "--quiet", "--store", store]
    token = subprocess.run(made, capture_output=True, text=True, check=True).stdout.strip()
    process = subprocess.Popen(
        [*prefix, *command, "serve", "--port", "0", "--store", store, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **(env or {})},
    )
    assert process.stdout is not None
    for line in process.stdout:
        if "serving" in line:
            return process, line.split()[-1], token
    raise SystemExit("the server did not start")
