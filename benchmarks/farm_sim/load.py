"""What a simulated farm loads, what of that breaks first, what helps, and what it costs.

Figures are averages over the time simulated; a processor or a lock is taken to be overloaded from
70 % on, since waiting grows without end towards 100 %.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from benchmarks.farm_sim.arrivals import zipf_sum
from benchmarks.farm_sim.measured import Measured, Servers
from benchmarks.farm_sim.result import Result
from loopbook.recipes.queue import MOST_TASKS

BUSY = 0.7
"""Share of its time from which on what serves in turn is overloaded."""

LIMITS = {
    "workers": BUSY,
    "database processors": BUSY,
    "database lock": BUSY,
    "database connections": 1.0,
    "queue rows": 1.0,
    "look-ups": BUSY,
    "index refresh": BUSY,
    "server memory": 1.0,
}
"""Of each resource, the use from which on it breaks."""

_DAY = 86400.0

_APART = 1 / 3
"""Share of a core's time that new records may take before they come as snapshots."""

LOAD_S_PER_RECORD = 3.352 / 1e7
"""To load an index from a file; benchmarks/results/search.md."""


@dataclass(frozen=True)
class Load:
    """Use of each resource, as a share of what there is.

    Attributes:
        lookup_ms: processor time of an average look-up.
        answered: share of look-ups whose answer was remembered.
        records: at the end.
        transactions: a second, of all kinds.
    """

    use: Mapping[str, float]
    lookup_ms: float
    answered: float
    records: float
    transactions: float
    price: float

    @property
    def broken(self) -> list[str]:
        """What is overloaded, the worst first."""
        over = {name: use / LIMITS[name] for name, use in self.use.items()}
        return sorted((n for n, share in over.items() if share > 1), key=lambda n: -over[n])


def load_of(told: Measured, result: Result, *, rows: int = MOST_TASKS, shards: int = 1) -> Load:
    """The load of a farm.

    Args:
        rows: of all queues together.
        shards: databases that the load is split over, evenly, as fingerprints are.
    """
    servers, database = told.servers, told.database
    seconds = result.span_s
    rates = {kind: n / seconds for kind, n in result.transactions.items()}
    operations = database.operations
    processors = sum(rate * operations[kind].cpu_ms for kind, rate in rates.items()) / 1e3
    alone = sum(rate * operations[k].ms for k, rate in rates.items() if operations[k].alone) / 1e3
    records = result.transactions["add_record"]
    record_rate = records / seconds
    asks = told.demand.asks_per_day / 86400
    lookup_ms, answered = lookup(told, record_rate)
    workers = sum(one.workers for one in told.classes)
    put_s = _between(servers.put_ms, records) / 1e3
    use = {
        "workers": result.utilisation,
        "database processors": processors / database.cores / shards,
        "database lock": alone / shards,
        "database connections": (workers + servers.count) / database.connections,
        "queue rows": (result.created + result.without_room) / rows,
        "look-ups": asks * lookup_ms / 1e3 / (servers.count * servers.cores),
        "index refresh": record_rate * put_s,
        "server memory": (servers.base_bytes + servers.record_bytes * records)
        / servers.memory_bytes,
    }
    price = shards * database.price + servers.count * servers.price
    price += sum(one.nodes * one.price for one in told.classes)
    return Load(use, lookup_ms, answered, records, sum(rates.values()), price)


def lookup(told: Measured, record_rate: float) -> tuple[float, float]:
    """Processor milliseconds of an average look-up, and the share that is answered from memory.

    A server forgets its answers at the first refresh after a new record; of a program asked for
    again it may still have the program itself, if that is one of the most popular ones.
    """
    servers, demand = told.servers, told.demand
    kept_s = min(servers.refresh_s + (1.0 / record_rate if record_rate else _DAY), _DAY)
    rate = demand.asks_per_day / 86400 / servers.count
    whole = zipf_sum(1, demand.programs, demand.zipf)
    edges = np.unique(np.geomspace(1, demand.programs + 1, 400).round().astype(np.int64)).tolist()
    spent, again = 0.0, 0.0
    for low, high in itertools.pairwise(edges):
        share = zipf_sum(low, high - 1, demand.zipf) / whole
        expected = rate * share / (high - low) * kept_s
        first = -math.expm1(-expected) / expected
        other = servers.known_ms if high <= servers.programs + 1 else servers.unseen_ms
        spent += share * ((1 - first) * servers.cached_ms + first * other)
        again += share * (1 - first)
    return spent, again


