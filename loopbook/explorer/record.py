"""All about one record."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from loopbook.client.layered import LayeredBook
from loopbook.errors import BookError, LoopbookError
from loopbook.explorer.catalogue import machine_name, seconds
from loopbook.explorer.documents import RecordPage, Related, Size, State
from loopbook.explorer.roofline import roofline
from loopbook.explorer.states import Walk
from loopbook.recipes.layer import Neighbour
from loopbook.recipes.record import Record
from loopbook.workloads.families import family_of

RELATED = 8


def find(layered: LayeredBook, record_id: str) -> Record | None:
    """The record of an id, whichever book it is in."""
    found = (book.record(record_id) for book in layered.books)
    return next((one for one in found if one is not None), None)


def record_page(layered: LayeredBook, record: Record) -> RecordPage:
    """The record's document; what cannot be read of it is told in `problems`."""
    problems: list[str] = []
    steps, roof = list[State](), None
    try:
        walk = Walk(record)
        steps = walk.states()
        roof = roofline(record, walk.nest)
    except BookError as error:
        problems.append(str(error))
    if not steps:
        steps = [State(None, "the nest cannot be shown", "")]
    return RecordPage(
        id=record.id,
        name=record.nest,
        family=family_of(record.kernel),
        target=record.target,
        machine={
            **record.hardware.to_json(),
            "key": record.hardware.key,
            "name": machine_name(record.hardware),
        },
        speedup=round(record.speedup, 4),
        created=seconds(record.provenance.date),
        provenance=record.provenance.to_json(),
        nest=steps[0].nest,
        recipe=[step.text() for step in record.recipe],
        steps=steps,
        sizes=_sizes(record),
        roofline=roof,
        related=_related(layered, record, problems),
        commands=_commands(record),
        problems=problems,
    )


def _sizes(record: Record) -> list[Size]:
    machine = machine_name(record.hardware)
    return [
        Size(
            _preset(one.sizes, number),
            dict(one.sizes),
            one.baseline_s,
            one.tuned_s,
            round(one.speedup, 4),
            machine,
        )
        for number, one in enumerate(record.measurements)
    ]


def _preset(sizes: dict[str, int], number: int) -> str:
    """A size in short; records do not say what it was called."""
    return " × ".join(str(size) for size in sizes.values()) or f"size {number + 1}"


def _related(layered: LayeredBook, record: Record, problems: list[str]) -> list[Related]:
    """Records near it, one for each nest."""
    try:
        found = _near(layered, record)
    except LoopbookError as error:
        problems.append(f"no related records: {error}")
        return []
    return [
        Related(one.record.id, one.record.nest, round(one.distance, 4), round(one.speedup, 3))
        for one in found[:RELATED]
    ]


def _near(layered: LayeredBook, record: Record) -> Sequence[Neighbour]:
    for book in layered.books:
        for encoder in (layered.encoder.version, *book.encoders()):
            vectors = book.embedding(record.fingerprint, encoder)
            if vectors is not None:
                near = [
                    one
                    for layer in layered.books
                    for one in layer.nearest(vectors, RELATED + 4, target=record.target, per_nest=2)
                    if one.record.id != record.id
                ]
                different = {one.record.id: one for one in near}
                return sorted(different.values(), key=lambda one: (one.distance, -one.speedup))
    return ()


def _commands(record: Record) -> list[str]:
    return [
        f"loopbook book show {record.id}",
        f"loopbook field show {record.id}",
        *(f"loopbook steps {shlex.quote(op)}" for op in dict.fromkeys(s.op for s in record.recipe)),
    ]
