"""Keeps Python's collector of cycles from stopping a server for long."""

from __future__ import annotations

import gc

YOUNG = 20_000
"""Objects made, and not gone by themselves, before any are searched for cycles: by default that is
done every 700, hundreds of times for each program planned, of which hardly any objects stay. It
costs some megabytes until cycles are found."""


def spare_pauses() -> None:
    """Call it when all is loaded: what is there then is never searched for cycles again.

    Libraries and the book are hundreds of thousands of objects that stay; a full collection goes
    through them all, 70 to 90 ms in which nobody is answered.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, 20, 20)