@dataclass(frozen=True)
class Helped:
    """The same farm with what helps: how much of each that takes, and the load then.

    Attributes:
        poll_s: how seldom an idle worker asks for a task.
        snapshot_s: how often servers get another index.
    """

    shards: int
    replicas: int
    servers: int
    poll_s: float
    snapshot_s: float
    load: Load
    result: Result


def helped(
    told: Measured, result: Result, rows: int, simulate: Callable[[Measured, int], Result]
) -> Helped:
    """What it takes that nothing but the workers is overloaded.

    * Idle workers ask so seldom that it takes a tenth of one database's processors at most.
    * A pooler before each database lets all clients share its connections.
    * Books and queues are sharded by fingerprint, as locks, processors and rows need it.
    * Replicas answer what servers only read: where they are, whether the book has changed.
    * One builder a shard puts snapshots of its index into an object store, from which servers load
      them, so seldom that each takes a third of its time at most. An exact match needs no index.
    * Servers are as many as look-ups and memory need.

    Args:
        result: of the farm as it is.
        rows: that one queue may hold.
        simulate: the farm, with so many rows.
    """
    workers = sum(one.workers for one in told.classes)
    poll_ms = told.database.operations["poll"].cpu_ms
    poll_s = max(told.leasing.poll_s, workers * poll_ms / 1e3 / (0.1 * told.database.cores))
    before = load_of(told, result, rows=rows)
    servers = _enough(told, before)
    if result.without_room or poll_s != told.leasing.poll_s or servers != told.servers:
        leasing = msgspec.structs.replace(told.leasing, poll_s=poll_s)
        told = msgspec.structs.replace(told, leasing=leasing, servers=servers)
        result = simulate(told, 10**12)
    load = load_of(told, result, rows=rows)
    servers = _enough(told, load)  # there are more records now
    told = msgspec.structs.replace(told, servers=servers)
    need = ("database processors", "database lock", "queue rows")
    shards = max(1, *(math.ceil(load.use[name] / LIMITS[name]) for name in need))
    load = load_of(told, result, rows=rows * shards, shards=shards)
    reads = result.transactions["stamp"] / result.span_s
    busy = reads * told.database.operations["stamp"].cpu_ms / 1e3 / told.database.cores
    replicas = math.ceil(busy / BUSY) if busy > 0.1 else 0
    builders = shards if load.use["index refresh"] > _APART else 0
    build_s = _between(servers.build_s, load.records / shards)
    longest = max(build_s, LOAD_S_PER_RECORD * load.records)
    snapshot_s = longest / _APART if builders else told.servers.refresh_s
    use = dict(load.use)
    use["database connections"] = 2 * told.database.cores / told.database.connections
    use["index refresh"] = min(_APART, use["index refresh"])
    if replicas:
        use["database processors"] -= busy / shards
    groups = math.ceil(use["server memory"])
    use["server memory"] /= max(groups, 1)
    price = load.price + (replicas + builders) * told.database.price
    load = replace(load, use=use, price=price)
    return Helped(shards, replicas, servers.count, poll_s, snapshot_s, load, result)


def _enough(told: Measured, load: Load) -> Servers:
    """As many servers as look-ups and memory need. The more there are, the fewer answers each
    remembers."""
    servers = told.servers
    groups = math.ceil(load.use["server memory"])  # each has some of the shards
    count = max(groups, servers.count)
    while True:
        servers = msgspec.structs.replace(servers, count=count)
        own = msgspec.structs.replace(told, servers=servers)
        lookup_ms, _ = lookup(own, load.records / (told.demand.days * 86400))
        busy_s = told.demand.asks_per_day / 86400 * lookup_ms / 1e3
        enough = math.ceil(busy_s / BUSY / servers.cores)
        if enough <= count:
            return servers
        count = enough


def _between(points: Mapping[str, float], where: float) -> float:
    """A figure measured at some sizes, at another one: the line through logarithms of both; beyond
    the last ones, in proportion to the last one, and that of the first one."""
    if not points:
        return 0.0
    known = sorted((float(x), y) for x, y in points.items())
    xs, ys = np.log([x for x, _ in known]), np.log([y for _, y in known])
    grown = max(where / known[-1][0], 1.0)
    return float(np.exp(np.interp(math.log(max(where, 1.0)), xs, ys))) * grown
