"""How long it takes to embed one nest, without torch: canonical form, graph, network.

    python benchmarks/embedding.py [--rounds 3] [--json]

Runs on one core, over all nests of the starter book. What is remembered of a nest is forgotten
before each embedding; of several rounds, each nest's fastest counts.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable

import numpy as np


def nests() -> list:
    """The nests of the starter book, each once."""
    from loopbook.client.layered import LayeredBook
    from loopbook.client.places import starter_path
    from loopbook.recipes.book import Book

    path = starter_path()
    if path is None:
        raise SystemExit("there is no starter book: unset $LOOPBOOK_STARTER")
    with Book.open(path, readonly=True) as book:
        layered = LayeredBook([book])
        found = {record.fingerprint: layered.source(record) for record in book.records()}
    return list(found.values())


def measure(rounds: int) -> dict[str, dict[str, float]]:
    """For each stage the median, 95th percentile and most over all nests, milliseconds."""
    from loopbook.embed.graph import canonical_graph
    from loopbook.embed.inference import Encoder
    from loopbook.program.canonical_form import canonical_form

    encoder = Encoder.load()
    stages: dict[str, Callable] = {
        "canonical form": canonical_form,
        "with its graph": canonical_graph,
        "embedding": encoder.encode,
    }
    chosen = nests()
    told = {}
    for name, stage in stages.items():
        times = np.full((rounds, len(chosen)), np.inf)
        for number in range(rounds):
            for place, nest in enumerate(chosen):
                nest.notes.clear()
                begin = time.perf_counter()
                stage(nest)
                times[number, place] = time.perf_counter() - begin
        best = times.min(axis=0) * 1e3
        told[name] = {
            "nests": len(chosen),
            "median_ms": float(np.median(best)),
            "p95_ms": float(np.percentile(best, 95)),
            "most_ms": float(best.max()),
        }
    if "torch" in sys.modules:
        raise SystemExit("torch was loaded: embedding must do without")
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the embedding of nests.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    told = measure(options.rounds)
    if options.json:
        print(json.dumps(told, indent=1))
        return
    for name, row in told.items():
        figures = "  ".join(f"{key} {value:.2f}" for key, value in row.items())
        print(f"{name:<16} {figures}")


if __name__ == "__main__":
    main()
