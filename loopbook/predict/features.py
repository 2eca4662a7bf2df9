"""Numbers that say how a nest would run after a recipe, for a model to rank recipes by.

They come from the loops of the transformed nest (`loopbook.predict.loops`), from how its accesses
move with these, and from the machine's caches and vectors; no compiler is asked. The kind of
features and the traffic estimate (an access's footprint in a loop level, against the caches) follow
AutoTVM's context features (T. Chen et al., "Learning to optimize tensor programs", NeurIPS 2018,
appendix) and M. E. Wolf and M. S. Lam's localised iteration space (PLDI 1991).

A nest may hold several bodies (blocks of statements under their own loops). Each has the features
in `SITE`; the vector holds those of the body that runs most often (``hot …``), their mean weighted
by how often the bodies run (``mean …``), their number, what an iteration takes at least
(``cycles``), and counts of steps (``steps …``). ``thread time`` and ``cycles`` are those of all
bodies together. Sizes, counts and times are base-2 logarithms, shares go from 0 to 1, flags are 0
or 1. Bytes are estimated from trip counts; unknown ones are taken as
`loopbook.predict.amounts.UNKNOWN_TRIP`. What the tree tells is NaN of recipes not yet tried.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import accumulate
from operator import mul
from zlib import crc32

import numpy as np

from loopbook.predict import threads
from loopbook.predict.cycles import cycles
from loopbook.predict.loops import LoopReader, Node, Reference
from loopbook.program.nest import Nest, Stride
from loopbook.rules import TuningContext
from loopbook.steps import Step, expanded, kind_of
from loopbook.steps.workbench import Transformed

VERSION = 6
"""Of the features' meaning and order; models and stored vectors of another version do not fit."""

LINE_BYTES = 64

REGISTERS = 32
"""Vector registers of AVX-512 and of SVE; with 16 a tile spills earlier, which the model learns."""

COUNTED = (
    "tile",
    "interchange",
    "skew",
    "distribute",
    "peel",
    "fuse",
    "collapse",
    "fuse_tiles",
    "stage",
    "vectorize",
    "unroll",
    "parallel",
)
"""Steps counted one by one in this version of the features. All others share `BUCKETS` by a hash of
their first names, so that the vector keeps its length when new steps are invented."""

BUCKETS = 6

SITE: tuple[str, ...] = (
    # loops
    "depth",
    "volume",
    "inner trip",
    "inner is map",
    "inner is reduce",
    "inner is another loop",
    "inner reduces",
    "tile loops",
    "smallest tile",
    "largest tile",
    "ragged tiles",
    "skewed",
    # vectors
    "vectorized",
    "vector from inside",
    "vectors in trip",
    "whole vectors",
    "vector zero",
    "vector unit",
    "vector constant",
    "vector symbolic",
    "inner zero",
    "inner unit",
    "inner constant",
    "inner symbolic",
    # registers
    "unrolled",
    "has register tile",
    "accumulators",
    "spilled",
    "loads per iteration",
    "reduction trip",
    # caches
    "inner bytes",
    "inner two bytes",
    "inner three bytes",
    "l1 traffic",
    "l2 traffic",
    "l3 traffic",
    "l1 fill",
    "l2 fill",
    "l3 fill",
    "l1 loops",
    "l2 loops",
    # buffers
    "staged in",
    "staged out",
    "staged bytes",
    "packed reads",
    # threads
    "parallel",
    "threaded",
    "thread place",
    "thread trip",
    "thread grain",
    "thread starts",
    "thread time",
)
"""What is known of one body."""

_THREAD_TIME = SITE.index("thread time")

COUNTS: tuple[str, ...] = (
    "length",
    *COUNTED,
    *(f"other {number}" for number in range(BUCKETS)),
)

_LENGTH = COUNTS.index("length")

TREE = (
    *(f"hot {name}" for name in SITE),
    *(f"mean {name}" for name in SITE),
    "bodies",
    "cycles",
)
"""What the program's tree tells."""

_UNKNOWN = np.full(len(TREE), np.nan)

NAMES = (*TREE, *(f"steps {name}" for name in COUNTS))
"""What each place of the vector holds."""


