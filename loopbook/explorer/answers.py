"""Jobs by their names, and what is answered: also for processes that load nothing of docc.

What is wrong with a request is an answer, too: ``{"detail": "one sentence"}``, with a status as
HTTP has them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from loopbook.errors import DeadlineError, InputError, LoopbookError, OverloadError
from loopbook.printable import one_line

RECORD, CODE, LOCATE, VECTORS = "record", "code", "locate", "vectors"
"""All about a record; the C++ of its states; where code lands; vectors of nests."""

MOST_BODY = 8 << 20
"""Bytes of a request."""


class Answer(NamedTuple):
    status: int
    body: bytes


Ask = Callable[[str, bytes], Answer]
"""Has a job done, wherever that is; never raises."""


class MissingError(InputError):
    """There is no such thing."""


def refusal(error: Exception) -> Answer:
    """The answer to what went wrong; the words of errors that nobody expected stay here."""
    if isinstance(error, MissingError):
        status, words = 404, str(error)
    elif isinstance(error, (DeadlineError, OverloadError)):
        status, words = 503, str(error)
    elif isinstance(error, LoopbookError):
        status, words = 422, str(error)
    elif isinstance(error, RecursionError):
        status, words = 422, "it is nested too deeply"
    elif isinstance(error, MemoryError):
        status, words = 422, "it takes too much memory"
    else:
        status, words = 500, f"that failed ({type(error).__name__}); the book may be damaged"
    return Answer(status, msgspec.json.encode({"detail": one_line(words)}))
