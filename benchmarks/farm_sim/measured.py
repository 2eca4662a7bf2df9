"""What the simulation is told: what was measured, and what is asked of the farm. All of it in one
JSON file, so that a run on real machines and its prediction have the same input.

Times are seconds unless the name says otherwise, memory is bytes, prices are dollars an hour.
"""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import numpy as np

from loopbook.errors import InputError

OPERATIONS = (
    *("miss_new", "miss_again", "lease", "poll", "finish", "fail", "extend", "add_record"),
    "stamp",
)
"""Of the database; `miss_…` is what a server writes of a nest asked for in vain, task included."""

OUTCOMES = ("makespan_s", "tasks_per_hour", "wait_median_s", "wait_p95_s", "transactions_per_s")
"""What of a run is predicted and compared; `wait` is from the first ask until a server has the
record."""


class MachineClass(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Machines of one class of hardware.

    Attributes:
        share: of the asks that are for this class; shares are taken relative to one another.
        nodes, slots: machines, and tasks that one does at the same time.
        service_s: of a task: seconds measured, or quantiles, such as ``{"0.5": 40.0}``.
        failure: share of attempts that fail.
        for_good: share of failures after which no attempt could succeed.
        mtbf_s: mean time between deaths of a slot; 0 is never.
        repair_s: until it works again.
    """

    name: str
    nodes: int
    service_s: list[float] | dict[str, float]
    share: float = 1.0
    slots: int = 1
    failure: float = 0.0
    for_good: float = 0.0
    mtbf_s: float = 0.0
    repair_s: float = 300.0
    price: float = 0.0

    @property
    def workers(self) -> int:
        return self.nodes * self.slots

    def service(self, uniform: np.ndarray) -> np.ndarray:
        """Seconds of service for numbers drawn evenly from 0 to 1: the empirical distribution, or
        the line through its quantiles, which is level outside them."""
        if isinstance(self.service_s, dict):
            points = sorted((float(q), s) for q, s in self.service_s.items())
            return np.interp(uniform, [q for q, _ in points], [s for _, s in points])
        times = np.sort(np.asarray(self.service_s, float))
        return times[np.minimum((uniform * len(times)).astype(int), len(times) - 1)]

    @property
    def mean_service_s(self) -> float:
        return float(self.service((np.arange(20_000) + 0.5) / 20_000).mean())

    @property
    def available(self) -> float:
        """Share of the time that a busy slot is not being repaired."""
        return self.mtbf_s / (self.mtbf_s + self.repair_s) if self.mtbf_s else 1.0


class Operation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an operation of the database takes.

    Attributes:
        ms: that its client waits.
        cpu_ms: of the database's processors.
        alone: others that write have to wait meanwhile.
    """

    ms: float
    cpu_ms: float
    alone: bool = False


class Database(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    operations: dict[str, Operation]
    cores: int = 8
    connections: int = 100
    price: float = 0.0


class Servers(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Those that answer look-ups.

    Attributes:
        refresh_s: how often each looks for new records, and writes misses down.
        cached_ms: processor milliseconds of a look-up whose answer is remembered.
        known_ms: of a program that is, but its answer is not.
        unseen_ms: of any other.
        programs: that one server remembers.
        base_bytes, record_bytes: of memory, with and for each record.
        put_ms: of taking in one new record, by how many there are.
        build_s: of building the index, by how many records there are.
        memory_bytes: that one server has.
    """

    count: int = 1
    cores: int = 1
    refresh_s: float = 1.0
    cached_ms: float = 2.6
    known_ms: float = 24.0
    unseen_ms: float = 170.0
    programs: int = 200
    base_bytes: float = 0.0
    record_bytes: float = 0.0
    index_bytes: float = 0.0
    put_ms: dict[str, float] = {}
    build_s: dict[str, float] = {}
    memory_bytes: float = 64e9
    price: float = 0.0


class Leasing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How workers use the queue: how long a lease is, how often one is extended, and how often a
    worker without a task asks for one."""

    lease_s: float = 600.0
    extend_s: float = 200.0
    poll_s: float = 5.0


class Demand(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is asked for where there is no trace.

    Attributes:
        programs: different ones that there are.
        zipf: exponent of their popularity.
        asks_per_day: of all of them together.
        near: share of programs that get a neighbour's recipe, ported, before they are tuned.
        tune_near: whether those become tasks, too; today they are no misses and do not.
        cost_s: median of what a run costs; 0 is unknown, as of docc's client.
        cost_spread: standard deviation of its natural logarithm.
        days: simulated.
    """

    programs: int = 1000
    zipf: float = 1.0
    asks_per_day: float = 1000.0
    near: float = 0.0
    tune_near: bool = False
    cost_s: float = 0.0
    cost_spread: float = 0.0
    days: float = 1.0

    @property
    def miss_share(self) -> float:
        """Of the programs, that become tasks when they are asked for."""
        return 1.0 if self.tune_near else 1.0 - self.near


class Measured(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything.

    Attributes:
        trace: asks as (second, program, class); makes `demand` void.
        service_of: seconds that the tasks of some of its programs take; what is drawn for others is
            one of their class's.
        observed: what a real run did; see `OUTCOMES`.
        provenance: what each figure comes from.
    """

    classes: list[MachineClass]
    database: Database
    servers: Servers = Servers()
    leasing: Leasing = Leasing()
    demand: Demand = Demand()
    trace: list[tuple[float, int | str, str]] = []
    service_of: dict[str, float] = {}
    observed: dict[str, float] = {}
    provenance: dict[str, str] = {}


def read(path: Path) -> Measured:
    """What a file says.

    Raises:
        InputError: it can't be read, or makes no sense.
    """
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Measured)
    except (OSError, msgspec.DecodeError) as error:
        raise InputError(f"{path}: {error}") from None
    check(found)
    return found


def check(told: Measured) -> None:
    """Refuse what no farm can be.

    Raises:
        InputError: says what.
    """
    names = [one.name for one in told.classes]
    if not names or len(set(names)) != len(names):
        raise InputError("machine classes need names of their own, and there is at least one")
    for one in told.classes:
        times = one.service_s
        values = list(times.values()) if isinstance(times, dict) else times
        if not values or not all(0 < s < math.inf for s in values):
            raise InputError(f"class {one.name}: service times are positive, and at least one")
        if isinstance(times, dict) and not all(_is_share(q) for q in times):
            raise InputError(f"class {one.name}: quantiles are from 0 to 1")
        if one.nodes < 0 or one.slots < 1 or not (0 <= one.failure <= 1 and 0 <= one.for_good <= 1):
            raise InputError(f"class {one.name}: nodes, slots or rates make no sense")
        if one.share < 0 or one.mtbf_s < 0 or one.repair_s < 0:
            raise InputError(f"class {one.name}: nothing here is negative")
    missing = set(OPERATIONS) - told.database.operations.keys()
    if missing:
        raise InputError(f"database: no times for {', '.join(sorted(missing))}")
    if {name for _, _, name in told.trace} - set(names):
        raise InputError("trace: an ask is for a class that there is not")
    if told.servers.count < 1 or told.servers.refresh_s <= 0 or told.leasing.poll_s <= 0:
        raise InputError("servers and their refresh, and polling, are positive")
    demand = told.demand
    if demand.programs < 1 or demand.asks_per_day <= 0 or demand.days <= 0:
        raise InputError("demand: programs, asks and days are positive")
    if not 0 <= demand.near <= 1:
        raise InputError("demand: near is a share")


def _is_share(text: str) -> bool:
    try:
        return 0 <= float(text) <= 1
    except ValueError:
        return False
