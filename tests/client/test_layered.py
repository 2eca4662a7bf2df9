"""Books in layers: whatever answers like a book is one, a layered book too."""

from __future__ import annotations

from client_kit import blocked, encoder, layered, nests_of, product, record

from loopbook.client.layered import LayeredBook
from loopbook.recipes.layer import Kernels, Layer, Neighbour, excludes
from loopbook.recipes.record import Record
from loopbook.recipes.tasks import Wanted
from loopbook.targets import DEFAULT


class Single:
    """A layer of one record, in memory."""

    name, readonly = "single", False
    damage = ()

    def __init__(self, only: Record) -> None:
        self.only = only
        self.missed: list[str] = []

    def close(self) -> None:
        self.missed.clear()

    def nearest(self, query, k=5, *, exclude: Kernels = None, **told) -> list[Neighbour]:
        left_out = excludes(exclude)(self.only.kernel)
        return [] if left_out else [Neighbour(self.only, query, 0.0, 0.0)]

    def exact(self, fingerprint: str, target: str, hardware_key: str | None = None) -> list[Record]:
        return [self.only] if fingerprint == self.only.fingerprint else []

    def without_embedding(self, encoder: str) -> tuple[()]:
        return ()

    def note_miss(
        self, fingerprint: str, target: str, hardware_key: str, *, wanted: Wanted | None = None
    ) -> None:
        self.missed.append(fingerprint)


def test_whatever_answers_like_a_book_is_a_layer(tmp_path):
    (nest,) = nests_of(product)
    single = Single(record(product, "parallel L0\n", 3.0, name="memory"))
    with layered(tmp_path, record(product, blocked(), 20.0, name="file")) as file:
        both = LayeredBook([single, file], encoder())
        inner: Layer = both  # a layered book is one itself
        outer = LayeredBook([inner], encoder())
        for book in (both, outer):
            assert {near.record.kernel for near in book.nearest(nest)} == {"memory", "file"}
            assert [near.record.kernel for near in book.nearest(nest, exclude=["memory"])] == [
                "file"
            ]
            assert [one.kernel for one in book.exact(nest.fingerprint, DEFAULT)] == [
                "file",
                "memory",
            ]
        assert outer.nearest(encoder().encode(nest)) == both.nearest(nest)
        assert [one.kernel for one in both.records_of(nest, DEFAULT)] == ["memory", "file"]
        assert both.books == file.books
        outer.note_misses(None, ["unknown"], DEFAULT)
        assert single.missed == ["unknown"]
        assert not file.books[0].misses()
