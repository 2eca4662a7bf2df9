"""What the simulation found, as rows, tables and words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.farm_sim.load import BUSY, Helped, Load
from benchmarks.farm_sim.measured import Measured
from benchmarks.farm_sim.result import Result

HOURS = 24.0


def row(told: Measured, result: Result, load: Load, better: Helped) -> dict[str, Any]:
    """One combination, as `--json` prints it."""
    demand = told.demand
    months = demand.days * HOURS
    return {
        "nodes": sum(one.nodes for one in told.classes),
        "programs": demand.programs,
        "asks_per_s": demand.asks_per_day / 86400,
        "days": demand.days,
        "zipf": demand.zipf,
        "near": demand.near,
        "tune_near": demand.tune_near,
        **result.told(),
        "lookup_ms": load.lookup_ms,
        "answered_from_memory": load.answered,
        "use": dict(load.use),
        "breaks": load.broken,
        "dollars_an_hour": load.price,
        "dollars_a_record": load.price * months / load.records if load.records else None,
        "helped": {
            "shards": better.shards,
            "replicas": better.replicas,
            "servers": better.servers,
            "poll_s": better.poll_s,
            "snapshot_s": better.snapshot_s,
            "use": dict(better.load.use),
            "breaks": better.load.broken,
            "shares": better.result.late_shares,
            "dollars_an_hour": better.load.price,
        },
    }


def comparison(rows: Mapping[str, Mapping[str, float]]) -> str:
    """Predicted and observed, side by side."""
    lines = [
        f"{'':<20} {'predicted':>12} {'(least':>12} {'most)':>12} {'observed':>12} {'error':>8}"
    ]
    for name, one in rows.items():
        told = "".join(f" {one[key]:>12.4g}" for key in ("predicted", "least", "most"))
        seen = f" {one['observed']:>12.4g} {one['error']:>+8.1%}" if "observed" in one else ""
        lines.append(f"{name:<20}{told}{seen}")
    return "\n".join(lines)


def words(one: Mapping[str, Any]) -> str:
    """A row for a terminal."""
    use = ", ".join(f"{name} {share:.0%}" for name, share in one["use"].items())
    helped, broken = one["helped"], ", ".join(one["breaks"]) or "nothing"
    return (
        f"{one['nodes']:,} nodes, {one['programs']:,} programs, {one['asks_per_s']:.3g} asks/s, "
        f"{one['days']:g} days\n"
        f"  tasks: {one['created']:,.0f}, done {one['done']:,.0f}, dead {one['dead']:,.0f}; "
        f"{one['tasks_per_hour']:,.0f} an hour\n"
        f"  served after {span(one['wait_median_s'])}, 95 % {span(one['wait_p95_s'])}; "
        f"last tenth: {shares(one['late_shares'])}\n"
        f"  database {one['transactions_per_s']:,.1f} transactions/s; use: {use}\n"
        f"  breaks: {broken}; ${one['dollars_an_hour']:,.2f} an hour\n"
        f"  with {helped['shards']} shards, {helped['replicas']} replicas, {helped['servers']} "
        f"servers, a poll every {span(helped['poll_s'])}, an index every "
        f"{span(helped['snapshot_s'])}: breaks {', '.join(helped['breaks']) or 'nothing'}; "
        f"{shares(helped['shares'])}; ${helped['dollars_an_hour']:,.2f} an hour\n"
    )


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Two tables: as it is today, and with what helps."""
    lines = [
        "| nodes | programs | asks/s | tasks | done | served after, median | 95 % "
        "| tuned / ported / missed | transactions/s | $/h | breaks, the worst first |",
        "|" + " --- |" * 11,
    ]
    for one in rows:
        over = [f"{name} {_times(one['use'][name])}" for name in one["breaks"]]
        lines.append(
            f"| {one['nodes']:,} | {_power(one['programs'])} | {one['asks_per_s']:.3g} "
            f"| {one['created']:,.0f} | {_share(one['done'], one['created'])} "
            f"| {span(one['wait_median_s'])} | {span(one['wait_p95_s'])} "
            f"| {shares(one['late_shares'])} | {one['transactions_per_s']:,.0f} "
            f"| {one['dollars_an_hour']:,.0f} | {', '.join(over) or 'nothing'} |"
        )
    lines += [
        "",
        "| nodes | programs | shards | of these for locks and processors | replicas | servers "
        "| poll | index snapshot | tuned / ported / missed | database processors | lock "
        "| workers | $/h | breaks |",
        "|" + " --- |" * 14,
    ]
    for one in rows:
        helped = one["helped"]
        use = helped["use"]
        busiest = max(use["database lock"], use["database processors"])
        loaded = max(1, math.ceil(helped["shards"] * busiest / BUSY))
        lines.append(
            f"| {one['nodes']:,} | {_power(one['programs'])} | {helped['shards']} "
            f"| {loaded} | {helped['replicas']} | {helped['servers']} | {span(helped['poll_s'])} "
            f"| {span(helped['snapshot_s'])} | {shares(helped['shares'])} "
            f"| {use['database processors']:.0%} | {use['database lock']:.0%} "
            f"| {use['workers']:.0%} | {helped['dollars_an_hour']:,.0f} "
            f"| {', '.join(helped['breaks']) or 'nothing'} |"
        )
    return "\n".join(lines) + "\n"


def shares(told: Mapping[str, float]) -> str:
    """Tuned, ported and missed."""
    return " / ".join(f"{100 * told[name]:.3g}" for name in ("tuned", "ported", "missed")) + " %"


def span(seconds: float) -> str:
    """A time for people."""
    if math.isnan(seconds):
        return "–"
    if math.isinf(seconds):
        return "never"
    for length, name in ((86400.0, "d"), (3600.0, "h"), (60.0, "min")):
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {name}"
    return f"{seconds:.3g} s"


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.0%}" if whole else "–"


def _power(number: int) -> str:
    power = round(math.log10(number))
    return f"10^{power}" if 10**power == number else f"{number:,}"


def _times(use: float) -> str:
    return f"{use:.0%}" if use < 10 else f"{use:,.0f}×"
