"""Programs as docc reads them: prepared, cut into nests, scheduled as docc would."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from docc.sdfg import (
    StructuredSDFG,
)

from loopbook import dependence, targets
from loopbook.dependence.missed import confirmed, missed, serialised
from loopbook.errors import DeadlineError, KernelError, SdfgError
from loopbook.program.closed import closed
from loopbook.program.json_text import dumped, loaded
from loopbook.program.load import load_json
from loopbook.program.memory_order import in_memory_order
from loopbook.program.nest import Nest
from loopbook.program.nests import nests as nests_of
from loopbook.program.read import read
from loopbook.program.regions import with_regions
from loopbook.program.rename import with_own_variables
from loopbook.program.signed import sign_counters
from loopbook.program.tree import Program
from loopbook.program.write import write, write_node
from loopbook.sdfg import marks, normalised, passes
from loopbook.sdfg.document import without_positions, words
from loopbook.sdfg.from_zero import counted_from_zero
from loopbook.sdfg.passes import parse
from loopbook.sdfg.pieces import LARGE, pairs
from loopbook.sdfg.simple import DAMAGED
from loopbook.sdfg.whole_trips import with_whole_trips
from loopbook.toolchain.one_child import run_shared
from loopbook.toolchain.sandbox import TRIES

Json = dict[str, Any]


def prepare(text: str) -> StructuredSDFG:
    """`prepare_document`, as docc's object.

    Raises:
        SdfgError: if the text is no SDFG that docc can handle.
    """
    sdfg, _ = prepare_nests(text)
    return sdfg


def prepare_nests(text: str) -> tuple[StructuredSDFG, list[Nest]]:
    """`prepare_document`, as docc's object."""
    document, found = prepare_document(text)
    return parse(dumped(document)), found


def prepare_document(text: str) -> tuple[Json, list[Nest]]:
    """The SDFG in the form that nests are tuned and looked up in, and these nests.

    Loops get induction variables of their own, then docc expands, simplifies and normalises. Maps
    are not fused: independent statements stay nests of their own, which are more alike between
    programs than what fusion makes of them. What docc normalises so that it computes something else
    (see `loopbook.sdfg.validation`) stays as it was. Loops that docc then takes for parallel, but
    which may not be (see `loopbook.dependence.missed`), are made serial. Loops count in signed
    numbers then (see `loopbook.program.signed`).

    The result is marked as prepared: given here again, as text, it is only read.

    Raises:
        SdfgError: if the text is no SDFG that docc can handle.
    """
    document, _, found = prepare_tree(text)
    return document, found


def prepare_tree(text: str) -> tuple[Json, Program, list[Nest]]:
    """`prepare_document` with the tree that the nests are in."""
    document = load_json(text)
    if marks.is_prepared(document):
        document, tree = _signed(document)
        return document, tree, nests_of(tree)
    with _read_as_it_came():
        given = read(document)
        apart = with_own_variables(given)
        large = normalised.UNSEEN.get() or pairs(apart) >= LARGE
    renamed = text if apart is given else None
    document, tree, undone = (
        normalised.in_pieces(renamed or dumped(write(apart)))
        if large
        else normalised.without_fusion(apart, renamed)
    )
    document, tree = _signed(document, tree)
    found = nests_of(tree)
    suspects = [(nest, missed(nest)) for nest in found]
    doubtful = _ids(suspects)
    if doubtful:
        wrong = _ids([(nest, confirmed(nest, indices)) for nest, indices in suspects])
        document = normalised.read_again(write(serialised(tree, doubtful)))
        if wrong:
            marks.note(document, marks.ORDERED, wrong)
        tree = read(document)
        found = nests_of(tree)
    if undone and (large or not normalised.keeps_order(text)):
        marks.note(document, marks.MISORDERED, undone)
    document["metadata"][marks.PREPARED] = marks.PREPARED_VERSION
    return document, marks.noted(tree, document), found


@contextlib.contextmanager
def _read_as_it_came() -> Iterator[None]:
    """Around what reads a document that nobody has looked through.

    Raises:
        SdfgError: it is damaged.
    """
    try:
        yield
    except DAMAGED as error:
        raise SdfgError(f"the SDFG is damaged ({type(error).__name__}: {error})") from None


def prepare_apart(text: str) -> tuple[str, list[Nest]]:
    """`prepare_document` in a child process, where docc may crash or hang; as JSON text. Where it
    crashes again and again, all loops are kept apart; where it comes to no end, it is asked for
    nothing but indices and bounds in terms of loops' variables.

    Raises:
        SdfgError: as `prepare_document`.
        RunError: docc crashed or hung.
    """
    dependence.load()
    limits: dict[str, Any] = {"seconds": normalised.NORMALISING_SECONDS, "what": "docc"}
    soon: dict[str, Any] = {"processor": normalised.SIMPLIFYING_SECONDS}
    try:
        try:
            return run_shared(_prepared, text, **limits, **soon, tries=TRIES)
        except KernelError:
            return run_shared(_prepared_apart, text, **limits, **soon)
    except DeadlineError:
        return run_shared(_prepared_unseen, text, **limits)


