"""Each number once, how often there is one, and where.

Before::

    u, c = np.unique(x, return_counts=True)

After, with `a` a sorted copy of x::

    n_0 = 0
    for i0 in range(n):
        if i0 == 0 or a[i0] != a[i0 - 1]:
            u[n_0] = a[i0]
            c[n_0] = 0
            n_0 = n_0 + 1
        c[n_0 - 1] = c[n_0 - 1] + 1
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from loopbook.frontend import arith, nests
from loopbook.frontend.beforehand import given_as
from loopbook.frontend.constructs.reductions import flag
from loopbook.frontend.constructs.sorting import Line, each_line, operand
from loopbook.frontend.registry import FUNCTIONS, lowers
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.types import INT
from loopbook.frontend.values import Buffer, Tup, Value, whole


@lowers(np.unique)
def unique(
    t: Translator,
    ar: Value,
    return_index: Value | None = None,
    return_inverse: Value | None = None,
    return_counts: Value | None = None,
    axis: Value | None = None,
) -> Value:
    """The numbers that there are, in order, and how often each of them."""
    code = t.code
    if axis is not None:
        raise code.fail("unique along an axis")
    shape = t.array(ar).shape
    array, _ = operand(t, ar, None, True)
    first, back, counted = (flag(t, f) for f in (return_index, return_inverse, return_counts))
    size = array.shape[0]
    found = code.temporary((size,), array.dtype)
    extras = [code.temporary((size,), INT) if wanted else None for wanted in (first, back, counted)]
    number = code.fresh("n_")
    given = given_as(t, t.array(ar))

    def use(line: Line, own: list[Int]) -> None:
        code.emit(f"{number} = 0")
        with code.loop(ZERO, line.size) as i:
            new = code.fresh("new_")
            code.emit(f"{new} = 1")
            with code.indented(f"if {i.text} > 0:"):
                here, before = line.at(i).text, line.at(i - 1).text
                tests = [f"{here} == {before}"]
                if array.dtype.kind == "f":  # what is no number counts as one and the same
                    tests.append(f"{i.text} > {line.known.text}")
                for test in tests:
                    with code.indented(f"if {test}:"):
                        code.emit(f"{new} = 0")
            with code.indented(f"if {new} == 1:"):
                for text in nests.put(found, (Int.atom(number),), line.at(i), array.dtype):
                    code.emit(text)
                if first and line.places is not None and extras[0] is not None:
                    code.emit(f"{extras[0].name}[{number}] = {line.places.name}[{i.text}]")
                if extras[2] is not None:
                    code.emit(f"{extras[2].name}[{number}] = 0")
                code.emit(f"{number} = {number} + 1")
            if extras[1] is not None and line.places is not None:
                code.emit(f"{extras[1].name}[{line.places.name}[{i.text}]] = {number} - 1")
            if extras[2] is not None:
                name = f"{extras[2].name}[{number} - 1]"
                code.emit(f"{name} = {name} + 1")

    if given is None:
        each_line(t, array, 0, first or back, use)
    else:
        _unique_by_numpy(t, given, found, extras, number)
    count = Int.atom(number)
    code.facts.ranges[number] = (ZERO, size)
    results: list[Value] = [whole(found, (count,))]
    for buffer, length in zip(extras, (count, size, count), strict=True):
        if buffer is not None:
            results.append(whole(buffer, (length,)))
    if back and len(shape) > 1:
        sizes = Tup(tuple(map(arith.whole, shape)))
        results[1 + first] = FUNCTIONS[np.reshape](t, results[1 + first], sizes)
    return Tup(tuple(results)) if len(results) > 1 else results[0]


def _unique_by_numpy(
    t: Translator, given: str, found: Buffer, extras: Sequence[Buffer | None], number: str
) -> None:
    """What `unique` gives, found before the loops: the first elements of buffers, and how many."""
    code = t.code
    size, answer = code.temporary((ONE,), INT), code.fresh("unique_")
    words = ("return_index", "return_inverse", "return_counts")
    asked = [f"{word}=True" for word, one in zip(words, extras, strict=True) if one is not None]
    lines = [(answer, f"np.unique({', '.join([given, *asked])})")]
    if not asked:
        lines.append((answer, f"({answer},)"))
    lines.append((f"{size.name}[0]", f"{answer}[0].size"))
    for place, buffer in enumerate((found, *(one for one in extras if one is not None))):
        part = f"{answer}[{place}].reshape(-1)"
        lines.append((f"{buffer.name}[:{part}.size]", part))
    code.before[size.name] = tuple(lines)
    code.before |= {buffer.name: () for buffer in (found, *extras) if buffer is not None}
    code.emit(f"{number} = {size.name}[0]")
