from __future__ import annotations

from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step


class Pad(Step):
    """Incomplete tiles run in full, on buffers that are large enough.

    Where all that the iterations of a tile have for themselves lies in local buffers of the full
    tile's size, its loop need not stop where the array does: what is computed beyond is never
    copied back. One micro-kernel with constant bounds then serves all tiles. Before ``pad L1``::

        for j in jj … min(jj + 24, n): c[j - jj] += …

    and after it::

        for j in jj … jj + 24: c[j - jj] += …
    """

    name = "pad"
    textbook = "padding of edge tiles"
    source = "Van Zee and van de Geijn, ACM TOMS 41(3), 2015, section 4"
    example = "pad L1"
    plain = True
    vectors = True
    traits = {"pad": 0.3}

    loop = Loop()
