from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from loopbook.dependence import linear
from loopbook.dependence.body import LoopNode, read_header, tiles
from loopbook.dependence.scalars import live_out, upward_exposed
from loopbook.errors import IllegalStepError
from loopbook.program import expr, tree
from loopbook.program.accesses import Access, accesses, counted, own_symbols, written
from loopbook.program.dataflow import Statement
from loopbook.program.expr import Expr
from loopbook.program.rename import renamed
from loopbook.program.tree import Assignments, Branch, Program
from loopbook.program.types import Array, Scalar, type_of
from loopbook.program.walk import preorder
from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.boxes import Use
from loopbook.steps.editor import Editor
from loopbook.steps.region import Region
from loopbook.steps.staging import staged

_ARITHMETIC = ("assign", "fp_", "cmath:")
"""How operations begin that may be given any numbers: functions of numbers do nothing but return
one, of what a buffer happens to hold as well."""

_WHOLE = frozenset(
    f"int_{name}" for name in ("add", "sub", "mul", "smin", "smax", "abs", "and", "or", "xor")
)
"""Operations on whole numbers of which the same is true: division is not, nor are shifts."""


class Pad(Step):
    """Incomplete tiles run in full, on buffers that are large enough.

    Where all that the iterations of a tile have for themselves lies in local buffers of the full
    tile's size, its loop need not stop where the array does: what is computed beyond is never
    copied back. One micro-kernel with constant bounds then serves all tiles. Before ``pad L1``::

        for j in jj … min(jj + 24, n): c[j - jj] += …

    and after it::

        for j in jj … jj + 24: c[j - jj] += …

    What is only read along the tile, such as a factor for each column, is copied to a buffer of its
    own beforehand, as `stage` does.
    """

    name = "pad"
    textbook = "padding of edge tiles"
    source = "Van Zee and van de Geijn, ACM TOMS 41(3), 2015, section 4"
    example = "pad L1"
    vectors = True
    makes = ("{loop}.load",)
    traits = {"pad": 0.3}

    loop = Loop()

    def apply(self, editor: Editor) -> None:
        """Legal if the additional iterations meet nothing that others use.

        That is: every array indexed by the loop is a local buffer with room for the tile, in which
        each iteration has a place of its own, or can be copied to one; nothing else is written, but
        scalars that each iteration sets before it reads them, and that nothing reads behind the
        loop.
        """
        loop, around = editor.loop(self.loop), Region.of(editor, editor.id_of(self.loop)).around
        tile = _tile(read_header(loop, [outer.variable for outer in around]))
        _check_body(editor, loop)
        for name in _lent(editor.program, loop):
            self._hold(editor, name, tile)
        loop, program = editor.loop(self.loop), editor.program
        for access in sorted(accesses(loop), key=lambda access: access.write):
            if type_of(access.container, program.containers).is_array:
                _check_access(program, loop, access, tile)
                if access.write and not editor.buffers.get(access.container, True):
                    _check_copied_back(access.container, loop, around)
        scalars = {name for name in written(loop) if not type_of(name, program.containers).is_array}
        _check_scalars(loop, scalars)
        if carried := sorted(scalars & upward_exposed(loop.body)):
            raise IllegalStepError(f"{carried[0]} may carry a value between iterations")
        if used := sorted(scalars & live_out(program, loop)):
            raise IllegalStepError(f"the program uses {used[0]} outside of the loop")
        editor.put(self.loop, _padded(loop, tile))

    def _hold(self, editor: Editor, name: str, tile: _Tile) -> None:
        """Copy what the loop reads of an array along the tile to a buffer, as soon as there is a
        tile.

        Raises:
            IllegalStepError: the copy cannot stand for it.
        """
        loop, inside = editor.loop(self.loop), [*editor.around(self.loop), editor.loop(self.loop)]
        begun = Expr(tile.start).symbols
        tiled = [isinstance(one, tree.Loop) and one.variable in begun for one in inside]
        scope = inside[len(tiled) - tiled[::-1].index(True)] if any(tiled) else inside[0]
        subsets = [one.subset for one in accesses(loop) if one.container == name]
        used = [frozenset().union(*(i.symbols for i in subset)) for subset in subsets]
        if scope.id is None or any(
            loop.variable in of and of & counted(scope) != {loop.variable} for of in used
        ):
            raise IllegalStepError(f"{name} is no local buffer")  # see `buffer`

        def is_other(members: Sequence[Use]) -> bool:
            return not any(
                loop.variable in index.symbols for use in members for index in use.touch.subset
            )

        try:
            staged(editor, scope.id, self.loop, name, is_other)
        except IllegalStepError as error:
            raise IllegalStepError(f"{name} is no local buffer: {error}") from None


@dataclass(frozen=True)
class _Tile:
    """What the loop is to run through."""

    start: str
    end: str
    size: int


