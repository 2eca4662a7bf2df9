"""Stores that docc's simplification loses, and how to keep them.

docc fuses neighbouring maps while it simplifies, and sometimes throws away the loop behind the two
(seen with 0.8.1: sums of whole numbers whose result is then read backwards, a chain of which one
part is read transposed), stores an older value last (`loopbook.sdfg.overtaken`), takes stores of
the first loop into the second one (a copy of an array that the second one reads at several places)
or what a branch of the first one stores for what the second one reads on any condition, or fails
(such an array just after it was computed). What it has lost is seen in the arrays that were written
before and no longer are, what it has taken along in those that are written more often or read less
often; and loops that it lets run more often than before in the elements that they touch
(`loopbook.sdfg.moved`). Between loops that a statement keeps apart it fuses nothing::

    for i: s[i] = …                      for i: s[i] = …
    for i: r[i] = s[n - 1 - i] + 1       s[0] = s[0]
                                         for i: r[i] = s[n - 1 - i] + 1
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from docc.sdfg import StructuredSDFG

from loopbook.dependence.touches import Touch
from loopbook.errors import SdfgError
from loopbook.program.accesses import own_names
from loopbook.program.dataflow import Allocation, LibraryCall, Memlet, Reference
from loopbook.program.json_text import dumped, loaded
from loopbook.program.read import read
from loopbook.program.tree import Loop, Program
from loopbook.program.unset import unset
from loopbook.program.walk import Inner
from loopbook.program.write import write
from loopbook.sdfg.forwarded import below, forwarded
from loopbook.sdfg.moved import moved
from loopbook.sdfg.overtaken import overtaken
from loopbook.sdfg.spacing import copy_of_first, loads_of, spaced, stores_of
from loopbook.sdfg.unsolved import kept_apart
from loopbook.sdfg.whole_products import kept_whole

Simplify = Callable[[str], StructuredSDFG]
Promote = Callable[[str], Program]


def without_loss(
    text: str, simplify: Simplify, promote: Promote, tree: Program | None = None
) -> tuple[StructuredSDFG, Program]:
    """What `simplify` makes of an SDFG's text, with statements between the loops if it fails,
    loses stores or moves them otherwise; its tree, too. Those that are lost may be for nothing,
    and go however loops are kept apart.

    Args:
        promote: gives the SDFG with indices in terms of loops' variables, and nothing fused.
        tree: what the text says, where it has been read.

    Raises:
        SdfgError: if all stores into an array, or a variable, are lost in any case, or some moved,
            or as `simplify`.
    """
    text, program = _fit_to_be_fused(text, tree)
    try:
        sdfg = simplify(text)
    except SdfgError:  # of some readings at several places, say
        if program is None or (apart := separated(program)) is None:
            raise
        given = stores(program, running=True)
        told = apart
        sdfg, simple, array = _apart(apart, simplify, promote)
    else:
        told = program = read(loaded(text)) if program is None else program
        given = stores(program, running=True)
        simple = _tree(sdfg)
        array = _moved(program, text, simple, promote)
        confused = (
            array is not None
            or _confused(given, simple)
            or _promoted(forwarded, program, simple, promote)
            or _promoted(overtaken, program, simple, promote) is not None
        )
        fewer = _fewer(program, simple)
        doubtful = confused or fewer or _lost(given, stores(simple))
        if doubtful and (apart := separated(program)) is not None:
            other = _apart(apart, simplify, promote)
            more = fewer - _fewer(program, other[1])
            if confused or more or _lost(stores(other[1]), stores(simple)):
                told, (sdfg, simple, array) = apart, other
    if array is not None:
        raise SdfgError(f"docc touches elements of {array} that the program does not")
    if name := _promoted(forwarded, program, simple, promote):
        raise SdfgError(f"docc forgets on what condition {name} is stored into")
    if name := _promoted(overtaken, told, simple, promote):
        raise SdfgError(f"docc may store the older of two values of {name} last")
    left = stores(simple)
    gone = sorted(name for name in given if not left[name])
    gone += sorted(unset(simple) - unset(program))
    gone += sorted(unset(simple, sure=True) - unset(program, sure=True))
    gone += sorted(_fewer(program, simple, least=1))
    if gone:
        raise SdfgError(f"docc loses what is stored into {gone[0]}")
    return sdfg, simple


def _fit_to_be_fused(text: str, tree: Program | None) -> tuple[str, Program | None]:
    """An SDFG's text with those loops kept apart that docc crashes on, and products by themselves,
    and its tree; None if it cannot be read."""
    try:
        program = read(loaded(text)) if tree is None else tree
    except SdfgError:  # `simplify` says so
        return text, None
    apart = kept_whole(kept_apart(program))
    if apart is program:
        return text, program
    text = dumped(write(apart))
    return text, read(loaded(text))


def _tree(sdfg: StructuredSDFG) -> Program:
    return read(loaded(sdfg.to_json()))


def _apart(
    program: Program, simplify: Simplify, promote: Promote
) -> tuple[StructuredSDFG, Program, str | None]:
    """What becomes of a program with its loops kept apart, and an array with `_moved` stores."""
    text = dumped(write(program))
    sdfg = simplify(text)
    simple = _tree(sdfg)
    return sdfg, simple, _moved(program, text, simple, promote)


def _moved(program: Program, text: str, simple: Program, promote: Promote) -> str | None:
    """An array of which docc touches more elements after it has fused loops, or dropped some."""
    before = _counters(program, running=True)
    return None if before <= _counters(simple) else moved(promote(text), simple)


def _promoted(
    look: Callable[[Program, Program], str | None],
    program: Program,
    simple: Program,
    promote: Promote,
) -> str | None:
    """What is found in a program and in what docc has made of it (`forwarded`, `overtaken`). Places
    that scalars stand for may be the same under several names: a fault is one only if it is found
    in terms of loops' variables, too."""
    return look(program, simple) and look(promote(dumped(write(program))), simple)


