"""Reports of how recipes did where they ran, in the book's own database.

A row holds all that one voice has said of one record on one class of hardware: a sum and a count.
So reports do not make the table grow, only voices do, and these are limited for each record, each
voice and in all. What follows from the reports (`loopbook.recipes.standing`) is kept beside them;
where it changes what is served, the book gets a new stamp, and who serves from it looks again.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import msgspec
import sqlalchemy as sa

from loopbook.errors import InputError, OverloadError
from loopbook.recipes import _log
from loopbook.recipes._data import Data, Name
from loopbook.recipes._rows import readable
from loopbook.recipes._task_rows import CLOCK
from loopbook.recipes.hardware import ISAS
from loopbook.recipes.record import Record
from loopbook.recipes.schema import REPORTS, STANDINGS
from loopbook.recipes.standing import VOICES, Opinion, Standing, clipped, standing

if TYPE_CHECKING:
    from loopbook.recipes.connect import Database

SHORTEST_S, LONGEST_S = 1e-8, 1e5
"""Times that a run may take, as in records that are contributed."""

MOST_VOICES = 64
"""Of one record on one class of hardware; the one that has been silent longest makes room for a
new one."""

MOST_COUNT = 10_000
"""Reports of one voice about one record that are counted: enough to say what there is to say."""

MOST_OF_ONE = 10_000
"""Records that one voice may speak about, each class of hardware counted by itself."""

MOST = 1_000_000
"""Rows of all voices together."""

MOVES = 0.05
"""A shift that changes by less, in logarithms, changes nothing that is served."""

CALM_S = 600.0
"""Seconds in which a record's shift changes once at most: with each change, servers forget the
answers that they have ready. A record is withdrawn at once."""

LOST = -math.inf
"""The shift of a record that is not served."""

COUNTED, FULL = "counted", "full"
"""What becomes of a report: it counts, or the voice has said enough about that record."""

_MILLIONTH = 1e6

_KEY = re.compile(rf"(?:{'|'.join(ISAS)})-[1-9][0-9]{{0,5}}t-[0-9a-f]{{8}}")

Time = Annotated[float, msgspec.Meta(ge=SHORTEST_S, le=LONGEST_S)]


@dataclass(frozen=True)
class Report(Data):
    """How a recipe did once, where it ran.

    Attributes:
        record: id of the record that it is from.
        hardware_key: class of the machine; see `loopbook.recipes.hardware.HardwareProfile.key`.
        reference_s: seconds with docc's own schedule.
        time_s: seconds with the recipe.

    Raises:
        InputError: a field is over its limits.
    """

    what = "a report"

    record: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{32}\Z")]
    hardware_key: Name
    reference_s: Time
    time_s: Time

    def __post_init__(self) -> None:
        super().__post_init__()
        if not _KEY.fullmatch(self.hardware_key):
            raise InputError(f"{self.what}: hardware_key is no class of hardware")
        if self.others:
            raise InputError(f"{self.what} has members that nobody knows")

    @property
    def log_speedup(self) -> float:
        return math.log(self.reference_s / self.time_s)


class Taken(NamedTuple):
    """What became of a report.

    Attributes:
        status: `COUNTED` or `FULL`.
        lost: the record loses on that class of hardware, and is not served there any more.
    """

    status: str
    lost: bool
    standing: Standing


class Voice(NamedTuple):
    """Who reports.

    Attributes:
        name: the same for whoever is the same one.
        trusted: it is a machine of the owner's.
    """

    name: str
    trusted: bool = False


class Reports:
    """The reports of one book. Safe to share between threads and with other processes.

    Errors of the database are `BookError`; the methods name only what comes on top.

    Args:
        clock: seconds since 1970; default the database's own.
    """

    def __init__(self, database: Database, clock: Callable[[], float] | None = None) -> None:
        self._database = database
        self._clock = clock
        self._present = False

    def take(
        self,
        report: Report,
        record: Record,
        voice: Voice,
        least: Callable[[], int] = lambda: VOICES,
    ) -> Taken:
        """Count a report, for good once this returns.

        Args:
            record: that it is about.
            least: how many voices it takes to withdraw the record.

        Raises:
            InputError: it is about another record.
            OverloadError: the voice, or all together, have spoken about too many records.
        """
        if report.record != record.id:
            raise InputError("a report is about another record")
        self._prepare()
        of_record = (REPORTS.c.record == record.id) & (
            REPORTS.c.hardware_key == report.hardware_key
        )
        with self._database.writing() as connection:
            now = self._now(connection)
            status = self._count(connection, of_record, report, voice, now)
            rows = connection.execute(sa.select(REPORTS).where(of_record)).all()
            with readable(self._database.name):
                opinions = [_opinion(row) for row in rows]
            elsewhere = record.hardware.key != report.hardware_key
            log_speedup = math.log(record.speedup)
            found = standing(log_speedup, opinions, elsewhere=elsewhere)
            lost = found.loses and found.voices >= least()
            self._keep(connection, record, report.hardware_key, found.shift, lost, now)
        return Taken(status, lost, found)

    def shifts(self) -> dict[tuple[str, str], float]:
        """Record id and class of hardware to what to add to the record's log speedup there; `LOST`
        where it is not to be served."""
        if not self._there_are():
            return {}
        with self._database.reading() as connection:
            rows = connection.execute(sa.select(STANDINGS)).all()
        # SQLite keeps whatever it was given, damage included.
        return {
            (row.record, row.hardware_key): LOST if row.lost else row.shift
            for row in rows
            if isinstance(row.shift, float) and math.isfinite(row.shift)
        }

    def opinions(self, record_id: str) -> dict[str, list[Opinion]]:
        """Class of hardware to what the voices say of a record there."""
        found: dict[str, list[Opinion]] = {}
        if self._there_are():
            query = sa.select(REPORTS).where(REPORTS.c.record == record_id)
            with self._database.reading() as connection, readable(self._database.name):
                for row in connection.execute(query):
                    found.setdefault(row.hardware_key, []).append(_opinion(row))
        return found

    def forget(self, record_id: str) -> int:
        """Drop all that was said of a record; returns of how many voices."""
        if not self._there_are():
            return 0
        with self._database.writing() as connection:
            own = sa.delete(REPORTS).where(REPORTS.c.record == record_id)
            count = connection.execute(own).rowcount
            stood = sa.delete(STANDINGS).where(STANDINGS.c.record == record_id)
            if connection.execute(stood).rowcount:
                _log.note(connection, (), ())
        return count

    def _count(
        self,
        connection: sa.Connection,
        of_record: sa.ColumnElement[bool],
        report: Report,
        voice: Voice,
        now: float,
    ) -> str:
        """Put a report into its voice's row."""
        own = of_record & (REPORTS.c.voice == voice.name)
        told = round(clipped(report.log_speedup) * _MILLIONTH)
        row = connection.execute(sa.select(REPORTS).where(own)).first()
        if row is not None:
            if row.times >= MOST_COUNT:
                return FULL
            changes = {
                "total": REPORTS.c.total + told,
                "times": REPORTS.c.times + 1,
                "trusted": int(voice.trusted),
                "changed": now,
            }
            connection.execute(sa.update(REPORTS).where(own).values(changes))
            return COUNTED
        self._make_room(connection, of_record, voice)
        new = {
            "record": report.record,
            "hardware_key": report.hardware_key,
            "voice": voice.name,
            "trusted": int(voice.trusted),
            "total": told,
            "times": 1,
            "changed": now,
        }
        connection.execute(sa.insert(REPORTS).values(new))
        return COUNTED

    def _make_room(
        self, connection: sa.Connection, of_record: sa.ColumnElement[bool], voice: Voice
    ) -> None:
        def count(*which: sa.ColumnElement[bool]) -> int:
            query = sa.select(sa.func.count()).select_from(REPORTS).where(*which)
            return connection.execute(query).scalar_one()

        if count(REPORTS.c.voice == voice.name) >= MOST_OF_ONE:
            raise OverloadError("you have reported about too many records")
        if count(of_record) >= MOST_VOICES:
            silent = sa.select(REPORTS.c.voice).where(of_record)
            silent = silent.order_by(REPORTS.c.changed, REPORTS.c.voice).limit(1)
            gone = of_record & (REPORTS.c.voice == connection.scalar(silent))
            connection.execute(sa.delete(REPORTS).where(gone))
        elif count() >= MOST:
            raise OverloadError("there are too many reports already")

    def _keep(
        self,
        connection: sa.Connection,
        record: Record,
        hardware_key: str,
        shift: float,
        lost: bool,
        now: float,
    ) -> None:
        """Write down what follows, if it is anything new. What is lost stays lost until it is
        forgotten."""
        own = (STANDINGS.c.record == record.id) & (STANDINGS.c.hardware_key == hardware_key)
        row = connection.execute(sa.select(STANDINGS).where(own)).first()
        if row is not None and row.lost:
            return
        if not lost:
            before, at = (0.0, -math.inf) if row is None else (row.shift, row.changed)
            if abs(shift - before) < MOVES or now - at < CALM_S:
                return
        values = {"shift": shift, "lost": int(lost), "changed": now}
        if row is None:
            values |= {"record": record.id, "hardware_key": hardware_key}
            connection.execute(sa.insert(STANDINGS).values(values))
        else:
            connection.execute(sa.update(STANDINGS).where(own).values(values))
        _log.note(connection, (), ())  # no record has changed

    def _prepare(self) -> None:
        """Make the tables, where the book comes from a loopbook that had none."""
        if not self._present:
            with self._database.writing() as connection:
                REPORTS.create(connection, checkfirst=True)
                STANDINGS.create(connection, checkfirst=True)
            self._present = True

    def _there_are(self) -> bool:
        if not self._present:
            with self._database.reading() as connection:
                self._present = sa.inspect(connection).has_table(STANDINGS.name)
        return self._present

    def _now(self, connection: sa.Connection) -> float:
        if self._clock is not None:
            return self._clock()
        if self._database.path is not None:
            return time.time()
        return float(connection.execute(sa.select(CLOCK)).scalar_one())


def _opinion(row: sa.Row[Any]) -> Opinion:
    """SQLite keeps whatever it was given, damage included: what makes no sense raises."""
    times = int(row.times)
    if not 0 < times <= MOST_COUNT:
        raise InputError("a voice has reported so often as none can")
    return Opinion(int(row.total) / _MILLIONTH / times, times, bool(row.trusted))


def shifts_at(shifts: Mapping[tuple[str, str], float], hardware_key: str) -> dict[str, float]:
    """Record id to its shift on one class of hardware."""
    return {record: shift for (record, key), shift in shifts.items() if key == hardware_key}
