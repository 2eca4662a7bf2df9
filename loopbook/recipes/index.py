"""Finding the nests nearest to a vector, in a book's vectors of one encoder.

An exact (flat) FAISS index over unit-normalised vectors. It is derived from the database: kept
beside the book as ``<book>.faiss`` with a small ``<book>.faiss.json``, and rebuilt without a word
when it is missing, stale or damaged. Where it can't be written it lives in memory only.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from loopbook.recipes.store import Store

_VERSION = 1


def normalised(vectors: np.ndarray) -> np.ndarray:
    """Rows scaled to length 1, float32; rows of zeros stay zeros."""
    rows = np.atleast_2d(np.asarray(vectors, dtype=np.float32))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.ascontiguousarray(rows / np.where(lengths > 0, lengths, 1))


class VectorIndex:
    """Vectors with the fingerprints that they belong to.

    Args:
        fingerprints: one for each vector.
        vectors: shape ``(n, d)``, normalised.
    """

    def __init__(self, fingerprints: list[str], vectors: np.ndarray) -> None:
        self.fingerprints = fingerprints
        self._vectors = vectors
        self._faiss = _flat_index(vectors)

    def __len__(self) -> int:
        return len(self.fingerprints)

    @property
    def dimension(self) -> int:
        return self._vectors.shape[1]

    def search(self, vector: np.ndarray, k: int) -> tuple[list[str], list[float]]:
        """The ``k`` nearest, nearest first.

        Args:
            vector: shape ``(d,)``, of any length but 0.
            k: at most so many are returned.

        Returns:
            Fingerprints, and Euclidean distances between unit vectors: 0 (same direction) to 2.
        """
        k = min(k, len(self))
        if k == 0:
            return [], []
        query = normalised(vector)
        if self._faiss is not None:
            squares, rows = self._faiss.search(query, k)
            order, squares = rows[0], np.maximum(squares[0], 0)
        else:
            difference = self._vectors - query
            all_squares = np.einsum("ij,ij->i", difference, difference)
            order = np.argsort(all_squares, kind="stable")[:k]
            squares = all_squares[order]
        return [self.fingerprints[row] for row in order], np.sqrt(squares).tolist()

    def save(self, path: Path, encoder: str, stamp: str) -> None:
        """Keep the index beside the book; nothing happens where that is not possible."""
        data = self._vectors.astype("<f4").tobytes()
        if self._faiss is not None:
            data = _faiss().serialize_index(self._faiss).tobytes()
        about = {
            "version": _VERSION,
            "format": "faiss" if self._faiss is not None else "rows",
            "encoder": encoder,
            "stamp": stamp,
            "dimension": self.dimension,
            "fingerprints": self.fingerprints,
        }
        about["checksum"] = _checksum(about, data)
        # In any order and however interrupted: the checksum spans both files.
        with suppress(OSError):
            _replace(path, data)
            _replace(_about_path(path), json.dumps(about).encode())

    @classmethod
    def load(cls, path: Path, encoder: str, stamp: str) -> VectorIndex | None:
        """The index kept beside the book, or None if it is missing, stale or damaged."""
        try:
            about = json.loads(_about_path(path).read_bytes())
            data = path.read_bytes()
            # Only bytes that we wrote reach FAISS, whose reader trusts its input.
            good = (
                about["version"] == _VERSION
                and (about["encoder"], about["stamp"]) == (encoder, stamp)
                and about.pop("checksum") == _checksum(about, data)
            )
            if not good:
                return None
            shape = (len(about["fingerprints"]), about["dimension"])
            if about["format"] == "rows":
                vectors = np.frombuffer(data, dtype="<f4").reshape(shape).astype(np.float32)
                return cls(about["fingerprints"], vectors)
            faiss = _faiss()
            if faiss is None:
                return None
            index = faiss.deserialize_index(np.frombuffer(data, dtype=np.uint8))
            return cls(about["fingerprints"], index.reconstruct_n(0, shape[0]))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError):
            return None


def index_of(store: Store, encoder: str) -> VectorIndex:
    """The index over a book's vectors of one encoder: the one kept, else a new one."""
    path = None if store.path is None else store.path.with_name(store.path.name + ".faiss")
    if path is not None:
        kept = VectorIndex.load(path, encoder, store.stamp())
        if kept is not None:
            return kept
    stamp, fingerprints, vectors = store.vectors(encoder)
    index = VectorIndex(fingerprints, normalised(vectors))
    if path is not None and not store.readonly and fingerprints:
        index.save(path, encoder, stamp)
    return index


def _faiss() -> Any:
    """The FAISS library, or None where it is not installed: then NumPy searches."""
    try:
        return importlib.import_module("faiss")
    except ImportError:
        return None


def _flat_index(vectors: np.ndarray) -> Any:
    faiss = _faiss() if len(vectors) else None
    if faiss is None:
        return None
    index = faiss.IndexFlatL2(vectors.shape[1])
    index.add(vectors)
    return index


def _about_path(path: Path) -> Path:
    return path.with_name(path.name + ".json")


def _checksum(about: dict[str, Any], data: bytes) -> str:
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    digest.update(data)
    return digest.hexdigest()


def _replace(path: Path, data: bytes) -> None:
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.new")
    try:
        draft.write_bytes(data)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
