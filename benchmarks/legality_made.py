"""Programs made for steps that are rarely allowed on others, and steps to try on them.

One form for each few such steps: branches that keep the lesser of two numbers, neighbours over the
same or over neighbouring ranges, sums behind their loops, products, factorisations, time loops,
rounds of two of these until a condition holds.
Places, signs, types and what else there is are drawn, so some of these are legal and some are not.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import combinations

from benchmarks.legality_phrases import SMALL, Phrase, StepPair
from loopbook.program.nest import Nest

MADE = "made"
"""What the names of these programs begin with."""

ALL = "a.shape[0]"
"""All rows, or columns, of any of the matrices."""

Lines = list[str]
Loops = Sequence[str]
Random = random.Random


def names(count: int, seed: int) -> list[str]:
    """The names of so many programs, as many of each form."""
    forms = list(FORMS)
    return [f"{MADE}.{forms[n % len(forms)]}.{seed}.{n // len(forms)}" for n in range(count)]


def body(name: str, rng: Random) -> tuple[Lines, Sequence[str]]:
    """A program's statements, and the types that it may have."""
    make, types, _ = FORMS[name.split(".")[1]]
    return make(rng), types


def phrases(name: str) -> tuple[Phrase, ...]:
    """What to try on a program; nothing special on one of others."""
    return FORMS[name.split(".")[1]][2] if name.startswith(f"{MADE}.") else ()


def _two(rng: Random) -> tuple[str, str]:
    """Rows and columns of a pair of loops, in either order."""
    first, second = rng.choice((("i", "j"), ("j", "i")))
    ends = {"i": "N", "j": rng.choice(("M", "M - 1"))}
    return f"for {first} in range({ends[first]}):", f"for {second} in range({ends[second]}):"


# -- programs --------------------------------------------------------------------------------------


def _least(rng: Random) -> Lines:
    outer, inner = _two(rng)
    kept = rng.choice(("a[i, j]", "c[i]", "d[j]", "a[i, j + 1]"))
    other = rng.choice(("b[i, j]", f"{kept} + c[j + 1]", "b[j, 0] + b[i, 1]", "f[i + 1]"))
    sign = rng.choice("<>")
    lines = [f"if {other} {sign} {kept}:", f"    {kept} = {other}"]
    if rng.random() < 0.15:
        lines = [f"w = {other}", f"if {kept} {'<>'[sign == '<']} w:", f"    {kept} = w"]
    if rng.random() < 0.15:
        lines = [f"b[i, j + 2] = {rng.choice(('c[i]', 'b[i, j]'))} + 1", *lines]
    return [outer, f"    {inner}", *(f"        {line}" for line in lines)]


def _beside(rng: Random) -> Lines:
    """Two or three loops beside each other, in another one; perhaps of two loops each."""
    deep = rng.random() < 0.5
    arrays = ("a", "b", "e") if deep else ("c", "d", "f")
    around = [f"for t in range({rng.choice(('3', 'N'))}):"] if rng.random() < 0.8 else []
    indent = "    " * len(around)
    lines = list(around)
    for _ in range(rng.choice((2, 2, 3))):
        target, source, other = rng.sample(arrays, 3)
        rows = [f"i{rng.choice(('', '', ' - 1', ' + 1'))}" for _ in range(2)]
        places = [f"{row}, j" if deep else row for row in rows]
        reads = f"{source}[{places[0]}] {rng.choice('+-')} {other}[{places[1]}]"
        lines.append(f"{indent}for i in range(1, {ALL} - 1):")
        if deep:
            lines.append(f"{indent}    for j in range({ALL}):")
        statement = f"{target}[{'i, j' if deep else 'i'}] = {reads}"
        lines.append(f"{indent}{'        ' if deep else '    '}{statement}")
    return lines


def _switched(rng: Random) -> Lines:
    """Branches that say the same all through a loop, or for part of it."""
    test = rng.choice(("i < 3", "c[0] > d[0]", "N > M", "i < j", "j < 4", "i != j"))
    one, other = rng.sample(("a[i, j]", "b[i, j]", "e[j, i]", "d[j]"), 2)
    lines = [f"for i in range({ALL}):", f"    for j in range({ALL}):", f"        if {test}:"]
    lines.append(f"            {one} {rng.choice(('=', '+='))} {other} * 2")
    if rng.random() < 0.6:
        lines += ["        else:", f"            {one} = {other} + c[i]"]
    return lines


