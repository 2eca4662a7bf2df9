"""What an error means to a client: the status of the answer, and the figure that counts it."""

from __future__ import annotations

from collections.abc import Mapping

from loopbook.errors import (
    BookError,
    DeadlineError,
    IllegalStepError,
    InputError,
    LoopbookError,
    OverloadError,
    ShareError,
)
from loopbook.printable import one_line

DOCC = frozenset({"program", "nest"})
"""Jobs of docc's protocol. Its client goes on with its own schedule whenever it reads ``error``."""

UNEXPECTED = "something went wrong here"
"""What a client is told of an error that nobody expected; the log has the rest."""


class Refused(Exception):
    """A request that gets no farther.

    Args:
        status: of the response.
        words: what the client is told.
        headers: that the response has besides.
    """

    def __init__(self, status: int, words: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(words)
        self.status = status
        self.headers = dict(headers or headers_of(status) or {})


def status_of(error: Exception, *, docc: bool = False) -> int:
    """The status of the answer to a request that failed.

    Args:
        docc: the client is docc's, which need not ask again: of requests that are not at fault
            themselves, only those that were refused for lack of something get another status
            than 200.

    Returns:
        429 or 503 where asking again may help, 422 where it does not.
    """
    if isinstance(error, (InputError, RecursionError)):
        return 422
    if isinstance(error, ShareError):
        return 429
    if isinstance(error, (OverloadError, BookError)):
        return 503
    if docc:
        return 200
    return 503 if isinstance(error, DeadlineError) else 422


def headers_of(status: int) -> dict[str, str] | None:
    """The headers that go with a status."""
    return {"Retry-After": "1"} if status in (429, 503) else None


def cause_of(error: Exception) -> str:
    """What the figures call an error."""
    if isinstance(error, DeadlineError):
        return "deadline"
    if isinstance(error, BookError):
        return "book"
    if isinstance(error, OverloadError):
        return "overload"
    return "request" if isinstance(error, (InputError, IllegalStepError)) else "crash"


def words_of(error: Exception) -> str:
    """What the client is told, without what a terminal would obey."""
    if isinstance(error, (LoopbookError, RecursionError)):
        return one_line(error) or type(error).__name__
    return UNEXPECTED
