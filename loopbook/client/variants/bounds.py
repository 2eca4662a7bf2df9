"""Whether a call's indices are within its arrays, as far as that can be told before it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from loopbook.client.variants.case import Case
from loopbook.frontend.in_bounds import as_test, in_bounds
from loopbook.sdfg.source import definition

OUTSIDE = "an index is out of range"


class Bounds:
    """What calls of one case are asked, which docc's code is not.

    Attributes:
        of_numbers: the same as `kept` for calls with arrays of shapes for which it was true; None
            if that is all there is to ask.
    """

    def __init__(self, func: Callable[..., Any], case: Case) -> None:
        given = dict(zip(case.names, case.args, strict=True))
        condition = in_bounds(definition(func), given, _same(case))
        self._test = as_test(condition, case.names) if condition else None
        numbers = {name for name, value in given.items() if not isinstance(value, np.ndarray)}
        of_numbers = not numbers.isdisjoint(re.findall(r"\w+", condition))
        self.of_numbers = self._test if of_numbers else None

    def kept(self, args: Sequence[Any]) -> bool:
        """Whether all indices that can be told are within their arrays."""
        return self._test is None or self._test(*args)


def _same(case: Case) -> Mapping[str, str]:
    """Sizes that are 1, or the same as another one, for all calls of a case."""
    found: dict[str, str] = {}
    first: dict[int, str] = {}
    for place in case.arrays:
        for axis, size in enumerate(case.args[place].shape):
            text = f"{case.names[place]}.shape[{axis}]"
            found[text] = "1" if size == 1 else first.setdefault(size, text)
    return found