class Features:
    """Computes the features of one nest, before recipes and after them."""

    def __init__(self, nest: Nest, around: TuningContext) -> None:
        self._around = around
        self._read = LoopReader(nest, around.trips)

    def __call__(self, after: Transformed | None, steps: Iterable[Step] = ()) -> np.ndarray:
        """The features in the order of `NAMES`, float32.

        Args:
            after: the nest as the steps have left it; None where they have not been tried.
        """
        told = _UNKNOWN if after is None else self._told(after)
        return np.concatenate([told, _counts(tuple(steps))], dtype=np.float32)

    def _told(self, transformed: Transformed) -> np.ndarray:
        loops = self._read(transformed)
        shared = loops.shared() if self._around.parallel else set()
        rows, volumes, times, cost = [], [], [], 0.0
        for path, references in loops.bodies:
            values = self._site(path, references, shared)
            rows.append([values[name] for name in SITE])
            cost += cycles(values, path, references, shared, self._around)
            volumes.append(math.prod(node.trip for node in path))
            times.append(threads.time_share(path, shared, self._around.threads))
        sites = np.array(rows or [[0.0] * len(SITE)], dtype=np.float64)
        weights = np.array(volumes or [1.0])
        sites[:, _THREAD_TIME] = _log(weights @ np.array(times or [1.0]) / weights.sum())
        hot, mean = sites[int(weights.argmax())], weights @ sites / weights.sum()
        # By iteration: a recipe leaves as many, whatever trips are unknown of.
        return np.concatenate([hot, mean, [len(rows), _log(cost / weights.sum())]])

    def _site(
        self, path: list[Node], references: list[Reference], shared: set[Node]
    ) -> dict[str, float]:
        values: dict[str, float] = dict.fromkeys(SITE, 0.0)
        _loops(values, path, references)
        _vectors(values, path, references, self._around.lanes)
        _registers(values, path, references, self._around.lanes)
        _caches(values, path, references, self._around)
        _buffers(values, path, references, self._around)
        threads.describe(values, path, shared, self._around)
        return values


def _log(value: float) -> float:
    """Base 2, of what is at least a millionth."""
    return math.log2(max(value, 1e-6))


def _elements(reference: Reference, nodes: Iterable[Node]) -> float:
    return math.prod(node.trip for node in nodes if reference.stride(node) != Stride.ZERO)


def _footprints(references: Sequence[Reference], path: Sequence[Node]) -> list[float]:
    """The bytes that each loop of a path touches with those inside of it, in whole cache lines
    but of what is packed there."""
    found = [0.0] * len(path)
    for reference in references:
        elements = run = 1.0
        for place in range(len(path) - 1, -1, -1):
            node = path[place]
            stride = reference.stride(node)
            if stride != Stride.ZERO:
                elements *= node.trip
                if stride is Stride.UNIT:
                    run *= node.trip
            if reference.container in node.staged:
                found[place] += elements * reference.bytes
            else:
                lines = math.ceil(run * reference.bytes / LINE_BYTES)
                found[place] += elements / run * max(lines * LINE_BYTES, LINE_BYTES)
    return found


def _shares(
    values: dict[str, float], label: str, node: Node, references: Sequence[Reference]
) -> None:
    kinds = {
        Stride.ZERO: "zero",
        Stride.UNIT: "unit",
        Stride.CONSTANT: "constant",
        Stride.SYMBOLIC: "symbolic",
        Stride.NON_AFFINE: "symbolic",
    }
    for reference in references:
        values[f"{label} {kinds[reference.stride(node)]}"] += 1 / len(references)


def _loops(values: dict[str, float], path: list[Node], references: list[Reference]) -> None:
    inner = path[-1]
    sizes = [node.size for node in path if node.size]
    values["depth"] = len(path)
    values["volume"] = _log(math.prod(node.trip for node in path))
    values["inner trip"] = _log(inner.trip)
    values["inner is map"] = float(inner.kind == "map")
    values["inner is reduce"] = float(inner.kind == "reduce")
    values["inner is another loop"] = float(inner.base != max(node.base for node in path))
    writes = [reference for reference in references if reference.write]
    values["inner reduces"] = float(
        bool(writes) and all(reference.stride(inner) == Stride.ZERO for reference in writes)
    )
    values["tile loops"] = len(sizes)
    if sizes:
        values["smallest tile"], values["largest tile"] = _log(min(sizes)), _log(max(sizes))
        values["ragged tiles"] = sum(node.ragged for node in path) / len(sizes)
    values["skewed"] = sum(node.skewed for node in path)


