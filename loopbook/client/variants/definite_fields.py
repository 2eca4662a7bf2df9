"""What objects hold for sure, statement by statement."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from typing import Any

from loopbook.client.variants.stored import field_of


def read_unset(
    body: Sequence[ast.stmt],
    name: str,
    begun: Collection[int] = (),
    given_back: Collection[Any] = (),
) -> frozenset[Any]:
    """What may be read of an object that statements have not stored before.

    Args:
        begun: the ids of blocks that make the object anew.
        given_back: what is read wherever the statements are left.
    """
    finding = _Finding(name, begun, given_back)
    known = finding.after(body, frozenset())
    return finding.unset | (frozenset(given_back) - known)


class _Finding:
    def __init__(self, name: str, begun: Collection[int], given_back: Collection[Any]) -> None:
        self._name, self._begun, self._given_back = name, begun, frozenset(given_back)
        self.unset: frozenset[Any] = frozenset()

    def after(self, body: Sequence[ast.stmt], known: frozenset[Any]) -> frozenset[Any]:
        """What it holds behind some statements, of what it holds before."""
        for one in body:
            known = self._behind(one, known)
        return known

    def _behind(self, node: ast.stmt, known: frozenset[Any]) -> frozenset[Any]:
        match node:
            case ast.If() if id(node) in self._begun:
                return self.after(node.body, frozenset())
            case ast.If():
                self._read([node.test], known)
                return self.after(node.body, known) & self.after(node.orelse, known)
            case ast.For() | ast.While():
                self._read([p for p in ast.iter_child_nodes(node) if _is_part(p)], known)
                self.after(node.body, known)
                self.after(node.orelse, known)
                return known
            case ast.With():
                self._read([p for p in ast.iter_child_nodes(node) if _is_part(p)], known)
                return self.after(node.body, known)
            case ast.AugAssign():
                self._read([node.target, node.value], known, stored=True)
                return known
            case ast.AnnAssign(value=None):
                return known
            case ast.Return() | ast.Raise():
                self._read([node], known)
                if isinstance(node, ast.Return):
                    self.unset |= self._given_back - known
                return known | self._given_back
        self._read([node], known)
        fields = [field_of(n) for n in ast.walk(node) if _is_stored(n)]
        return known | {field[1] for field in fields if field is not None and self._owns(field)}

    def _owns(self, field: tuple[str, Any]) -> bool:
        return field[0] == self._name

    def _read(
        self, nodes: Sequence[ast.AST], known: frozenset[Any], *, stored: bool = False
    ) -> None:
        for outer in nodes:
            for one in ast.walk(outer):
                field = field_of(one)
                if field is None or not self._owns(field) or field[1] in known:
                    continue
                if stored or not _is_stored(one):
                    self.unset |= {field[1]}


def _is_part(node: ast.AST) -> bool:
    return not isinstance(node, ast.stmt)


def _is_stored(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Store)