def _halves(rng: Random) -> Lines:
    """Two loops that do the same on neighbouring ranges."""
    middle = rng.choice(("i", "i", "i + 1", "2"))
    rest = middle if rng.random() < 0.9 else f"{middle} + 1"
    place = rng.choice(("i, j", "i + 1, j", "j, i", "j, i + 1"))
    statement = rng.choice(
        (
            f"b[{place}] = a[{place}]",
            f"b[{place}] = f[j]",
            f"b[{place}] = e[{place.replace('j', 'j + 1')}]",
            f"b[{place}] = a[{place}] * c[i]",
            f"b[{place}] += a[i, j] + d[j]",
            f"b[{place}] = b[{place}] - c[i] * d[j + 1]",
            "d[j] = d[j] + a[i, j]",
        )
    )
    lines = ["for i in range(N):"]
    if rng.random() < 0.4:
        lines.append(f"    {rng.choice(('c[i] = c[i] * 2', 'f[i] = c[i + 1]'))}")
    for low, high in (("0", middle), (rest, "N")):
        lines += [f"    for j in range({low}, {high}):", f"        {statement}"]
    return lines


def _sums(rng: Random) -> Lines:
    """A scalar that is added up, or loaded first and stored last."""
    end = rng.choice((ALL, "i", "j", "i + 1"))
    array = rng.choice(("a[i, j]", "d[j]", "c[i]"))
    term = rng.choice(("a[i, k] * b[k, j]", "b[i, k]", "e[k, j] * c[k]", "a[i, k] * a[k, j]"))
    form = rng.randrange(4)
    sign = rng.choice("+-")
    lines = [f"for i in range({ALL}):", f"    for j in range({rng.choice((ALL, 'i', 'i + 1'))}):"]
    lines.append(f"        s = {'0.0' if form < 2 else array}")
    lines.append(f"        for k in range({end}):")
    lines.append(f"            s {rng.choice(('+', sign))}= {term}")
    if form == 0:
        lines.append(f"        {array} {sign}= s")
    elif form == 1:
        lines.append(f"        {array} = {array} {sign} s")
        if rng.random() < 0.3:
            lines.append("        f[j] = c[j]")
    elif form == 2:
        lines.append(f"        {array} = s")
    else:
        lines.append(f"        {array} = s / {rng.choice(('c[i]', 'e[j, j]'))}")
    return lines


def _products(rng: Random) -> Lines:
    """A product of matrices, its loops in any order, perhaps of parts of them."""
    low = rng.choice(("", "", "1, "))
    one = rng.choice(("a[i, k]", "a[i, k]", "a[k, i]", "a[i, k + 1]"))
    other = rng.choice(("e[k, j]", "e[k, j]", "e[j, k]", "e[k + 1, j]"))
    place = rng.choice(("i, j", "i, j", "j, i", "i, j + 1"))
    scale = rng.choice(("", "", "2.0 * "))
    ends = {
        name: f"{ALL} - 1" if f"{name} + 1" in f"{one} {other} {place}" else ALL for name in "ijk"
    }
    lines = [
        f"{'    ' * depth}for {name} in range({low if name != 'k' else ''}{ends[name]}):"
        for depth, name in enumerate(rng.sample("ijk", 3))
    ]
    return [*lines, f"            b[{place}] {rng.choice('++-')}= {scale}{one} * {other}"]


