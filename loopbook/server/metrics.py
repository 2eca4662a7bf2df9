"""What Prometheus is told."""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60)


class Metrics:
    """Figures of one server."""

    def __init__(self) -> None:
        disable_created_metrics()
        self.registry = own = CollectorRegistry()
        self.requests = Counter(
            "loopbook_requests", "Requests by path and status", ["path", "status"], registry=own
        )
        self.seconds = Histogram(
            "loopbook_request_seconds", "Time to answer", ["path"], buckets=_SECONDS, registry=own
        )
        self.refused = Counter("loopbook_refused", "Requests refused", ["why"], registry=own)
        self.nests = Counter(
            "loopbook_nests", "Nests looked up, by outcome", ["tier"], registry=own
        )
        self.repeated = Counter("loopbook_answers_repeated", "Answers given again", registry=own)
        self.merged = Counter(
            "loopbook_requests_merged", "Requests that waited for another's answer", registry=own
        )
        self.waiting = Gauge("loopbook_waiting", "Requests that wait for a worker", registry=own)
        self.busy = Gauge("loopbook_busy", "Workers that have a job", registry=own)
        self.workers = Gauge("loopbook_workers", "Worker processes alive", registry=own)
        self.records = Gauge("loopbook_records", "Records in the book served", registry=own)
        self.contributed = Counter(
            "loopbook_contributed",
            "Records contributed, by outcome",
            ["outcome"],
            registry=own,
        )

        self.reported = Counter(
            "loopbook_reported", "Reports of how recipes did, by outcome", ["outcome"], registry=own
        )

    def count_replaced(self, replaced: Mapping[str, int]) -> None:
        """Tell of workers replaced, as the pool counts them by cause."""
        self.registry.register(_Replaced(replaced))

    def text(self) -> bytes:
        """In Prometheus's own format."""
        return generate_latest(self.registry)


class _Replaced(Collector):
    def __init__(self, replaced: Mapping[str, int]) -> None:
        self._replaced = replaced

    def collect(self):
        family = CounterMetricFamily(
            "loopbook_workers_replaced", "Worker processes replaced, by cause", labels=["cause"]
        )
        for cause, count in self._replaced.items():
            family.add_metric([cause], count)
        yield family
