"""Books as JSON lines, to carry between machines and to keep for long.

The first line says what the file is; each further one holds a record with its embeddings::

    {"loopbook": "book", "version": 1}
    {"record": {…}, "embeddings": [{…}]}

A file whose name ends in ``.gz`` is compressed.
"""

from __future__ import annotations

import gzip
import json
import os
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from loopbook import private
from loopbook.errors import BookError, InputError
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.record import MAX_NEST, Record

Check = Callable[[Record], None]
"""Looks at a record from outside, and raises `InputError` if it is not to be taken."""

HEADER = {"loopbook": "book", "version": 1}
_MAX_LINE = 4 * MAX_NEST
_MAX_EMBEDDINGS = 64


def write_lines(path: Path, items: Iterable[tuple[Record, Iterable[Embedding]]]) -> int:
    """Write a file, which appears complete or not at all.

    Returns:
        How many records were written.

    Raises:
        BookError: it can't be written.
    """
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.new")
    count = 0
    try:
        with _created(draft, path.suffix == ".gz") as file:
            file.write(line(HEADER))
            for record, embeddings in items:
                entry = {
                    "record": record.to_json(),
                    "embeddings": [embedding.to_json() for embedding in embeddings],
                }
                file.write(line(entry))
                count += 1
        os.replace(draft, path)
    except OSError as error:
        raise BookError(f"{path} can't be written: {error.strerror or error}") from error
    finally:
        if draft.exists():
            draft.unlink()
    return count


def read_lines(path: Path, check: Check | None = None) -> Iterator[tuple[Record, list[Embedding]]]:
    """Read a file line by line, trusting nothing in it.

    Raises:
        InputError: naming the first line that is wrong, or that `check` refuses.
        BookError: the file can't be read.
    """
    try:
        with _opened(path, path.suffix == ".gz") as file:
            header = _parsed(path, 1, file.readline(_MAX_LINE))
            if header != HEADER:
                raise InputError(f"{path} is no export of a book: line 1 should be {HEADER}")
            number = 1
            while text := file.readline(_MAX_LINE):
                number += 1
                yield _item(path, number, text, check)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InputError(f"{path} is cut short or damaged: export it again") from None
    except OSError as error:
        raise BookError(f"{path} can't be read: {error.strerror or error}") from error


def _item(
    path: Path, number: int, line: bytes, check: Check | None
) -> tuple[Record, list[Embedding]]:
    entry = _parsed(path, number, line)
    try:
        if not isinstance(entry, dict) or "record" not in entry:
            raise InputError("there is no record")
        embeddings = entry.get("embeddings", [])
        if not isinstance(embeddings, list) or len(embeddings) > _MAX_EMBEDDINGS:
            raise InputError(f"embeddings are a list of at most {_MAX_EMBEDDINGS}")
        record = Record.from_json(entry["record"])
        if check is not None:
            check(record)
        return record, [Embedding.from_json(one) for one in embeddings]
    except InputError as error:
        raise InputError(f"{path}, line {number}: {error}") from None


def _parsed(path: Path, number: int, line: bytes) -> object:
    # Without its end the line was cut, by the file's end or by the limit on its length.
    if not line.endswith(b"\n"):
        raise InputError(f"{path}, line {number}: it is cut short or longer than {_MAX_LINE} bytes")
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise InputError(f"{path}, line {number}: it is not JSON") from None


def line(entry: object) -> bytes:
    """One line of an export."""
    return json.dumps(entry, separators=(",", ":")).encode("ascii") + b"\n"


def _opened(path: Path, compressed: bool) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(path, "rb") if compressed else path.open("rb"))


@contextmanager
def _created(path: Path, compressed: bool) -> Iterator[IO[bytes]]:
    """A new file that only its owner reads: it tells what somebody has been working on."""
    with private.new_file(path) as file:
        if not compressed:
            yield file
            return
        with gzip.GzipFile(fileobj=file, mode="wb") as packed:
            yield cast("IO[bytes]", packed)
