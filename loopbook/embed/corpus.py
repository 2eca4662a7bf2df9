"""What the encoder is trained and judged on: traced kernels, and views of their nests."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from loopbook.embed.graph import NestGraph, canonical_graph, nest_graph, signature
from loopbook.embed.kernels import Kernel, kernels
from loopbook.embed.variants import random_variant
from loopbook.errors import LoopbookError, SdfgError
from loopbook.program.nest import Nest, Operation
from loopbook.program.nests import read_nests

MAX_NODES = 400
"""Larger nests are left out of training: they cost much and are few."""

_WORK = {"fp_sub": "fp_add", "fp_neg": "fp_add", "fp_fma": "fp_mul", "fp_div": "fp_mul"}
"""Operations that make no difference to how a nest is tuned."""

_COPY = re.compile(r"_\d+$")
_LOOP_COPY = re.compile(r"_?\d+$")


@dataclass(frozen=True)
class Document:
    """A traced program.

    Attributes:
        family, label: see `loopbook.embed.kernels.Kernel`.
        text: its prepared SDFG.
    """

    family: str
    label: str
    text: str


@dataclass(frozen=True, eq=False)
class View:
    """One nest in one variant.

    Attributes:
        graph: of the nest as it is, for its loops and arrays.
        canonical: graph of its canonical form, what the nest's vector is made of.
        loop_parts: for each loop, the part that it plays, comparable within a family.
        container_parts: the same for each array.
    """

    graph: NestGraph
    canonical: NestGraph
    loop_parts: tuple[str, ...]
    container_parts: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class NestClass:
    """Nests that should be found for each other.

    Attributes:
        name: same in every run.
        family: number of the family; nests of one family should be near, and the names of the parts
            that their loops and arrays play can be compared.
        shape: number of the access pattern (see `access_pattern`); nests that share it should be
            near as well, whatever family they come from.
        views: all variants, at least two.
    """

    name: str
    family: int
    shape: int
    views: list[View]


def trace_kernels(
    found: Iterable[Kernel], progress: Callable[[int], None] | None = None
) -> Iterator[Document]:
    """Prepared SDFGs of `found`; what docc cannot parse is left out."""
    from loopbook.sdfg.frontend import trace
    from loopbook.sdfg.program import prepare
    from loopbook.workloads.workload import read_workload

    for number, kernel in enumerate(found, 1):
        workload = read_workload(kernel.source, Path(__file__).with_name("a_synthetic_kernel.py"))
        arguments = workload.arguments(next(iter(workload.parameters)))
        try:
            text = prepare(trace(workload.kernel, arguments)).to_json()
        except SdfgError:
            continue
        finally:
            if progress is not None:
                progress(number)
        yield Document(kernel.family, kernel.label, text)


def polybench_documents(pattern: str = "[!_]*") -> Iterator[Document]:
    """Prepared SDFGs of the PolyBench kernels whose file names match; each is its own family.

    What docc cannot parse is left out.
    """
    from loopbook.sdfg.frontend import trace
    from loopbook.sdfg.program import prepare
    from loopbook.workloads import polybench
    from loopbook.workloads.workload import load_workload

    for path in sorted(Path(polybench.__path__[0]).glob(f"{pattern}.py")):
        try:
            workload = load_workload(path)
            text = prepare(trace(workload.kernel, workload.arguments("MINI"))).to_json()
        except LoopbookError:
            continue
        yield Document(f"polybench {path.stem}", f"polybench {path.stem}", text)


def collect(
    path: Path,
    seed: int,
    classes: int,
    variants: int,
    progress: Callable[[int], None] | None = None,
    *,
    suite: bool = True,
) -> list[Document]:
    """Traced synthetic kernels and, if `suite`, PolyBench, kept in the file `path` from one run to
    the next."""
    found = list(kernels(seed, classes, variants))
    wanted = hashlib.sha256(repr((suite, found)).encode()).hexdigest()
    if path.exists():
        try:
            with gzip.open(path, "rt") as file:
                if json.loads(next(file)) == wanted:
                    return [Document(*json.loads(line)) for line in file]
        except (OSError, EOFError, ValueError, StopIteration, TypeError):
            path.unlink()  # cut short or damaged: traced again below
    documents = list(trace_kernels(found, progress))
    documents += polybench_documents() if suite else ()
    partial = path.with_name(path.name + ".part")
    with gzip.open(partial, "wt", compresslevel=3) as file:
        for row in (wanted, *([d.family, d.label, d.text] for d in documents)):
            file.write(json.dumps(row) + "\n")
    partial.replace(path)
    return documents


def nest_classes(
    documents: Sequence[Document], seed: int, views: int, avoid: Collection[str] = ()
) -> list[NestClass]:
    """Classes of nests with `views` random variants of each traced nest, and the nest itself.

    Nests whose canonical forms are equal although their labels differ end up in one class.

    Args:
        avoid: fingerprints of nests that must not be learnt from.
    """
    rng = random.Random(seed)
    families: dict[str, int] = {}
    merged: dict[str, str] = {}
    by_form: dict[str, str] = {}
    shapes: dict[str, int] = {}
    collected: dict[str, tuple[int, int, list[View]]] = {}

    def root(name: str) -> str:
        while name in merged:
            name = merged[name]
        return name

    for document in documents:
        family = families.setdefault(document.family, len(families))
        parsed = json.loads(document.text)
        names = [_class_name(document, nest) for nest in read_nests(parsed)]
        for name, nest in zip(names, read_nests(parsed), strict=True):
            if nest.fingerprint in avoid:
                continue
            shape = shapes.setdefault(access_pattern(nest), len(shapes))
            *_, found = collected.setdefault(root(name), (family, shape, []))
            known = root(by_form.setdefault(signature(canonical_graph(nest)), name))
            if known != root(name):
                collected[known][2].extend(found)
                del collected[root(name)]
                merged[root(name)] = known
        variants = [parsed, *(random_variant(parsed, rng) for _ in range(views))]
        for variant in variants:
            for nest in read_nests(variant):
                name = root(_class_name(document, nest))
                graph = nest_graph(nest)
                if name not in collected or nest.fingerprint in avoid:
                    continue
                if graph.nodes <= MAX_NODES:
                    collected[name][2].append(_view(nest, graph))
    return [
        NestClass(name, family, shape, found)
        for name, (family, shape, found) in collected.items()
        if len(found) > 1
    ]


def access_pattern(nest: Nest) -> str:
    """How the innermost statements' arrays and loops belong together, and the kinds of work there.

    Says nothing of order and strides.

    All matrix products have the same text, for example, be their operands transposed or not, and
    with or without a loop before or after that clears or scales the result.
    """
    depth = max((len(access.strides) for access in nest.accesses if access.subset), default=0)
    operations: dict[int, list[Operation]] = {block.index: [] for block in nest.blocks}
    for operation in nest.operations:
        operations[operation.block].append(operation)
    moving: dict[int, set[int]] = {}
    places: dict[int, set[tuple[str, ...]]] = {}
    written: set[int] = set()
    work: set[str] = set()
    for access in nest.accesses:
        if not access.subset or len(access.strides) < depth:
            continue
        work |= {_WORK.get(o.op, o.op) for o in operations[access.block]}
        loops = nest.ancestry(nest.blocks[access.block].parent)
        moving.setdefault(access.container, set()).update(
            loop.depth for loop, stride in zip(loops, access.strides, strict=True) if stride
        )
        places.setdefault(access.container, set()).add(access.subset)
        if access.write:
            written.add(access.container)
    arrays = sorted(
        (len(loops), array in written, len(places[array]) > 1) for array, loops in moving.items()
    )
    loops = sorted(
        sorted((array in written, len(moving[array])) for array in moving if level in moving[array])
        for level in range(depth)
    )
    return f"{arrays} {loops} {sorted(work - {'assign', 'symbol'})}"


def _view(nest: Nest, graph: NestGraph) -> View:
    return View(
        graph,
        canonical_graph(nest),
        tuple(_LOOP_COPY.sub("", loop.indvar) for loop in nest.loops),
        tuple(_COPY.sub("", array.data) for array in nest.arrays),
    )


def _class_name(document: Document, nest: Nest) -> str:
    """The document's label, and what tells its nests apart however they are ordered."""
    loops = sorted(_LOOP_COPY.sub("", loop.indvar) for loop in nest.loops)
    written = sorted({_COPY.sub("", c.data) for c in nest.containers if c.is_array and c.written})
    return f"{document.label} [{' '.join(loops)} -> {' '.join(written)}]"