def in_regions(text: str) -> tuple[str, list[Nest]]:
    """A prepared program's text with its regions as nests, and the nests that it has then
    (`loopbook.program.regions`); the same text if it has no region.
    """
    tree = read(loaded(text))
    joined = with_regions(tree)
    return text if joined is tree else dumped(write(joined)), nests_of(joined)


def _prepared(text: str) -> tuple[str, list[Nest]]:
    document, found = prepare_document(text)
    return dumped(document), found


def _prepared_unseen(text: str) -> tuple[str, list[Nest]]:
    """The same without what docc would not come to an end with."""
    normalised.UNSEEN.set(True)
    return _prepared(text)


def _prepared_apart(text: str) -> tuple[str, list[Nest]]:
    """The same so; docc's own compile would crash."""
    normalised.ALL_APART.set(True)
    document, found = prepare_document(text)
    marks.note(document, marks.FORMED, ())
    return dumped(document), found


def _signed(document: Json, tree: Program | None = None) -> tuple[Json, Program]:
    """The SDFG with loops that count in signed numbers, and its tree; itself if they do.

    Args:
        tree: the document's, where it has been read.
    """
    given = read(document) if tree is None else tree
    signed = sign_counters(given)
    if signed is given:
        return document, given
    document = normalised.read_again(write(signed))
    return document, read(document)


def _ids(loops: Iterable[tuple[Nest, frozenset[int]]]) -> set[int]:
    return {nest.loops[index].element_id for nest, indices in loops for index in indices}


def tree_of(sdfg: StructuredSDFG) -> Program:
    """The tree of `sdfg`, with its element ids and loops that count in signed numbers."""
    return sign_counters(read(loaded(sdfg.to_json())))


def nests(sdfg: StructuredSDFG) -> list[Nest]:
    """The nests of `sdfg` in program order, with its element ids."""
    return nests_of(read(loaded(sdfg.to_json())))


def cut(sdfg: StructuredSDFG, nest: Nest) -> str:
    """One nest as a stand-alone SDFG: JSON text without source positions.

    docc's own cutout hands scalars that are used elsewhere too over by reference, which makes
    another nest of it. This one keeps the nest as it is: its fingerprint is the same. What it finds
    in scalars is handed in beside it (`loopbook.program.closed`).
    """
    return cut_from(loaded(sdfg.to_json()), nest)


def cut_from(whole: dict[str, Any], nest: Nest) -> str:
    """`cut` for an SDFG that is a JSON document, which stays as it is."""
    document = without_positions(whole)
    body = without_positions(write_node(nest.loop))
    mentioned = words(body)
    containers = {k: v for k, v in document["containers"].items() if k in mentioned}
    arguments = [name for name in document["arguments"] if name in containers]
    arguments += [c.data for c in nest.arrays if c.data in containers and c.data not in arguments]
    document["root"]["children"] = [body]
    document |= {"containers": containers, "arguments": arguments, "name": "nest"}
    alone = read(document)
    if (by_itself := closed(alone)) is not alone:
        document = without_positions(write(by_itself))
    return json.dumps(document, separators=(",", ":"))  # books keep it: the same for ever


def baseline(text: str, target: str) -> StructuredSDFG:
    """The SDFG as docc itself would compile it for `target`, which may be
    `loopbook.targets.UNSCHEDULED`, but for iterations that it would lose and loads that it would
    put behind stores (see `scheduled`).

    Raises:
        SdfgError: if docc cannot handle it.
    """
    if target == targets.UNSCHEDULED:
        return _loads_first(normalised.simplified(text, fuse=True, target=target)[0]).sdfg
    return scheduled(normalised.fused(text, target), target).sdfg


class Scheduled(NamedTuple):
    """An SDFG, its JSON text, which docc takes milliseconds to write, and its tree."""

    sdfg: StructuredSDFG
    text: str
    tree: Program


def scheduled(sdfg: StructuredSDFG, target: str) -> Scheduled:
    """The SDFG with docc's own schedule for every loop that no recipe has scheduled. Of loops whose
    iterations docc would lose (see `loopbook.sdfg.whole_trips`), the conditions are others; of
    those that it would begin at 0 (see `loopbook.sdfg.from_zero`), the starts; loads come before
    the stores that they must not see (see `loopbook.program.memory_order`)."""
    if targets.named(target).parallel:
        tree = read(loaded(sdfg.to_json()))
        whole = counted_from_zero(with_whole_trips(tree))
        if whole is not tree:
            sdfg = parse(dumped(write(whole)))
    return _loads_first(passes.finish(sdfg, target))


def _loads_first(sdfg: StructuredSDFG) -> Scheduled:
    """The SDFG with loads before the stores that they must not see."""
    text = sdfg.to_json()
    tree = read(loaded(text))
    ordered = in_memory_order(tree)
    if ordered is not tree:
        sdfg = parse(dumped(write(ordered)))
        text = sdfg.to_json()
        tree = read(loaded(text))
    return Scheduled(sdfg, text, tree)
