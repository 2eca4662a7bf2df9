"""``continue`` in so many branches that what it skips cannot be written into all of them."""

from __future__ import annotations

import linecache

import numpy as np
import pytest

from loopbook.errors import MistranslationError
from loopbook.sdfg.known_wrong import understood

BRANCH = """\
        if x[i] > {0}:
            if x[i] < 0.0:
                continue
            x[i] += 1.0
"""


def test_what_would_be_written_too_often_is_refused_at_once():
    text = "def skipping(x):\n    for i in range(x.shape[0]):\n" + "".join(
        BRANCH.format(number) for number in range(25)
    )
    file = "<skipping>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = {}
    exec(compile(text, file, "exec"), names)
    with pytest.raises(MistranslationError, match="joins loops with continue"):
        understood(names["skipping"], [np.ones(4)])