def _tile(loop: LoopNode) -> _Tile:
    if len(loop.lows) + len(loop.highs) > 2:
        for low, high, size in tiles(loop):
            return _Tile(linear.text(low), linear.text(high), size)
    raise IllegalStepError("the loop has no bound but its tile's, or no tile")


def _check_body(editor: Editor, loop: tree.Loop) -> None:
    """Refuse what an iteration beyond the array's end must not come to."""
    for node in preorder(loop.body):
        match node:
            case tree.Loop():
                if loop.variable in node.init.symbols | node.condition.symbols:
                    raise IllegalStepError(f"the bounds of {editor.name_of(node)} depend on it")
            case Branch():
                raise IllegalStepError("there is a branch in it")
            case Statement():
                for operation in node.operations():
                    if not operation.op.startswith(_ARITHMETIC) and operation.op not in _WHOLE:
                        raise IllegalStepError(
                            f"more than arithmetic is done in it: {operation.op}"
                        )
            case Assignments():
                for one in node.assignments:
                    if not _is_arithmetic(one.expression):
                        raise IllegalStepError(f"more than arithmetic is done in it: {one}")
            case tree.Sequence():
                pass
            case _:
                raise IllegalStepError("more than arithmetic is done in it")


def _is_arithmetic(expression: Expr) -> bool:
    """Whether nothing but sums, products, the lesser and the greater are computed."""
    return not any(
        (isinstance(node, ast.operator) and not isinstance(node, ast.Add | ast.Sub | ast.Mult))
        or (isinstance(node, ast.Call) and ast.unparse(node.func).lower() not in ("min", "max"))
        or isinstance(node, ast.Compare | ast.BoolOp | ast.IfExp)
        for node in ast.walk(expr.parse(expression.text))
    )


def _check_scalars(loop: tree.Loop, scalars: Collection[str]) -> None:
    """Refuse where a number that the loop computes says where something lies, or how often an inner
    loop runs: beyond the array's end it may be any number."""
    read = [own_symbols(n) for n in preorder(loop.body) if not isinstance(n, Assignments)]
    if asked := sorted(frozenset().union(*read) & set(scalars)):
        raise IllegalStepError(f"{asked[0]} is computed in it, and chooses elements")


def _lent(program: Program, loop: tree.Loop) -> list[str]:
    """The arrays that are no local buffers and of which the loop reads other elements in each
    iteration."""
    return sorted(
        {
            access.container
            for access in accesses(loop)
            if not access.write and type_of(access.container, program.containers).is_array
            if any(loop.variable in index.symbols for index in access.subset)
            if not _extents(program, access.container)
        }
    )


def _check_access(program: Program, loop: tree.Loop, access: Access, tile: _Tile) -> None:
    """Refuse an access to an array that an iteration beyond its end must not make."""
    name = access.container
    own = [place for place, index in enumerate(access.subset) if loop.variable in index.symbols]
    if not own:
        if access.write:
            raise IllegalStepError(f"all iterations write the same elements of {name}")
        return
    extents = _extents(program, name)
    if len(own) != 1 or len(extents) != len(access.subset):
        raise IllegalStepError(f"{name} is no local buffer")
    index = access.subset[own[0]]
    if expr.polynomial(f"{index} - {loop.variable} + {tile.start}") or extents[own[0]] < tile.size:
        raise IllegalStepError(f"the buffer {name} does not hold one tile")


def _check_copied_back(buffer: str, loop: tree.Loop, around: Sequence[LoopNode]) -> None:
    """Refuse where a loop through points of a tile around sets where this one begins or ends."""
    points = {outer.variable for outer in around if outer.step == 1}
    if not points.isdisjoint(loop.init.symbols | loop.condition.symbols):
        raise IllegalStepError(f"more than the tile's own points of {buffer} is copied back")


def _extents(program: Program, name: str) -> list[int]:
    """Constant extents of a local buffer; empty for anything else."""
    kind = program.containers[name]
    extents: list[int] = []
    while isinstance(kind, Array) and kind.count.text.isdigit():
        extents.append(int(kind.count.text))
        kind = kind.of
    return extents if isinstance(kind, Scalar) and name not in program.arguments else []


def _padded(loop: tree.Loop, tile: _Tile) -> tree.Loop:
    variable = loop.variable
    if any(access.container == variable for access in accesses(loop)):
        condition = Expr(f"({variable} < {tile.end})")
        return replace(loop, init=Expr(tile.start), condition=condition)
    # From zero, so that the compiler sees the trip count wherever the tile comes from: in the
    # body of an OpenMP loop clang cannot tell that `start + size` does not overflow.
    body = renamed(loop.body, {variable: f"({tile.start} + {variable})"})
    return replace(loop, init=Expr("0"), condition=Expr(f"({variable} < {tile.size})"), body=body)
