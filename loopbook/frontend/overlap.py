"""Whether a loop nest may write what it still has to read.

Elements are known by their indices, polynomials in the nest's loop variables and in what stays
the same while it runs. A read and a write of one buffer are in each other's way unless they are of
the same element in each iteration, or one of their indices never agrees::

    A[i] = A[i] * 2          same element: fine
    A[0, j] = A[1, j]        0 and 1 never agree: fine
    A[i, j] -= A[i, k]       k < j in all iterations: fine
    A[2 * i] = A[2 * i + 1]  an even number and an odd one: fine
    A[i + 1] = A[i]          in the way: the values go through a temporary
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd

from loopbook.frontend.symbols import Facts, Int
from loopbook.frontend.values import Buffer, Index

Access = tuple[Buffer, Index]


def clash(
    facts: Facts,
    write: Access,
    read_accesses: Iterable[Access],
    variables: frozenset[str],
    same_is_fine: bool = True,
) -> bool:
    """Whether any read may be of an element that another iteration writes.

    Args:
        variables: the nest's loop variables.
        same_is_fine: whether reading the very element that the iteration writes is no clash.
    """
    buffer, target = write
    for other, index in read_accesses:
        if other is not buffer:
            continue
        if same_is_fine and index == target:
            continue
        pairs = [*zip(index, target, strict=True)]
        if any(_never_meet(read, write, variables) for read, write in pairs):
            continue
        if not any(_apart(facts, read, write, variables) for read, write in pairs):
            return True
    return False


def _never_meet(read: Int, write: Int, variables: frozenset[str]) -> bool:
    """Whether two indices leave different remainders, whatever the iterations are."""
    step = gcd(
        *(
            factor
            for one in (read, write)
            for monomial, factor in one.terms
            if not variables.isdisjoint(monomial)
        )
    )
    rest = {m: f for m, f in (read - write).terms if variables.isdisjoint(m)}
    first = rest.pop((), 0)
    return step > 1 and all(f % step == 0 for f in rest.values()) and first % step != 0


def _apart(facts: Facts, read: Int, write: Int, variables: frozenset[str]) -> bool:
    for low_of, high_of in ((read, write), (write, read)):
        low = facts.bound(low_of, upper=False, only=variables)
        high = facts.bound(high_of, upper=True, only=variables)
        if low is not None and high is not None:
            gap = low - high - 1
            if gap.constant is not None:
                if gap.constant >= 0:
                    return True
            elif facts.nonnegative(gap, firm=False):
                return True
    return False
