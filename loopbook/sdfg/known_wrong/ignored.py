"""What docc leaves out without a word.

Its front end visits what it knows and walks past the rest: ``raise`` and ``assert`` do nothing,
both branches of a ``try`` run, an annotated assignment assigns nothing, the type of a ``->`` is
taken at its word (a float returned by ``-> int`` loses its fraction). Annotations are left out for
it; the rest is refused.
"""

from __future__ import annotations

import ast

from loopbook.sdfg.known_wrong.source import BlockRewriter, Source

STATEMENTS = (
    ast.Assign,
    ast.AugAssign,
    ast.AnnAssign,
    ast.For,
    ast.While,
    ast.If,
    ast.Return,
    ast.Expr,
    ast.Pass,
    ast.Break,
    ast.Continue,
)

EXPRESSIONS = (
    ast.Constant,
    ast.Name,
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.Call,
    ast.Attribute,
    ast.Subscript,
    ast.Slice,
    ast.Tuple,
    ast.List,
)

COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)


def check(source: Source) -> None:
    """Refuse what docc leaves out.

    Before: ``if n < 0: raise ValueError``. docc: as if it were not there.
    """
    for node in source.walk():
        if isinstance(node, ast.stmt) and not isinstance(node, STATEMENTS):
            word = type(node).__name__.lower()
            source.refuse(node, f"leaves out '{word}'", "do that outside the compiled function")
        if isinstance(node, ast.expr) and not isinstance(node, EXPRESSIONS):
            word = type(node).__name__
            source.refuse(node, f"does not translate a {word}", "write it with plain loops")
        if isinstance(node, ast.Compare) and not all(isinstance(o, COMPARISONS) for o in node.ops):
            source.refuse(node, "does not translate 'is' and 'in'", "compare numbers")
        if isinstance(node, ast.Constant) and _foreign(node.value):
            source.refuse(node, f"misreads the constant {node.value!r:.40}", "use a 64-bit number")
        if isinstance(node, ast.Name) and node.id in source.names:
            value = source.names[node.id]
            if isinstance(value, float) and not abs(value) < float("inf"):
                source.refuse(node, f"misreads the constant {node.id} = {value}", "pass it in")


def _foreign(value: object) -> bool:
    if isinstance(value, int):
        return not -(2**63) <= value < 2**63
    if isinstance(value, float):
        return not abs(value) < float("inf")
    return isinstance(value, complex | bytes)


class Annotations(BlockRewriter):
    """Before: ``s: float = 0.0``. docc: no assignment. After: ``s = 0.0``."""

    def run(self) -> None:
        super().run()
        if self.source.node.returns is not None:
            self.source.mend(self.source.node, "leave the annotation of the result out")

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt | list[ast.stmt]:
        self.source.mend(node, "leave an annotation out")
        if node.value is None:
            return []
        return ast.copy_location(ast.Assign(targets=[node.target], value=node.value), node)
