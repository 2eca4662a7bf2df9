"""Programs as docc reads them: parsed, prepared, cut into nests, scheduled as docc would."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import Any, NamedTuple

from docc.sdfg import (
    AnalysisManager,
    StructuredSDFG,
    StructuredSDFGBuilder,
    SymbolPromotion,
    SymbolPropagation,
)

from loopbook import dependence, targets
from loopbook.dependence.missed import confirmed, missed, serialised
from loopbook.errors import KernelError, RunError, SdfgError
from loopbook.normal_form import normal_form
from loopbook.normal_form.local import with_known_sizes
from loopbook.normal_form.neighbours import with_fused_neighbours
from loopbook.normal_form.unread import without_unread_integers
from loopbook.program.closed import closed
from loopbook.program.copies import without_idle_copies
from loopbook.program.json_text import dumped, loaded
from loopbook.program.load import load_json
from loopbook.program.memory_order import in_memory_order
from loopbook.program.nest import Nest
from loopbook.program.nests import nests as nests_of
from loopbook.program.read import read
from loopbook.program.rename import with_own_variables
from loopbook.program.signed import sign_counters
from loopbook.program.tree import Program
from loopbook.program.write import write, write_node
from loopbook.sdfg import marks, passes
from loopbook.sdfg.document import without_positions, words
from loopbook.sdfg.from_zero import counted_from_zero
from loopbook.sdfg.lost import loses, separated, without_loss
from loopbook.sdfg.lost_scalars import scalars_lost
from loopbook.sdfg.pieces import LARGE, Cut, pairs
from loopbook.sdfg.rollback import RolledBack, rolled_back
from loopbook.sdfg.whole_trips import with_whole_trips
from loopbook.toolchain.sandbox import TRIES, run_limited
from loopbook.toolchain.stderr import quiet_stderr

Json = dict[str, Any]

NORMALISING_SECONDS = 30.0
"""How long docc may take to normalise a program."""

PIECES_SECONDS = 4.0
"""Processor time that docc gets for the pieces of a large program; the rest stay as they are."""


def parse(text: str) -> StructuredSDFG:
    """docc's SDFG from its JSON text.

    Raises:
        SdfgError: if docc cannot read it.
    """
    try:
        with quiet_stderr():
            sdfg = StructuredSDFG.parse(text)
            sdfg.validate()
    except (RuntimeError, IndexError, ValueError, KeyError, TypeError) as error:
        raise SdfgError(f"docc cannot read this SDFG: {passes.first_line(error)}") from None
    return sdfg


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
        renamed = text if apart is given else dumped(write(apart))
        large = pairs(apart) >= LARGE
    known = given if apart is given else None
    document, tree, undone = _in_pieces(renamed) if large else _normalised(renamed, known)
    document, tree = _signed(document, tree)
    found = nests_of(tree)
    suspects = [(nest, missed(nest)) for nest in found]
    doubtful = _ids(suspects)
    if doubtful:
        wrong = _ids([(nest, confirmed(nest, indices)) for nest, indices in suspects])
        document = _read_again(write(serialised(tree, doubtful)))
        if wrong:
            marks.note(document, marks.ORDERED, wrong)
        tree = read(document)
        found = nests_of(tree)
    if undone and (large or not _keeps_order(text)):
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
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise SdfgError(f"the SDFG is damaged ({type(error).__name__}: {error})") from None


def prepare_apart(text: str) -> tuple[str, list[Nest]]:
    """`prepare_document` in a child process, where docc may crash or hang; as JSON text. Where it
    crashes again and again, all loops are kept apart.

    Raises:
        SdfgError: as `prepare_document`.
        RunError: docc crashed or hung.
    """
    dependence.load()
    limits: dict[str, Any] = {"seconds": NORMALISING_SECONDS, "what": "docc"}
    try:
        return run_limited(_prepared, text, **limits, tries=TRIES)
    except KernelError:
        return run_limited(_prepared_apart, text, **limits)


def _prepared(text: str) -> tuple[str, list[Nest]]:
    document, found = prepare_document(text)
    return dumped(document), found


_ALL_APART = ContextVar("_ALL_APART", default=False)
"""Whether docc is to see no two loops beside each other, and to inline nothing: while it fuses, it
may read what it has freed, and solves equations that its solver crashes on (seen with 0.8.1:
``b / a[-1]``, then ``a / a[-1]``)."""


def _prepared_apart(text: str) -> tuple[str, list[Nest]]:
    """The same so; docc's own compile would crash."""
    _ALL_APART.set(True)
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
    document = _read_again(write(signed))
    return document, read(document)


def _read_again(document: Json) -> Json:
    """A document that was changed, in docc's own words."""
    return loaded(parse(dumped(document)).to_json())


def _ids(loops: Iterable[tuple[Nest, frozenset[int]]]) -> set[int]:
    return {nest.loops[index].element_id for nest, indices in loops for index in indices}


def _normalised(text: str, tree: Program | None) -> tuple[Json, Program | None, frozenset[int]]:
    """The SDFG normalised without fusion, but for the parts that this gets wrong.

    Args:
        tree: what the text says, where it has been read.

    Returns:
        The SDFG, its tree if it has been read, and element ids of the outermost loops that are not
        normalised.
    """
    document, after, result = _reordered(text, fuse=False, tree=tree)
    if result is None:
        return document, after, frozenset()
    return _read_again(write(result.program)), None, result.undone


