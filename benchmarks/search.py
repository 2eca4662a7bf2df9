"""How search grows with the book: time, memory and recall of the index over clustered vectors.

    python benchmarks/search.py [--sizes 1e4 1e5 1e6 1e7] [--cores 2] [--peers] [--json]

For each size, on vectors of :mod:`benchmarks.clustered` with names as long as fingerprints and
tags as records give them:

* one process builds the index on ``--cores`` cores and saves it; ``peak`` is the most memory that
  it had resident meanwhile;
* another one, on one core, loads the file; ``resident`` is what it has more than before loading:
  vectors, names, tags and whatever FAISS keeps. It searches for the ten nearest, one query at a
  time, and compares with the exact answers, computed before by going through all vectors in
  blocks;
* ``filtered`` searches only rows for one target on one machine: a tenth of them, drawn evenly;
* ``put``: a nest that is new, and one that replaces another, until both can be found.

``--peers`` adds what was not chosen, by FAISS directly, up to a million: a flat index, HNSW graphs,
and inverted lists of 8-bit vectors, each with the least search effort that reaches 0.99, or else
with much.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks.clustered import Families  # noqa: E402

K = 10
SEED = 1
FILTER = ("openmp", "machine 0")
_PEERS = ("flat (FAISS)", "HNSW 16", "HNSW 32", "IVF 8 bit")
_PEERS_UP_TO = 1_000_000
_EFFORT = {"HNS": "efSearch", "IVF": "nprobe"}
_COLUMNS = {
    "vectors": "{:,}",
    "kind": "{}",
    "build_s": "{:.1f} s",
    "peak_mb": "{:,.0f} MB",
    "file_mb": "{:,.0f} MB",
    "load_s": "{:.3f} s",
    "resident_mb": "{:,.0f} MB",
    "recall": "{:.4f}",
    "median_ms": "{:.3f} ms",
    "p99_ms": "{:.3f} ms",
    "filtered_recall": "{:.4f}",
    "filtered_median_ms": "{:.3f} ms",
    "put_ms": "{:.2f} ms",
}


def rows_of(families: Families) -> Callable[[], Iterator[tuple[list[str], np.ndarray, list[Any]]]]:
    """Names, vectors and tags, as a book's store gives them."""

    def rows() -> Iterator[tuple[list[str], np.ndarray, list[Any]]]:
        start = 0
        for number, block in enumerate(families.blocks()):
            names = [_name(row) for row in range(start, start + len(block))]
            yield names, block, [_SETS[one] for one in _tags(number, len(block)).tolist()]
            start += len(block)

    return rows


def _name(row: int) -> str:
    return f"{row * 0x9E3779B97F4A7C15 % 2**64:032x}"


def _tags(block: int, count: int) -> np.ndarray:
    return (np.random.default_rng([SEED, block]).random(count) < 0.1).astype(int)


_SETS = [frozenset({("sequential", "machine 0"), ("openmp", "machine 1")}), frozenset({FILTER})]


def exact(size: int, count: int, cores: int) -> list[list[list[str]]]:
    """Names of the ten nearest of all rows, and of those that pass the filter, by query; runs in
    a process of its own."""
    _use(cores)
    import faiss

    families = Families(size, SEED)
    queries = families.queries(count)
    heaps = [faiss.ResultHeap(len(queries), K) for _ in range(2)]
    start = 0
    for number, block in enumerate(families.blocks()):
        passing = np.flatnonzero(_tags(number, len(block)))
        for heap, chosen in zip(heaps, (np.arange(len(block)), passing), strict=True):
            if len(chosen):
                squares, rows = faiss.knn(queries, block[chosen], min(K, len(chosen)))
                heap.add_result(squares, chosen[rows] + start)
        start += len(block)
    for heap in heaps:
        heap.finalize()
    return [[[_name(row) for row in rows] for rows in heap.I.tolist()] for heap in heaps]


def build(size: int, path: str, cores: int) -> dict[str, Any]:
    """Build and save; runs in a process of its own."""
    _use(cores)
    from loopbook.recipes.index import VectorIndex

    families = Families(size, SEED)
    begun = time.perf_counter()
    index = VectorIndex.build(rows_of(families), size, families.dimension)
    built = time.perf_counter() - begun
    index.save(Path(path), "encoder")
    return {
        "build_s": built,
        "save_s": time.perf_counter() - begun - built,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
        "file_mb": os.path.getsize(path) / 1e6,
    }


