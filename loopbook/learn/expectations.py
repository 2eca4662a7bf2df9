"""What a book's other records say of measured recipes, as they would when these are served."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from loopbook.client.evidence import evidence_of
from loopbook.client.layered import LayeredBook
from loopbook.client.ports import Ports
from loopbook.client.sketch import largest
from loopbook.client.thresholds import LOOKED_AT
from loopbook.embed.inference import Encoder
from loopbook.errors import RecipeError
from loopbook.learn.candidates import family_of
from loopbook.learn.examples import Example, Examples, Source
from loopbook.recipes.book import Book
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.record import Record
from loopbook.rules import TuningContext
from loopbook.rules.schedule_rule import firsts


def with_expectations(
    examples: Examples,
    books: Sequence[Book],
    encoder: Encoder,
    *,
    exclude: Collection[str],
    without: Collection[str],
    strangers: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Examples:
    """The examples with `Example.expected`, and with a voucher for those that were not ported.

    Records of the example's own program and of its own nest are not asked.

    Args:
        books: whose records are asked; without any, the examples come back as they are.
        exclude: kernels that are never asked.
        without: fingerprints of nests that are never asked.
        strangers: ask no record of an example's own family either, as it is with nests of a kind
            that the books do not know. What was ported within a family is left out.
        progress: called with nests done and in all.
    """
    if not books:
        return examples
    told = replace(
        examples,
        examples=[],
        nests=dict(examples.nests),
        hardware=dict(examples.hardware),
        sources=dict(examples.sources),
    )
    groups: dict[tuple[object, ...], list[Example]] = {}
    for one in examples.examples:
        if one.fingerprint in examples.nests and one.hardware in examples.hardware:
            trips = tuple(one.trips.items())
            key = (one.fingerprint, one.program, one.hardware, one.target, trips)
            groups.setdefault(key, []).append(one)
    layered = LayeredBook(books, encoder)
    families = _families(books) if strangers else {}
    for number, group in enumerate(groups.values(), 1):
        first = group[0]
        own = families.get(first.family, set())
        layered.profile = examples.hardware[first.hardware]
        layered.without = frozenset({*without, first.fingerprint})
        asked = [one for one in group if not strangers or not _related(examples, one)]
        if asked:
            told.examples += _expected(told, layered, asked, {*exclude, *own, first.program})
        progress(number, len(groups))
    return told


def _families(books: Sequence[Book]) -> dict[str, set[str]]:
    """Family to the kernels of it that the books have."""
    found: dict[str, set[str]] = {}
    for book in books:
        for record in book.records():
            found.setdefault(family_of(record.kernel), set()).add(record.kernel)
    return found


def _related(examples: Examples, one: Example) -> bool:
    """Whether it was ported within a family."""
    source = examples.sources.get(one.donor)
    return source is not None and family_of(source.kernel) == one.family


def _expected(
    told: Examples, layered: LayeredBook, group: Sequence[Example], exclude: Collection[str]
) -> Iterator[Example]:
    """The examples of one nest; what their vouchers say is added to `told`."""
    first = group[0]
    nest = told.nests[first.fingerprint]
    embedding = layered.encoder.encode(nest)
    neighbours = layered.neighbours(nest, embedding, LOOKED_AT, first.target, exclude)
    if not neighbours:
        yield from group
        return
    evidence = evidence_of(layered, neighbours, nest, first.trips)
    hardware = layered.hardware(first.target)
    around = TuningContext.of(hardware, first.target, first.trips)
    ports = Ports(nest, embedding, evidence, hardware, around, firsts(nest, around))
    for one in group:
        try:
            expected, voucher = ports.expect(Recipe.parse(one.steps))
        except RecipeError:
            continue
        if not one.donor:
            _add(told, layered, voucher.near.record)
        yield replace(
            one,
            expected=math.exp(expected),
            voucher="" if one.donor else voucher.near.record.id,
        )


def _add(told: Examples, layered: LayeredBook, record: Record) -> None:
    if record.id in told.sources:
        return
    nest = layered.source(record)
    told.nests[record.fingerprint] = nest
    told.hardware[record.hardware.key] = record.hardware
    told.sources[record.id] = Source(
        record=record.id,
        kernel=record.kernel,
        fingerprint=record.fingerprint,
        hardware=record.hardware.key,
        target=record.target,
        steps=record.recipe.text(),
        speedup=record.speedup,
        trips=largest(record, nest),
    )
