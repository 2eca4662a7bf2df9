"""Generated lines as a tree of loops and branches, with what each part reads and writes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from loopbook.frontend.code import Line


@dataclass
class Block:
    """A line, and the lines in the loop or branch that it begins."""

    line: Line
    body: list[Block] = field(default_factory=list)

    @property
    def header(self) -> tuple[str, str] | None:
        """A loop's variable and what it runs over; None if this is no ``for``."""
        return _header(self.line.text)

    def walk(self) -> Iterator[Block]:
        """This one and all in it, in order."""
        yield self
        for inner in self.body:
            yield from inner.walk()

    def renamed(self, names: Mapping[str, str]) -> Block:
        """The same with other names for variables."""
        if not names:
            return self
        pattern = re.compile(rf"(?<![\w.])({'|'.join(map(re.escape, names))})(?!\w)")
        text = pattern.sub(lambda found: names[found[1]], self.line.text)
        inner = [block.renamed(names) for block in self.body]
        return Block(replace(self.line, text=text), inner)

    def headed(self, text: str, body: list[Block]) -> Block:
        """A block of the same origin."""
        return Block(replace(self.line, text=text), body)

    @property
    def loops(self) -> frozenset[str]:
        """The variables of the loops in it, its own among them."""
        return frozenset(b.header[0] for b in self.walk() if b.header)

    @cached_property
    def depth(self) -> int:
        """How many loops lie in each other at most."""
        inner = max((block.depth for block in self.body), default=0)
        return inner + (self.header is not None)


@lru_cache(maxsize=4096)
def _header(text: str) -> tuple[str, str] | None:
    found = re.fullmatch(r"for (\w+) in (range\(.*\)):", text)
    return (found[1], found[2]) if found else None


@dataclass(frozen=True)
class Touch:
    """A variable or an element that a line reads or writes.

    Attributes:
        index: text of the element's indices; None for a variable.
    """

    name: str
    index: tuple[str, ...] | None
    write: bool


def tree(lines: Sequence[Line]) -> list[Block]:
    """The blocks that lines consist of."""
    top: list[Block] = []
    open_ones: list[tuple[int, list[Block]]] = [(lines[0].depth if lines else 0, top)]
    for line in lines:
        while line.depth < open_ones[-1][0]:
            open_ones.pop()
        if line.depth > open_ones[-1][0]:
            open_ones.append((line.depth, open_ones[-1][1][-1].body))
        open_ones[-1][1].append(Block(line))
    return top


def flat(blocks: Iterable[Block], depth: int = 0) -> list[Line]:
    """The lines of blocks, the outermost of which have a depth."""
    found: list[Line] = []
    for block in blocks:
        found.append(replace(block.line, depth=depth))
        found += flat(block.body, depth + 1)
    return found


def touches(blocks: Iterable[Block]) -> frozenset[Touch]:
    """What blocks read and write; sizes of arrays are no part of it."""
    return frozenset(t for block in blocks for b in block.walk() for t in _of_line(b.line.text))


@lru_cache(maxsize=4096)
def _of_line(text: str) -> frozenset[Touch]:
    if text in ("else:", "pass", "break", "continue"):
        return frozenset()
    if text.startswith("elif "):
        text = text[2:]
    (statement,) = ast.parse(f"{text} pass" if text.endswith(":") else text).body
    found: set[Touch] = set()
    _collect(statement, found)
    return frozenset(found)


def _collect(node: ast.AST, found: set[Touch]) -> None:
    match node:
        case ast.Subscript(value=ast.Name(id=name)):
            places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            index = tuple(p.id if isinstance(p, ast.Name) else ast.unparse(p) for p in places)
            found.add(Touch(name, index, isinstance(node.ctx, ast.Store)))
            for place in places:
                _collect(place, found)
        case ast.Attribute():  # A.shape, math.sqrt
            pass
        case ast.Name():
            found.add(Touch(node.id, None, isinstance(node.ctx, ast.Store)))
        case _:
            for child in ast.iter_child_nodes(node):
                _collect(child, found)


def is_one(term: str) -> bool:
    """Whether what stands in parentheses is one expression: not as in ``a) * (b``."""
    open_ones = 0
    for letter in term:
        open_ones += {"(": 1, "[": 1, ")": -1, "]": -1}.get(letter, 0)
        if open_ones < 0 or (letter == "," and not open_ones):
            return False
    return True
