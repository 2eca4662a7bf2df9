"""Whether a local copy of part of an array can stand for the array in a loop."""

from __future__ import annotations

from itertools import combinations

from loopbook.dependence import keep_apart
from loopbook.dependence.body import places
from loopbook.errors import IllegalStepError, SdfgError
from loopbook.program import expr, walk
from loopbook.steps.editor import Editor
from loopbook.steps.region import Region


def check_staging(editor: Editor, number: int, container: str) -> None:
    """Refuse where an access that a copy does not stand for may touch what it does.

    docc's copies take the accesses along with one of them whose indices differ by constants. It
    does not ask what others do: in ``A[i, j] += A[i, k] * B[k, j]`` it keeps ``A[i, j]`` in a
    variable while ``A[i, k]`` reads the array, which is out of date where k is j (seen with 0.8.1).

    Args:
        number: of the loop that the copy is for.

    Raises:
        IllegalStepError: they may touch the same element, one of them writing.
    """
    loop = walk.at(editor.program, editor.path(number))
    stored = places(walk.preorder(loop)).get(container, {})
    clashing = [
        (one, other)
        for one, other in combinations(stored, 2)
        if (stored[one] or stored[other]) and not _beside(one, other)
    ]
    if not clashing:
        return
    region = Region.of(editor, number)
    scope = region.read(number)
    for one, other in clashing:
        if not one or not other or not keep_apart(scope, region.around, container, one, other):
            raise IllegalStepError(f"{container} is used in more than one place")


def _beside(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two places of an array differ by constants only."""
    if len(one) != len(other):
        return False
    try:
        return all(_moving(a) == _moving(b) for a, b in zip(one, other, strict=True))
    except SdfgError:
        return False


def _moving(index: str) -> dict[expr.Monomial, int]:
    return {monomial: factor for monomial, factor in expr.polynomial(index).items() if monomial}
