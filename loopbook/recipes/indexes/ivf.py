"""Inverted lists: vectors in cells around k-means centres, of which a query looks into the nearest.

The "inverted file" of Jégou, Douze and Schmid, Product Quantization for Nearest Neighbor Search
(TPAMI 2011), by FAISS (Douze et al., The Faiss library, 2024). Vectors are kept as half-precision
floats: half the memory of float32, yet distances good enough to answer without a second look.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
from typing import Any, ClassVar

import numpy as np

from loopbook.recipes.indexes.flat import nearest
from loopbook.recipes.indexes.kind import Blocks, Mask

_POINTS_PER_CELL = 40
_ROUNDS = 8
_MOST_CELLS = 8192
_EXACT = 1024
"""Up to so many rows that pass a mask are all compared: as fast as probing, and loses none."""
_BATCH = 1000
_ASKED = 10
_PROBES = (16, 24, 32, 48, 64, 96, 128, 192, 256)
_RECALL = 0.998
_TRIALS = 100


class Ivf:
    """A FAISS ``IndexIVFScalarQuantizer`` over half-precision floats.

    Args:
        index: with cells trained.
        probes: how many cells a search for ten looks into.
    """

    name: ClassVar[str] = "ivf"

    def __init__(self, index: Any, probes: int) -> None:
        self._index = index
        self.probes = probes
        index.make_direct_map(True)
        self._centres = index.quantizer.reconstruct_n(0, index.nlist)
        self._lengths = np.einsum("ij,ij->i", self._centres, self._centres)

    @classmethod
    def build(cls, blocks: Blocks, count: int, seed: int = 0) -> Ivf:
        """Train on a sample, then add all.

        There are ``4 √count`` cells, so that finding the nearest cells and looking into them
        grow alike; but no more than :data:`_MOST_CELLS`, for the time to build. How many cells to
        probe is measured on the vectors themselves: the fewest that find :data:`_RECALL` of the
        ten nearest.
        """
        cells = max(1, min(round(4 * math.sqrt(count)), count // 8, _MOST_CELLS))
        index = _empty(_sample(blocks, count, cells * _POINTS_PER_CELL, seed), cells)
        for block in blocks():
            index.add(np.ascontiguousarray(block, np.float32))
        built = cls(index, _PROBES[-1])
        built.probes = built._probes_needed(seed)
        return built

    def __len__(self) -> int:
        return self._index.ntotal

    @property
    def dimension(self) -> int:
        return self._index.d

    @property
    def cells(self) -> int:
        return self._index.nlist

    def add(self, vectors: np.ndarray) -> None:
        self._index.add(np.ascontiguousarray(vectors, np.float32))

    def search(self, query: np.ndarray, k: int, mask: Mask | None) -> tuple[np.ndarray, np.ndarray]:
        if mask is not None:
            return self._search_masked(query, min(k, mask.count), mask)
        k, probes = min(k, len(self)), self._probes_for(k)
        while True:
            probes = min(probes, self.cells)
            squares, rows = self._probe(query, k, probes)
            if probes == self.cells or rows[-1] >= 0:
                return squares, rows
            probes *= 4

    def _search_masked(
        self, query: np.ndarray, k: int, mask: Mask
    ) -> tuple[np.ndarray, np.ndarray]:
        """Looks into the nearest cells that hold rows let through.

        It stops where the geometric mean of the rows let through and of all rows, in the cells so
        far, is as many as a search without a mask compares. Measured on a million vectors: where
        one row in a hundred passes, drawn evenly, that loses no recall against all cells at a
        tenth of the time that it takes to compare as many rows; where a mask empties some cells
        and leaves others whole, it compares as many, which recall needs there.
        """
        if k == 0:
            return np.zeros(0, np.float32), np.zeros(0, np.int64)
        if mask.count <= max(_EXACT, 4 * k):
            return nearest(self._vectors(mask.numbers), mask.numbers, query, k)
        passing, held = self._counts(mask)
        cells = np.flatnonzero(passing)
        far = self._lengths - 2 * (self._centres @ query)
        cells = cells[np.argsort(far[cells])]
        passed, seen = np.cumsum(passing[cells]), np.cumsum(held[cells])
        compared = self._probes_for(k) * len(self) / self.cells
        enough = 1 + max(
            int(np.searchsorted(np.sqrt(passed * seen), compared)),
            int(np.searchsorted(passed, 4 * k)),
        )
        return self._look_into(cells[:enough], query, k, mask)

    def _counts(self, mask: Mask) -> tuple[np.ndarray, np.ndarray]:
        """How many rows of each cell a mask lets through, and how many there are."""
        counts = mask.memo.get(id(self))
        if counts is None:
            cell_of_row = _faiss().vector_to_array(self._index.direct_map.array) >> 32
            counts = np.zeros((2, self.cells))
            counts[0] = np.bincount(cell_of_row[mask.rows], minlength=self.cells)
            counts[1] = np.bincount(cell_of_row, minlength=self.cells)
            mask.memo[id(self)] = counts
        return counts[0], counts[1]

    def _probes_for(self, k: int) -> int:
        return math.ceil(self.probes * max(1.0, k / _ASKED) ** 0.5)

    def _look_into(
        self, cells: np.ndarray, query: np.ndarray, k: int, mask: Mask
    ) -> tuple[np.ndarray, np.ndarray]:
        faiss = _faiss()
        only = faiss.IDSelectorBitmap(mask.bits)
        how = faiss.SearchParametersIVF(nprobe=len(cells), sel=only)
        cells = np.ascontiguousarray(cells, np.int64)
        far, squares = np.zeros(len(cells), np.float32), np.zeros(k, np.float32)
        rows = np.zeros(k, np.int64)
        given = [faiss.swig_ptr(array) for array in (cells, far, squares, rows)]
        query = np.ascontiguousarray(query, np.float32)
        self._index.search_preassigned_c(1, faiss.swig_ptr(query), k, *given, False, how)
        return squares, rows

    def arrays(self) -> dict[str, list[np.ndarray]]:
        faiss = _faiss()
        lists = self._index.invlists
        sizes = np.array([lists.list_size(cell) for cell in range(self.cells)], "<i8")
        parts: dict[str, list[np.ndarray]] = {
            "probes": [np.array([self.probes], "<i8")],
            "centres": [self._centres.astype("<f4", copy=False)],
            "sizes": [sizes],
            "numbers": [],
            "codes": [],
        }
        for cell, size in enumerate(sizes.tolist()):
            if size:
                numbers = faiss.rev_swig_ptr(lists.get_ids(cell), size)
                codes = faiss.rev_swig_ptr(lists.get_codes(cell), size * self._index.code_size)
                parts["numbers"].append(numbers)
                parts["codes"].append(codes)
        return parts

    @classmethod
    def of_arrays(cls, arrays: dict[str, np.ndarray], dimension: int) -> Ivf:
        faiss = _faiss()
        centres = np.array(arrays["centres"], np.float32).reshape(-1, dimension)
        index = _index(faiss, centres)
        sizes, width = arrays["sizes"], index.code_size
        ends = np.cumsum(sizes)
        if len(sizes) != len(centres) or len(arrays["codes"]) != width * len(arrays["numbers"]):
            raise ValueError("the lists don't fit together")
        for cell, (end, size) in enumerate(zip(ends.tolist(), sizes.tolist(), strict=True)):
            numbers = np.ascontiguousarray(arrays["numbers"][end - size : end], np.int64)
            codes = np.ascontiguousarray(arrays["codes"][width * (end - size) : width * end])
            if size:
                index.invlists.add_entries(
                    cell, size, faiss.swig_ptr(numbers), faiss.swig_ptr(codes)
                )
        index.ntotal = len(arrays["numbers"])
        return cls(index, int(arrays["probes"][0]))

    def _probe(self, query: np.ndarray, k: int, probes: int) -> tuple[np.ndarray, np.ndarray]:
        how = _faiss().SearchParametersIVF(nprobe=probes)
        squares, rows = self._index.search(query[None], k, params=how)
        return squares[0], rows[0]

    def _vectors(self, numbers: np.ndarray) -> np.ndarray:
        numbers = np.ascontiguousarray(numbers, np.int64)
        # For more than a thousand FAISS starts threads, which cost more than they save.
        parts = [
            self._index.reconstruct_batch(numbers[start : start + _BATCH])
            for start in range(0, len(numbers), _BATCH)
        ]
        return np.concatenate(parts)

    def _probes_needed(self, seed: int) -> int:
        rng = np.random.default_rng(seed)
        chosen = rng.choice(len(self), min(_TRIALS, len(self)), replace=False)
        queries = self._vectors(chosen)
        # Each finds itself, which shows nothing: one more is asked for, and that one left out.
        k = min(_ASKED + 1, len(self))
        true = [set(self._probe(q, k, self.cells)[1].tolist()) for q in queries]
        for probes in _PROBES:
            kept = 0
            for query, wanted in zip(queries, true, strict=True):
                kept += len(wanted & set(self._probe(query, k, probes)[1].tolist())) - 1
            if probes >= self.cells or kept >= _RECALL * len(queries) * (k - 1):
                return probes
        return _PROBES[-1]


def available() -> bool:
    """Whether FAISS is installed."""
    return importlib.util.find_spec("faiss") is not None


def _faiss() -> Any:
    return importlib.import_module("faiss")


def _index(faiss: Any, centres: np.ndarray) -> Any:
    quantizer = faiss.IndexFlatL2(centres.shape[1])
    quantizer.add(centres)
    half = faiss.ScalarQuantizer.QT_fp16
    index = faiss.IndexIVFScalarQuantizer(
        quantizer, centres.shape[1], len(centres), half, faiss.METRIC_L2, False
    )
    # FAISS would keep a bare pointer, and Python free what it points to.
    quantizer.this.disown()
    index.own_fields = True
    index.is_trained = True
    return index


def _empty(sample: np.ndarray, cells: int) -> Any:
    faiss = _faiss()
    means = faiss.Kmeans(
        sample.shape[1],
        cells,
        niter=_ROUNDS,
        seed=1,
        min_points_per_centroid=1,
        max_points_per_centroid=10 * _POINTS_PER_CELL,
    )
    means.train(sample)
    return _index(faiss, means.centroids)


def _sample(blocks: Blocks, count: int, wanted: int, seed: int) -> np.ndarray:
    """Rows drawn evenly from all blocks."""
    rng = np.random.default_rng(seed)
    parts: list[np.ndarray] = []
    for block in blocks():
        share = min(len(block), math.ceil(len(block) * wanted / count))
        parts.append(np.asarray(block[rng.choice(len(block), share, replace=False)], np.float32))
    return np.ascontiguousarray(np.concatenate(parts))