def _vectors(
    values: dict[str, float], path: list[Node], references: list[Reference], lanes: int
) -> None:
    marked = [node for node in path if "vectorize" in node.marks]
    vector = marked[-1] if marked else path[-1]
    values["vectorized"] = float(bool(marked))
    values["vector from inside"] = len(path) - 1 - path.index(vector)
    values["vectors in trip"] = _log(vector.trip / lanes)
    values["whole vectors"] = float(vector.size > 0 and vector.size % lanes == 0)
    _shares(values, "vector", vector, references)
    _shares(values, "inner", path[-1], references)


def _registers(
    values: dict[str, float], path: list[Node], references: list[Reference], lanes: int
) -> None:
    """The tile of the result inside the innermost loop that does not move it."""
    values["unrolled"] = sum(_log(node.trip) for node in path if "unroll" in node.marks)
    writes = [reference for reference in references if reference.write]
    still = [
        place
        for place, node in enumerate(path)
        if writes and all(reference.stride(node) == Stride.ZERO for reference in writes)
    ]
    if not still:
        return
    inside = path[still[-1] + 1 :]
    vectors = sum(_elements(reference, inside) for reference in writes) / lanes
    loads = sum(_elements(reference, inside) for reference in references if not reference.write)
    values["has register tile"] = float(bool(inside))
    values["accumulators"] = _log(vectors)
    values["spilled"] = max(0.0, _log(vectors / REGISTERS))
    values["loads per iteration"] = _log(loads / math.prod(node.trip for node in inside))
    values["reduction trip"] = _log(path[still[-1]].trip)


def _caches(
    values: dict[str, float],
    path: list[Node],
    references: list[Reference],
    around: TuningContext,
) -> None:
    """For each cache the bytes that come into it per iteration of the body: what the outermost
    loop touches whose data fit, once for each of its runs."""
    footprints = _footprints(references, path)
    volumes = [*accumulate((node.trip for node in reversed(path)), mul)][::-1]
    line = sum(reference.bytes for reference in references)
    for place, name in enumerate(("inner", "inner two", "inner three"), 1):
        values[f"{name} bytes"] = _log(footprints[-min(place, len(path))] / around.l1_bytes)
    caches = {"l1": around.l1_bytes, "l2": around.l2_bytes, "l3": around.l3_bytes}
    for name, size in caches.items():
        fits = next((n for n, bytes in enumerate(footprints) if bytes <= size), len(path))
        inside = len(path) - fits
        touched = footprints[fits] / volumes[fits] if inside else float(max(line, LINE_BYTES))
        values[f"{name} traffic"] = _log(touched)
        values[f"{name} fill"] = _log((footprints[fits] if inside else line) / size)
        if name != "l3":
            values[f"{name} loops"] = inside


def _buffers(
    values: dict[str, float],
    path: list[Node],
    references: list[Reference],
    around: TuningContext,
) -> None:
    size, packed = 0.0, set()
    for place, node in enumerate(path):
        for container, way in node.staged.items():
            own = [r for r in references if r.container == container]
            back = way == "out" or (way == "auto" and any(r.write for r in own))
            values["staged out" if back else "staged in"] += 1
            size += sum(_elements(r, path[place + 1 :]) * r.bytes for r in own)
            packed.add(container)
    reads = [reference for reference in references if reference.read]
    if packed:
        values["staged bytes"] = max(0.0, _log(size / around.l1_bytes) + 16)
    if reads:
        values["packed reads"] = sum(r.container in packed for r in reads) / len(reads)


@lru_cache(maxsize=4096)
def _counts(steps: tuple[Step, ...]) -> np.ndarray:
    """How many steps there are of each kind, in the order of `COUNTS`: once before a recipe is
    tried, once after it, and nests with the same neighbours share recipes."""
    values = [0.0] * len(COUNTS)
    for step in expanded(steps):
        values[_LENGTH] += 1
        values[_counted_at(step.op)] += 1
    return np.array(values)


@cache
def _counted_at(op: str) -> int:
    """The place in `COUNTS` of a step."""
    first = kind_of(op).recorded_as or op
    return COUNTS.index(op if op in COUNTED else f"other {crc32(first.encode()) % BUCKETS}")
