"""Books to look nests up in: the user's own over those downloaded, over the one that comes with
loopbook; a server's, where one is named, last."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from loopbook import targets
from loopbook.client.damaged import asked, opened
from loopbook.errors import BookError, LoopbookError, SdfgError
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.record import Record
from loopbook.sdfg.untrusted import admit

if TYPE_CHECKING:
    from loopbook.client.sizes import Trips
    from loopbook.embed.inference import Encoder
    from loopbook.predict.head import Head
    from loopbook.recipes.book import Book
    from loopbook.sdfg.nest import Nest

Bodies = tuple[np.ndarray, np.ndarray]
"""Features of a nest before and after its recipe, see `loopbook.predict.rows.Donor`."""

STARTER = Path(__file__).resolve().parent.parent / "data" / "starter.book"
"""The book that comes with loopbook."""

SERVER_VARIABLE = "LOOPBOOK_SERVER"
"""Names the address of a server to look nests up at, besides the books at hand."""

PER_NEST = 2
"""Records of one nest, with different recipes, among the neighbours."""


class Neighbour(NamedTuple):
    """A record near a nest that was looked up.

    Attributes:
        distance: between the two nests' vectors, 0 to 2; 0 for the very nest, and for one that does
            the same.
        hardware_distance: between the record's machine and this one, 0 for one of its kind.
        embedding: of the record's nest.
    """

    record: Record
    distance: float
    hardware_distance: float
    embedding: Embedding

    @property
    def speedup(self) -> float:
        """Over docc's own schedule, measured where the record was made."""
        return self.record.speedup

    @property
    def rank(self) -> float:
        """What neighbours are ordered by, as in `loopbook.recipes.book.Book.nearest`."""
        from loopbook.recipes.ranking import HARDWARE_WEIGHT

        return self.distance + HARDWARE_WEIGHT * self.hardware_distance


def own_path() -> Path:
    """Where the user's own book is, or will be: ``$LOOPBOOK_BOOK``, else
    ``$XDG_DATA_HOME/loopbook/book.db``."""
    named = os.environ.get("LOOPBOOK_BOOK")
    if named:
        return Path(named).expanduser()
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "loopbook" / "book.db"


def downloaded_path() -> Path:
    """Where `loopbook book pull` puts a server's records: beside the user's own book."""
    return own_path().with_name("downloaded.db")


def starter_path() -> Path | None:
    """Where the starter book is: ``$LOOPBOOK_STARTER`` if set (None if empty), else `STARTER`."""
    named = os.environ.get("LOOPBOOK_STARTER")
    if named is None:
        return STARTER
    return Path(named) if named else None


