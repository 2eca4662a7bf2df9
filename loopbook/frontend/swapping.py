"""Loops that end with arrays changing places: two or three iterations at a time, in which each
array keeps its name.

Before::

    for t in range(steps):
        new[1:-1] = (old[:-2] + old[2:]) / 2
        old, new = new, old

After, for calls in which `steps` is even::

    for i0 in range(steps // 2):
        new[1:-1] = (old[:-2] + old[2:]) / 2
        old[1:-1] = (new[:-2] + new[2:]) / 2

Nothing is copied, and an argument among the arrays is written as Python writes it.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from loopbook.frontend import arith
from loopbook.frontend.liveness import rebinds
from loopbook.frontend.loops import Range
from loopbook.frontend.symbols import ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Thing

MOST = 3
"""Iterations after which the arrays are where they were, at most."""

Places = dict[str, str]
"""From a name to the one whose array it has after an iteration."""


def without_swaps(t: Translator, node: ast.For, start: Int, stop: Int) -> list[ast.stmt] | None:
    """The statements that stand for a loop over whole numbers from `start` to `stop`; None if
    nothing changes places in it, or it cannot be said how often."""
    if not isinstance(node.target, ast.Name):
        return None
    body, places = _places(t, node)
    if not places or not _is_even(t, node.target.id, body, places):
        return None
    period, facts, count = _period(places), t.code.facts, stop - start
    number = facts.known(count)
    if period > MOST or number is None or not facts.nonnegative(count):
        return None
    rounds = facts.derive(f"({count.text}) // {period}", [count], lambda n: n // period)
    rest = number % period
    if not facts.zero(count - rounds * period - rest):
        return None
    tag = f"{node.lineno}_{node.col_offset}"  # loops may be in each other
    t.frame.env[f"start_{tag}"] = arith.whole(start)
    t.frame.env[f"stop_{tag}"] = arith.whole(stop)
    t.frame.env[f"rounds_{tag}"] = Thing(Range(ZERO, rounds, 1))
    name = node.target.id

    def iteration(place: int, first: str) -> list[ast.stmt]:
        number = ast.parse(f"{name} = {first} + {place}").body[0]
        after = _after(places, place % period)
        return [number, *(_Renaming(after).visit(copy.deepcopy(part)) for part in body)]

    inner = [
        part
        for place in range(period)
        for part in iteration(place, f"start_{tag} + {period} * round_{tag}")
    ]
    target, source = f"round_{tag}", f"rounds_{tag}"
    loop = ast.For(ast.Name(target, ast.Store()), ast.Name(source, ast.Load()), inner, [])
    made: list[ast.stmt] = [loop]
    for place in range(rest):
        made += iteration(place, f"stop_{tag} - {rest}")
    if rest:
        names = sorted(places)
        after = _after(places, rest)
        made += ast.parse(f"{', '.join(names)}, = {', '.join(after[n] for n in names)},").body
    for statement in made:
        located(statement, node)
    t.frame.live.replaced(node, made)
    return made


def _is_even(t: Translator, counter: str, body: Sequence[ast.stmt], places: Places) -> bool:
    """Whether all iterations do the same to the same arrays, but for their places."""
    if any(isinstance(n, ast.FunctionDef | ast.Lambda) for s in body for n in ast.walk(s)):
        return False
    if (set(places) | {counter}) & rebinds(body) or any(map(_leaves, body)):
        return False
    values = (t.frame.env.get(name) for name in places)
    return all(isinstance(value, Array) and value.view is not None for value in values)


def _leaves(node: ast.stmt) -> bool:
    """Whether a statement may end the iteration."""
    match node:
        case ast.Break() | ast.Continue() | ast.Return():
            return True
        case ast.If():
            return any(map(_leaves, [*node.body, *node.orelse]))
    return False


def _places(t: Translator, node: ast.For) -> tuple[list[ast.stmt], Places]:
    """A loop's body without the last statements, which only give names to what has names, and what
    these do."""
    body = list(node.body)
    last: list[tuple[list[str], list[str]]] = []
    while body and (pair := _names(body[-1])) is not None:
        last.insert(0, pair)
        body.pop()
    held: Places = {}
    for targets, values in last:
        held |= dict(zip(targets, [held.get(name, name) for name in values], strict=True))
    live = t.frame.live.head.get(id(node), frozenset()) | t.frame.live.after.get(
        id(node), frozenset()
    )
    held = {name: other for name, other in held.items() if name in live and name != other}
    return body, held if set(held) == set(held.values()) else {}


def _names(node: ast.stmt) -> tuple[list[str], list[str]] | None:
    """Targets and values of an assignment of names to names."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return None
    sides = []
    for side in (node.targets[0], node.value):
        parts = side.elts if isinstance(side, ast.Tuple) else [side]
        if not all(isinstance(part, ast.Name) for part in parts):
            return None
        sides.append([part.id for part in parts if isinstance(part, ast.Name)])
    targets, values = sides
    return (targets, values) if len(targets) == len(values) else None


def _after(places: Places, count: int) -> Places:
    """Whose array each name has after so many iterations."""
    found = {name: name for name in places}
    for _ in range(count):
        found = {name: found[places[name]] for name in places}
    return found


def _period(places: Places) -> int:
    """After how many iterations all is where it was, or one more than are wanted."""
    same = ({name: name for name in places} == _after(places, n) for n in range(1, MOST + 1))
    return next((n for n, is_same in enumerate(same, 1) if is_same), MOST + 1)


def located(made: ast.stmt, node: ast.stmt) -> None:
    """Say of what has no place of its own in the text that it is where `node` is."""
    for part in ast.walk(made):
        if getattr(part, "lineno", 0) < node.lineno:
            ast.copy_location(part, node)


class _Renaming(ast.NodeTransformer):
    def __init__(self, names: Places) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._names.get(node.id, node.id)
        return node
