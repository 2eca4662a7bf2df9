"""Programs as docc simplifies and normalises them, in as far as they compute the same then.

docc loses stores, orders statements anew, and takes for ever over large programs: what it does is
looked through, and taken back where it is wrong; large programs are normalised in pieces.
"""

from __future__ import annotations

import contextlib
import math
import time
from contextvars import ContextVar
from typing import Any

from docc.sdfg import (
    AnalysisManager,
    StructuredSDFG,
    StructuredSDFGBuilder,
    SymbolPromotion,
    SymbolPropagation,
)

from loopbook import dependence, targets
from loopbook.errors import RunError, SdfgError
from loopbook.normal_form import normal_form
from loopbook.normal_form.neighbours import with_fused_neighbours
from loopbook.normal_form.unread import without_unread_integers
from loopbook.program.copies import without_idle_copies
from loopbook.program.json_text import dumped, loaded
from loopbook.program.load import load_json
from loopbook.program.local import with_known_sizes
from loopbook.program.read import read
from loopbook.program.tree import Program
from loopbook.program.write import write
from loopbook.sdfg import marks, passes
from loopbook.sdfg.lost import loses, separated, without_loss
from loopbook.sdfg.lost_scalars import scalars_lost
from loopbook.sdfg.passes import parse
from loopbook.sdfg.pieces import Cut
from loopbook.sdfg.rollback import RolledBack, rolled_back
from loopbook.sdfg.simple import simple
from loopbook.toolchain.sandbox import TRIES, run_limited
from loopbook.toolchain.stderr import quiet_stderr

Json = dict[str, Any]

NORMALISING_SECONDS = 30.0
"""How long docc may take to normalise a program."""

PIECES_SECONDS = 4.0
"""Processor time that docc gets for the pieces of a large program; the rest stay as they are."""

SIMPLIFYING_SECONDS = 6.0
"""Processor time in which docc has to simplify a program, before it is left as it is: most take
0.02 to 1. What it compares grows without limit with how many loops' bounds depend on each other."""

MOST_MORE = 1.5
"""Instructions after docc has inlined for each one before. Chosen between 1.2 (z-scores, which gain
by it) and 3.7 (see `_computes_more`)."""

_CALL, _INSTRUCTION = '"function_stem"', '"tasklet"'
"""What an SDFG's text has once for each call of functions such as ``exp``, and each instruction."""

ALL_APART = ContextVar("ALL_APART", default=False)
"""Whether docc is to see no two loops beside each other, and to inline nothing: while it fuses, it
may read what it has freed, and solves equations that its solver crashes on (seen with 0.8.1:
``b / a[-1]``, then ``a / a[-1]``)."""

UNSEEN = ContextVar("UNSEEN", default=False)
"""Whether docc is to simplify nothing, since that would take for ever."""


def without_fusion(
    tree: Program, text: str | None = None
) -> tuple[Json, Program | None, frozenset[int]]:
    """The SDFG normalised without fusion, but for the parts that this gets wrong.

    Args:
        text: that says the same, where there is one.

    Returns:
        The SDFG, its tree if it has been read, and element ids of the outermost loops that are not
        normalised.
    """
    document, after, result = _reordered(tree, text, fuse=False)
    if result is None:
        return document, after, frozenset()
    return read_again(write(result.program)), None, result.undone


def in_pieces(text: str) -> tuple[Json, Program | None, frozenset[int]]:
    """`without_fusion` for a large program, piece by piece (see `loopbook.sdfg.pieces`)."""
    undone: set[int] = set()
    begun, end = time.monotonic(), time.process_time() + PIECES_SECONDS

    def work(piece: Program) -> Program | None:
        if UNSEEN.get():
            return None
        late = time.monotonic() - begun > NORMALISING_SECONDS / 2
        if late or time.process_time() > end:
            return None
        try:
            _, tree, result = _reordered(piece, fuse=False, form=False)
        except SdfgError:
            return None
        made = tree if result is None else result.program
        if scalars_lost(piece, made):
            return None
        undone.update(() if result is None else result.undone)
        return made

    whole = with_known_sizes(without_unread_integers(promoted(text, targets.DEFAULT)))
    cut = Cut(normal_form(with_fused_neighbours(whole)), work)
    document = read_again(write(cut.program))
    marks.note(document, marks.FRAMES, cut.frames)
    return document, None, frozenset(undone)


