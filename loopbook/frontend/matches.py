"""``match`` as branches.

Before::

    match mode:                         if mode == "same":
        case "same" | "full":               y = x
            y = x                       else:
        case _ if n > 2:                    if n > 2:
            y = x[1:]                           y = x[1:]

After: the right hand side (with ``or`` for ``|``). Patterns that take values apart stay what they
are, and are refused.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence


def branches(node: ast.Match) -> list[ast.stmt] | None:
    """The same statements under tests; None for patterns that are more than values."""
    tests = [_test(node.subject, case.pattern) for case in node.cases]
    if not isinstance(node.subject, ast.Name | ast.Attribute | ast.Constant) or None in tests:
        return None
    rest: list[ast.stmt] = []
    for case, test in zip(reversed(node.cases), reversed(tests), strict=True):
        assert test is not None
        conditions = [] if isinstance(test, ast.Constant) else [test]
        if case.guard is not None:
            conditions.append(case.guard)
        body: Sequence[ast.stmt] = case.body
        if not conditions:
            rest = list(body)
            continue
        whole = conditions[0] if len(conditions) == 1 else ast.BoolOp(ast.And(), conditions)
        made = ast.copy_location(ast.If(whole, list(body), rest), body[0])
        rest = [ast.fix_missing_locations(made)]
    return rest


def _test(subject: ast.expr, pattern: ast.pattern) -> ast.expr | None:
    match pattern:
        case ast.MatchValue(value=value):
            return ast.Compare(subject, [ast.Eq()], [value])
        case ast.MatchSingleton(value=None):
            return ast.Compare(subject, [ast.Is()], [ast.Constant(None)])
        case ast.MatchAs(pattern=None, name=None):
            return ast.Constant(True)
        case ast.MatchOr(patterns=patterns):
            tests = [_test(subject, one) for one in patterns]
            known = [test for test in tests if test is not None]
            if len(known) < len(tests):
                return None
            if any(isinstance(test, ast.Constant) for test in known):
                return ast.Constant(True)
            return ast.BoolOp(ast.Or(), known)
    return None
