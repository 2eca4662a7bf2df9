"""What the queue of work has to know of nests asked for in vain, from whoever has the program."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence

from loopbook.program.load import load_json
from loopbook.program.nest import Nest
from loopbook.program.trips import iterations, trip_counts
from loopbook.recipes.tasks import MOST_COST_S, MOST_NEST, Wanted
from loopbook.sdfg.program import cut_from

MOST_OF_ONE = 4
"""Nests of one program, those that run longest."""

LONGEST = 1 << 20
"""Characters of a program whose nests are written out; to write them takes time in which somebody
waits for the answer."""

REMEMBERED = 50_000
"""Nests that one is known to have told of."""

ITERATION_S = 1e-9
"""What one iteration of an innermost loop is taken to cost."""


class Wants:
    """Tells of each nest once."""

    def __init__(self) -> None:
        self._told: OrderedDict[str, None] = OrderedDict()

    def of(
        self, text: str, nests: Sequence[Nest], missed: Collection[str], sizes: Mapping[str, int]
    ) -> dict[str, Wanted]:
        """By fingerprint, those missed nests of a prepared program that cost most and were not told
        of.

        Args:
            text: the program's SDFG as JSON text.
            sizes: values of its size symbols, as far as they are known or taken for granted.
        """
        new = {n.fingerprint: n for n in nests if n.fingerprint in missed}
        new = {name: nest for name, nest in new.items() if name not in self._told}
        if not new or len(text) > LONGEST:
            return {}
        costs = {
            name: ITERATION_S * (iterations(nest, trip_counts(nest, sizes)) or 0)
            for name, nest in new.items()
        }
        document = load_json(text)
        found = {}
        for name in sorted(new, key=lambda one: -costs[one])[:MOST_OF_ONE]:
            self._remember(name)
            nest = cut_from(document, new[name])
            if len(nest) <= MOST_NEST:
                own = {one: sizes[one] for one in new[name].symbols if one in sizes}
                found[name] = Wanted(nest, own, min(costs[name], MOST_COST_S))
        return found

    def _remember(self, name: str) -> None:
        self._told[name] = None
        if len(self._told) > REMEMBERED:
            self._told.popitem(last=False)
