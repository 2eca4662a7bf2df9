"""Numbers that say how a nest would run after a recipe, for a model to rank recipes by.

They come from the `outline` of the transformed nest, from how its accesses move with its loops, and
from the machine's caches and vectors; no compiler is asked. The kind of features and the traffic
estimate (an access's footprint in a loop level, against the caches) follow AutoTVM's context
features (T. Chen et al., "Learning to optimize tensor programs", NeurIPS 2018, appendix) and
M. E. Wolf and M. S. Lam's localised iteration space (PLDI 1991).

A nest may hold several bodies (blocks of statements under their own loops). Each has the features
in `SITE`; the vector holds those of the body that runs most often (``hot …``), their mean weighted
by how often the bodies run (``mean …``), and counts of steps (``steps …``). ``thread time`` is that
of all bodies together. Sizes and counts are base-2 logarithms, shares go from 0 to 1, flags are 0
or 1. Bytes are estimated from trip counts; unknown ones are taken as
`loopbook.predict.outline.UNKNOWN_TRIP`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul
from zlib import crc32

import numpy as np

from loopbook.predict import threads
from loopbook.predict.outline import Node, Outline, outline
from loopbook.program.nest import Nest, Stride
from loopbook.rules import TuningContext
from loopbook.steps import Step, kind_of

VERSION = 5
"""Of the features' meaning and order; models and stored vectors of another version do not fit."""

LINE_BYTES = 64

REGISTERS = 32
"""Vector registers of AVX-512 and of SVE; with 16 a tile spills earlier, which the model learns."""

ITEM_BYTES = {"bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "half": 2, "bfloat": 2}
ITEM_BYTES |= {"float": 4, "int32": 4, "uint32": 4}
WIDE_ITEM_BYTES = 8

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
    "other marks",
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
    "refused",
    "sites",
    *COUNTED,
    *(f"other {number}" for number in range(BUCKETS)),
)

NAMES = (
    *(f"hot {name}" for name in SITE),
    *(f"mean {name}" for name in SITE),
    *(f"steps {name}" for name in COUNTS),
)
"""What each place of the vector holds."""


@dataclass(frozen=True)
class _Reference:
    """Accesses of one array that move alike: neighbours of a stencil count once.

    Attributes:
        strides: base loop index to stride class; loops that are missing do not move it.
    """

    container: str
    bytes: int
    write: bool
    read: bool
    strides: dict[int, Stride]

    def stride(self, node: Node) -> Stride:
        return self.strides.get(node.base, Stride.ZERO)


class Features:
    """Computes the features of one nest's recipes."""

    def __init__(self, nest: Nest, around: TuningContext) -> None:
        self._nest, self._around = nest, around
        self._references: dict[tuple[int, ...], list[_Reference]] = {}

    def __call__(self, steps: Sequence[Step]) -> np.ndarray:
        """The features in the order of `NAMES`, float32, all finite."""
        drawn = outline(self._nest, steps, self._around.trips)
        shared = drawn.shared() if self._around.parallel else set()
        rows, volumes, times = [], [], []
        for path, blocks in drawn.sites():
            references = self._referenced(tuple(blocks))
            rows.append(self._site(path, references, shared))
            volumes.append(math.prod(node.trip for node in path))
            times.append(threads.time_share(path, shared, self._around.threads))
        sites = np.array(rows or [[0.0] * len(SITE)], dtype=np.float64)
        weights = np.array(volumes or [1.0])
        sites[:, _THREAD_TIME] = _log(weights @ np.array(times or [1.0]) / weights.sum())
        hot, mean = sites[int(weights.argmax())], weights @ sites / weights.sum()
        return np.concatenate([hot, mean, _counts(drawn, len(rows))], dtype=np.float32)

    def many(self, recipes: Iterable[Sequence[Step]]) -> np.ndarray:
        """One row for each recipe."""
        rows = [self(steps) for steps in recipes]
        return np.stack(rows) if rows else np.empty((0, len(NAMES)), np.float32)

    def _referenced(self, blocks: tuple[int, ...]) -> list[_Reference]:
        if blocks not in self._references:
            self._references[blocks] = self._references_in(set(blocks))
        return self._references[blocks]

    def _references_in(self, blocks: set[int]) -> list[_Reference]:
        nest = self._nest
        ways: dict[tuple[int, tuple[tuple[int, Stride], ...]], set[bool]] = {}
        for access in nest.accesses:
            if access.block in blocks and nest.containers[access.container].is_array:
                loops = nest.ancestry(nest.blocks[access.block].parent)
                moves = tuple(
                    (loop.index, stride)
                    for loop, stride in zip(loops, access.strides, strict=False)
                    if stride != Stride.ZERO
                )
                ways.setdefault((access.container, moves), set()).add(access.write)
        return [
            _Reference(
                nest.containers[container].name,
                ITEM_BYTES.get(nest.containers[container].dtype, WIDE_ITEM_BYTES),
                True in way,
                False in way,
                dict(moves),
            )
            for (container, moves), way in ways.items()
        ]

    def _site(
        self, path: list[Node], references: list[_Reference], shared: set[Node]
    ) -> list[float]:
        values: dict[str, float] = dict.fromkeys(SITE, 0.0)
        _loops(values, path, references)
        _vectors(values, path, references, self._around.lanes)
        _registers(values, path, references, self._around.lanes)
        _caches(values, path, references, self._around)
        _buffers(values, path, references, self._around)
        threads.describe(values, path, shared, self._around)
        return [values[name] for name in SITE]


def _log(value: float) -> float:
    """Base 2, of what is at least a millionth."""
    return math.log2(max(value, 1e-6))


def _elements(reference: _Reference, nodes: Iterable[Node]) -> float:
    return math.prod(node.trip for node in nodes if reference.stride(node) != Stride.ZERO)


def _footprints(references: Sequence[_Reference], path: Sequence[Node]) -> list[float]:
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
    values: dict[str, float], label: str, node: Node, references: Sequence[_Reference]
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


def _loops(values: dict[str, float], path: list[Node], references: list[_Reference]) -> None:
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
        ragged = [node for node in path if node.size and "peel" not in node.marks]
        values["ragged tiles"] = len(ragged) / len(sizes)
    values["skewed"] = sum("skew" in node.marks for node in path)
    values["other marks"] = sum(len(node.marks - set(COUNTED)) for node in path)


def _vectors(
    values: dict[str, float], path: list[Node], references: list[_Reference], lanes: int
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
    values: dict[str, float], path: list[Node], references: list[_Reference], lanes: int
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
    references: list[_Reference],
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
    references: list[_Reference],
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


def _counts(drawn: Outline, sites: int) -> np.ndarray:
    values: dict[str, float] = dict.fromkeys(COUNTS, 0.0)
    values["length"], values["refused"] = drawn.counts.total(), drawn.refused
    values["sites"] = sites
    for op, count in drawn.counts.items():
        first = kind_of(op).recorded_as or op
        values[op if op in COUNTED else f"other {crc32(first.encode()) % BUCKETS}"] += count
    return np.array(list(values.values()))
