"""Rows of dataclasses in compressed Parquet files, with what it takes to trust such a file.

Needs pyarrow, the extra ``corpus``, which is imported at the first use.
"""

from __future__ import annotations

import fcntl
import io
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loopbook.errors import CorpusError

if TYPE_CHECKING:
    import pyarrow as pa

MARK = b"loopbook.corpus"
"""In a schema's metadata: the version of its columns."""

_ZSTD_LEVEL = 19
_TYPES = {"str": "string", "int": "int64", "float": "float64", "bool": "bool"}
_MAP = "dict[str, int]"


def schema_of(version: bytes, *kinds: type) -> pa.Schema:
    """One column for each field of these dataclasses: texts, numbers, truth values, or maps from
    text to whole numbers. Only fields that may be None may be null."""
    import pyarrow as pa

    columns = []
    for one in (one for kind in kinds for one in fields(kind)):
        name, _, nothing = str(one.type).partition(" | ")
        kind = pa.map_(pa.string(), pa.int64()) if name == _MAP else _TYPES[name]
        columns.append(pa.field(one.name, kind, nullable=nothing == "None"))
    return pa.schema(columns, metadata={MARK: version})


def table_of(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """Rows as a table; maps are dictionaries."""
    import pyarrow as pa

    arrays = {}
    for column in schema:
        values = [row[column.name] for row in rows]
        is_map = pa.types.is_map(column.type)
        arrays[column.name] = [list(value.items()) for value in values] if is_map else values
    return pa.table(arrays, schema=schema)


def rows_of(table: pa.Table) -> Iterator[dict[str, Any]]:
    """What `table_of` was given."""
    import pyarrow as pa

    maps = [column.name for column in table.schema if pa.types.is_map(column.type)]
    for batch in table.to_batches(max_chunksize=4096):
        for row in batch.to_pylist():
            yield {**row, **{name: dict(row[name]) for name in maps}}


def write(path: Path, table: pa.Table) -> None:
    """Replace a file as a whole: a full disk or a kill leaves the old one.

    Raises:
        CorpusError: if it cannot be written.
    """
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(
        table,
        buffer,
        compression="zstd",
        compression_level=_ZSTD_LEVEL,
        use_dictionary=True,
        write_page_checksum=True,
    )
    draft = path.with_name(f".{path.name}.new")
    try:
        with draft.open("wb") as file:
            file.write(buffer.getbuffer())
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise CorpusError(f"cannot write {path}: {error.strerror or error}") from None


def read(path: Path, schema: pa.Schema, chosen: Any = None) -> pa.Table:
    """A file of this schema, or those of its rows that the filter `chosen` lets through.

    Raises:
        CorpusError: it is damaged, or of another make or version.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        found = pq.read_schema(path)
        mark, version = (found.metadata or {}).get(MARK), schema.metadata[MARK]
        if mark is None or (mark == version and not found.equals(schema)):
            raise CorpusError(f"{path} is no file of a corpus")
        if mark != version:
            raise CorpusError(f"{path} was written by another version of loopbook")
        table = pq.read_table(path, filters=chosen, page_checksum_verification=True)
        table.validate(full=True)
        return table
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.strerror:
            raise CorpusError(f"cannot read {path}: {error.strerror}") from None
        raise CorpusError(f"{path} is damaged: restore it, or delete it and pack again") from None


def read_all(
    files: Sequence[Path], schema: pa.Schema, wanted: Mapping[str, str | Collection[str] | None]
) -> pa.Table:
    """Some files of this schema as one table.

    Args:
        wanted: by column the value, or one of the values, that rows must have; None: any.

    Raises:
        CorpusError: as `read`.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    chosen = None
    for column, values in wanted.items():
        if values is not None:
            listed = [values] if isinstance(values, str) else sorted(values)
            term = pc.field(column).isin(pa.array(listed, pa.string()))
            chosen = term if chosen is None else chosen & term
    return pa.concat_tables([read(file, schema, chosen) for file in files])


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Alone among those that pack into this folder, which is made if missing.

    Raises:
        CorpusError: if it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise CorpusError(f"cannot write {folder}: {error.strerror}") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
