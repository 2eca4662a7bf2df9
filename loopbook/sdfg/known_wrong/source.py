"""A Python function as a syntax tree, and back."""

from __future__ import annotations

import ast
import copy
import hashlib
import inspect
import linecache
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any, NoReturn

from loopbook.errors import MistranslationError, SdfgError
from loopbook.sdfg.source import definition, first_line
from loopbook.syntax import walk

OURS = "<loopbook "
"""How the names of files begin in which loops stand that `loopbook.frontend` wrote."""


@dataclass
class Source:
    """What docc reads of a function.

    Attributes:
        node: its definition; line numbers are those of the file.
        file: where it stands.
        names: globals and the values of closures, as docc looks them up.
        mends: what has been rewritten, one line each.
        located: of so many mends, what they wrote has its place in the file.
    """

    func: Callable[..., Any]
    node: ast.FunctionDef
    file: str
    names: Mapping[str, Any]
    mends: list[str]
    located: int = 0

    @classmethod
    def of(cls, func: Callable[..., Any]) -> Source | None:
        """The source of a function; nothing where that is not what runs, or it is no ``def``."""
        try:
            tree, first = definition(func), first_line(func)
        except (OSError, TypeError, SyntaxError, SdfgError):
            return None
        ast.increment_lineno(tree, first - 1)
        return cls(func, tree, inspect.getfile(func), _names(func), [])

    @property
    def parameters(self) -> list[str]:
        return [argument.arg for argument in self.node.args.args]

    @property
    def body(self) -> list[ast.stmt]:
        return self.node.body

    def walk(self) -> Iterator[ast.AST]:
        """All nodes of the body."""
        for statement in self.node.body:
            yield from walk(statement)

    def refuse(self, node: ast.AST, what: str, instead: str) -> NoReturn:
        """Raise `MistranslationError`: what docc gets wrong, where, and what to write instead."""
        place = f"{Path(self.file).name}:{getattr(node, 'lineno', self.node.lineno)}"
        raise MistranslationError(f"{place}: docc {what}; {instead}")

    def mend(self, node: ast.AST, what: str) -> None:
        """Note a rewriting."""
        self.mends.append(f"line {getattr(node, 'lineno', self.node.lineno)}: {what}")

    def locate(self) -> None:
        """Give what has been written places in the file, if anything has been since the last
        time."""
        if len(self.mends) > self.located:
            self.located = len(self.mends)
            ast.fix_missing_locations(self.node)

    def fresh(self, stem: str) -> str:
        """A name that the function does not use, nor docc for its own containers."""
        taken = {n.id for n in self.walk() if isinstance(n, ast.Name)} | set(self.parameters)
        number = 0
        while (name := f"lb_{stem}_{number}") in taken or name in self.names:
            number += 1
        return name

    def function(self) -> Callable[..., Any]:
        """The function as it stands now: itself if nothing has been rewritten."""
        if not self.mends:
            return self.func
        node = self.node
        node.decorator_list, node.returns = [], None
        for argument in [*node.args.args, *node.args.kwonlyargs]:
            argument.annotation = None
        node.args.defaults, node.args.kw_defaults = [], [None] * len(node.args.kwonlyargs)
        text = ast.unparse(ast.fix_missing_locations(node)) + "\n"
        tag = hashlib.sha256(text.encode()).hexdigest()[:12]
        file = f"{OURS if self.file.startswith(OURS) else '<'}{node.name} mended {tag}>"
        # docc asks `inspect` for the source, which looks here for text without a file.
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        names = dict(self.names)
        exec(compile(text, file, "exec"), names)
        made = names[node.name]
        assert isinstance(made, FunctionType)
        made.__defaults__ = getattr(self.func, "__defaults__", None)
        made.__module__ = self.func.__module__
        return made


def _names(func: Callable[..., Any]) -> dict[str, Any]:
    plain = inspect.unwrap(func)
    names = dict(getattr(plain, "__globals__", {}))
    cells = getattr(plain, "__closure__", None) or ()
    free = plain.__code__.co_freevars if cells else ()
    for name, cell in zip(free, cells, strict=False):
        try:
            names[name] = cell.cell_contents
        except ValueError:  # not bound yet
            continue
    return names


class BlockRewriter(ast.NodeTransformer):
    """Rewrites statements; a method may return several for one."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def run(self) -> None:
        """Rewrite the body, in place."""
        self.source.node.body = self.block(self.source.node.body)
        self.source.locate()

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """A block with what becomes of each of its statements."""
        found: list[ast.stmt] = []
        for statement in body:
            made = self.visit(statement)
            found += made if isinstance(made, list) else [made]
        return found


def written_out(node: ast.AugAssign) -> ast.BinOp:
    """What ``x op= v`` assigns: ``x op v``."""
    left = copy.deepcopy(node.target)
    left.ctx = ast.Load()
    return ast.copy_location(ast.BinOp(left, node.op, node.value), node)


def same(left: ast.AST, right: ast.AST) -> bool:
    """Whether two expressions read the same, loading or storing."""
    return _plain(left) == _plain(right)


def _plain(node: ast.AST) -> str:
    return ast.unparse(node)


def base(node: ast.AST) -> str:
    """The variable that an expression such as ``A[1:].T`` looks into; empty if none."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def is_size(node: ast.Subscript) -> bool:
    """Whether it is one of an array's sizes, ``A.shape[0]``."""
    return isinstance(node.value, ast.Attribute) and node.value.attr == "shape"


def integer(node: ast.AST | None, names: Mapping[str, Any] | None = None) -> int | None:
    """The value of a literal such as ``3`` or ``-2``, or of a global integer; else nothing."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = integer(node.operand, names)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if names is not None and isinstance(node, ast.Name) and type(names.get(node.id)) is int:
        return names[node.id]
    return None


def expression(text: str, at: ast.AST, **parts: ast.AST) -> ast.expr:
    """The expression `text` with each name that is in `parts` replaced by that tree."""
    tree = ast.parse(text, mode="eval").body
    return ast.copy_location(filled(tree, parts), at)  # type: ignore[return-value]


def without_minus(value: ast.expr) -> ast.expr:
    """A negative number as a difference: docc has no type for a variable that it is the first value
    of."""
    match value:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return expression(f"{0 if type(number) is int else 0.0} - x", value, x=value.operand)
    return value


def statement(text: str, at: ast.AST, **parts: ast.AST) -> ast.stmt:
    """The statement `text`, as in `expression`."""
    return ast.copy_location(filled(ast.parse(text).body[0], parts), at)  # type: ignore[return-value]


def filled(tree: Any, parts: Mapping[str, ast.AST]) -> Any:
    """A tree, changed in place, with other trees for some of its names. A minus in front of what is
    a number then is worked out: for docc, element -0 is the one behind the last."""
    import copy

    class Fill(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return copy.deepcopy(parts[node.id]) if node.id in parts else node

        def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
            self.generic_visit(node)
            number = integer(node)
            known = number is not None and number >= 0
            return ast.copy_location(ast.Constant(number), node) if known else node

    return ast.fix_missing_locations(Fill().visit(tree))
