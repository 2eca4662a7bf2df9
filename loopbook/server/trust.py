"""What a measurement by a machine that the server's owner trusts does to a record.

Nothing that a contributor says gets a record served: not its figures, and not that others say the
same, since whoever has two tokens can say it twice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.record import LOSES, Measurement, Record

GAINS = 1.02
"""A recipe that is less than this much faster may as well gain nothing."""

BROKEN = frozenset({"illegal", "wrong", "crash", "compiler", "error"})
"""Failures that are the recipe's fault on any machine."""

PROMOTE, REJECT, RETURN, KEEP = "promote", "reject", "return", "keep"
"""A record that waits is promoted or rejected, one that is served returned to the quarantine; or
all stays as it is."""

OWNER = "owner"
"""Who has judged where no token was needed."""

FIELD = "field"
"""Who has judged where it was those who use a recipe."""


@dataclass(frozen=True)
class Judgement:
    """What a trusted machine has found out about a record.

    Attributes:
        status: "ok", one of `BROKEN`, "hang", "memory" or "unmeasured".
        hardware: the machine.
        measurement: what it measured there; None for a failure.
        message: why it failed.
        by: id of the token that it came with.
    """

    status: str
    hardware: HardwareProfile
    measurement: Measurement | None = None
    message: str = ""
    by: str = OWNER

    @property
    def speedup(self) -> float:
        """Over docc's own compile; 0 for a failure."""
        return 0.0 if self.measurement is None else self.measurement.speedup

    def decision(self, record: Record, *, served: bool) -> str:
        """What follows for a record.

        Args:
            served: it is in the book, not in quarantine.
        """
        same = record.hardware.key == self.hardware.key
        out = RETURN if served else REJECT
        if self.status in BROKEN:
            return out
        if self.status != "ok":
            return KEEP
        # What gains nothing here may well do so on another kind of machine.
        if served:
            return out if same and self.speedup < LOSES else KEEP
        if self.speedup > GAINS:
            return PROMOTE
        return out if same else KEEP

    def measured(self, record: Record) -> Record:
        """The record with this measurement, and this machine, in place of what it claims."""
        assert self.measurement is not None
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return replace(
            record,
            hardware=self.hardware,
            measurements=(self.measurement,),
            provenance=replace(record.provenance, date=now),
        )
