"""Keeps Python's collector of cycles from stopping a server for long."""

from __future__ import annotations

import gc

from loopbook.toolchain.circles import SELDOM


def spare_pauses() -> None:
    """Call it when all is loaded: what is there then is never searched for cycles again.

    Libraries and the book are hundreds of thousands of objects that stay; a full collection goes
    through them all, 70 to 90 ms in which nobody is answered.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*SELDOM)
