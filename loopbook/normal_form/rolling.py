"""Neighbouring loops over rows as one, and a few rows of what they hand over.

A stencil that has to be computed before it can be stored is swept over twice, and its temporary
goes through memory. `loopbook.steps.roll` makes one sweep of such loops; here is found where that
spares a temporary. It is for one thread.
"""

from __future__ import annotations

from collections.abc import Callable

from loopbook.errors import LoopbookError
from loopbook.program import walk
from loopbook.program.tree import Loop, Program
from loopbook.program.walk import Path
from loopbook.steps.editor import Editor
from loopbook.steps.handed import Level
from loopbook.steps.roll import cluster_at, is_closed, joined


def rolled(program: Program, free: Callable[[Loop], bool]) -> Program:
    """The program with such loops; itself if there are none.

    Args:
        program: with loops that count in signed numbers.
        free: whether an outermost loop may be changed, with all that it holds.
    """
    return _rolled_below(program, (), free)


def _rolled_below(program: Program, path: Path, free: Callable[[Loop], bool]) -> Program:
    """The program with loops fused among those that stand at a path, and below them."""
    place, level = 0, None
    while sum(isinstance(node, Loop) for node in walk.children_at(program, path)[place:]) > 1:
        node = walk.children_at(program, path)[place]
        if isinstance(node, Loop) and free(node):
            level = level or Level(program, path)
            made = _rolled_at(level, place, free)
            if made is not program:
                program, level = made, None
        place += 1
    for place, node in enumerate(walk.children_at(program, path)):
        if isinstance(node, Loop) and free(node):
            program = _rolled_below(program, (*path, place), lambda _: True)
    return program


def _rolled_at(level: Level, place: int, free: Callable[[Loop], bool]) -> Program:
    """The program with a loop and as many behind it as can be fused with it, if that spares a
    temporary; itself if it does not."""
    if not level.begins(place):
        return level.program
    cluster = cluster_at(level, place, free)
    while len(cluster) > 1:
        if is_closed(level, cluster):
            try:
                return joined(level, cluster, Editor(level.program, {}, {}), sparing=True)
            except LoopbookError:
                pass
        cluster.pop()
    return level.program
