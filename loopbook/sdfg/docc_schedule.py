"""docc's own schedule, for every loop that no recipe has scheduled.

For one thread it marks innermost loops for vectors, if their iterations may run in any order and
are one apart, in nests in which nothing is marked. That is known from docc 0.8.1's answers for all
of the starter book's records and programs of many nests (`tests/sdfg/test_docc_schedule.py` asks),
and takes a tenth of the time here: docc is given a program as text, and its answer has to be read.
docc itself is asked where several threads are to be used, and where integers are set, which it puts
into what they are used in while it is at it.
"""

from __future__ import annotations

from loopbook import targets
from loopbook.program.element import like
from loopbook.program.json_text import dumped
from loopbook.program.memory_order import in_memory_order
from loopbook.program.tree import SEQUENTIAL, VECTORISED, Assignments, Loop, Opaque, Program, While
from loopbook.program.walk import Inner, children, preorder, with_new
from loopbook.program.write import write
from loopbook.sdfg import program


def scheduled(tree: Program, target: str) -> Program:
    """The program with docc's own schedule for every loop that has none.

    Raises:
        InputError: nothing can be compiled for the target here.
        SdfgError: docc cannot schedule it.
    """
    beyond = any(isinstance(node, Assignments | Opaque) for node in preorder(tree))
    if beyond or targets.runnable(target).docc != targets.DEFAULT:
        return program.scheduled(program.parse(dumped(write(tree))), target).tree
    return in_memory_order(with_new(tree, [_nest(node) for node in tree.body.children]))


def _nest(node: Inner) -> Inner:
    """A nest, or what holds some, with its innermost loops marked unless one of them is."""
    if not isinstance(node, Loop | While):
        return with_new(node, [_nest(child) for child in children(node)])
    within = [one for one in preorder(node) if isinstance(one, Loop)]
    taken = any(loop.kind != "for" and loop.schedule.name == VECTORISED.name for loop in within)
    return _scheduled(node, taken)


def _scheduled(node: Inner, taken: bool) -> Inner:
    new = with_new(node, [_scheduled(child, taken) for child in children(node)])
    if not isinstance(new, Loop):
        return new
    if new.kind == "for":  # of which docc keeps no schedule
        return new if new.schedule == SEQUENTIAL else like(new, schedule=SEQUENTIAL)
    free = not taken and new.schedule.name == SEQUENTIAL.name and new.step == 1
    if free and not any(isinstance(one, Loop | While) for one in preorder(new.body)):
        return like(new, schedule=VECTORISED)
    return new
