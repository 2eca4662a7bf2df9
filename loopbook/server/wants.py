"""What the queue of work has to know of nests that were asked for in vain: from a worker, which has
the program, to the server, which writes misses down."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from loopbook.errors import InputError
from loopbook.program.load import load_json
from loopbook.program.nest import Nest
from loopbook.program.trips import iterations, trip_counts
from loopbook.recipes.tasks import MOST_COST_S, MOST_NEST, Wanted
from loopbook.sdfg.program import cut_from
from loopbook.server.latest import Latest

MOST_OF_ONE = 4
"""Nests of one program, those that run longest."""

LONGEST = 1 << 20
"""Characters of a program whose nests are written out; to write them takes time in which somebody
waits for the answer."""

REMEMBERED = 50_000
"""Nests that a worker knows to have told of."""

HELD = 32 << 20
"""Characters of nests that wait to be written down."""

ITERATION_S = 1e-9
"""What one iteration of an innermost loop is taken to cost."""


class Wants:
    """A worker's side: tells of each nest once."""

    def __init__(self) -> None:
        self._told: Latest[bool] = Latest(REMEMBERED)

    def of(
        self, text: str, nests: Sequence[Nest], missed: Collection[str], sizes: Mapping[str, int]
    ) -> dict[str, dict[str, Any]]:
        """`Wanted` as JSON, by fingerprint, for those missed nests of a prepared program that cost
        most and were not told of.

        Args:
            text: the program's SDFG as JSON text.
            sizes: values of its size symbols, as far as they are known or taken for granted.
        """
        new = {n.fingerprint: n for n in nests if n.fingerprint in missed}
        new = {name: n for name, n in new.items() if self._told.get(name.encode()) is None}
        if not new or len(text) > LONGEST:
            return {}
        costs = {
            name: ITERATION_S * (iterations(nest, trip_counts(nest, sizes)) or 0)
            for name, nest in new.items()
        }
        document = load_json(text)
        found = {}
        for name in sorted(new, key=lambda one: -costs[one])[:MOST_OF_ONE]:
            self._told.put(name.encode(), True, 1)
            nest = cut_from(document, new[name])
            if len(nest) <= MOST_NEST:
                own = {one: sizes[one] for one in new[name].symbols if one in sizes}
                cost = min(costs[name], MOST_COST_S)
                found[name] = Wanted(nest, own, cost).to_json()
        return found


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