def promoted(text: str, target: str) -> Program:
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


def keeps_order(text: str) -> bool:
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
    return _reordered(read(load_json(text)), text, fuse=True)[2] is None


def _reordered(
    tree: Program, text: str | None = None, *, fuse: bool, form: bool = True
) -> tuple[Json, Program, RolledBack | None]:
    """The document of the SDFG normalised, its tree, and what has to be taken back of that.

    Args:
        text: that says the same as the tree, where there is one.
        fuse: as docc's own compile does it.
        form: whether this is the whole program, which gets its normal form without that.
    """
    asked = fuse or not form or ALL_APART.get()
    told = None if asked else simple(tree)
    if told is not None:
        sdfg, before = parse(dumped(write(told))), told
    else:
        sdfg, before = _simplified_somehow(tree, text or dumped(write(tree)), fuse)
    # What keeps loops apart for docc is a use of its arrays like any other.
    bare = without_idle_copies(before) if form and not fuse else before
    formed = normal_form(bare) if form and not fuse else bare
    if other := formed is not bare:
        sdfg, before = simplified(dumped(write(formed)), fuse=False, lean=True)
        if (bare := without_idle_copies(before)) is not before:
            # What kept loops apart has done its work, and would keep them from being distributed.
            sdfg, before = parse(dumped(write(bare))), bare
    passes.reorder(sdfg, fuse=fuse)
    after = loaded(sdfg.to_json())
    if other:
        marks.note(after, marks.FORMED, ())
    result = read(after)
    return after, result, rolled_back(before, result)


def _simplified_somehow(tree: Program, text: str, fuse: bool) -> tuple[StructuredSDFG, Program]:
    try:
        return simplified(text, fuse=fuse, tree=tree)
    except SdfgError:  # docc stumbles over some strides that are products of names
        if (told := with_known_sizes(tree)) is tree:
            raise
        return simplified(dumped(write(told)), fuse=fuse, tree=told)


def fused(text: str, target: str) -> StructuredSDFG:
    """The SDFG normalised without losing stores, and with fusion unless that does."""
    sdfg, simple = simplified(text, fuse=True, target=target)
    with contextlib.suppress(SdfgError):
        passes.reorder(sdfg, fuse=True)
        if not loses(simple, read(loaded(sdfg.to_json()))):
            return sdfg
    return passes.reorder(parse(dumped(write(simple))), fuse=False)


def simplified(
    text: str,
    *,
    fuse: bool,
    lean: bool = False,
    target: str = targets.DEFAULT,
    tree: Program | None = None,
) -> tuple[StructuredSDFG, Program]:
    """`passes.simplify` without losing stores, and its tree; raises `SdfgError` where that
    cannot be.

    Args:
        lean: inline nothing where that computes clearly more; else only where it calls more
            functions. Loops as people write them are known to books as docc inlines them.
        tree: what the text says, where it has been read.
    """
    apart = ALL_APART.get() and separated(read(load_json(text)) if tree is None else tree)
    if apart:
        text, tree = dumped(write(apart)), apart

    def once(given: str) -> StructuredSDFG:
        if ALL_APART.get():
            return passes.simplify(parse(given), fuse=False, inline=False, target=target)
        made = passes.simplify(parse(given), fuse=fuse, target=target)
        if not fuse and _computes_more(made.to_json(), given, MOST_MORE if lean else math.inf):
            return passes.simplify(parse(given), fuse=False, inline=False, target=target)
        return made

    return without_loss(text, once, lambda given: promoted(given, target), tree)


def _computes_more(text: str, before: str, most: float) -> bool:
    """Whether an SDFG calls more functions than it did, or has over `most` times the instructions.

    docc computes what a stencil reads of an array again for each neighbour, however dear that is,
    and leaves the array. Two smoothings and the length of a gradient over 1500 by 1500 take 5.4 ms
    so, 2.6 ms otherwise.
    """
    calls = before.count(_CALL)
    if calls and text.count(_CALL) > calls:
        return True
    return text.count(_INSTRUCTION) > most * before.count(_INSTRUCTION)


def read_again(document: Json) -> Json:
    """A document that was changed, in docc's own words."""
    return loaded(parse(dumped(document)).to_json())
