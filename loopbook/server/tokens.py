"""Tokens: who may do what. Only a hash of each is kept, so that the database gives none away."""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa

from loopbook.errors import InputError
from loopbook.recipes._fields import check_text
from loopbook.recipes.connect import Database
from loopbook.server.tables import TOKENS

SCOPES = ("lookup", "contribute", "measure", "admin")
"""What a token may be good for; admin includes the others. ``measure`` is for machines of the
server's owner: what they measure decides what is served."""

PREFIX = "lb_"
_CACHED = 10_000


@dataclass(frozen=True)
class Token:
    """What is known of a token.

    Attributes:
        id: names it in lists and logs; says nothing about the token itself.
        scopes: some of `SCOPES`.
        created, expires, revoked: ISO 8601 in UTC; empty for never.
    """

    id: str
    name: str
    scopes: frozenset[str]
    created: str
    expires: str
    revoked: str

    def allows(self, scope: str) -> bool:
        """Whether it is good for `scope`, now."""
        return self.good and bool(self.scopes & {scope, "admin"})

    @property
    def good(self) -> bool:
        """Whether it is neither revoked nor has expired."""
        return not self.revoked and not (self.expires and self.expires <= _now())


class Tokens:
    """The tokens of one database. Safe to share between threads.

    Args:
        fresh_s: for how long, in seconds, to take what was read for true: a token that another
            process revokes is refused after that at the latest.
    """

    def __init__(self, database: Database, *, fresh_s: float = 1.0) -> None:
        self._database = database
        self._fresh_s = fresh_s
        self._known: dict[str, tuple[float, Token | None]] = {}
        self._lock = threading.Lock()

    def create(self, name: str, scopes: Collection[str], days: float | None = None) -> str:
        """A new token, which cannot be asked for again.

        Args:
            name: for people.
            days: after which it is good for nothing any more; None is never.

        Raises:
            InputError: there is no such scope, or the name is no name.
        """
        unknown = set(scopes) - set(SCOPES)
        if unknown or not scopes:
            raise InputError(f"a token's scopes are some of {', '.join(SCOPES)}")
        check_text(name, "a token's name", limit=128, empty=False)
        if days is not None and not 0 < days < 36_500:
            raise InputError("a token lasts for more than 0 days and at most 36500")
        token = PREFIX + secrets.token_urlsafe(32)
        expires = "" if days is None else _text(datetime.now(UTC) + timedelta(days=days))
        row = {
            "digest": _digest(token),
            "id": secrets.token_hex(4),
            "name": name,
            "scopes": " ".join(scope for scope in SCOPES if scope in scopes),
            "created": _now(),
            "expires": expires,
            "revoked": "",
        }
        with self._database.writing() as connection:
            connection.execute(sa.insert(TOKENS).values(row))
        return token

    def all(self) -> list[Token]:
        """All tokens, oldest first."""
        query = sa.select(TOKENS).order_by(TOKENS.c.created, TOKENS.c.id)
        with self._database.reading() as connection:
            return [_of(row) for row in connection.execute(query)]

    def revoke(self, name: str) -> int:
        """Make tokens worthless for good.

        Args:
            name: an id, a name that tokens were given, or a token itself.

        Returns:
            How many were revoked.
        """
        named = (TOKENS.c.id == name) | (TOKENS.c.name == name) | (TOKENS.c.digest == _digest(name))
        change = sa.update(TOKENS).where(named & (TOKENS.c.revoked == "")).values(revoked=_now())
        with self._database.writing() as connection:
            count = connection.execute(change).rowcount
        with self._lock:
            self._known.clear()
        return count

    def recalled(self, token: str) -> tuple[bool, Token | None]:
        """Whether what was read of a token is fresh enough, and what that was. Never waits."""
        at, found = self._known.get(_digest(token), (0.0, None))
        return time.monotonic() - at < self._fresh_s and at > 0, found

    def find(self, token: str) -> Token | None:
        """What is known of a token; None if it never was one.

        Raises:
            BookError: the database does not answer.
        """
        digest = _digest(token)
        fresh, found = self.recalled(token)
        if fresh:
            return found
        with self._database.reading() as connection:
            row = connection.execute(sa.select(TOKENS).where(TOKENS.c.digest == digest)).first()
        found = None if row is None else _of(row)
        with self._lock:
            if len(self._known) >= _CACHED:
                self._known.clear()
            self._known[digest] = (time.monotonic(), found)
        return found


def _digest(token: str) -> str:
    # A token is random and long: it needs no salt, and no slow hash.
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _of(row: sa.Row) -> Token:
    scopes = frozenset(str(row.scopes).split())
    return Token(row.id, row.name, scopes, row.created, row.expires, row.revoked)


def _now() -> str:
    return _text(datetime.now(UTC))


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
