"""Functions that are called with tuples, lists, dicts, objects and functions, as ones that take
the arrays and numbers in them one by one.

Before, called with two arrays, a tuple of two numbers and a dict::

    def step(w, g, betas, options): ...

After::

    def step(w, g, betas_0, betas_1, options_rate):
        betas = (betas_0, betas_1)
        options = make_options(options_rate)
        ...
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

from loopbook.client.variants.layouts import Called, Layout, Record, held, is_owner
from loopbook.client.variants.methods import spelled_out
from loopbook.client.variants.remade import remade
from loopbook.client.variants.stored import (
    Field,
    check_stores,
    return_signs,
    returning,
    sign,
)
from loopbook.errors import LoweringError
from loopbook.frontend.records import Making
from loopbook.syntax import mentioned, unused


def unpacked(func: Callable[..., Any], layouts: Sequence[Layout]) -> Callable[..., Any]:
    """A function that takes what `items` gives of arguments of these layouts.

    Raises:
        LoweringError: if the function's source is not at hand, or it changes what holds them.
    """
    if not isinstance(func, FunctionType):
        raise LoweringError("a tuple, given to what is no function written with def")
    node, outside = spelled_out(func, held(func, layouts))
    node = copy.deepcopy(node)
    names = _parameters(node)
    new = _Parameters(mentioned(node) | set(names), outside)
    begun: list[ast.stmt] = []
    own: dict[Field, str] = {}
    back: list[Field] = []
    flags: dict[Field, str] = {}
    given: dict[str, str] = {}
    for name, form in zip(names, layouts, strict=True):
        if form is None:
            new.parameters.append(ast.arg(name))
        elif isinstance(form, Called):
            new.outside[name] = form.function
        elif isinstance(form, Record) and form.stored:
            begun += _as_variables(name, form, new, own)
            back += [(name, field) for field in form.stored]
            flags |= {(name, field): new.fresh(f"has_{field}") for field in form.flagged}
        else:
            if isinstance(form, Record):
                _check_unchanged(node, name, form.kind)
            target = ast.Name(name, ast.Store())
            begun.append(ast.Assign([target], new.made(name, form), lineno=node.lineno))
        if isinstance(form, Record) and is_owner(form):
            given[name] = sign(len(given))
    if given:
        return_signs(node, given)
    if back:
        check_stores(node, dict.fromkeys(name for name, _ in back))
        returning(node, own, [own[field] for field in back], flags)
    node.args = ast.arguments([], new.parameters, None, [], [], None, [])
    node.body, node.decorator_list, node.returns = [*begun, *node.body], [], None
    return remade(func, node, new.outside)


def _as_variables(
    name: str, form: Record, new: _Parameters, own: dict[Field, str]
) -> list[ast.stmt]:
    """Assignments to the variables that stand for what an argument holds, which get names in
    `own`."""
    begun: list[ast.stmt] = []
    for field, inner in zip(form.names, form.items, strict=True):
        value = new.made(f"{name}_{field}", inner)
        own[name, field] = new.fresh(f"{name}_{field}")
        target = ast.Name(own[name, field], ast.Store())
        begun.append(ast.Assign([target], value, lineno=1))
    for field in form.stored:
        if (name, field) not in own:
            own[name, field] = new.fresh(f"{name}_{field}")
    return begun


CHANGING = frozenset((
    "append", "clear", "extend", "insert", "pop", "popitem", "remove", "reverse", "setdefault",
    "sort", "update",
))  # fmt: skip
"""Methods of lists and dicts that change them."""


def _check_unchanged(node: ast.FunctionDef, name: str, kind: type) -> None:
    """Raise where what was passed may be changed, be it in branches that some calls never take:
    once these are left out, nothing else would say so."""
    for inner in ast.walk(node):
        match inner:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=method) as place) if (
                owner == name and method in CHANGING and issubclass(kind, list | dict)
            ):
                raise LoweringError(
                    f"{ast.unparse(place)}() of what the caller has too; return it instead",
                    inner.lineno,
                )
            case ast.AugAssign(target=ast.Name(id=owner)) if owner == name and kind is list:
                raise LoweringError(
                    f"adding to {name}, which the caller has too; return it instead", inner.lineno
                )
        match inner:
            case (
                ast.Subscript(value=ast.Name(id=owner), ctx=ast.Store() | ast.Del())
                | ast.Attribute(value=ast.Name(id=owner), ctx=ast.Store() | ast.Del())
            ) if owner == name and not _is_augmented(node, inner):
                what = f"storing into {ast.unparse(inner)}, which the caller has too"
                raise LoweringError(f"{what}; return it instead", inner.lineno)


def _is_augmented(node: ast.FunctionDef, target: ast.AST) -> bool:
    """Whether it is changed in place, if it is an array."""
    return any(isinstance(n, ast.AugAssign) and n.target is target for n in ast.walk(node))


def _parameters(node: ast.FunctionDef) -> list[str]:
    """Names as `inspect.signature` orders them."""
    given = node.args
    last = [given.vararg, *given.kwonlyargs, given.kwarg]
    return [a.arg for a in (*given.posonlyargs, *given.args, *last) if a is not None]


class _Parameters:
    """New parameters, and what the function reads from outside besides."""

    def __init__(self, taken: set[str], outside: Mapping[str, Any]) -> None:
        self._taken = taken
        self.parameters: list[ast.arg] = []
        self.outside: dict[str, Any] = dict(outside)

    def made(self, name: str, form: Layout) -> ast.expr:
        """The value of what was passed, out of new parameters."""
        if isinstance(form, int):
            return ast.Constant(form)
        if form is None:
            own = self.fresh(name)
            self.parameters.append(ast.arg(own))
            return ast.Name(own, ast.Load())
        if isinstance(form, Called):
            own = self.fresh(name)
            self.outside[own] = form.function
            return ast.Name(own, ast.Load())
        if isinstance(form, Record):
            making = self.fresh(f"make_{name}")
            self.outside[making] = Making(form.kind, form.names, whole=form.whole)
            parts = [
                self.made(f"{name}_{n}", x) for n, x in zip(form.names, form.items, strict=True)
            ]
            return ast.Call(ast.Name(making, ast.Load()), parts, [])
        parts = [self.made(f"{name}_{place}", inner) for place, inner in enumerate(form)]
        return ast.Tuple(parts, ast.Load())

    def fresh(self, hint: str) -> str:
        own = unused(re.sub(r"\W", "_", hint), self._taken)
        self._taken.add(own)
        return own
