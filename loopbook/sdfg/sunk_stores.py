"""No vectors of loops in which one side of a branch reads what the other one writes elsewhere.

Before::

    for i: if b[i] < 0: c[i + 1] = a[i] + d[i]
           else: a[i] = c[i] + d[i]

clang finds that both sides load, add and store, and does it once, behind the branch, with addresses
that are chosen. Of such addresses it does not see that ``c[i + 1]`` is the next iteration's
``c[i]``, makes vectors of the loop, and `a` gets what `c` held before the loop (clang 19, where
sums may be taken in any order). Such a loop is to stay as it is, which docc says of a map in
order (as in `loopbook.sdfg.inner_vectors`)::

    #pragma clang loop vectorize(disable)
    for i: …
"""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

from loopbook.program.accesses import accesses
from loopbook.program.tree import SEQUENTIAL, VECTORISED, Branch, Case, Loop, Program, While
from loopbook.program.walk import Inner, children, preorder, spread


def keep_stores_apart(program: Program) -> Program:
    """A finished program in which clang makes no vectors of such loops; itself if it has none."""
    return spread(program, _kept)


def _kept(node: Inner) -> list[Inner]:
    if not isinstance(node, Loop) or node.schedule not in (SEQUENTIAL, VECTORISED):
        return [node]
    inside = [inner for child in children(node) for inner in preorder(child)]
    if any(isinstance(inner, Loop | While) for inner in inside):
        return [node]
    if not any(isinstance(inner, Branch) and _crosses(inner) for inner in inside):
        return [node]
    return [replace(node, kind="map", schedule=SEQUENTIAL, reductions=None)]


def _crosses(branch: Branch) -> bool:
    """Whether a case reads another element of an array of which another case writes one."""
    return any(
        any(_elsewhere(reads, at) for at in writes)
        for (_, reads), (writes, _) in permutations(map(_used, branch.cases), 2)
    )


Used = set[tuple[str, tuple[str, ...]]]


def _used(case: Case) -> tuple[Used, Used]:
    """The elements of arrays that a case writes, and those that it reads."""
    found: tuple[Used, Used] = set(), set()
    for access in accesses(case):
        if access.subset:
            at = access.container, tuple(one.text for one in access.subset)
            found[0 if access.write else 1].add(at)
    return found


def _elsewhere(reads: Used, written: tuple[str, tuple[str, ...]]) -> bool:
    container, index = written
    return any(name == container and at != index for name, at in reads)