def _in_pieces(text: str) -> tuple[Json, Program | None, frozenset[int]]:
    """`_normalised` for a large program, piece by piece (see `loopbook.sdfg.pieces`)."""
    undone: set[int] = set()
    begun, end = time.monotonic(), time.process_time() + PIECES_SECONDS

    def work(piece: Program) -> Program | None:
        late = time.monotonic() - begun > NORMALISING_SECONDS / 2
        if late or time.process_time() > end:
            return None
        try:
            _, tree, result = _reordered(dumped(write(piece)), fuse=False, form=False)
        except SdfgError:
            return None
        made = tree if result is None else result.program
        if scalars_lost(piece, made):
            return None
        undone.update(() if result is None else result.undone)
        return made

    promoted = with_known_sizes(without_unread_integers(_promoted(text, targets.DEFAULT)))
    cut = Cut(normal_form(with_fused_neighbours(promoted)), work)
    document = _read_again(write(cut.program))
    marks.note(document, marks.FRAMES, cut.frames)
    return document, None, frozenset(undone)


def _promoted(text: str, target: str) -> Program:
    """The SDFG expanded, with indices and bounds in terms of loops' variables and sizes, and no
    more done to it.

    Raises:
        SdfgError: if docc cannot.
    """
    sdfg = parse(text)
    try:
        with quiet_stderr():
            sdfg.expand(passes.options(target))
            builder = StructuredSDFGBuilder(sdfg)
            manager = AnalysisManager(builder)
            for step in (SymbolPromotion(), SymbolPropagation()) * 2:
                step.run(builder, manager)
                manager.invalidate_all()
    except (RuntimeError, IndexError, ValueError) as error:
        raise SdfgError(f"docc cannot simplify this SDFG: {passes.first_line(error)}") from None
    return read(loaded(sdfg.to_json()))


def _keeps_order(text: str) -> bool:
    """Whether docc's own compile keeps the order that the program needs, as far as we can tell.

    Asked in a child process: docc's fusion may crash where its distribution fails.
    """
    dependence.load()
    try:
        return run_limited(
            _keeps, text, seconds=NORMALISING_SECONDS, what="docc's normalisation", tries=TRIES
        )
    except (SdfgError, RunError):
        return False


def _keeps(text: str) -> bool:
    return _reordered(text, fuse=True)[2] is None


def _reordered(
    text: str, *, fuse: bool, form: bool = True, tree: Program | None = None
) -> tuple[Json, Program, RolledBack | None]:
    """The document of the SDFG normalised, its tree, and what has to be taken back of that.

    Args:
        fuse: as docc's own compile does it.
        form: whether this is the whole program, which gets its normal form without that.
        tree: what the text says, where it has been read.
    """
    try:
        sdfg, before = _simplified(text, fuse=fuse, tree=tree)
    except SdfgError:  # docc stumbles over some strides that are products of names
        given = read(load_json(text)) if tree is None else tree
        if (told := with_known_sizes(given)) is given:
            raise
        sdfg, before = _simplified(dumped(write(told)), fuse=fuse, tree=told)
    # What keeps loops apart for docc is a use of its arrays like any other.
    bare = without_idle_copies(before) if form and not fuse else before
    formed = normal_form(bare) if form and not fuse else bare
    if other := formed is not bare:
        sdfg, before = _simplified(dumped(write(formed)), fuse=False)
        if (bare := without_idle_copies(before)) is not before:
            # What kept loops apart has done its work, and would keep them from being distributed.
            sdfg, before = parse(dumped(write(bare))), bare
    passes.reorder(sdfg, fuse=fuse)
    after = loaded(sdfg.to_json())
    if other:
        marks.note(after, marks.FORMED, ())
    result = read(after)
    return after, result, rolled_back(before, result)


def _simplified(
    text: str, *, fuse: bool, target: str = targets.DEFAULT, tree: Program | None = None
) -> tuple[StructuredSDFG, Program]:
    """`passes.simplify` without losing stores, and its tree; raises `SdfgError` where that
    cannot be.

    Args:
        tree: what the text says, where it has been read.
    """

    apart = _ALL_APART.get() and separated(read(load_json(text)) if tree is None else tree)
    if apart:
        text, tree = dumped(write(apart)), apart

    def simplified(given: str) -> StructuredSDFG:
        if _ALL_APART.get():
            return passes.simplify(parse(given), fuse=False, inline=False, target=target)
        made = passes.simplify(parse(given), fuse=fuse, target=target)
        calls = 0 if fuse else _maths_calls(given)
        if calls and _maths_calls(made.to_json()) > calls:
            return passes.simplify(parse(given), fuse=False, inline=False, target=target)
        return made

    return without_loss(text, simplified, lambda given: _promoted(given, target), tree)


def _maths_calls(text: str) -> int:
    """How many calls of functions such as ``exp`` an SDFG has. docc computes what a stencil reads
    of an array again for each neighbour, however dear that is."""
    return text.count('"function_stem"')


def _fused(text: str, target: str) -> StructuredSDFG:
    """The SDFG normalised without losing stores, and with fusion unless that does."""
    sdfg, simple = _simplified(text, fuse=True, target=target)
    with contextlib.suppress(SdfgError):
        passes.reorder(sdfg, fuse=True)
        if not loses(simple, read(loaded(sdfg.to_json()))):
            return sdfg
    return passes.reorder(parse(dumped(write(simple))), fuse=False)


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
        return _loads_first(_simplified(text, fuse=True, target=target)[0]).sdfg
    return scheduled(_fused(text, target), target).sdfg


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