def _factors(rng: Random) -> Lines:
    """A factorisation, or a substitution."""
    if rng.random() < 0.4:
        what = rng.choice(("d[i] -= a[i, k] * d[k]", "d[i] -= a[k, i] * d[k]", "d[i] += b[i, k]"))
        lines = [f"for i in range({ALL}):", "    for k in range(i):", f"        {what}"]
        if rng.random() < 0.7:
            lines.append(f"    d[i] = d[i] {rng.choice(('* c[i]', '+ c[i]', '/ f[i]'))}")
        return lines
    inner = f"a[i, j] -= a[i, k] * {rng.choice(('a[k, j]', 'a[k, j]', 'a[j, k]', 'b[k, j]'))}"
    lines = [
        f"for i in range({ALL}):",
        f"    for j in range({rng.choice(('i', 'i + 1', ALL))}):",
        f"        for k in range({rng.choice(('j', 'j', 'j + 1'))}):",
        f"            {inner}",
    ]
    if rng.random() < 0.7:
        lines.append(f"        a[i, j] = a[i, j] {rng.choice(('/ f[j]', '* c[j]', '+ c[i]'))}")
    return lines


def _steps(rng: Random) -> Lines:
    """Time steps of a sweep in place, or of two arrays in turn."""
    lines = [f"for t in range({rng.choice(('3', 'N'))}):"]
    near = [f"[i{a}, j{b}]" for a in ("", " - 1", " + 1") for b in ("", " - 1", " + 1")]
    for one, other in (("a", "a"),) if rng.random() < 0.5 else (("a", "b"), ("b", "a")):
        reads = [f"{one}{place}" for place in rng.sample(near, rng.choice((2, 3)))]
        lines += [f"    for i in range(1, {ALL} - 1):", f"        for j in range(1, {ALL} - 1):"]
        lines.append(f"            {other}[i, j] = {' + '.join(reads)}")
        if rng.random() < 0.3:
            lines[-1] += " - c[i]"
    return lines


def _rows(rng: Random) -> Lines:
    """Loops inside each other, with a temporary or a triangle."""
    rows = [f"for i in range({ALL}):", f"    for j in range({ALL}):"]
    form = rng.randrange(3)
    if form == 0:
        return [
            *rows,
            f"        w = a[i, j] {rng.choice('+-')} c[i]",
            f"        b[i, j] = w * {rng.choice(('w', 'd[j]'))}",
            "        e[i, j] = w",
        ]
    if form == 1:
        return [
            rows[0],
            f"    for j in range({rng.choice(('i', 'i + 1', ALL))}):",
            f"        b[i, j] {rng.choice(('=', '+='))} a[i, j] * {rng.choice(('c[i]', 'd[j]'))}",
        ]
    return [
        *rows,
        "        f[j] = 0.0",
        rows[1],
        f"        for k in range({ALL}):",
        "            f[j] += a[i, k] * e[k, j]",
        rows[1],
        f"        {rng.choice(('a', 'b'))}[i, j] = f[j]",
    ]


def _rounds(rng: Random) -> Lines:
    """Two of the others in a loop that ends on a condition, and what it hands from one round to the
    next."""
    lines = []
    for make in rng.sample((_beside, _halves, _sums, _products, _factors, _rows), 2):
        lines += make(rng)
    more = rng.choice(("c[0] = c[1] + d[0]", "s = d[1]", "a[0, 0] = a[1, 1]"))
    return ["r = 0", "while r < 3:", *(f"    {line}" for line in [*lines, more, "r = r + 1"])]


# -- steps -----------------------------------------------------------------------------------------


def _siblings(nest: Nest, loops: Loops, rng: Random) -> tuple[str, str]:
    """Two loops, one after the other in the same place."""
    beside = [
        (one.name, other.name)
        for one, other in combinations(nest.loops, 2)
        if one.parent == other.parent and {one.name, other.name} <= {*loops}
    ]
    return rng.choice(beside or [(loops[0], loops[-1])])


def _on(*ops: str) -> Phrase:
    """One of some steps that take one loop."""

    def drawn(loops: Loops, nest: Nest, rng: Random) -> list[StepPair]:
        return [(rng.choice(ops), (rng.choice(loops),))]

    return drawn


def _pair(*ops: str) -> Phrase:
    """One of some steps for two neighbours."""

    def drawn(loops: Loops, nest: Nest, rng: Random) -> list[StepPair]:
        return [(rng.choice(ops), _siblings(nest, loops, rng))]

    return drawn


