"""All that is refused in a function, not the first alone.

After a statement that is refused, the names that it would have assigned stand for what nothing is
known of, and translation goes on with the next one. What then needs such a name is passed over,
but for what no type could mend: functions without loops, kinds of statements and expressions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from loopbook.errors import LoweringError
from loopbook.frontend.code import Code, InLineError, UnrollError, UntoldError
from loopbook.frontend.expressions import unloopable
from loopbook.frontend.homes import Frame
from loopbook.frontend.liveness import stores
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Thing, Unknown

NEVER = (
    ast.Set, ast.SetComp, ast.Await, ast.Yield,
    ast.YieldFrom, ast.NamedExpr,
)  # fmt: skip
"""Expressions that have no loops whatever the types are."""

BLOCKS = ast.For | ast.While | ast.If | ast.With | ast.Try


class Collector(Translator):
    """A translator that notes what it refuses, and goes on.

    Attributes:
        found: what was refused, each with file and line.
    """

    def __init__(self, code: Code, frame: Frame, found: list[LoweringError]) -> None:
        super().__init__(code, frame)
        self.found = found
        self._loops = 0

    def statement(self, node: ast.stmt) -> None:
        """Translate a statement; if it is refused, note that, and what else in it would be."""
        unrolled, depth = self.frame.unrolled, self._loops
        self._loops += isinstance(node, ast.For)
        try:
            super().statement(node)
        except LoweringError as error:
            if (isinstance(error, UnrollError) and depth) or isinstance(error, InLineError):
                raise  # the loop around may be written out, or arrays lie otherwise
            self.frame.unrolled = unrolled
            self._note(error)
            with self.code.captured():
                self._go_on(node)
            for name in stores([node]):
                self.frame.env[name] = Unknown()
        finally:
            self._loops = depth

    def _note(self, error: LoweringError) -> None:
        if not isinstance(error, UntoldError):
            line, file = error.line or self.code.origin, error.file or self.frame.file
            told = LoweringError(error.what, line, file)
            told.statement = self.frames[0].at.lineno if self.frames[0].at else 0
            self.found.append(told)

    def _go_on(self, node: ast.stmt) -> None:
        """What is certain of a statement that could not be translated."""
        for expression in _own_expressions(node):
            self.code.origin = node.lineno
            self._certain(expression)
        if not isinstance(node, BLOCKS):
            return
        for name in stores([node]):
            self.frame.env[name] = Unknown()
        for body in (
            node.body,
            *(handler.body for handler in getattr(node, "handlers", ())),
            getattr(node, "orelse", []),
            getattr(node, "finalbody", []),
        ):
            self.body(body)

    def _certain(self, expression: ast.expr) -> None:
        for node in ast.walk(expression):
            try:
                if isinstance(node, NEVER):
                    raise self.code.fail(unloopable(node))
                if isinstance(node, ast.Call):
                    self._certain_call(node)
            except LoweringError as error:
                self._note(error)

    def _certain_call(self, node: ast.Call) -> None:
        from loopbook.frontend.calls import is_python, lowering_of
        from loopbook.frontend.inline import Local, inline, inline_local

        if not _is_path(node.func):
            return
        function = self.expr(node.func)
        if not isinstance(function, Thing):
            return
        target, name = function.value, ast.unparse(node.func)
        known = not node.keywords and not any(isinstance(a, ast.Starred) for a in node.args)
        nothing = [Unknown() for _ in node.args]
        if isinstance(target, Local):
            if known:
                inline_local(self, target, list(nothing), {})
        elif is_python(target):
            if known:
                inline(self, target, list(nothing), {})
        else:
            lowering_of(self, target, name)


def _is_path(node: ast.expr) -> bool:
    """Whether it is a name, or an attribute of one, and so on."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _own_expressions(node: ast.stmt) -> Iterator[ast.expr]:
    """The expressions of a statement, without those of statements in it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield child
        elif isinstance(child, ast.withitem):
            yield child.context_expr


def in_order(found: Iterable[LoweringError]) -> list[LoweringError]:
    """Refusals by file and line, each once."""
    once = {(e.file, e.line, e.what): e for e in found}
    return [once[key] for key in sorted(once)]
