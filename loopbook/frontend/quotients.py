"""Loops that divide their count by two, three or four: as many iterations at a time.

Before::

    for j in range(n):
        y[j] = x[j // 2]

After, for calls in which n is even::

    for i0 in range(n // 2):
        y[2 * i0] = x[i0]
        y[2 * i0 + 1] = x[i0]

What an index divides, no compiler takes for neighbours, so every element would be gathered.
"""

from __future__ import annotations

import ast
import copy

from loopbook.frontend import arith
from loopbook.frontend.edges import is_plain_body, parts_of
from loopbook.frontend.loops import Range
from loopbook.frontend.swapping import located
from loopbook.frontend.symbols import ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Thing

MOST = 4
"""Iterations at a time, at most."""

LEAST = 16
"""Iterations in all from which that is worth the code."""

MOST_CODE = 150
"""Nodes of the body's tree that are written as often."""


def without_quotients(t: Translator, node: ast.For, start: Int, stop: Int) -> list[ast.stmt] | None:
    """The statements that stand for an innermost loop over whole numbers from `start` to `stop`;
    None if no index in it is a quotient of the count, or it cannot be said how often it runs."""
    if not isinstance(node.target, ast.Name) or not is_plain_body(node, MOST_CODE):
        return None
    name, facts, count = node.target.id, t.code.facts, stop - start
    inner = list(parts_of(node))
    if any(isinstance(part, ast.For | ast.Continue) for part in inner):
        return None
    divisors = {divisor for part in inner if (divisor := divisor_of(part, {name}))}
    number = facts.known(count)
    if len(divisors) != 1 or number is None or number < LEAST:
        return None
    (times,) = divisors
    if start.divided(times) is None or not facts.nonnegative(count - LEAST):
        return None
    rounds = facts.derive(f"({count.text}) // {times}", [count], lambda n: n // times)
    rest = number % times
    if not facts.zero(count - rounds * times - rest):
        return None
    tag = f"{node.lineno}_{node.col_offset}"
    t.frame.env[f"first_{tag}"] = arith.whole(start)
    t.frame.env[f"last_{tag}"] = arith.whole(start + rounds * times)
    t.frame.env[f"quotients_{tag}"] = Thing(Range(ZERO, rounds, 1))

    def iterations(first: str, many: int) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for place in range(many):
            made += ast.parse(f"{name} = {first} + {place}").body
            made += copy.deepcopy(node.body)
        return made

    target, source = f"quotient_{tag}", f"quotients_{tag}"
    body = iterations(f"first_{tag} + {times} * {target}", times)
    loop = ast.For(ast.Name(target, ast.Store()), ast.Name(source, ast.Load()), body, [])
    made = [loop, *iterations(f"last_{tag}", rest)]
    for statement in made:
        located(statement, node)
    t.frame.live.replaced(node, made)
    return made


def divisor_of(node: ast.AST, counts: set[str]) -> int:
    """By which small number an index divides a count, or some more or less; 0 if it does not."""
    if not isinstance(node, ast.Subscript):
        return 0
    for part in ast.walk(node.slice):
        match part:
            case ast.BinOp(left=left, op=ast.FloorDiv(), right=ast.Constant(value=int(divisor))):
                if 2 <= divisor <= MOST and is_count(left, counts):
                    return divisor
    return 0


def is_count(node: ast.expr, counts: set[str]) -> bool:
    """Whether an expression is a loop's count, or some more or less."""
    match node:
        case ast.Name(id=name):
            return name in counts
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            return any(is_count(side, counts) for side in (left, right))
    return False
