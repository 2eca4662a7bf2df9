"""What records say of measured recipes, as of nests that a book knows and of strangers to it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import client_kit

from loopbook.learn.expectations import with_expectations
from loopbook.recipes.book import Book

from . import kit


def test_strangers_hear_other_families_only(tmp_path: Path):
    near = client_kit.record(
        client_kit.product_transposed, "tile L0 32\ninterchange L0 L1", name="product.near"
    )
    far = client_kit.record(client_kit.stencil, "tile L0 32", 3.0, name="stencil.far")
    book = Book.open(client_kit.fill(tmp_path / "book.db", [near, far]))
    given = kit.examples(30)
    sources = dict(given.sources)
    sources["r-product"] = replace(sources["r-product"], kernel="product.donor")
    given = replace(
        given,
        sources=sources,
        examples=[replace(one, family=one.program.partition(".")[0]) for one in given.examples],
    ).keep(lambda one: one.family == "product" and one.donor in ("", "r-product"))
    own = {one.donor for one in given.examples}
    assert own == {"", "r-product"}

    def hear(strangers: bool):
        return with_expectations(
            given, [book], client_kit.encoder(), exclude=(), without=(), strangers=strangers
        )

    known, strange = hear(False), hear(True)
    assert {one.voucher for one in known.examples if not one.donor} == {near.id}
    assert {one.voucher for one in strange.examples} == {far.id}
    assert max(one.expected for one in known.examples) > 2.0
    assert not any(one.donor for one in strange.examples), "ported within the family"
    assert len(known) == len(given)
