"""The vectors of a nest, as the encoder makes them and the book stores them.

Plain arrays: nothing here knows how they come about.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import Any

import numpy as np

from loopbook.display import brief, counted
from loopbook.errors import InputError
from loopbook.recipes import _fields

MAX_DIMENSION = 4096
MAX_PARTS = 1024


@dataclass(frozen=True, eq=False)
class Embedding:
    """One vector for the nest, and one for each of its loops and containers.

    Args:
        encoder: name and version of what made it; vectors of two encoders can't be compared.
        nest: shape ``(d,)``; stored as float32, as are the others.
        loops: shape ``(n, d)``, row i belongs to ``loop_names[i]``.
        containers: shape ``(m, d)``, row i belongs to ``container_names[i]``.
        loop_names: such as ``("L0", "L1")``.
        container_names: such as ``("A0", "A1")``.

    Raises:
        InputError: shapes and names don't fit together.
    """

    encoder: str
    nest: np.ndarray
    loops: np.ndarray
    containers: np.ndarray
    loop_names: tuple[str, ...]
    container_names: tuple[str, ...]

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        for name in ("nest", "loops", "containers"):
            values = np.asarray(getattr(self, name), dtype=np.float32)
            set_field(self, name, np.ascontiguousarray(values))
        set_field(self, "loop_names", tuple(self.loop_names))
        set_field(self, "container_names", tuple(self.container_names))
        _fields.check_text(self.encoder, "an embedding's encoder", limit=128, empty=False)
        if self.nest.ndim != 1 or not 1 <= self.nest.size <= MAX_DIMENSION:
            raise InputError(f"an embedding's nest vector has shape {self.nest.shape}, not (d,)")
        for what, rows, names in (
            ("loop", self.loops, self.loop_names),
            ("container", self.containers, self.container_names),
        ):
            if rows.shape != (len(names), self.nest.size):
                raise InputError(
                    f"an embedding's {what} vectors have shape {rows.shape}, "
                    f"not {(len(names), self.nest.size)}"
                )
            if len(names) > MAX_PARTS:
                raise InputError(f"an embedding has at most {MAX_PARTS} {what} vectors")
            for name in names:
                _fields.check_text(name, f"an embedding's {what} name", limit=64)

    @property
    def dimension(self) -> int:
        """Length d of each vector."""
        return self.nest.size

    def is_finite(self) -> bool:
        """Whether no vector holds NaN or infinity."""
        return all(np.isfinite(rows).all() for rows in (self.nest, self.loops, self.containers))

    def __repr__(self) -> str:
        loops, arrays = len(self.loop_names), len(self.container_names)
        parts = f"{counted(loops, 'loop')}, {counted(arrays, 'array')}"
        return brief(self, f"by {self.encoder}: {self.dimension} numbers, {parts}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Embedding):
            return NotImplemented
        return self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]

    def to_json(self) -> dict[str, Any]:
        """A JSON object without loss: vectors as base64 of little-endian float32."""
        return {
            "encoder": self.encoder,
            "dimension": self.dimension,
            "nest": _encoded(self.nest),
            "loops": _encoded(self.loops),
            "containers": _encoded(self.containers),
            "loop_names": list(self.loop_names),
            "container_names": list(self.container_names),
        }

    @classmethod
    def from_json(cls, obj: object) -> Embedding:
        """Read what :meth:`to_json` wrote.

        Raises:
            InputError: it is no such object, or holds NaN or infinity.
        """
        what = "an embedding"
        fields = _fields.mapping(obj, what)
        dimension = _fields.integer(fields, "dimension", what)
        if not 1 <= dimension <= MAX_DIMENSION:
            raise InputError(f"{what}'s dimension is from 1 to {MAX_DIMENSION}")
        loop_names = _names(fields, "loop_names")
        container_names = _names(fields, "container_names")
        done = cls(
            _fields.text(fields, "encoder", what, limit=128),
            _decoded(fields, "nest", dimension, 1)[0],
            _decoded(fields, "loops", dimension, len(loop_names)),
            _decoded(fields, "containers", dimension, len(container_names)),
            loop_names,
            container_names,
        )
        if not done.is_finite():
            raise InputError(f"{what} holds NaN or infinity")
        return done


def to_bytes(rows: np.ndarray) -> bytes:
    """Little-endian float32, row by row: the same bytes on every machine."""
    return rows.astype("<f4").tobytes()


def from_bytes(data: bytes, rows: int, dimension: int) -> np.ndarray:
    """Undo :func:`to_bytes`; shape ``(rows, dimension)``.

    Raises:
        InputError: another number of bytes.
    """
    if len(data) != 4 * rows * dimension:
        raise InputError(f"vectors of {len(data)} bytes are not {rows!r} by {dimension!r} numbers")
    return np.frombuffer(data, dtype="<f4").reshape(rows, dimension).astype(np.float32)


def _encoded(rows: np.ndarray) -> str:
    return base64.b64encode(to_bytes(rows)).decode("ascii")


def _decoded(fields: dict[str, Any], key: str, dimension: int, rows: int) -> np.ndarray:
    what = "an embedding"
    encoded = _fields.text(fields, key, what, limit=8 * MAX_PARTS * MAX_DIMENSION)
    try:
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise InputError(f"{what}: {key} is no base64 text") from None
    return from_bytes(data, rows, dimension)


def _names(fields: dict[str, Any], key: str) -> tuple[str, ...]:
    names = _fields.items(fields, key, "an embedding", limit=MAX_PARTS)
    if not all(isinstance(name, str) for name in names):
        raise InputError(f"an embedding: {key} is a list of strings")
    return tuple(names)
