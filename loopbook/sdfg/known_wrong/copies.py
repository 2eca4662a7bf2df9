"""Elements that are copied before their source changes, and elements that hold a count."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from loopbook.sdfg.known_wrong.kinds import BOOL, FLOAT, INT, Kinds, assigned
from loopbook.sdfg.known_wrong.source import base, expression, is_size, same
from loopbook.syntax import walk

LEAST = -(2**53)
"""No count is less."""


def run(kinds: Kinds) -> None:
    """docc puts a copy off until what was copied is needed no more, over what changes it.

    Before: ``A[i] = B[i]``, then ``B[i] = A[i] + 1``: docc copies the new element. After:
    ``A[i] = B[i] * 1``, which is the same number and no copy for docc. Of truth values:
    ``B[i] != 0``.

    The same for ``v = A[i]`` above ``A[i] = w``, and for ``v = x`` above ``x = w``: docc computes
    ``w`` in its place in A, or as x, at once, and reads ``v`` there.
    """
    _block(kinds, kinds.source.body)
    kinds.source.locate()


def _block(kinds: Kinds, body: list[ast.stmt], after: Sequence[ast.stmt] = ()) -> None:
    """
    Args:
        after: what comes after the block in the same iteration.
    """
    for place, statement in enumerate(body):
        later = [*body[place + 1 :], *after]
        branch = isinstance(statement, ast.If)
        for inner in ("body", "orelse"):
            _block(kinds, getattr(statement, inner, []), later if branch else ())
        if not isinstance(statement, ast.Assign):
            continue
        value = statement.value
        if isinstance(value, ast.Name):
            _variable(kinds, statement, value, later)
        if not isinstance(value, ast.Subscript) or kinds.of(value).rank != 0:
            continue
        if not _changes(value, statement.targets[0], body[place + 1 :]):
            continue
        what = kinds.of(value).what
        if what not in (BOOL, INT, FLOAT):
            kinds.source.refuse(
                statement,
                f"copies '{base(value)}' after it has changed",
                "copy it in a loop before",
            )
        kinds.source.mend(statement, "copy an element at once")
        text = "x != 0" if what == BOOL else "x * 1"  # a number times one is no truth value
        statement.value = expression(text, value, x=value)


def _variable(
    kinds: Kinds, statement: ast.Assign, value: ast.Name, later: Sequence[ast.stmt]
) -> None:
    """Write a copy of a float that changes later as none; for whole numbers see `counts`."""
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or target.id == value.id:
        return
    computed: set[str] = set()
    for node in (n for part in later for n in walk(part) if isinstance(n, ast.Assign)):
        if same(node.targets[0], value):
            if isinstance(node.value, ast.Name) and node.value.id in computed:
                break
            return
        computed |= {t.id for t in node.targets if isinstance(t, ast.Name)}
    else:
        return  # docc computes in place of x only what is computed then, and moved there
    if kinds.of(value).rank == 0 and kinds.of(value).what == FLOAT:
        kinds.source.mend(statement, "copy a variable at once")
        statement.value = expression("x * 1", value, x=value)


def _changes(copied: ast.Subscript, target: ast.expr, later: Sequence[ast.stmt]) -> bool:
    """Whether what follows changes an element after it was copied into `target`, as far as docc
    may get that wrong."""
    if isinstance(target, ast.Name):
        inner = [node for part in later for node in walk(part)]
        nested = [node for node in inner if node not in later]
        if any(isinstance(n, ast.AugAssign) and same(n.target, target) for n in inner) or any(
            isinstance(n, ast.Assign) and same(n.targets[0], target) for n in nested
        ):
            return False  # what begins with the element and goes on is no copy for docc
        return any(
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Store)
            and base(node) == base(copied)
            for node in inner
        )
    if all(isinstance(node, ast.Constant) for node in _indices(copied)):
        inner = (node for part in later for node in walk(part) if isinstance(node, ast.Subscript))
        return any(isinstance(n.ctx, ast.Store) and base(n) == base(copied) for n in inner)
    changed = [part.targets[0] for part in later if isinstance(part, ast.Assign)]
    changed += [part.target for part in later if isinstance(part, ast.AugAssign)]
    return isinstance(target, ast.Subscript) and any(same(copied, place) for place in changed)


def _indices(element: ast.Subscript) -> list[ast.expr]:
    return element.slice.elts if isinstance(element.slice, ast.Tuple) else [element.slice]


def counts(kinds: Kinds) -> None:
    """docc writes a copy of a whole number as another name for it, over what changes it.

    Before: ``m = n``, then ``n = n - 1``: m may be the new n. After: ``m = n | 0``, which is the
    same number and no copy for docc. Refused where the type is not known.

    So it is for ``n = t`` where t was computed on a condition, as a remainder is by what may be 0:
    docc sets n in the branch already, before what stands between has read it. What ``math.floor``
    gives is a float for docc, of which copies are copies.
    """
    given: dict[str, int] = dict.fromkeys(kinds.parameters, 1)
    rounded = set()
    for name, value in assigned(kinds.source.body):
        if isinstance(value, ast.Call) and _rounds(value.func):
            rounded.add(name)
        if not isinstance(value, ast.For):
            given[name] = given.get(name, 0) + (2 if _is_conditional(value) else 1)
    for statement in kinds.source.walk():
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Name):
            continue
        target, value = statement.targets[0], statement.value
        if not isinstance(target, ast.Name) or value.id == target.id or given.get(value.id, 0) < 2:
            continue
        if kinds.of(value).rank != 0 or kinds.of(value).what not in (INT, "?"):
            continue
        if value.id in rounded:
            continue
        if kinds.of(value).what == "?":
            kinds.source.refuse(
                value, f"takes the copy of '{value.id}' for itself", "keep counts in one variable"
            )
        kinds.source.mend(statement, "copy a whole number at once")
        statement.value = expression("x | 0", value, x=value)
    kinds.source.locate()


def _rounds(func: ast.expr) -> bool:
    """Whether what is called is one of ``math.floor``, ``math.ceil`` and ``math.trunc``."""
    return ast.unparse(func) in ("math.floor", "math.ceil", "math.trunc")


def _is_conditional(value: ast.expr) -> bool:
    """Whether a value is computed in branches, at least after it has been written otherwise."""
    return any(
        isinstance(node, ast.IfExp | ast.Mod | ast.FloorDiv | ast.BoolOp | ast.Compare)
        for node in ast.walk(value)
    )


def held(kinds: Kinds) -> None:
    """docc computes an element that depends on nothing but a loop's count anew wherever it is read,
    with the count of the loop that reads it first.

    Before: ``n[i] = i`` in one loop, ``n[j] + n[k]`` in others: docc computes j + j. After:
    ``n[i] = max(i, -9007199254740992)``, which is the same number and none that docc computes
    elsewhere. Only arrays that are read at several places can come out wrong, be it one array or
    one here and another one there, whose loops docc makes one. Numbers from data are none such, and
    may be less; so may be what is computed of a count, as a hash of it is, which is ``s | 0``.
    """
    data = _from_elements(kinds)
    given = assigned(kinds.source.body)
    computed = frozenset(name for name, value in given if not isinstance(value, ast.For))
    read: dict[str, set[str]] = {}
    for node in kinds.source.walk():
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            read.setdefault(base(node), set()).add(ast.unparse(node.slice))
    found: list[tuple[ast.Assign, str, ast.expr]] = []
    for statement in kinds.source.walk():
        if not isinstance(statement, ast.Assign):
            continue
        target = statement.targets[0]
        if not isinstance(target, ast.Subscript) or base(target) not in read:
            continue
        counts = _Counts(kinds, data, computed)
        value = counts.visit(copy.deepcopy(statement.value))  # which it changes
        if counts.found and not counts.elements:
            found.append((statement, base(target), value))
    if len(set[str]().union(*(read[name] for _, name, _ in found))) > 1:
        for statement, _, value in found:
            kinds.source.mend(statement, "compute with a copy of a count")
            statement.value = value
    kinds.source.locate()


def _from_elements(kinds: Kinds) -> frozenset[str]:
    """Variables that depend on elements of arrays."""
    found: frozenset[str] = frozenset()
    given = [(n, v) for n, v in assigned(kinds.source.body) if not isinstance(v, ast.For)]
    while True:
        more = {name for name, value in given if _reads(value, found)}
        if more <= found:
            return found
        found |= more


def _reads(value: ast.expr, names: frozenset[str]) -> bool:
    return any(
        node.id in names
        if isinstance(node, ast.Name)
        else isinstance(node, ast.Subscript) and not is_size(node)
        for node in walk(value)
    )


class _Counts(ast.NodeTransformer):
    """Counts in an expression, and whether it reads elements, or what depends on them."""

    def __init__(self, kinds: Kinds, data: frozenset[str], computed: frozenset[str]) -> None:
        self.kinds = kinds
        self.data = data
        self.computed = computed
        self.found = self.elements = False

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.elements |= not is_size(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        kind = self.kinds.of(node)
        self.elements |= node.id in self.data
        if node.id in self.kinds.parameters or kind.rank != 0 or kind.what != INT:
            return node
        self.found = True
        text = f"max(x, {LEAST})" if node.id not in self.computed else "x | 0"
        return expression(text, node, x=ast.copy_location(ast.Name(node.id), node))
