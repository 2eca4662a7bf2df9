"""Looks at records that others have made, before they get into a book of one's own."""

from __future__ import annotations

from loopbook.errors import InputError, SdfgError
from loopbook.recipes.record import Record
from loopbook.sdfg.untrusted import admit


def check_record(record: Record) -> None:
    """Refuse a record whose nest is not let in (see `loopbook.sdfg.untrusted`).

    Raises:
        InputError: it is not.
    """
    try:
        admit(record.nest_json)
    except SdfgError as error:
        raise InputError(f"record {record.id}: {error}") from None