def _counters(program: Program, *, running: bool = False) -> set[str]:
    return {node.variable for node in below(program, running) if isinstance(node, Loop)}


def _confused(before: Counter[str], program: Program) -> bool:
    """Whether docc has fused loops into one that stores into one place twice: the older value may
    come last then (seen with 0.8.1: two updates of one triangle); or has copied stores, or left out
    what a scalar is computed in (a product of whole numbers behind a product of matrices)."""
    if not any(name.startswith("_fused_tmp") for name in program.containers):
        return False
    if any(count > before[name] for name, count in stores(program).items()):
        return True
    if unset(program):
        return True
    for node in below(program):
        if isinstance(node, Loop):
            inner = (one for child in node.body.children for one in stores_of(child))
            places = [(name, _place(name, m)) for name, m in inner if name in program.arguments]
            if len(places) > len(set(places)):
                return True
    return False


def _place(name: str, memlet: Memlet) -> object:
    """Where a store goes, the same for ``n * (i + 1) + j`` and ``n + j + n * i``."""
    try:
        return Touch(name, memlet.subset, True).place
    except SdfgError:
        return memlet.subset


def loses(before: Program, after: Program) -> bool:
    """Whether docc has fused an SDFG so that stores are gone, which may have been for nothing,
    stand in a doubtful order, or at other places."""
    given = stores(before, running=True)
    if _lost(given, stores(after)) or _confused(given, after) or forwarded(before, after):
        return True
    if overtaken(before, after) or _fewer(before, after, least=1):
        return True
    if _counters(before, running=True) <= _counters(after):
        return False
    return moved(before, after) is not None


def stores(program: Program, *, running: bool = False) -> Counter[str]:
    """How many statements store into each array that the program was given.

    Args:
        running: leave out loops that never run.
    """
    given = set(program.arguments)
    inner = (one for node in below(program, running) for one in stores_of(node))
    return Counter(name for name, _ in inner if name in given)


def _lost(before: Counter[str], after: Counter[str]) -> bool:
    return any(after[name] < count for name, count in before.items())


def _fewer(before: Program, after: Program, least: int | None = None) -> set[str]:
    """Arrays of the program's own that it still reads, but stores into at fewer places than before.

    Args:
        least: how many places are enough; None: as many as before.
    """
    given = {*before.arguments, *after.arguments}
    old, new = _places_stored(before), _places_stored(after)
    new.update(name for node in below(after) if _may_store(node) for name in own_names(node))
    read = {name for node in below(after) for name, memlet in loads_of(node) if memlet.subset}
    return {
        name
        for name in read - given
        if new[name] < (old[name] if least is None else min(old[name], least))
    }


def _places_stored(program: Program) -> Counter[str]:
    """How many statements store elements of each array."""
    inner = (one for node in below(program, running=True) for one in stores_of(node))
    return Counter(name for name, memlet in inner if memlet.subset)


def _may_store(node: Inner) -> bool:
    """Whether a library gets arrays, or something a pointer to one."""
    return isinstance(node, LibraryCall | Reference) and not isinstance(node, Allocation)


def separated(program: Program) -> Program | None:
    """The program with a statement between loops that follow each other; None if there are no such
    loops, or no statement that can stand between them: the copy of an array's first element to
    where it is."""
    stored = (found for node in below(program) for found in stores_of(node))
    elements = (f for f in stored if f[0] in program.arguments and f[1].subset)
    if (first := next(elements, None)) is None:
        return None
    copy = copy_of_first(*first)
    apart = spaced(program, lambda _ahead, _loop: copy)
    return None if apart is program else apart
