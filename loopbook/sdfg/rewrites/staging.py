"""Whether a local copy of part of an array can stand for the array in a loop."""

from __future__ import annotations

from itertools import combinations

from loopbook.dependence import keep_apart
from loopbook.errors import IllegalStepError, SdfgError
from loopbook.program import expr
from loopbook.sdfg.looptree import Subset, touches
from loopbook.sdfg.rewrites.document import Draft, elements
from loopbook.sdfg.rewrites.region import Region


def check_staging(draft: Draft, scope_id: int, container: str) -> None:
    """Refuse where an access that a copy does not stand for may touch what it does.

    docc's copies take the accesses along with one of them whose indices differ by constants. It
    does not ask what others do: in ``A[i, j] += A[i, k] * B[k, j]`` it keeps ``A[i, j]`` in a
    variable while ``A[i, k]`` reads the array, which is out of date where k is j (seen with 0.8.1).

    Raises:
        IllegalStepError: they may touch the same element, one of them writing.
    """
    scope = next(
        (e for e in elements(draft.document["root"]) if e.get("element_id") == scope_id), {}
    )
    subsets: dict[Subset, bool] = {}  # and whether they are written
    for leaf in elements(scope):
        if leaf.get("type") in ("block", "assignment_block"):
            for touch in touches(leaf):
                if touch.container == container:
                    subset = expr.normal_forms(touch.subset)
                    subsets[subset] = subsets.get(subset, False) or touch.write
    clashing = [
        (one, other)
        for one, other in combinations(subsets, 2)
        if (subsets[one] or subsets[other]) and not _beside(one, other)
    ]
    if not clashing:
        return
    region = Region.of(draft, scope_id)
    tree = region.tree(scope_id)
    for one, other in clashing:
        if not one or not other or not keep_apart(tree, region.around, container, one, other):
            raise IllegalStepError(f"{container} is used in more than one place")


def _beside(one: Subset, other: Subset) -> bool:
    """Whether two ways to index an array differ by constants only."""
    if len(one) != len(other):
        return False
    try:
        return all(_moving(a) == _moving(b) for a, b in zip(one, other, strict=True))
    except SdfgError:
        return False


def _moving(text: str) -> dict[expr.Monomial, int]:
    return {monomial: factor for monomial, factor in expr.polynomial(text).items() if monomial}
