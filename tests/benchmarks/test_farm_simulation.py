"""The simulated farm: its queue is the real one's, its waits are theory's, its two ways agree."""

from __future__ import annotations

import json
import math
from random import Random

import msgspec
import numpy as np
import pytest
from queue_kit import ABLE, Clock, ask, open_queue

from benchmarks import farm_simulation
from benchmarks.farm_sim import load, steps
from benchmarks.farm_sim.arrivals import asks, zipf_sum
from benchmarks.farm_sim.events import EventFarm
from benchmarks.farm_sim.measured import Demand, MachineClass, Measured, Servers, check, read
from benchmarks.farm_sim.policy import SimQueue
from loopbook.errors import InputError
from loopbook.recipes.tasks import DEAD, DONE

DAY = 86400.0
SERVICE = {"0": 20.0, "0.5": 40.0, "1": 120.0}


def farm(nodes: int = 10, demand: Demand | None = None, **changes: object) -> Measured:
    told = read(farm_simulation.DEFAULT)
    machine = {"service_s": SERVICE, "failure": 0.05, "mtbf_s": 2000.0} | changes
    classes = [
        MachineClass("one", nodes, share=0.7, **machine),  # type: ignore[arg-type]
        MachineClass("other", max(nodes // 2, 1), share=0.3, **machine),  # type: ignore[arg-type]
    ]
    asked = demand or Demand(3000, 1.0, 5000.0, cost_s=1e-3, cost_spread=1.5)
    return msgspec.structs.replace(told, classes=classes, servers=Servers(2), demand=asked)


def test_the_queue_does_what_the_real_one_does(tmp_path):
    clock, random = Clock(), Random(1)
    real, ours = open_queue(str(tmp_path / "book.db"), clock), SimQueue()
    held, told = [], []
    states: dict[int, str] = {}
    for _ in range(1500):
        act = random.choice(("ask", "ask", "lease", "finish", "fail", "extend", "pass"))
        if act == "ask":
            number, cost, count = random.randrange(60), random.random() + 0.01, random.randint(1, 9)
            new = real.ask(ask(number, cost_s=cost, count=count)).new
            assert ours.ask(number, "lane", cost, count, clock()) == new
        elif act == "lease":
            lease, mine = real.lease("worker", ABLE, 100), ours.lease("lane", 100, clock())
            assert (lease is None) == (mine is None)
            if lease is not None and mine is not None:
                assert lease.task.fingerprint == ask(mine.key).fingerprint  # type: ignore[arg-type]
                assert lease.task.attempts == mine.attempts
                held.append((lease, mine, mine.lease))
        elif act == "pass":
            clock.now += random.choice((0.5, 20.0, 60.0, 2000.0, 3 * DAY))
        elif held:
            lease, mine, number = held.pop(random.randrange(len(held)))
            good = random.random() < 0.3
            if act == "finish":
                counted = real.finish(lease).changed
                assert ours.finish(mine, number, clock()) == counted
            elif act == "fail":
                counted = real.fail(lease, "no", for_good=good).changed
                assert ours.fail(mine, number, clock(), for_good=good) == counted
            else:
                counted = real.extend(lease, 300)
                assert ours.extend(mine, number, 300, clock()) == counted
                held.append((lease, mine, number))
            told.append((act, counted))
            states[id(mine)] = mine.state
    for act in ("finish", "fail", "extend"):
        assert {(act, True), (act, False)} <= set(told)
    there, _ = real.all(limit=10_000)
    latest = {one.fingerprint: one.state for one in sorted(there, key=lambda one: one.created)}
    assert latest == {ask(key).fingerprint: one.state for key, one in ours.tasks.items()}  # type: ignore
    assert {DONE, DEAD} <= set(latest.values())


def test_waits_are_those_of_erlang():
    """One class, programs all different, exponential times: the wait for a worker is M/M/c's."""
    servers, mean, load_ = 4, 50.0, 0.6
    times = (-mean * np.log1p(-(np.arange(4000) + 0.5) / 4000)).tolist()
    random = np.random.default_rng(1)
    seconds = random.exponential(mean / servers / load_, 20_000).cumsum()
    told = farm(servers, failure=0.0, mtbf_s=0.0)
    told = msgspec.structs.replace(
        told,
        classes=[MachineClass("one", servers, times)],
        servers=Servers(1, refresh_s=0.1),
        leasing=msgspec.structs.replace(told.leasing, poll_s=0.1),
        trace=[(float(second), place, "one") for place, second in enumerate(seconds)],
    )
    result = EventFarm(told).run(asks(told, 0))
    offered = servers * load_
    blocked = offered**servers / math.factorial(servers) / (1 - load_)
    free = sum(offered**n / math.factorial(n) for n in range(servers))
    wait = blocked / (free + blocked) * mean / servers / (1 - load_)
    assert result.waits.mean() - mean == pytest.approx(wait, rel=0.12)
    assert result.busy_s / result.offered_s == pytest.approx(load_, rel=0.02)


def test_tasks_of_known_programs_take_what_they_take():
    told = farm(1, failure=0.0, mtbf_s=0.0)
    own = {f"program {n}": 10.0 * (n + 1) for n in range(4)}
    told = msgspec.structs.replace(
        told,
        classes=[MachineClass("one", 1, [1e6])],
        servers=Servers(1, refresh_s=0.1),
        leasing=msgspec.structs.replace(told.leasing, poll_s=0.1),
        trace=[(0.0, name, "one") for name in own],
        service_of=own,
    )
    result = EventFarm(told).run(asks(told, 0))
    assert result.busy_s == pytest.approx(sum(own.values()))
    assert result.ended == pytest.approx(sum(own.values()), rel=0.02)


def test_every_task_ends_once_and_a_seed_says_all():
    told = farm(mtbf_s=300.0, failure=0.3)
    found = EventFarm(told, 5).run(asks(told, 5))
    count = found.transactions
    assert found.open == 0
    assert found.dead > 0
    assert found.lost > 0
    assert found.created == found.done + found.dead == count["miss_new"]
    assert count["finish"] == found.done
    assert count["lease"] == count["finish"] + count["fail"] + found.lost
    assert np.isfinite(found.waits).sum() == found.done
    assert sum(found.shares.values()) == pytest.approx(1)
    assert found.told() == EventFarm(told, 5).run(asks(told, 5)).told()
    assert found.told() != EventFarm(told, 6).run(asks(told, 6)).told()
    assert steps.simulate(told, 5).told() == steps.simulate(told, 5).told()


@pytest.mark.parametrize(
    ("nodes", "demand", "times", "within", "seeds"),
    [
        (10, Demand(3000, 1.0, 5000.0, cost_s=1e-3, cost_spread=1.5), 1.0, 0.04, 10),
        (100, Demand(20_000, 0.9, 50_000.0, near=0.3), 1.0, 0.04, 2),
        (20, Demand(100_000, 1.1, 60_000.0, cost_s=1e-3, cost_spread=1.5), 8.0, 0.07, 2),
    ],
    ids=["small", "large", "overloaded"],
)
def test_steps_find_what_events_find(nodes, demand, times, within, seeds):
    told = farm(nodes, demand, service_s={q: times * s for q, s in SERVICE.items()})
    runs = [EventFarm(told, seed).run(asks(told, seed), DAY) for seed in range(seeds)]
    ours = [steps.simulate(told, seed) for seed in range(seeds)]

    def mean(results, of):
        return float(np.mean([of(one) for one in results]))

    for of in (
        lambda one: one.created,
        lambda one: one.done,
        lambda one: one.utilisation,
        lambda one: one.transactions["miss_new"] + one.transactions["miss_again"],
        lambda one: one.transactions["lease"],
        lambda one: one.shares["tuned"],
        lambda one: one.late_shares["tuned"],
        lambda one: one.late_shares["missed"],
        lambda one: one.wait(0.25),
    ):
        assert mean(ours, of) == pytest.approx(mean(runs, of), rel=within)


def test_a_full_queue_is_what_breaks():
    told = farm(100, Demand(20_000, 0.9, 50_000.0))
    for found in (
        EventFarm(told, 0, 1000).run(asks(told, 0), DAY),
        steps.simulate(told, 0, most_tasks=1000),
    ):
        assert found.created <= 1000
        assert found.without_room > 2000
        assert "queue rows" in load.load_of(told, found, rows=1000).broken


def test_what_helps_helps():
    told = msgspec.structs.replace(
        read(farm_simulation.DEFAULT), demand=Demand(10**8, 1.0, 1e8, tune_near=True, days=1.0)
    )
    told = farm_simulation.sized(told, 10_000)

    def simulate(other: Measured, rows: int):
        return steps.simulate(other, 0, particles=2000, steps=200, most_tasks=rows)

    found = simulate(told, 10**6)
    before = load.load_of(told, found)
    after = load.helped(told, found, 10**6, simulate)
    assert {"queue rows", "look-ups", "database connections"} <= set(before.broken)
    assert set(after.load.broken) <= {"workers"}
    assert after.shards > 1
    assert after.load.price > before.price


def test_zipf_sums_are_sums():
    for s in (0.9, 1.0, 1.1):
        ranks = np.arange(1, 3_000_001, dtype=float) ** -s
        assert zipf_sum(1, 3_000_000, s) == pytest.approx(ranks.sum(), rel=1e-9)


def test_a_real_run_is_compared(tmp_path, capsys):
    told = farm(3, failure=0.0, mtbf_s=0.0)
    trace = [(10.0 * n, f"program {n % 40}", ("one", "other")[n % 2]) for n in range(100)]
    told = msgspec.structs.replace(told, trace=trace)
    observed = EventFarm(told, 99).run(asks(told, 99)).told()
    told = msgspec.structs.replace(
        told, observed={name: observed[name] for name in farm_simulation.OUTCOMES}
    )
    file = tmp_path / "real.json"
    file.write_bytes(msgspec.json.encode(told))
    farm_simulation.main(["compare", str(file), "--runs", "5", "--json"])
    rows = json.loads(capsys.readouterr().out)
    assert abs(rows["transactions_per_s"]["error"]) < 0.1
    off = told.observed | {"makespan_s": 10 * told.observed["makespan_s"]}
    file.write_bytes(msgspec.json.encode(msgspec.structs.replace(told, observed=off)))
    assert farm_simulation.main(["compare", str(file), "--runs", "2"]) == 1
    assert "makespan_s" in capsys.readouterr().out
    file.write_text('{"classes": 1}')
    assert farm_simulation.main(["compare", str(file)]) == 2


@pytest.mark.parametrize(
    "change",
    [
        {"classes": []},
        {"trace": [(0.0, 1, "nowhere")]},
        {"demand": Demand(near=2.0)},
        {"classes": [MachineClass("one", 1, {"2": 1.0})]},
        {"classes": [MachineClass("one", 1, [])]},
    ],
)
def test_what_no_farm_can_be_is_refused(change):
    with pytest.raises(InputError):
        check(msgspec.structs.replace(farm(), **change))
