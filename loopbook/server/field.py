"""What follows on a server from reports of how recipes did where they ran.

Reports come from those who use the recipes: from strangers, that is. They never get a record
served; what they can do, if enough of them agree, is to have it measured again. It is not served
meanwhile, at least not on the class of machines that they speak about.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence

from loopbook.errors import OverloadError
from loopbook.recipes.book import Book
from loopbook.recipes.record import Record
from loopbook.recipes.reports import LOST, Report, Taken, Voice
from loopbook.recipes.standing import VOICES
from loopbook.recipes.tasks import REMEASURE, Ask
from loopbook.server.quarantine import Quarantine

ANONYMOUS = "anonymous"
"""All who have no token are one voice: an address costs nothing."""

UNKNOWN, WITHDRAWN = "unknown", "withdrawn"
"""What becomes of a report, besides that it counts: the record is not served, or not any more from
now on."""

MOST_DOUBLED = 5
"""Each time that the reports which withdrew a record were refuted, it takes twice as many voices to
withdraw it again; after so many times more than one record can have."""


class FieldReports:
    """Takes reports, and withdraws what loses.

    Args:
        layers: what is served, the book that can be written first.
    """

    def __init__(self, layers: Sequence[Book], quarantine: Quarantine) -> None:
        self._layers = layers
        self._own = layers[0]
        self._quarantine = quarantine

    def take_all(self, reports: Sequence[Report], voice: Voice) -> list[str]:
        """What became of each.

        Raises:
            OverloadError: the voice has spoken about too many records, or all together have.
        """
        return [self._take(one, voice) for one in reports]

    def _take(self, report: Report, voice: Voice) -> str:
        found = (layer.record(report.record) for layer in self._layers)
        record = next((one for one in found if one is not None), None)
        if record is None or not record.recipe.steps:
            return UNKNOWN
        if self._own.shifts(report.hardware_key).get(record.id) == LOST:
            # Whoever withdrew it may have been cut short.
            self._return(record, report.hardware_key, "loses where it ran")
            return UNKNOWN
        taken = self._own.reports.take(report, record, voice, lambda: self._least(record))
        if not taken.lost:
            return taken.status
        self._withdraw(record, report.hardware_key, taken)
        return WITHDRAWN

    def _least(self, record: Record) -> int:
        times = min(self._quarantine.withdrawn_before(record.id), MOST_DOUBLED)
        return VOICES << times

    def _withdraw(self, record: Record, hardware_key: str, taken: Taken) -> None:
        """Have a record that loses measured again. One of the server's own book goes back to
        quarantine, if it is about that class of machines; others are passed over there."""
        speedup = math.exp(taken.standing.posterior.mean)
        why = f"{taken.standing.voices} voices: {speedup:.2f}× where it ran, on {hardware_key}"
        # Asked for first: whatever happens in between, the record is measured again.
        ask = Ask(REMEASURE, record.fingerprint, record.target, hardware_key, record.id)
        with contextlib.suppress(OverloadError):  # the quarantine says it, too
            self._own.queue.ask(ask)
        self._return(record, hardware_key, why)

    def _return(self, record: Record, hardware_key: str, why: str) -> None:
        if record.hardware.key == hardware_key and self._quarantine.withdraw(record, why):
            self._own.reports.forget(record.id)
