"""Linear forms that nothing satisfies at once, as is seen without isl."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from loopbook.dependence.model import Linear, plus


def excluded(
    equations: Sequence[Linear],
    equal: Iterable[Linear],
    inequalities: Iterable[Linear],
    less: Sequence[Linear] = (),
) -> bool:
    """Whether one of some equations, or of what is 0 or more (`less`), shows by itself that nothing
    satisfies some more: most ways in which two instances of one element might come need no isl."""
    asked = [*((form, False) for form in inequalities), *((form, True) for form in equal)]
    known = [*((form, False) for form in less), *((form, True) for form in equations)]
    for one, one_is_zero in known:
        for two, two_is_zero in asked:
            if one.keys() ^ two.keys() <= {""}:
                if one_is_zero and _contradict(two, two_is_zero, one, True):
                    return True
                if not one_is_zero and _contradict(one, False, two, two_is_zero):
                    return True
    return False


def _contradict(one: Linear, one_is_zero: bool, two: Linear, two_is_zero: bool) -> bool:
    """Whether two forms cannot be 0, or else 0 or more, at once since they add up to a constant
    that cannot. If one of them alone is to be 0, it is `two`."""
    for sign in (1, -1) if two_is_zero else (1,):
        rest = plus(one, two, sign)
        if rest.keys() <= {""}:
            constant = rest.get("", 0)
            if constant < 0 or (one_is_zero and constant):
                return True
    return False