class Shelf:
    """Layers of books, the encoder that makes nests comparable, and this machine's profile.

    Args:
        books: what is looked up in, the user's own first.
        encoder: default the one that comes with loopbook.
        head: what predicts speedups; default the one that comes with loopbook where the encoder is
            its own, else none.
        without: fingerprints of nests whose records are left out, as if nobody had tuned them.

    Attributes:
        profile: the machine that recipes are for; None for this one.
    """

    def __init__(
        self,
        books: Sequence[Book],
        encoder: Encoder | None = None,
        *,
        head: Head | None = None,
        without: Collection[str] = (),
    ) -> None:
        self.books = tuple(books)
        self._encoder = encoder
        self._head = head
        self.without = frozenset(without)
        self.profile: HardwareProfile | None = None
        self.donors: dict[str, Bodies] = {}
        self._nests: dict[str, Nest] = {}
        self._anew: dict[str, dict[str, Embedding]] = {}
        self.fits: dict[tuple[str, str, bool], Any] = {}
        self.prospects: dict[tuple[Any, ...], Any] = {}
        self._kinds: dict[str, frozenset[str]] = {}

    def __enter__(self) -> Shelf:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for book in self.books:
            book.close()

    @property
    def encoder(self) -> Encoder:
        return self._encoder or _packaged_encoder()

    @property
    def head(self) -> Head | None:
        """What predicts speedups of recipes ported from neighbours; None where none was trained
        with this shelf's encoder."""
        if self._head is not None or self._encoder is not None:
            return self._head
        head = _packaged_head()
        return head if head is not None and head.encoder == self.encoder.version else None

    def hardware(self, target: str) -> HardwareProfile:
        """The machine that recipes for `target` are for: `profile`, else this one as programs for
        the target use it (not measured)."""
        if self.profile is not None:
            return self.profile
        from loopbook.client.hardware import local_profile

        return local_profile(targets.named(target).threads, measured=False)

    def forget(self) -> None:
        """Drop what has been found out about nests that were looked up."""
        self.fits.clear()
        self.prospects.clear()

    # -- look-up --------------------------------------------------------------------------------

    def nearest(
        self,
        program: Any,
        k: int = 5,
        *,
        target: str = targets.DEFAULT,
        exclude: Collection[str] = (),
    ) -> list[Any]:
        """The `k` records nearest to a nest, or to each nest of a program, nearest first.

        Args:
            program: a `Nest`, or an SDFG as docc's object or JSON text.
            exclude: kernels whose records are left out.

        Returns:
            A list of `Neighbour` for a nest; a list of such lists, one for each nest, for an SDFG.

        Raises:
            SdfgError: if it is no usable SDFG.
            BookError: if a book cannot be read.
        """
        from loopbook.sdfg.nest import Nest

        if isinstance(program, Nest):
            return self.neighbours(program, self.encoder.encode(program), k, target, exclude)
        from loopbook.sdfg import program as programs

        _, nests = programs.prepare_nests(as_text(program))
        embeddings = self.encoder.encode_many(nests)
        return [
            self.neighbours(nest, embedding, k, target, exclude)
            for nest, embedding in zip(nests, embeddings, strict=True)
        ]

    def exact(
        self,
        nest: Nest,
        target: str,
        exclude: Collection[str] = (),
        trips: Trips = MappingProxyType({}),
    ) -> list[Record]:
        """Records of this very nest: those from this kind of machine first, own before others,
        then the fastest at the size at hand.

        Args:
            trips: of the nest at that size, as far as they are known.
        """
        from loopbook.client.sizes import exact_speedup

        if nest.fingerprint in self.without:
            return []
        hardware = self.hardware(target)
        ranked: list[tuple[float, int, float, Record]] = []
        for layer, book in enumerate(self.books):
            for record in asked(book, book.exact, nest.fingerprint, target) or ():
                if record.kernel not in exclude:
                    away = hardware.distance(record.hardware)
                    ranked.append((away, layer, -exact_speedup(record, trips), record))
        return [row[-1] for row in sorted(ranked, key=lambda row: row[:3])]

    def neighbours(
        self,
        nest: Nest,
        embedding: Embedding,
        k: int = 5,
        target: str = targets.DEFAULT,
        exclude: Collection[str] = (),
        steps: Collection[str] = (),
    ) -> list[Neighbour]:
        """The `k` records nearest to `nest`, nearest first (see `Neighbour.rank`).

        Args:
            steps: only records with recipes that hold one of these steps.
        """
        hardware = self.hardware(target)
        found: dict[str, Neighbour] = {}
        for book in self.books:
            near = asked(book, self._near, book, embedding, k, target, exclude, steps)
            for record, vectors in near or ():
                same = record.fingerprint == nest.fingerprint
                apart = float(np.linalg.norm(vectors.nest - embedding.nest))
                away = hardware.distance(record.hardware)
                found[record.id] = Neighbour(record, 0.0 if same else apart, away, vectors)
        return sorted(found.values(), key=lambda near: (near.rank, -near.speedup))[:k]

    def _near(
        self,
        book: Book,
        embedding: Embedding,
        k: int,
        target: str,
        exclude: Collection[str],
        steps: Collection[str],
    ) -> list[tuple[Record, Embedding]]:
        """The nearest records of one book, and all those of nests that another encoder embedded."""
        hardware = self.hardware(target)
        excluded = set(exclude)
        anew = self._embedded_anew(book)
        found = book.nearest(
            embedding,
            k,
            target=target,
            hardware=hardware,
            exclude=excluded,
            without=self.without,
            steps=steps,
            per_nest=PER_NEST,
        )
        pairs = [(near.record, near.embedding) for near in found]
        for fingerprint, vectors in anew.items():
            if fingerprint in self.without:
                continue
            records = [
                record
                for record in book.exact(fingerprint, target)
                if record.kernel not in excluded
                and (not steps or any(step.op in steps for step in record.recipe))
            ]
            pairs += [(record, vectors) for record in records[:PER_NEST]]
        return pairs

    def _embedded_anew(self, book: Book) -> dict[str, Embedding]:
        """Fingerprint to embedding of the nests that this shelf's encoder has not embedded, because
        the book was made with another version of it."""
        from loopbook.client.reembed import nest_of, reembed

        if book.name not in self._anew:
            # A book of one's own follows the encoder in use; others' vectors are made in memory.
            if self._encoder is None and not book.readonly:
                with suppress(BookError):  # it cannot be written: in memory, then
                    reembed(book, self.encoder)
            missing = list(book.without_embedding(self.encoder.version))
            nests = [nest_of(text, f"book {book.name}") for _, text in missing]
            embeddings = self.encoder.encode_many(nests)
            pairs = zip(missing, embeddings, strict=True)
            self._anew[book.name] = {fingerprint: vectors for (fingerprint, _), vectors in pairs}
        return self._anew[book.name]

    def source(self, record: Record) -> Nest:
        """The nest that a record is about.

        Raises:
            BookError: if the record's nest cannot be read.
        """
        from loopbook.client.reembed import nest_of

        if record.id not in self._nests:
            self._nests[record.id] = nest_of(record.nest_json, f"record {record.id}")
        return self._nests[record.id]

    def kinds(self, record: Record) -> frozenset[str]:
        """Names of the kinds of recipes that can be built for a record's nest.

        Raises:
            BookError: if the record's nest cannot be read.
        """
        from loopbook.moves import Surroundings
        from loopbook.moves.kinds import fitting

        if record.fingerprint not in self._kinds:
            around = Surroundings.of(record.hardware, record.target)
            self._kinds[record.fingerprint] = fitting(self.source(record), around)
        return self._kinds[record.fingerprint]

    def note_misses(self, fingerprints: Iterable[str], target: str) -> None:
        """Count in the own book that nothing was found for these; no book is made for that, and one
        that cannot be written is left alone."""
        for book in self.books[:1]:
            if book.readonly:
                return
            try:
                for fingerprint in fingerprints:
                    book.note_miss(fingerprint, target, self.hardware(target).key)
            except LoopbookError:
                return


