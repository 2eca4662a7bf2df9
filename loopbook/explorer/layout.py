"""Where the nests of books lie on the map: projected once for a book and an encoder, and kept.

What is kept is a file in this machine's cache: the places of all nests seen so far, and the
landmarks that they were placed by. Nests that came later are placed by the landmarks; when they
outnumber these by half, the map is made anew. Until t-SNE, in a process of its own, has its places,
those of the principal axes are served.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from loopbook import private
from loopbook.explorer import projection
from loopbook.explorer.projection import PCA, TSNE
from loopbook.recipes.folders import cache_folder

Vectors = Callable[[Sequence[str] | None], tuple[list[str], np.ndarray]]
"""Names and vectors, shape ``(n, d)``, of some nests, or of all there are."""

VERSION = 1
SECONDS = 900.0
"""For t-SNE; a machine that takes longer keeps the principal axes."""


@dataclass(frozen=True)
class Layout:
    """Places of nests.

    Attributes:
        names: of nests, sorted, as bytes.
        places: theirs, shape ``(n, 2)``.
        landmarks, landmark_places: vectors that others are placed by, and where they lie.
    """

    method: str
    names: np.ndarray
    places: np.ndarray
    landmarks: np.ndarray
    landmark_places: np.ndarray

    def places_of(self, names: Sequence[str]) -> np.ndarray:
        """Shape ``(n, 2)``; NaN where a nest has no place."""
        found = np.full((len(names), 2), np.nan, np.float32)
        if not len(self.names) or not names:
            return found
        asked = _packed(names)
        rows = np.minimum(np.searchsorted(self.names, asked), len(self.names) - 1)
        there = self.names[rows] == asked
        found[there] = self.places[rows[there]]
        return found

    def place(self, vectors: np.ndarray) -> np.ndarray:
        """Where nests lie that are not in the book, shape ``(n, d)`` to ``(n, 2)``."""
        return projection.placed(vectors, self.landmarks, self.landmark_places)

    def with_more(self, names: Sequence[str], vectors: np.ndarray) -> Layout:
        """The layout with nests that came later."""
        if not names:
            return self
        packed = np.concatenate([self.names, _packed(names)])
        places = np.concatenate([self.places, self.place(vectors)])
        order = np.argsort(packed, kind="stable")
        return Layout(
            self.method, packed[order], places[order], self.landmarks, self.landmark_places
        )


class Layouts:
    """The layout of one set of books. Safe to share between threads.

    Args:
        books: their names.
        patient: wait for t-SNE, instead of serving the principal axes until it is done.
        method: of those in `loopbook.explorer.projection`; default the best that is installed.
    """

    def __init__(
        self,
        books: Iterable[str],
        encoder: str,
        *,
        patient: bool = False,
        method: str | None = None,
    ) -> None:
        told = json.dumps([VERSION, encoder, *books])
        name = hashlib.sha256(told.encode()).hexdigest()[:32]
        self._path = cache_folder() / "maps" / f"{name}.npz"
        self._patient = patient
        self._method = method or projection.best()
        self._lock = threading.Lock()
        self._now: Layout | None = None
        self._maker: threading.Thread | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False

    def of(self, names: Sequence[str], vectors: Vectors) -> Layout:
        """A layout in which every one of these nests lies that has a vector."""
        with self._lock:
            now = self._now or _read(self._path)
            missing = [] if now is None else _missing(now, names)
            few = now is not None and 2 * len(missing) <= max(len(now.landmarks), 64)
            if now is not None and few:
                if missing:
                    more = vectors(missing)
                    if more[0]:
                        now = now.with_more(*more)
                        _write(self._path, now)
            else:
                now = self._made(*vectors(None))
            self._now = now
            return now

    @property
    def now(self) -> Layout | None:
        """The latest; another one once t-SNE is done."""
        return self._now

    def close(self) -> None:
        """End what is being worked out; it is begun again by the next process."""
        self._closed = True
        if self._process is not None:
            self._process.kill()
        if self._maker is not None:
            self._maker.join(10)

    def _made(self, names: list[str], vectors: np.ndarray) -> Layout:
        chosen = projection.sample(len(names))
        landmarks = np.ascontiguousarray(vectors[chosen])
        wanted = self._method
        first = wanted if self._patient or len(chosen) <= 200 else PCA
        places = None
        if first == TSNE:
            places = self._apart(landmarks)
        if places is None:
            first, places = PCA, projection.project(landmarks, PCA)
        made = _complete(first, names, vectors, chosen, places)
        if first == wanted or self._patient:
            _write(self._path, made)
        elif self._maker is None:
            self._maker = threading.Thread(
                target=self._make_later, args=(names, vectors, chosen), name="loopbook map"
            )
            self._maker.daemon = True
            self._maker.start()
        return made

    def _make_later(self, names: list[str], vectors: np.ndarray, chosen: np.ndarray) -> None:
        places = self._apart(np.ascontiguousarray(vectors[chosen]))
        if places is not None:
            made = _complete(TSNE, names, vectors, chosen, places)
            _write(self._path, made)
            with self._lock:
                self._now = made
        self._maker = None

    def _apart(self, landmarks: np.ndarray) -> np.ndarray | None:
        """t-SNE in a process of its own; None where that fails."""
        with tempfile.TemporaryDirectory() as folder:
            given, out = Path(folder) / "given.npy", Path(folder) / "out.npy"
            np.save(given, landmarks)
            command = [sys.executable, "-m", projection.__name__, str(given), str(out)]
            if self._closed:
                return None
            null = subprocess.DEVNULL
            # Threads that wait for work would keep cores from those who have some.
            environment = os.environ | {"OMP_NUM_THREADS": "1"}
            self._process = subprocess.Popen(
                command, stdin=null, stdout=null, stderr=null, env=environment
            )
            try:
                self._process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            if self._process.returncode or not out.exists():
                return None
            places = np.load(out)
            return places if places.shape == (len(landmarks), 2) else None


def _complete(
    method: str, names: list[str], vectors: np.ndarray, chosen: np.ndarray, places: np.ndarray
) -> Layout:
    """The layout of all nests, of which some are landmarks."""
    packed = _packed(names)
    landmarks = np.ascontiguousarray(vectors[chosen])
    order = np.argsort(packed[chosen], kind="stable")
    made = Layout(method, packed[chosen][order], places[order], landmarks, places)
    rest = np.setdiff1d(np.arange(len(names)), chosen, assume_unique=True)
    return made.with_more([names[row] for row in rest], vectors[rest])


def _missing(layout: Layout, names: Sequence[str]) -> list[str]:
    """The nests that have no place yet, each once."""
    homeless = np.isnan(layout.places_of(names)[:, 0])
    return sorted({names[row] for row in np.flatnonzero(homeless).tolist()})


def _packed(names: Sequence[str]) -> np.ndarray:
    if not names:
        return np.empty(0, "S1")
    try:
        return np.array(names, "S")
    except UnicodeEncodeError:
        return np.array([name.encode("utf-8", "surrogatepass") for name in names])


def _read(path: Path) -> Layout | None:
    try:
        with np.load(path, allow_pickle=False) as file:
            found = Layout(
                str(file["method"]),
                *(file[name] for name in ("names", "places", "landmarks", "landmark_places")),
            )
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    whole = len(found.names) == len(found.places) and len(found.landmarks) == len(
        found.landmark_places
    )
    return found if whole and np.isfinite(found.places).all() else None


def _write(path: Path, layout: Layout) -> None:
    """Keep it; nothing happens where that is not possible."""
    with suppress(OSError):
        private.make_folders(path.parent)
        partial = path.with_name(f".{path.stem}.{threading.get_ident()}.npz")
        np.savez(
            partial,
            method=np.array(layout.method),
            names=layout.names,
            places=layout.places,
            landmarks=layout.landmarks,
            landmark_places=layout.landmark_places,
        )
        partial.replace(path)
