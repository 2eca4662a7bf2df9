"""How large a call's arrays are, as caches see it.

Recipes are chosen for the sizes of the call that something is compiled for, and those that win
where all lies in one cache lose where it does not: tiles are nothing but overhead for what fits
into the first cache, and four times as fast for what no cache holds. So calls are compiled anew
when their arrays first take a larger cache, or a smaller one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from loopbook.client.hardware import local_profile

SCALES = 4
"""As many as there are: a number of `scale` is less."""


def scale(nbytes: int) -> int:
    """How many of this machine's caches (first, second, third level) are too small for so many
    bytes."""
    return sum(nbytes > size for size in _caches())


@cache
def _caches() -> Sequence[int]:
    """Bytes of the caches that are known."""
    here = local_profile(measured=False)
    return [size for size in (here.l1d_bytes, here.l2_bytes, here.l3_bytes) if size]