def open_shelf(
    path: str | Path | None = None,
    *,
    starter: bool = True,
    encoder: Encoder | None = None,
    head: Head | None = None,
    without: Collection[str] = (),
) -> Shelf:
    """The user's book over the downloaded one, over the starter book, over that of the server which
    ``$LOOPBOOK_SERVER`` names. A book that is given by path takes the place of the user's and the
    downloaded one, and no server is asked.

    Args:
        path: the user's book, a file or database URL; default `own_path`, which need not exist.
        starter: False leaves the starter book out.
        encoder, head, without: see `Shelf`.

    What is damaged in a book is left out, and told once in a process on stderr.

    Raises:
        BookError: if `path` is given and there is no such book, or it cannot be opened.
    """
    from loopbook.recipes.book import Book

    books: list[Book] = []
    if path is not None:
        if "://" not in str(path) and not Path(path).exists():
            raise BookError(f"there is no book at {path}")
        books.append(Book.open(path))
    else:
        books += opened((own_path(), downloaded_path()))
    shipped = starter_path() if starter else None
    if shipped is not None:
        books += opened((shipped,), readonly=True)
    if path is None and os.environ.get(SERVER_VARIABLE):
        from loopbook.client.remote.layer import RemoteBook

        books.append(cast("Book", RemoteBook()))
    return Shelf(books, encoder, head=head, without=without)


@lru_cache(maxsize=1)
def _packaged_encoder() -> Encoder:
    from loopbook.embed.inference import Encoder

    return Encoder.load()


@lru_cache(maxsize=1)
def _packaged_head() -> Head | None:
    """None where there is no file: without it, the nearest neighbour is served."""
    from loopbook.predict.head import DEFAULT_PATH, Head

    return Head.load() if DEFAULT_PATH.exists() else None


def as_text(sdfg: Any) -> str:
    """The JSON text of an SDFG: docc's object, or text, which may come from anywhere."""
    if isinstance(sdfg, str):
        return admit(sdfg).text
    if hasattr(sdfg, "to_json"):
        return str(sdfg.to_json())
    raise SdfgError(f"a {type(sdfg).__name__} is no SDFG: give docc's object or its JSON text")
