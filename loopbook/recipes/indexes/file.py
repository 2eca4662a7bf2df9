"""Arrays in one file: it appears whole or not at all, and damage to it shows.

``magic, length of the header, header as JSON, zeros, arrays at multiples of 64 bytes, CRC-32``. A
hash that stands up to forgers would take longer than loading; who can forge the index can forge
the book beside it.
"""

from __future__ import annotations

import json
import os
import struct
import uuid
import zlib
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from loopbook import private

_MAGIC = b"LPBKIX2\n"
_LENGTH = struct.Struct("<Q")
_ALIGN = 64
_SUM = struct.Struct("<I")


def write(path: Path, about: dict[str, Any], arrays: dict[str, list[np.ndarray]]) -> None:
    """Replace the file in one go.

    Args:
        about: anything that JSON can hold.
        arrays: for each name parts of equal type that follow one another; shapes are not kept.

    Raises:
        OSError: it can't be written; the old one stands.
    """
    listed = [
        [name, parts[0].dtype.str if parts else "<u1", sum(part.nbytes for part in parts)]
        for name, parts in arrays.items()
    ]
    header = json.dumps({"about": about, "arrays": listed}).encode()
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.new")
    try:
        with private.new_file(draft) as file:
            body = _Summing(file)
            body.write(_MAGIC + _LENGTH.pack(len(header)) + header)
            for parts in arrays.values():
                body.pad()
                for part in parts:
                    body.write(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)
            file.write(_SUM.pack(body.sum))
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What :func:`write` was given; the arrays are mapped into memory, read-only.

    Raises:
        OSError: there is no such file.
        ValueError: it is damaged, or is something else.
    """
    # An empty file can't be mapped, which NumPy says with a ValueError.
    data = np.memmap(path, np.uint8, mode="r").view(np.ndarray)
    start = len(_MAGIC) + _LENGTH.size
    end = len(data) - _SUM.size
    if end < start or data[: len(_MAGIC)].tobytes() != _MAGIC:
        raise ValueError("it is no index")
    if _SUM.pack(zlib.crc32(data[:end].data)) != data[end:].tobytes():
        raise ValueError("its checksum differs")
    (length,) = _LENGTH.unpack(data[len(_MAGIC) : start].tobytes())
    if length > end - start:
        raise ValueError("it is cut short")
    header = json.loads(data[start : start + length].tobytes())
    place, arrays = start + length, {}
    for name, kind, size in header["arrays"]:
        place += -place % _ALIGN
        if place + size > end:
            raise ValueError("it is cut short")
        arrays[name] = data[place : place + size].view(kind)
        place += size
    return header["about"], arrays


class _Summing:
    """Writes to a file and sums what it writes."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.sum = self.written = 0

    def write(self, data: bytes | memoryview) -> None:
        self._file.write(data)
        self.sum = zlib.crc32(data, self.sum)
        self.written += len(data)

    def pad(self) -> None:
        self.write(bytes(-self.written % _ALIGN))
