"""Programs of several nests that no book has seen: each is drawn anew.

Products in any order of loops and of any sides, over triangles and not; stencils of any offsets and
weights; sums and recurrences along lines. Two draws rarely share a nest.
"""

from __future__ import annotations

from itertools import permutations
from random import Random

ORDERS = tuple(permutations("ijk"))
REACH = 3
"""Of stencils, in each direction."""


def unseen(count: int, random: Random) -> str:
    """The source of a ``kernel`` of so many nests, on square arrays ``A0``, ``A1``…

    Each nest fills an array of its own from those before.
    """
    arrays = ", ".join(f"A{number}" for number in range(count + 2))
    lines = [f"def kernel({arrays}):"]
    for number in range(count):
        make = random.choice((_product, _stencil, _line))
        lines += make(f"A{number}", f"A{number + 1}", f"A{number + 2}", random)
    return "\n".join(lines) + "\n"


def _product(a: str, b: str, c: str, random: Random) -> list[str]:
    order = random.choice(ORDERS)
    triangle = random.random() < 0.5 and order.index("k") > order.index("i")
    ends = {"i": "N", "j": "N", "k": random.choice(("i", "i + 1")) if triangle else "N"}
    sides = [_turned(x, random) for x in ("ik", "kj", "ij")]
    scale = random.choice(("", f"{random.randint(2, 9)}.5 * "))
    body = f"{_at(c, sides[2])} += {scale}{_at(a, sides[0])} * {_at(b, sides[1])}"
    return _nest([(x, "0", ends[x]) for x in order], body, c)


def _stencil(a: str, b: str, c: str, random: Random) -> list[str]:
    offsets = {(random.randint(-REACH, REACH), random.randint(-REACH, REACH)) for _ in range(6)}
    terms = [f"{random.randint(1, 9)}.25 * {a}[i + {x}, j + {y}]" for x, y in sorted(offsets)]
    order = random.choice(("ij", "ji"))
    body = f"{c}[i, j] = {b}[{_turned('ij', random)[0]}, j] + " + " + ".join(terms)
    return _nest([(x, str(REACH), f"N - {REACH}") for x in order], body, c)


def _line(a: str, b: str, c: str, random: Random) -> list[str]:
    back = random.randint(1, REACH)
    along = random.choice("ij")
    before = "i, j - " if along == "j" else "i - "
    place = f"{before}{back}" if along == "j" else f"{before}{back}, j"
    body = f"{c}[i, j] = 0.5 * {c}[{place}] + {_at(a, _turned('ij', random))} * {b}[i, j]"
    order = random.choice(("ij", "ji"))
    starts = {along: str(back)}
    return _nest([(x, starts.get(x, "0"), "N") for x in order], body, c)


def _turned(pair: str, random: Random) -> str:
    return random.choice((pair, pair[::-1]))


def _at(array: str, pair: str) -> str:
    return f"{array}[{pair[0]}, {pair[1]}]"


def _nest(loops: list[tuple[str, str, str]], body: str, sized: str) -> list[str]:
    lines = []
    for depth, (index, low, high) in enumerate(loops, start=1):
        end = high.replace("N", f"{sized}.shape[0]")
        lines.append(f"{'    ' * depth}for {index} in range({low}, {end}):")
    return [*lines, f"{'    ' * (len(loops) + 1)}{body}"]
