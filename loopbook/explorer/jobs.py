"""What touches docc, or reads nests that somebody sent: done in a child process, job by job.

A job takes a request's JSON and gives an answer's; see `loopbook.explorer.answers`.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import msgspec

from loopbook.client.layered import LayeredBook
from loopbook.errors import InputError, LoopbookError
from loopbook.explorer import locate, record, states
from loopbook.explorer.answers import (
    CODE,
    LOCATE,
    MOST_BODY,
    RECORD,
    VECTORS,
    Answer,
    MissingError,
    refusal,
)
from loopbook.explorer.documents import Document
from loopbook.program.load import load_json
from loopbook.program.nests import read_nests

KEPT = 256
"""Answers that are given again, until the book changes."""

ID = re.compile(r"[0-9a-f]{32}\Z")


class Jobs:
    """The jobs, on one set of books.

    Args:
        layered: what is looked up in.
    """

    def __init__(self, layered: LayeredBook) -> None:
        self._layered = layered
        self._known: OrderedDict[tuple[str, bytes, str], Answer] = OrderedDict()
        self._jobs: dict[str, Callable[[dict[str, Any]], Document | dict[str, Any]]] = {
            RECORD: lambda given: record.record_page(layered, self._record(given)),
            CODE: lambda given: states.Walk(self._record(given)).code(),
            LOCATE: lambda given: locate.location(layered, given),
            VECTORS: self._vectors,
        }

    def do(self, job: str, body: bytes) -> Answer:
        """One job; never raises."""
        try:
            stamp = " ".join(book.stamp for book in self._layered.books)
            key = (job, body, stamp)
            if key not in self._known:
                self._known[key] = self._done(job, body)
                while len(self._known) > KEPT:
                    self._known.popitem(last=False)
            self._known.move_to_end(key)
            return self._known[key]
        except Exception as error:
            return refusal(error)

    def _done(self, job: str, body: bytes) -> Answer:
        if len(body) > MOST_BODY:
            raise InputError(f"that is more than {MOST_BODY >> 20} MiB")
        try:
            given = msgspec.json.decode(body)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise InputError(f"the request is no JSON: {error}") from None
        if not isinstance(given, dict):
            raise InputError("the request is no JSON object")
        return Answer(200, msgspec.json.encode(self._jobs[job](given)))

    def warm_up(self) -> None:
        """Load what takes long to load, so that nobody has to wait for that."""
        from loopbook import dependence

        dependence.load()
        for book in self._layered.books:
            for brief in book.page(limit=1):
                self.do(RECORD, msgspec.json.encode({"id": brief[0].id}))
        _ = self._layered.cost_model

    def _record(self, given: dict[str, Any]) -> Any:
        name = given.get("id")
        if not isinstance(name, str) or not ID.match(name):
            raise MissingError("a record's id is 32 hexadecimal digits")
        found = record.find(self._layered, name)
        if found is None:
            raise MissingError(f"there is no record {name}; it may have been removed")
        return found

    def _vectors(self, given: dict[str, Any]) -> dict[str, Any]:
        """Vectors of nests by fingerprint, from their documents; those that cannot be read are left
        out."""
        nests = {}
        for name, document in given["nests"].items():
            try:
                (nest,) = read_nests(load_json(document))
                nests[name] = nest
            except (LoopbookError, ValueError, LookupError, TypeError, RecursionError):
                continue
        made = self._layered.encoder.encode_many([*nests.values()]) if nests else []
        return {
            "encoder": self._layered.encoder.version,
            "vectors": {n: one.nest.tolist() for n, one in zip(nests, made, strict=True)},
        }