def search(size: int, path: str, answers: list[list[list[str]]]) -> dict[str, Any]:
    """Load and search; runs in a process of its own."""
    _use(1)
    from loopbook.recipes.index import VectorIndex
    from loopbook.recipes.indexes import ivf

    queries = Families(size, SEED).queries(len(answers[0]))
    ivf._faiss()
    before = _resident_mb()
    begun = time.perf_counter()
    index = VectorIndex.load(Path(path), "encoder")
    loaded = time.perf_counter() - begun
    assert index is not None
    resident = _resident_mb() - before
    row: dict[str, Any] = {"kind": index.kind, "load_s": loaded, "resident_mb": resident}
    for prefix, true, tags in zip(
        ("", "filtered_"), answers, (None, frozenset({FILTER})), strict=True
    ):
        index.search(queries[0], K, tags)
        times, kept = [], 0
        for query, names in zip(queries, true, strict=True):
            begun = time.perf_counter()
            found, _ = index.search(query, K, tags)
            times.append((time.perf_counter() - begun) * 1e3)
            kept += len(set(found) & set(names))
        row[prefix + "recall"] = kept / (K * len(true))
        row[prefix + "median_ms"] = statistics.median(times)
        row[prefix + "p99_ms"] = float(np.quantile(times, 0.99))
    times = []
    for number, query in enumerate(queries[:50]):
        name = f"new {number // 2}"
        begun = time.perf_counter()
        index.update([name], ([name], query[None], [frozenset({FILTER})]))
        assert name in index.search(query, 1)[0]
        times.append((time.perf_counter() - begun) * 1e3)
    row["put_ms"] = statistics.median(times)
    return row


def peer(name: str, size: int, answers: list[list[str]], cores: int) -> dict[str, Any]:
    """One that was not chosen; runs in a process of its own."""
    _use(cores)
    import faiss

    families = Families(size, SEED)
    queries, d, cells = families.queries(len(answers)), families.dimension, round(4 * size**0.5)
    vectors = np.concatenate(list(families.blocks()))
    index: Any
    efforts = [0]
    before, begun = _resident_mb(), time.perf_counter()
    if name.startswith("HNSW"):
        index = faiss.IndexHNSWFlat(d, int(name.split()[1]))
        index.hnsw.efConstruction, efforts = 100, [16, 32, 64, 128, 256]
    elif name.startswith("IVF"):
        bits, quantizer = faiss.ScalarQuantizer.QT_8bit, faiss.IndexFlatL2(d)
        index, efforts = faiss.IndexIVFScalarQuantizer(quantizer, d, cells, bits), [8, 16, 32, 64]
    else:
        index = faiss.IndexFlatL2(d)
    index.train(vectors)
    index.add(vectors)
    row = {"vectors": size, "kind": name, "build_s": time.perf_counter() - begun}
    row["resident_mb"] = _resident_mb() - before
    _use(1)
    faiss.omp_set_num_threads(1)
    for effort in efforts:
        if effort:
            setattr(index.hnsw if name.startswith("HNSW") else index, _EFFORT[name[:3]], effort)
        times, kept = [], 0
        for query, names in zip(queries, answers, strict=True):
            begun = time.perf_counter()
            found = index.search(query[None], K)[1][0]
            times.append((time.perf_counter() - begun) * 1e3)
            kept += len({_name(one) for one in found.tolist()} & set(names))
        row |= {"recall": kept / (K * len(answers)), "median_ms": statistics.median(times)}
        row["p99_ms"] = float(np.quantile(times, 0.99))
        if row["recall"] >= 0.99:
            break
    return row


def _use(cores: int) -> None:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-cores:])


def _resident_mb() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1e3
    raise OSError("the system doesn't say how much memory is resident")


def _alone(cores: int, task: Callable[..., Any], *given: object) -> Any:
    """A function's result, from a fresh process on so many cores."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(min(cores, len(os.sched_getaffinity(0))))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(task, given)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time and measure similarity search by size.")
    parser.add_argument("--sizes", type=float, nargs="+", default=[1e4, 1e5, 1e6, 1e7])
    parser.add_argument("--cores", type=int, default=2, help="to build on")
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--folder", help="for the saved index; default: a temporary one")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    for size in map(int, options.sizes):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            path = str(Path(folder) / "index.faiss")
            answers = _alone(options.cores, exact, size, options.queries, options.cores)
            row = {"vectors": size} | _alone(options.cores, build, size, path, options.cores)
            rows.append(row | _alone(1, search, size, path, answers))
        if options.peers and size <= _PEERS_UP_TO:
            for name in _PEERS:
                rows.append(_alone(options.cores, peer, name, size, answers[0], options.cores))
    if options.json:
        print(json.dumps(rows))
        return
    print("| " + " | ".join(name.replace("_", " ") for name in _COLUMNS) + " |")
    print("|" + " --- |" * len(_COLUMNS))
    for row in rows:
        cells = (form.format(row[name]) if name in row else "" for name, form in _COLUMNS.items())
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
