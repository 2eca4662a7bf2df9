"""Arrays of whole numbers of 8, 16 and 32 bits, stored as such.

docc reads a function whose narrow whole numbers are words of 64 bits (`loopbook.frontend.narrow`),
and so do the book, the steps and their legality. What callers have are narrow arrays. The program
that is compiled takes those, loads words and stores what fits::

    int64_t x = a[i];  b[i] = (x + 3) & 255;      // uint8_t *a, *b

which spares two copies of each array and seven eighths of the memory; clang computes with no more
bits than are stored (demanded bits: LLVM's loop vectoriser). It is done last of all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from loopbook.errors import SdfgError
from loopbook.program.accesses import own_symbols
from loopbook.program.dataflow import AccessNode, Block, Memlet, Node, Reference, Tasklet
from loopbook.program.local import NARROW, narrow_arrays
from loopbook.program.tree import Program
from loopbook.program.types import Pointer, Scalar, Type
from loopbook.program.walk import Inner, preorder, rebuilt

PREFIX = "word_"
"""Of the scalars that narrow numbers are loaded to."""

_WORD = Scalar(dtype="int64")

KINDS = frozenset(("int8", "int16", "uint8", "uint16", "uint32"))
"""What words may be stored as."""


class NotNarrowError(SdfgError):
    """Something is done to an array for which it has to be of words."""


def with_narrow(text: str, kinds: Mapping[int, str]) -> str:
    """An SDFG as docc's front end makes it, with a note of the types that arrays have for callers.

    Args:
        text: its JSON.
        kinds: names of the types, by the position of the argument.
    """
    if not kinds:
        return text
    document = json.loads(text)
    noted = {document["arguments"][place]: kind for place, kind in kinds.items()}
    document["metadata"][NARROW] = json.dumps(noted)
    return json.dumps(document, separators=(",", ":"))


def narrowed(program: Program) -> Program:
    """A finished program that takes such arrays; itself if it has none.

    Raises:
        NotNarrowError: something is done to one of them for which it has to be of words.
    """
    kinds = narrow_arrays(program)
    if not kinds:
        return program
    made: dict[str, Type] = {}
    for name, kind in kinds.items():
        known = program.containers.get(name)
        if kind not in KINDS or not isinstance(known, Pointer) or known.to != _WORD:
            raise NotNarrowError(f"{name} cannot be stored as {kind}")
        made[name] = replace(known, to=Scalar(dtype=kind))
    work = _Work(made)
    for node in preorder(program):
        if named := own_symbols(node) & made.keys():
            raise NotNarrowError(f"{min(named)} is read by an expression, which takes it for words")
    changed = rebuilt(program, work.changed)
    return changed.declaring(**made, **work.scalars)


@dataclass
class _Work:
    """Types of the arrays, and the scalars that are loaded to."""

    kinds: Mapping[str, Type]
    scalars: dict[str, Type] = field(default_factory=dict)

    def changed(self, node: Inner) -> Inner:
        if not isinstance(node, Block):
            return node
        narrow = {place for place, end in enumerate(node.nodes) if self._kind(end) is not None}
        return self._block(node, narrow) if narrow else node

    def _kind(self, node: Node) -> Type | None:
        return self.kinds.get(node.container) if isinstance(node, AccessNode) else None

    def _block(self, block: Block, narrow: set[int]) -> Block:
        if isinstance(block, Reference):
            raise NotNarrowError("the address of an array of words is taken")
        nodes, memlets = list(block.nodes), []
        for memlet in block.memlets:
            if memlet.source in narrow:
                memlets += self._loaded(nodes, memlet)
            elif memlet.target in narrow:
                memlets.append(self._retyped(nodes, memlet, memlet.source, memlet.target))
            else:
                memlets.append(memlet)
        return replace(block, nodes=tuple(nodes), memlets=tuple(memlets))

    def _loaded(self, nodes: list[Node], memlet: Memlet) -> Iterator[Memlet]:
        """What loads an element: at once where it is copied, else by way of a scalar."""
        user = nodes[memlet.target]
        load = self._retyped(nodes, memlet, memlet.target, memlet.source)
        if isinstance(user, Tasklet) and user.code == "assign":
            yield load
            return
        name = f"{PREFIX}{len(self.scalars)}"
        self.scalars[name] = _WORD
        task = len(nodes)
        nodes += [Tasklet("assign", ("_in",), "_out"), AccessNode(name)]
        yield replace(load, target=task, target_connector="_in")
        yield Memlet(task, task + 1, "_out", "void", (), _WORD)
        yield replace(memlet, source=task + 1, subset=(), type=_WORD)

    def _retyped(self, nodes: list[Node], memlet: Memlet, user: int, array: int) -> Memlet:
        """A memlet to or from an element of a narrow array."""
        kind = self._kind(nodes[array])
        assert kind is not None
        if not isinstance(nodes[user], Tasklet) or len(memlet.subset) != 1:
            raise NotNarrowError("an array of words is given away as a whole")
        return replace(memlet, type=kind)