def _around(op: str) -> Phrase:
    """A step for two loops, one inside the other."""

    def drawn(loops: Loops, nest: Nest, rng: Random) -> list[StepPair]:
        place = rng.randrange(max(len(loops) - 1, 1))
        return [(op, (loops[place], loops[min(place + rng.choice((1, 1, 2)), len(loops) - 1)]))]

    return drawn


def _fused_tiles(loops: Loops, nest: Nest, rng: Random) -> list[StepPair]:
    one, other = _siblings(nest, loops, rng)
    size = rng.choice(SMALL)
    made = (f"{one}.tile", f"{other}.tile")
    return [("tile", (one, size)), ("tile", (other, size)), ("fuse_tiles", made)]


def _late(loops: Loops, nest: Nest, rng: Random) -> list[StepPair]:
    """Neighbours as one sweep, each as late as it has to be."""
    return [("roll", (_siblings(nest, loops, rng)[0], rng.choice((1, 1, 2))))]


def _in_time(loops: Loops, nest: Nest, rng: Random) -> list[StepPair]:
    steps, width, other = (rng.choice(SMALL) for _ in range(3))
    more = (other,) if rng.random() < 0.5 else ()
    return [
        rng.choice(
            (
                ("time_tile", (loops[0], steps, width, *more)),
                ("pipelined_time_tile", (loops[0], 2, steps, width, *more)),
                ("wavefront", (loops[0], steps)),
                ("wavefront", (loops[0], steps, 2, rng.choice((1, 2)))),
            )
        )
    ]


def _jammed(loops: Loops, nest: Nest, rng: Random) -> list[StepPair]:
    one, *rest = loops[:3]
    if not rest:
        return []
    form = rng.randrange(4)
    if form == 0:
        return [("collapse", (one, rng.choice((2, 2, 3)))), ("parallel", (f"{one}.flat",))]
    if form == 1:
        return [("unroll_and_jam", (one, rng.choice(SMALL), *rest[: rng.choice((1, 2))]))]
    if form == 2:
        inner = rest[0]
        turn = ("interchange", (one, f"{inner}.tile"))
        tiled = [("tile", (one, rng.choice(SMALL))), ("tile", (inner, rng.choice(SMALL)))]
        return [*tiled, ("bounding_box", (f"{inner}.tile",)), turn]
    return [
        ("tile", (one, rng.choice(SMALL))),
        ("stage", (one, rng.choice(("A0", "A1", "A2")), "out")),
        ("pad", (one,)),
    ]


def _expanded(loops: Loops, nest: Nest, rng: Random) -> list[StepPair]:
    inner = loops[1:2] if rng.random() < 0.5 else ()
    return [("expand", (loops[0], *inner)), ("distribute", (loops[0],))]


REAL = ("np.float64", "np.float32")
WHOLE = ("np.int64", "np.int32")

Form = tuple[Callable[[Random], Lines], Sequence[str], tuple[Phrase, ...]]

FORMS: dict[str, Form] = {
    "least": (_least, WHOLE, (_on("if_convert"), _on("hoist", "vectorize", "mark_parallel"))),
    "beside": (_beside, (*REAL, *WHOLE), (_pair("fuse"), _fused_tiles, _late)),
    "halves": (_halves, (*REAL, *WHOLE), (_pair("join"), _pair("join"), _on("hoist", "tile"))),
    "sums": (_sums, REAL[:1], (_on("reg2mem"), _around("interchange"), _on("distribute", "tile"))),
    "products": (_products, REAL, (_on("library"), _jammed)),
    "factors": (_factors, REAL, (_around("right_looking"), _on("reg2mem"))),
    "steps": (_steps, (*REAL, *WHOLE), (_in_time, _late)),
    "rows": (_rows, (*REAL, *WHOLE), (_jammed, _jammed, _expanded)),
    "rounds": (_rounds, REAL[:1], (_jammed, _expanded, _pair("fuse"), _on("reg2mem", "library"))),
    "switched": (_switched, (*REAL, *WHOLE), (_on("unswitch", "unswitch", "peel", "tile"),)),
}
"""Programs, their types, and what to try on them."""
