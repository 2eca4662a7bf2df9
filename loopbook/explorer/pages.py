"""The pages of one set of books, but for those that `loopbook.explorer.jobs` works out."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path

import msgspec
import numpy as np

from loopbook.errors import LoopbookError
from loopbook.explorer.answers import VECTORS, Answer, Ask
from loopbook.explorer.catalogue import Catalogue, Shown
from loopbook.explorer.documents import About, Evaluation, Live, Location
from loopbook.explorer.layout import Layout, Layouts
from loopbook.explorer.live import live, misses
from loopbook.explorer.map import map_of
from loopbook.explorer.searches import trial_folders
from loopbook.recipes.book import Book
from loopbook.workloads.families import family_of

ALL = ("map", "locate", "record", "live", "evaluation")

MOST_MISSES = 500
"""That are on the map."""

FRESH_S = 1.0
"""For so long a live page is good for all who ask."""


class Pages:
    """Safe to share between threads.

    Args:
        books: the first one's queue and misses are shown.
        encoder: whose vectors the map is made of, where the books have any.
        ask: does jobs for vectors of misses; None leaves those without a place out.
        evaluations: folders that ``loopbook evaluate`` wrote to.
        read_only: nothing is kept but the map.
        patient: wait for the best projection.
    """

    def __init__(
        self,
        books: Sequence[Book],
        encoder: str,
        *,
        name: str = "",
        ask: Ask | None = None,
        evaluations: Sequence[Path] = (),
        read_only: bool = False,
        patient: bool = False,
    ) -> None:
        self.catalogue = Catalogue(books, encoder)
        self._name = name or " over ".join(book.name for book in books)
        self._ask = ask
        self._evaluations = tuple(evaluations)
        self._read_only = read_only
        self._patient = patient
        self._layouts: dict[str, Layouts] = {}
        self._laid: Shown | None = None
        self._lock = threading.Lock()
        self._drawn: tuple[object, bytes] | None = None
        self._seen: tuple[float, Live] | None = None
        self._vectors: dict[str, np.ndarray | None] = {}

    def close(self) -> None:
        for one in self._layouts.values():
            one.close()

    @property
    def own(self) -> Book | None:
        """The book whose queue is shown."""
        return self.catalogue.books[0] if self.catalogue.books else None

    def about(self, pages: Sequence[str] = ALL) -> About:
        """What is looked at."""
        shown = self.catalogue.shown()
        missed = len(self.own.misses()) if self.own else 0
        return About(
            version("loopbook"),
            self._name,
            len(shown.briefs),
            len({family_of(one.kernel) for one in shown.briefs}),
            len({one.hardware_id for one in shown.briefs}),
            missed,
            self._read_only,
            list(pages),
            {
                "map": ["loopbook book info", "loopbook ui"],
                "live": ["loopbook queue list", "loopbook farm status"],
                "evaluation": ["loopbook evaluate --quick --out evaluation"],
            },
        )

    def map(self) -> bytes:
        """The map as JSON, drawn again only after a change.

        Raises:
            BookError: a book cannot be read.
        """
        shown = self.catalogue.shown()
        missed = misses(self.own, shown)[:MOST_MISSES] if self.own else []
        with self._lock:
            told = [(one.id, one.asked, one.state) for one in missed]
            layout = self._layout(shown)
            state = (shown.stamps, id(layout), told)
            if self._drawn is None or self._drawn[0] != state:
                drawn = map_of(shown, layout, missed, partial(self._embedded, shown.encoder))
                self._drawn = state, drawn.json()
            return self._drawn[1]

    def _layout(self, shown: Shown) -> Layout:
        """Where the nests lie; whoever asks holds the lock."""
        encoder = shown.encoder
        if encoder not in self._layouts:
            names = self.catalogue.names
            self._layouts[encoder] = Layouts(names, encoder, patient=self._patient)
        layouts = self._layouts[encoder]
        if self._laid is not shown or layouts.now is None:
            prints = [one.fingerprint for one in shown.briefs]
            layouts.of(prints, partial(self.catalogue.vectors, encoder))
            self._laid = shown
        assert layouts.now is not None
        return layouts.now

    def placed(self, answer: Answer) -> Answer:
        """An answer of `loopbook.explorer.locate` with places on the map."""
        if answer.status != 200:
            return answer
        told = msgspec.json.decode(answer.body, type=Location)
        shown = self.catalogue.shown()
        with self._lock:
            layout = self._layout(shown)
        for nest in told.nests:
            vector, encoder = nest.vector, nest.encoder
            nest.vector = nest.encoder = msgspec.UNSET
            if isinstance(vector, list) and encoder == shown.encoder:
                place = layout.place(np.asarray([vector], np.float32))[0]
                nest.x, nest.y = (round(float(one), 4) for one in place)
            names = [str(one.fingerprint) for one in nest.neighbours]
            for one, place in zip(nest.neighbours, layout.places_of(names), strict=True):
                one.fingerprint = msgspec.UNSET
                if not np.isnan(place[0]):
                    one.x, one.y = (round(float(number), 4) for number in place)
        return Answer(200, told.json())

    def _embedded(self, encoder: str, prints: Sequence[str]) -> Mapping[str, np.ndarray]:
        """Vectors of missed nests, as far as the queue has their documents."""
        unknown = set(prints) - self._vectors.keys()
        if unknown and self._ask is not None and self.own is not None:
            queue = self.own.queue
            documents: dict[str, str] = {}
            for task in queue.latest(10_000):
                if task.fingerprint in unknown and task.fingerprint not in documents:
                    try:
                        documents[task.fingerprint] = queue.show(task.id)[1]
                    except LoopbookError:
                        continue
            given = {name: text for name, text in documents.items() if text}
            self._vectors |= dict.fromkeys(unknown)
            if given:
                self._vectors |= self._asked(self._ask, encoder, given)
        return {n: v for n in prints if (v := self._vectors.get(n)) is not None}

    def _asked(self, ask: Ask, encoder: str, documents: dict[str, str]) -> dict[str, np.ndarray]:
        answer = ask(VECTORS, msgspec.json.encode({"nests": documents}))
        if answer.status != 200:
            return {}
        told = msgspec.json.decode(answer.body)
        if told["encoder"] != encoder:
            return {}
        return {n: np.asarray(v, np.float32) for n, v in told["vectors"].items()}

    def live(self) -> Live:
        """What the farm is doing.

        Raises:
            BookError: the book cannot be read.
        """
        with self._lock:
            if self._seen is None or time.monotonic() - self._seen[0] > FRESH_S:
                own = self.own
                paths = [Path(own.name)] if own is not None and "://" not in own.name else []
                told = live(own, self.catalogue.shown(), trial_folders(paths))
                self._seen = time.monotonic(), told
            return self._seen[1]

    def evaluation(self) -> Evaluation:
        """What was evaluated."""
        from loopbook.explorer.evaluation import evaluation

        return evaluation(self._evaluations)


def changed(before: Live | None, now: Live) -> dict[str, bytes]:
    """The parts of a live page that are others than before, as JSON."""
    found = {}
    for part in ("queue", "tasks", "workers", "misses", "events", "searches"):
        value = msgspec.json.encode(getattr(now, part))
        if before is None or value != msgspec.json.encode(getattr(before, part)):
            found[part] = value
    if found:
        found["generated"] = msgspec.json.encode(now.generated)
    return found
