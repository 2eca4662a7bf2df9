"""What workers have told of nests that were asked for in vain, until it is written down
(`loopbook.client.wants`)."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from loopbook.errors import InputError
from loopbook.recipes.tasks import Wanted
from loopbook.server.latest import Latest

HELD = 32 << 20
"""Characters of nests that wait to be written down."""


class Told:
    """The server's side: what workers have told, until it is written down."""

    def __init__(self) -> None:
        self._held: Latest[Wanted] = Latest(HELD)

    def take(self, told: Mapping[str, Any]) -> None:
        """What a worker has told. docc has worked on a stranger's program there: what makes no
        sense is left out."""
        for name, one in told.items():
            with contextlib.suppress(InputError):
                wanted = Wanted.from_json(one)
                self._held.put(name.encode(), wanted, len(wanted.document))

    def get(self, fingerprint: str) -> Wanted | None:
        """What is known of a nest."""
        return self._held.get(fingerprint.encode())
