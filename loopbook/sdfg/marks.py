"""What preparing a program finds out and notes in its metadata, for those who go on with its text.

Lists are element ids of loops, divided by commas.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from docc.sdfg import StructuredSDFG

from loopbook.program.kept import Kept
from loopbook.program.tree import Program

PREPARED = "loopbook_prepared"
"""That the program has been prepared, and by which version."""

PREPARED_VERSION = "1"

ORDERED = "loopbook_ordered"
"""Loops that are serial although docc takes them for parallel."""

MISORDERED = "loopbook_misordered"
"""Outermost loops that docc's own compile may get wrong."""

FORMED = "loopbook_formed"
"""There if the program has another form now than docc's own compile would give it
(`loopbook.normal_form`)."""

FRAMES = "loopbook_frames"
"""There if docc was shown the program in pieces: the outermost loops that are too large for one."""


def is_prepared(document: dict[str, Any]) -> bool:
    """Whether an SDFG's document is of a program that this version has prepared."""
    metadata = document.get("metadata")
    return isinstance(metadata, dict) and metadata.get(PREPARED) == PREPARED_VERSION


def note(document: dict[str, Any], key: str, loops: Iterable[int]) -> None:
    """Note loops under a key in an SDFG's document."""
    document["metadata"][key] = ",".join(map(str, sorted(loops)))


def noted(tree: Program, document: dict[str, Any]) -> Program:
    """The tree of a document with what has been noted in the document since it was read."""
    extra = {**tree.extra.value, "metadata": document["metadata"]}
    return replace(tree, extra=Kept.of(extra))


def ordered(sdfg: StructuredSDFG) -> frozenset[int]:
    """Loops that preparing has found docc to take for parallel wrongly."""
    return _listed(sdfg.metadata(ORDERED))


def misordered(text: str) -> frozenset[int]:
    """Outermost loops in a prepared SDFG's text of which docc's own compile may change what they
    compute."""
    return _noted(text, MISORDERED) or frozenset()


def raced(text: str) -> frozenset[int]:
    """Loops in a prepared SDFG's text that docc's own compile would share out among threads,
    although their order matters."""
    return _noted(text, ORDERED) or frozenset()


def formed(text: str) -> bool:
    """Whether a prepared SDFG's text is in a form that docc would not have given it."""
    return _noted(text, FORMED) is not None


def frames(text: str) -> frozenset[int] | None:
    """Outermost loops in a prepared SDFG's text that docc was not shown as a whole; None if it was
    shown the whole program."""
    return _noted(text, FRAMES)


def _noted(text: str, key: str) -> frozenset[int] | None:
    if key not in text:  # most have nothing, and need not be read
        return None
    known = json.loads(text)["metadata"]
    return _listed(str(known[key])) if key in known else None


def _listed(numbers: str) -> frozenset[int]:
    return frozenset(int(e) for e in numbers.split(",") if e.isdigit())
