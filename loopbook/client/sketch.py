"""What planning wants to know of a record's nest, without reading the nest.

A record holds its nest as docc writes it. To read that, and to find out which rules apply to it,
takes milliseconds for each of two dozen neighbours; what comes out is small, and always the same.
So it is worked out once, and books that are shipped have it beside their records: it follows from
the record and from this program alone, and is worked out anew where a book comes without.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
from msgspec import structs

from loopbook.client.sizes import Trips
from loopbook.errors import BookError, SdfgError
from loopbook.predict import features
from loopbook.predict.rows import Rows
from loopbook.program.nest import CANONICAL_VERSION, Nest, Stride
from loopbook.program.nests import read_nests
from loopbook.program.shape import ancestries
from loopbook.program.trips import iterations
from loopbook.recipes.book import Book
from loopbook.recipes.record import Record
from loopbook.rules import TuningContext
from loopbook.rules.schedule_rule import applicable
from loopbook.steps.workbench import transformed

VERSION = f"2.{CANONICAL_VERSION}"
"""The number in front is raised when what stands in a sketch, or which rules apply to some nest
(`loopbook.rules.schedule_rule`), changes: books' sketches of other versions are not read."""

BATCH = 256
"""Sketches that are made and stored at a time."""


class LoopSketch(msgspec.Struct, frozen=True, array_like=True):
    """See `loopbook.program.nest.Loop`."""

    index: int
    name: str
    kind: str
    parent: int


class ArraySketch(msgspec.Struct, frozen=True, array_like=True):
    """See `loopbook.program.nest.Container`."""

    name: str
    written: bool


class Sketch(msgspec.Struct, frozen=True, array_like=True, dict=True):
    """What planning wants to know of a record's nest.

    Attributes:
        fingerprint: the record's.
        loops, arrays: the nest's.
        rules: names of the rules that apply to it.
        strided: see `strided`.
        features: the version of these (`loopbook.predict.features`); 0 where there are none.
        before, after: features of the body that runs most often; see `bodies`.
    """

    fingerprint: str
    loops: tuple[LoopSketch, ...]
    arrays: tuple[ArraySketch, ...]
    rules: frozenset[str]
    strided: float
    features: int = 0
    before: bytes = b""
    after: bytes = b""

    @property
    def bodies(self) -> tuple[np.ndarray, np.ndarray] | None:
        """What a `loopbook.predict.rows.Donor` tells of the nest without the recipe and with it;
        None where the features that it was told in are not those of today."""
        if self.features != features.VERSION or not len(self.before) == len(self.after) == _BYTES:
            return None
        return np.frombuffer(self.before, np.float32), np.frombuffer(self.after, np.float32)

    def ancestry(self, loop: int) -> tuple[LoopSketch, ...]:
        """The loops around and including loop number `loop`, outermost first."""
        return self._ancestries[loop] if loop >= 0 else ()

    @cached_property
    def _ancestries(self) -> tuple[tuple[LoopSketch, ...], ...]:
        return ancestries(self.loops)

    @cached_property
    def notes(self) -> dict[str, Any]:
        """As a nest's."""
        return {}


_ENCODER = msgspec.msgpack.Encoder(order="deterministic")
_DECODER = msgspec.msgpack.Decoder(Sketch)
_BYTES = np.dtype(np.float32).itemsize * len(features.SITE)


def sketch(record: Record, nest: Nest) -> Sketch:
    """The sketch of a record, and of its nest, which has been read already."""
    return Sketch(
        fingerprint=record.fingerprint,  # what is read today may have another than was recorded
        loops=tuple(LoopSketch(one.index, one.name, one.kind, one.parent) for one in nest.loops),
        arrays=tuple(ArraySketch(one.name, one.written) for one in nest.arrays),
        rules=applicable(nest, TuningContext.of(record.hardware, record.target)),
        strided=strided(nest),
    )


def featured(record: Record, nest: Nest) -> Sketch:
    """`sketch` with features: of two dozen neighbours only some are asked for theirs, so that they
    are worked out beforehand or not at all."""
    before, after = (body.astype(np.float32).tobytes() for body in bodies_of(record, nest))
    return structs.replace(
        sketch(record, nest), features=features.VERSION, before=before, after=after
    )


def bodies_of(record: Record, nest: Nest) -> tuple[np.ndarray, np.ndarray]:
    """What a `loopbook.predict.rows.Donor` tells of a record's nest, at its largest size."""
    rows = Rows(nest, record.hardware, record.target, largest(record, nest))
    return rows.bodies(transformed(nest, record.recipe.steps)[0])


def kept(book: Book, records: Iterable[Record]) -> Mapping[str, Sketch]:
    """The sketches that a book has of some records, by the records' ids.

    Raises:
        BookError: the book cannot be read.
    """
    wanted = {record.id: record.fingerprint for record in records}
    found = {}
    for name, body in book.notes(list(wanted), VERSION).items():
        try:
            one = _DECODER.decode(body)
        except msgspec.DecodeError:
            continue
        if one.fingerprint == wanted[name]:
            found[name] = one
    return found


def sketch_all(book: Book) -> int:
    """Make the sketches that a book lacks, or has with features of another version, and keep them
    in it; returns how many.

    Raises:
        BookError: a nest cannot be read, or the book cannot be written.
    """
    made: dict[str, bytes] = {}
    count = 0
    for record in book.records():
        known = kept(book, [record]).get(record.id)
        if known is not None and known.features == features.VERSION:
            continue
        made[record.id] = _ENCODER.encode(featured(record, nest_of(record)))
        count += 1
        if len(made) == BATCH:
            book.keep_notes(made, VERSION)
            made.clear()
    book.keep_notes(made, VERSION)
    return count


def nest_of(record: Record) -> Nest:
    """The nest that a record is about. It is read as data, which lets no harm in.

    Raises:
        BookError: it cannot be read.
    """
    try:
        (nest,) = read_nests(json.loads(record.nest_json))
    except (SdfgError, ValueError, RecursionError) as error:
        raise BookError(f"the nest in record {record.id} is damaged: {error}") from None
    return nest


def largest(record: Record, nest: Nest) -> Trips:
    """How often the loops of a record's nest ran at the largest size measured."""
    sizes = [measured.trips for measured in record.measurements if measured.trips]
    return max(sizes, key=lambda trips: iterations(nest, trips) or 0, default={})


def strided(nest: Nest) -> float:
    """Share of the accesses in innermost loops that jump through memory from one iteration to the
    next."""
    if "strided" not in nest.notes:
        nest.notes["strided"] = _strided(nest)
    return nest.notes["strided"]


def _strided(nest: Nest) -> float:
    outer = {loop.parent for loop in nest.loops}
    inner = {block.index for block in nest.blocks if block.parent not in outer}
    last = [a.strides[-1] for a in nest.accesses if a.block in inner and a.strides]
    return sum(stride >= Stride.CONSTANT for stride in last) / max(len(last), 1)
