"""Books in layers, to look nests up in as if they were one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

from loopbook import targets
from loopbook.client import packaged
from loopbook.client.asked import sdfg_text
from loopbook.client.damaged import asked
from loopbook.client.near import Filter, Nearest
from loopbook.client.neighbours import Neighbours, NestsNeighbours, nest_name
from loopbook.client.sources import Sources
from loopbook.client.wants import Wants
from loopbook.display import brief, table
from loopbook.errors import LoopbookError
from loopbook.program.load import load_json
from loopbook.program.nests import read_nests
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.layer import Kernels, Layer, Neighbour, excludes
from loopbook.recipes.record import Record
from loopbook.recipes.reports import LOST
from loopbook.recipes.tasks import Wanted

if TYPE_CHECKING:
    from loopbook.client.sizes import Trips
    from loopbook.client.sketch import Sketch
    from loopbook.client.sources import Bodies
    from loopbook.embed.inference import Encoder
    from loopbook.predict.cost_model import CostModel
    from loopbook.program.nest import Nest
    from loopbook.recipes.book import Book

PER_NEST = 2
"""Records of one nest, with different recipes, among the neighbours."""


class LayeredBook:
    """Layers of books, the encoder that makes nests comparable, and this machine's profile.

    ::

        with loopbook.open("my.db") as book:      # over the starter book
            book.nearest(kernel, k=3)

    It is a layer itself (`loopbook.recipes.layer.Layer`), and finds besides what it is asked about
    programs.

    Args:
        layers: what is looked up in, the user's own book first.
        encoder: default the one that comes with loopbook.
        cost_model: what predicts speedups; default the one that comes with loopbook where the
            encoder is its own, else none.
        without: fingerprints of nests whose records are left out, as if nobody had tuned them.
        lent: those of the layers that others use as well.

    Attributes:
        profile: the machine that recipes are for; None for this one.
    """

    def __init__(
        self,
        layers: Sequence[Layer],
        encoder: Encoder | None = None,
        *,
        cost_model: CostModel | None = None,
        without: Collection[str] = (),
        lent: Sequence[Layer] = (),
    ) -> None:
        self.layers = tuple(layers)
        self._lent = tuple(lent)
        self._encoder = encoder
        self._cost_model = cost_model
        self.without = frozenset(without)
        self.profile: HardwareProfile | None = None
        self._nearest = Nearest(self.layers, follow=encoder is None)
        self._sources = Sources()
        self._wants = Wants()
        self.fits: dict[tuple[str, str], Any] = {}
        self.candidates: dict[tuple[Any, ...], Any] = {}

    def __enter__(self) -> LayeredBook:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return brief(self, self.name or "without layers")

    def _repr_html_(self) -> str:
        at_hand = {id(book): book for book in self.books}
        rows = [
            (layer.name, at_hand[id(layer)].summary() if id(layer) in at_hand else "")
            for layer in self.layers
        ]
        return table(("layer", "records"), rows, "Layers of books, the first one first")

    def close(self) -> None:
        """Close the layers, but for those that are lent."""
        for layer in self.layers:
            if layer not in self._lent:
                layer.close()

    @property
    def books(self) -> tuple[Book, ...]:
        """The layers that lie at hand, whose every record can be read."""
        from loopbook.recipes.book import Book

        found: list[Book] = []
        for layer in self.layers:
            if isinstance(layer, LayeredBook):
                found += layer.books
            elif isinstance(layer, Book):
                found.append(layer)
        return tuple(found)

    @property
    def name(self) -> str:
        """The layers' names, for people."""
        return " over ".join(layer.name for layer in self.layers)

    @property
    def readonly(self) -> bool:
        """Whether the first layer, which is written to, takes nothing."""
        return not self.layers or self.layers[0].readonly

    @property
    def damage(self) -> tuple[str, ...]:
        """What was left out of the layers' answers."""
        return tuple(line for layer in self.layers for line in layer.damage)

    @property
    def encoder(self) -> Encoder:
        return self._encoder or packaged.encoder()

    @property
    def cost_model(self) -> CostModel | None:
        """What predicts speedups of recipes ported from neighbours; None where none was trained
        with this book's encoder."""
        if self._cost_model is not None or self._encoder is not None:
            return self._cost_model
        cost_model = packaged.cost_model()
        return (
            cost_model
            if cost_model is not None and cost_model.encoder == self.encoder.version
            else None
        )

    def hardware(self, target: str) -> HardwareProfile:
        """The machine that recipes for `target` are for: `profile`, else this one as programs for
        the target use it (not measured)."""
        if self.profile is not None:
            return self.profile
        from loopbook.client.hardware import local_profile

        return local_profile(targets.named(target).threads, measured=False)

    def shifts(self, target: str, *, fresh: bool = True) -> dict[str, float]:
        """What reports have changed, on machines like the one that recipes are for; see
        `loopbook.recipes.book.Book.shifts`. Only books that can be written to have any."""
        found: dict[str, float] = {}
        for book in self.books:
            if not book.readonly:
                told = partial(book.shifts, self.hardware(target).key, fresh=fresh)
                found |= asked(book, told) or {}
        return found

    def forget(self) -> None:
        """Drop what has been found out about nests that were looked up."""
        self.fits.clear()
        self.candidates.clear()

    # -- look-up --------------------------------------------------------------------------------

    @overload
    def nearest(
        self,
        query: Embedding | Nest,
        k: int = 5,
        *,
        target: str = targets.DEFAULT,
        hardware: HardwareProfile | None = None,
        exclude: Kernels = None,
        without: Collection[str] = (),
        steps: Collection[str] = (),
        per_nest: int = PER_NEST,
    ) -> Neighbours: ...

    @overload
    def nearest(
        self,
        query: Any,
        k: int = 5,
        *,
        arguments: Sequence[Any] = (),
        target: str = targets.DEFAULT,
        hardware: HardwareProfile | None = None,
        exclude: Kernels = None,
        without: Collection[str] = (),
        steps: Collection[str] = (),
        per_nest: int = PER_NEST,
    ) -> NestsNeighbours: ...

    def nearest(
        self,
        query: Any,
        k: int = 5,
        *,
        arguments: Sequence[Any] = (),
        target: str = targets.DEFAULT,
        hardware: HardwareProfile | None = None,
        exclude: Kernels = None,
        without: Collection[str] = (),
        steps: Collection[str] = (),
        per_nest: int = PER_NEST,
    ) -> Any:
        """The `k` records nearest to a nest, or to each nest of a program, nearest first (see
        `Neighbour.rank`).

        ::

            with loopbook.open() as book:
                book.nearest(kernel)                         # a function, decorated or not
                book.nearest(kernel, arguments=(A, B, C))    # where its text does not say its types
                book.nearest("kernel.py")                    # a workload file, which is run

        Args:
            query: a Python function; the path of a workload file (``FILE.py`` or ``FILE.py:FUNC``)
                or of an SDFG (``FILE.json``); an SDFG as docc's object or JSON text; a `Nest`, or
                the embedding of one.
            arguments: of a function. Without, those that it was compiled for last, else what
                `loopbook.frontend.samples` reads from its text.
            hardware: the machine that recipes are for; default what `hardware` says.
            exclude: kernels whose records are left out.
            without: fingerprints of nests that are left out, besides our own.
            steps: only records with recipes that hold one of these steps.
            per_nest: at most so many records of one nest.

        Returns:
            `Neighbours` for a nest, a list; `NestsNeighbours`, a list of these, for a program.

        Raises:
            InputError: if there is no such file, or nobody knows what a function is called with.
            SdfgError: if it is no usable SDFG.
            BookError: if a book cannot be read.
        """
        from loopbook.program.nest import Nest

        wanted = Filter(
            target,
            hardware or self.hardware(target),
            exclude,
            self.without.union(without),
            steps,
            per_nest,
        )
        if isinstance(query, Embedding):
            return Neighbours(self._near(query, "", k, wanted))
        if isinstance(query, Nest):
            near = self._near(self.encoder.encode(query), query.fingerprint, k, wanted)
            return Neighbours(near, nest_name(query))
        from loopbook.sdfg import program as programs

        _, nests = programs.prepare_nests(sdfg_text(query, arguments))
        embeddings = self.encoder.encode_many(nests)
        return NestsNeighbours(
            Neighbours(self._near(embedding, nest.fingerprint, k, wanted), nest_name(nest))
            for nest, embedding in zip(nests, embeddings, strict=True)
        )

    def neighbours(
        self,
        nest: Nest,
        embedding: Embedding,
        k: int = 5,
        target: str = targets.DEFAULT,
        exclude: Kernels = None,
        steps: Collection[str] = (),
    ) -> list[Neighbour]:
        """`nearest` for a nest that is embedded already."""
        hardware = self.hardware(target)
        wanted = Filter(target, hardware, exclude, self.without, steps, PER_NEST)
        return self._near(embedding, nest.fingerprint, k, wanted)

    def exact(self, fingerprint: str, target: str, hardware_key: str | None = None) -> list[Record]:
        """All records of a nest for a target, the fastest first."""
        if fingerprint in self.without:
            return []
        found = {
            record.id: record
            for layer in self.layers
            for record in asked(layer, layer.exact, fingerprint, target, hardware_key) or ()
        }
        shifts = self.shifts(target, fresh=False)
        served = (record for record in found.values() if shifts.get(record.id) != LOST)
        return sorted(served, key=lambda record: -record.speedup)

    def records_of(
        self,
        nest: Nest,
        target: str,
        exclude: Kernels = None,
        trips: Trips = MappingProxyType({}),
    ) -> list[Record]:
        """Records of this very nest, as `loopbook.client.machines.ranked` has them.

        Args:
            trips: of the nest at that size, as far as they are known.
        """
        from loopbook.client.machines import ranked

        if nest.fingerprint in self.without:
            return []
        left_out = excludes(exclude)
        found = [
            (place, record)
            for place, layer in enumerate(self.layers)
            for record in asked(layer, layer.exact, nest.fingerprint, target) or ()
            if not left_out(record.kernel)
        ]
        if not found:
            return []
        shifts = self.shifts(target, fresh=False)
        served = [one for one in found if shifts.get(one[1].id) != LOST]
        return ranked(served, self.hardware(target), trips, shifts)

    def has_own(self, nest: Nest, target: str, exclude: Kernels = None) -> bool:
        """Whether the first layer, if it takes records, has some of this very nest."""
        if self.readonly or nest.fingerprint in self.without:
            return False
        left_out, own = excludes(exclude), self.layers[0]
        records = asked(own, own.exact, nest.fingerprint, target) or ()
        return any(not left_out(record.kernel) for record in records)

    def _near(
        self, embedding: Embedding, fingerprint: str, k: int, wanted: Filter
    ) -> list[Neighbour]:
        shifts = self.shifts(wanted.target)
        return self._nearest(self.encoder, embedding, fingerprint, k, wanted, shifts)

    def without_embedding(self, encoder: str) -> Iterator[tuple[str, str]]:
        """Fingerprint and JSON of each nest that an encoder has yet to embed."""
        for layer in self.layers:
            yield from layer.without_embedding(encoder)

    def source(self, record: Record) -> Nest:
        """The nest that a record is about; see `Sources.nest`."""
        return self._sources.nest(record)

    def sketches(self, records: Sequence[Record]) -> list[Sketch]:
        """What planning wants to know of the records' nests; see `Sources.sketches`."""
        return self._sources.sketches(records, self.books)

    def bodies(self, record: Record, source: Sketch) -> Bodies:
        """The features of a record's nest with and without its recipe; see `Sources.bodies`."""
        return self._sources.bodies(record, source)

    def note_miss(
        self, fingerprint: str, target: str, hardware_key: str, *, wanted: Wanted | None = None
    ) -> None:
        """Count in the first layer that a nest was asked for in vain; with what is `wanted` of it,
        it becomes a task of that book's queue."""
        if not self.readonly:
            self.layers[0].note_miss(fingerprint, target, hardware_key, wanted=wanted)

    def note_misses(
        self,
        text: str | None,
        missed: Collection[str],
        target: str,
        sizes: Mapping[str, int] | None = None,
    ) -> None:
        """Note in the own book that nothing was found for these nests of a program, to have them
        tuned; no book is made for that, and one that cannot be written is left alone.

        Args:
            text: the prepared program; None where there is none to take nests from.
            missed: fingerprints.
            sizes: values of the program's size symbols, as far as they are known.
        """
        if self.readonly or not missed:
            return
        with suppress(LoopbookError):
            nests = [] if text is None else read_nests(load_json(text))
            wanted = {} if text is None else self._wants.of(text, nests, missed, sizes or {})
            for one in missed:
                self.note_miss(one, target, self.hardware(target).key, wanted=wanted.get(one))
