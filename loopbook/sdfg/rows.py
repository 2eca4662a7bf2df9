"""Prepared programs with one loop for neighbours over the same rows (`loopbook.normal_form.rows`).

docc normalises loops apart, and nests are looked up apart. What is fused here is compiled as it
stands, so it is a form for programs of which no nest has a recipe that is worth more.
"""

from __future__ import annotations

import json

from loopbook import dependence
from loopbook.errors import SdfgError
from loopbook.normal_form.rows import row_by_row
from loopbook.program.load import load_json
from loopbook.program.read import read
from loopbook.program.signed import sign_counters
from loopbook.program.write import write
from loopbook.sdfg import marks
from loopbook.toolchain.sandbox import run_limited

FUSING_SECONDS = 20.0


def with_rows(text: str) -> str:
    """A prepared SDFG row by row, as JSON text, to be built for one thread.

    Raises:
        SdfgError: it is not prepared, or there is nothing to fuse.
        RunError: it takes too long.
    """
    dependence.load()
    return run_limited(_with_rows, text, seconds=FUSING_SECONDS, what="fusing rows")


def _with_rows(text: str) -> str:
    document = load_json(text)
    if not marks.is_prepared(document):
        raise SdfgError("it is not prepared")
    tree = sign_counters(read(document))
    fused = row_by_row(tree)
    if fused is tree:
        raise SdfgError("no loops run over the same rows")
    return json.dumps(write(fused), separators=(",", ":"))
