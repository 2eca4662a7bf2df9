"""Elements that are copied before their source changes."""

from __future__ import annotations

import ast

from loopbook.sdfg.known_wrong.kinds import FLOAT, INT, Kinds, assigned
from loopbook.sdfg.known_wrong.source import base, expression, same


def run(kinds: Kinds) -> None:
    """docc puts a copy off until what was copied is needed no more, over what changes it.

    Before: ``A[i] = B[i]``, then ``B[i] = A[i] + 1``: docc copies the new element. After:
    ``A[i] = B[i] * 1``, which is the same number and no copy for docc.
    """
    _block(kinds, kinds.source.body)
    ast.fix_missing_locations(kinds.source.node)


def _block(kinds: Kinds, body: list[ast.stmt]) -> None:
    for place, statement in enumerate(body):
        for inner in ("body", "orelse"):
            _block(kinds, getattr(statement, inner, []))
        if not isinstance(statement, ast.Assign):
            continue
        value = statement.value
        copied = isinstance(value, ast.Subscript) and kinds.of(value).rank == 0
        if not copied or not isinstance(statement.targets[0], ast.Subscript):
            continue
        later = [part.targets[0] for part in body[place + 1 :] if isinstance(part, ast.Assign)]
        later += [part.target for part in body[place + 1 :] if isinstance(part, ast.AugAssign)]
        if not any(same(value, target) for target in later):
            continue
        if kinds.of(value).what not in (INT, FLOAT):
            kinds.source.refuse(
                statement,
                f"copies '{base(value)}' after it has changed",
                "copy it in a loop before",
            )
        kinds.source.mend(statement, "copy an element at once")
        statement.value = expression("x * 1", value, x=value)


def check_counts(kinds: Kinds) -> None:
    """docc writes a copy of a whole number as another name for it, over what changes it.

    Before: ``m = n``, then ``n = n - 1``: m may be the new n. Refused where n is assigned again.
    """
    given: dict[str, int] = dict.fromkeys(kinds.parameters, 1)
    for name, value in assigned(kinds.source.body):
        given[name] = given.get(name, 0) + (not isinstance(value, ast.For))
    for name, value in assigned(kinds.source.body):
        if not isinstance(value, ast.Name) or value.id == name or given.get(value.id, 0) < 2:
            continue
        if kinds.of(value).rank == 0 and kinds.of(value).what in (INT, "?"):
            kinds.source.refuse(
                value, f"takes the copy of '{value.id}' for itself", "keep counts in one variable"
            )
