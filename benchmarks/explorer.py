"""How long the explorer's pages take with a large book, and what memory.

    python benchmarks/explorer.py [--records 100000] [--book FILE] [--json]

The book is made of the starter book's records: each again under another fingerprint, with times
that differ a little, and a vector that lies near the record's own, within a tenth of how far its
nearest neighbour is on average. With ``--book`` it is kept, and taken as it is the next time.

Pages are asked of a server on this machine as a browser asks them, over HTTP:

* ``map, first``: projection and all; its places are those of the principal axes until t-SNE is
  done, ``projection_s`` after that;
* ``map, anew``: in a new process, with the projection that was kept;
* ``map, again``: nothing has changed since;
* ``record``: of so many records, none twice; and with the C++ of all their states;
* ``locate``: a product of matrices and a stencil, as Python;
* memory: resident, of the server and of its child, after all that.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import httpx
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from loopbook.client.places import STARTER  # noqa: E402
from loopbook.recipes import Book, Embedding, Record  # noqa: E402

RECORDS = 40
BATCH = 2000

PRODUCT = """
def product(A, B, C):
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[k, j]
"""
STENCIL = """
def stencil(A, B):
    for i in range(1, A.shape[0] - 1):
        for j in range(1, A.shape[1] - 1):
            B[i, j] = A[i, j] + A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1]
"""


def make(path: Path, count: int) -> None:
    """A book of so many records."""
    random, numbers = Random(1), np.random.default_rng(1)
    with Book.open(STARTER, readonly=True) as starter, Book.open(path) as book:
        encoder = starter.encoders()[0]
        known = list(starter.records())
        vectors = {r.fingerprint: starter.embedding(r.fingerprint, encoder) for r in known}
        batch: list[tuple[Record, list[Embedding]]] = []
        for number in range(count):
            one = known[number % len(known)]
            vector = vectors[one.fingerprint]
            if vector is None:
                continue
            batch.append(_like(one, vector, random, numbers))
            if len(batch) == BATCH or number == count - 1:
                book.add_many(batch)
                batch = []
                print(f"\r{number + 1} records", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def _like(
    one: Record, vector: Embedding, random: Random, numbers: np.random.Generator
) -> tuple[Record, list[Embedding]]:
    away = numbers.normal(0, 0.03 / np.sqrt(vector.dimension), vector.dimension)
    moved = vector.nest + away.astype(np.float32)
    moved /= np.linalg.norm(moved)
    measured = tuple(
        replace(each, tuned_s=each.tuned_s * random.uniform(0.8, 1.25)) for each in one.measurements
    )
    record = replace(one, fingerprint=f"{random.getrandbits(128):032x}", measurements=measured)
    return record, [replace(vector, nest=moved)]


@contextmanager
def shown(book: Path, folder: Path) -> Iterator[tuple[httpx.Client, int]]:
    """A client of ``loopbook ui`` for a book, and the server's process id."""
    command = [sys.executable, "-c", _SERVE, str(book)]
    wanted = {"XDG_CACHE_HOME": str(folder), "LOOPBOOK_STARTER": "", "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | wanted) as process:
        assert process.stdout is not None
        line = process.stdout.readline().decode()
        found = re.search(r"http://\S+", line)
        assert found, line
        try:
            with httpx.Client(base_url=found[0], timeout=600.0) as client:
                yield client, process.pid
        finally:
            process.terminate()


_SERVE = """
import sys
from loopbook.explorer.app import create_app
from loopbook.server.run import run
if __name__ == "__main__":
    run(create_app(sys.argv[1]), host="127.0.0.1", port=0)
"""


def asked(client: httpx.Client, path: str, body: Any = None) -> tuple[float, httpx.Response]:
    """Seconds, and the answer."""
    begun = time.perf_counter()
    answer = client.get(path) if body is None else client.post(path, json=body)
    seconds = time.perf_counter() - begun
    answer.raise_for_status()
    return seconds, answer


def measure(book: Path, folder: Path) -> dict[str, Any]:
    told: dict[str, Any] = {}
    with shown(book, folder) as (client, _):
        told["map_first_s"], answer = asked(client, "/map.json")
        begun = time.perf_counter()
        while answer.json()["projection"]["method"] == "pca" and _tsne():
            time.sleep(5)
            _, answer = asked(client, "/map.json")
        told["projection_s"] = time.perf_counter() - begun
        told["projection"] = answer.json()["projection"]["method"]
    with shown(book, folder) as (client, pid):
        told["map_anew_s"], answer = asked(client, "/map.json")
        told["map_mb"] = len(answer.content) / 1e6
        told["map_again_s"], _ = asked(client, "/map.json")
        ids = answer.json()["columns"]["id"]
        told["records"] = len(ids)
        chosen = Random(2).sample(ids, min(RECORDS, len(ids)))
        pages = [asked(client, f"/record/{one}.json")[0] for one in chosen]
        told["record_median_s"], told["record_most_s"] = statistics.median(pages), max(pages)
        codes = [asked(client, f"/record/{one}/cpp.json")[0] for one in chosen]
        told["cpp_median_s"], told["cpp_most_s"] = statistics.median(codes), max(codes)
        for name, text in (("product", PRODUCT), ("stencil", STENCIL)):
            told[f"locate_{name}_s"], _ = asked(client, "/locate.json", {"python": text})
        told["live_s"], _ = asked(client, "/live.json")
        told["server_mb"] = _resident(pid)
        told["child_mb"] = sum(_resident(child) for child in _children(pid))
    return told


def _tsne() -> bool:
    from loopbook.explorer import projection

    return projection.best() == projection.TSNE


def _resident(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _children(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            yield int(child)
            yield from _children(int(child))


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the explorer's pages with a large book.")
    parser.add_argument("--records", type=float, default=1e5)
    parser.add_argument("--book", type=Path, help="kept there, or taken from there")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        book = options.book or folder / "book.db"
        if not book.exists():
            make(book, int(options.records))
        told = measure(book, folder)
    if options.json:
        print(json.dumps(told))
        return
    for name, value in told.items():
        print(f"{name:<18} {value if isinstance(value, str) else f'{value:.4g}'}")


if __name__ == "__main__":
    main()
