"""Vectors to places on a plane.

Places come from t-SNE (van der Maaten and Hinton, JMLR 2008; openTSNE, extra ``ui``) where that is
installed, else from the two principal axes. t-SNE sees at most `SAMPLE` vectors, evenly drawn:
ten thousand take about a minute of one core, and time grows faster than their number. The rest, and
whatever comes later, is placed by its neighbours among these. So a new point moves no other.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import numpy as np

SAMPLE = 10_000
"""Vectors that t-SNE sees at most."""

NEIGHBOURS = 5
"""That say where a point lies."""

PERPLEXITY = 30
EARLY, LATE = 150, 250
"""Iterations with clusters pulled together, and without."""

TSNE, PCA = "tsne", "pca"


def best() -> str:
    """The better method of those that are installed."""
    return TSNE if importlib.util.find_spec("openTSNE") is not None else PCA


def project(vectors: np.ndarray, method: str) -> np.ndarray:
    """Places of vectors, shape ``(n, d)`` to ``(n, 2)``, from -1 to 1."""
    if len(vectors) <= 3 * PERPLEXITY or method == PCA:
        return fitted(_principal(vectors))
    return fitted(_tsne(vectors))


def sample(count: int, most: int = SAMPLE) -> np.ndarray:
    """Which of so many vectors the projection is made of: all, or evenly drawn ones, always the
    same."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).choice(count, most, replace=False))


def placed(vectors: np.ndarray, known: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Where vectors lie by their nearest ones among `known`, shape ``(n, d)``, whose places are
    ``(n, 2)``: the nearer, the more it counts. A vector that is known lies where that does."""
    if not len(known) or not len(vectors):
        return np.zeros((len(vectors), 2), np.float32)
    import faiss

    count = min(NEIGHBOURS, len(known))
    squares, rows = faiss.knn(_units(vectors), _units(known), count)
    weights = 1.0 / (np.maximum(squares, 0.0) + 1e-9)
    weights /= weights.sum(axis=1, keepdims=True)
    return np.einsum("nk,nkd->nd", weights, places[rows]).astype(np.float32)


def fitted(places: np.ndarray) -> np.ndarray:
    """Places moved and scaled, the same in both directions, to lie within -1 and 1."""
    if not len(places):
        return np.zeros((0, 2), np.float32)
    low, high = places.min(axis=0), places.max(axis=0)
    half = max(float((high - low).max()) / 2, 1e-12)
    return np.clip((places - (low + high) / 2) / half, -1, 1).astype(np.float32)


def _principal(vectors: np.ndarray) -> np.ndarray:
    if not len(vectors):
        return np.zeros((0, 2))
    centred = vectors - vectors.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes[:, ::-1][:, :2]
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    flat = centred @ (axes * signs)  # an eigenvector's sign is anybody's choice
    return flat if flat.shape[1] == 2 else np.pad(flat, ((0, 0), (0, 1)))


def _tsne(vectors: np.ndarray) -> np.ndarray:
    import faiss
    from openTSNE import TSNEEmbedding, affinity, initialization, nearest_neighbors

    count = min(3 * PERPLEXITY, len(vectors) - 1)
    units = _units(vectors)
    squares, rows = faiss.knn(units, units, count + 1)
    distances = np.sqrt(np.maximum(squares[:, 1:], 0.0))
    near = nearest_neighbors.PrecomputedNeighbors(rows[:, 1:], distances)
    affinities = affinity.PerplexityBasedNN(
        knn_index=near, perplexity=min(PERPLEXITY, count // 3), n_jobs=1
    )
    first = initialization.rescale(np.asarray(_principal(units), float))
    places = TSNEEmbedding(first, affinities, n_jobs=1, random_state=0)
    places.optimize(n_iter=EARLY, exaggeration=12, momentum=0.5, inplace=True)
    places.optimize(n_iter=LATE, momentum=0.8, inplace=True)
    return np.asarray(places)


def _units(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.ascontiguousarray(vectors / np.maximum(lengths, 1e-12), np.float32)


def main(given: str, out: str) -> None:
    """``python -m loopbook.explorer.projection VECTORS.npy PLACES.npy``: t-SNE in a process of its
    own, which takes a minute and may be ended at any time."""
    os.nice(10)
    places = project(np.load(given), TSNE)
    partial = Path(out).with_suffix(".partial.npy")
    np.save(partial, places)
    partial.replace(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
