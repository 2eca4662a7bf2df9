"""Elements that change in place by what NumPy's functions give."""

from __future__ import annotations

import ast
from types import ModuleType

from loopbook.sdfg.known_wrong.source import BlockRewriter, Source, written_out
from loopbook.syntax import walk


class InPlace(BlockRewriter):
    """docc takes what ``np.exp`` gives for an array, and what it is added to for the name of one.

    Before: ``p = np.exp(x)``, then ``g[j] += p``, which does not compile. After:
    ``g[j] = g[j] + p``.
    """

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._given = _given_by_numpy(source)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if not isinstance(node.target, ast.Subscript):
            return node
        if not _comes_from_numpy(self.source, node.value, self._given):
            return node
        self.source.mend(node, "change an element in one assignment")
        return ast.copy_location(ast.Assign([node.target], written_out(node)), node)


def _given_by_numpy(source: Source) -> set[str]:
    """The variables whose values come from a call of one of NumPy's functions."""
    lines = [n for n in source.walk() if isinstance(n, ast.Assign | ast.AugAssign)]
    given: set[str] = set()
    while True:
        found = {
            target.id
            for line in lines
            if _comes_from_numpy(source, line.value, given)
            for target in (line.targets if isinstance(line, ast.Assign) else [line.target])
            if isinstance(target, ast.Name)
        }
        if found <= given:
            return given
        given |= found


def _comes_from_numpy(source: Source, value: ast.expr, given: set[str]) -> bool:
    return any(
        (isinstance(node, ast.Name) and node.id in given)
        or (isinstance(node, ast.Call) and _is_numpy(source, node.func))
        for node in walk(value)
    )


def _is_numpy(source: Source, func: ast.expr) -> bool:
    match func:
        case ast.Attribute(value=ast.Name(id=name)):
            module = source.names.get(name)
            return isinstance(module, ModuleType) and module.__name__ == "numpy"
        case ast.Name(id=name):
            return type(source.names.get(name)).__module__.partition(".")[0] == "numpy"
    return False
