"""Comprehensions of too many items to be written out: lists that loops fill.

Before::

    roots = [math.sqrt(d) for v in x if (d := v - 1) > 0]

After::

    n_0 = 0
    for i0 in range(x.shape[0]):
        d = x[i0] - 1
        if d > 0:
            items_0[n_0] = math.sqrt(d)
            n_0 = n_0 + 1
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from loopbook.frontend import arith, lists
from loopbook.frontend.code import bare
from loopbook.frontend.liveness import stores
from loopbook.frontend.scopes import own_names
from loopbook.frontend.symbols import ZERO
from loopbook.frontend.values import Listing, Scalar
from loopbook.frontend.walrus import hoisted

if TYPE_CHECKING:
    from loopbook.frontend.translate import Translator


def comprehension(t: Translator, node: ast.ListComp | ast.GeneratorExp) -> Listing:
    """A list that loops fill, where there are too many items to be written out."""
    from loopbook.frontend.constructs.builtin import rows_in

    code = t.code
    t.settle_all()
    made = lists.begun(t, "items", [])
    sure = not any(generator.ifs for generator in node.generators)

    def fill(generators: Sequence[ast.comprehension]) -> None:
        if not generators:
            lists.append(t, made, t.expr(node.elt), id(node), sure)
            return
        first, *others = generators
        rows = rows_in(t, t.expr(first.iter))
        with code.loop(ZERO, rows.count) as i:
            t.store(first.target, rows.item(i))
            tests = [_test(t, test) for test in first.ifs]
            if not tests:
                fill(others)
                return
            test = tests[0]
            for other in tests[1:]:
                test = arith.logical("&", test, other)
            with code.indented(f"if {bare(test.text)}:"):
                fill(others)

    fill(node.generators)
    assigned = {n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)}
    for name in own_names(node) | assigned:
        t.frame.env.pop(name, None)
    return made


def _test(t: Translator, test: ast.expr) -> Scalar:
    """What a comprehension asks of an item, with what it assigns for that (``if (d := f(v)) > 0``).
    Nothing is known of such names afterwards."""
    before, rest = hoisted(test)
    for statement in before:
        names = stores([statement])
        if names & t.frame.homes.keys():
            raise t.code.fail(f"{min(names)}, which a comprehension and a statement assign")
        t.body([statement])
    return t.test(rest)
