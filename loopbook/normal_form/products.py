"""Products with a vector, or of two vectors, as loops.

docc makes a `gemm` of every product. With one column, or one row, it moves data through a routine
that is made for matrices: before ::

    gemm(m, 1, k, A, x, C)

and after::

    for i: C[i] = 0
    for i: for k: C[i] += A[i, k] * x[k]

The loops stand in the order in which the larger operand lies in memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from loopbook.errors import SdfgError
from loopbook.program import dataflow, walk
from loopbook.program.dataflow import AccessNode, Block, Constant, LibraryNode, Memlet, Tasklet
from loopbook.program.expr import Expr
from loopbook.program.tree import Loop, LoopKind, Program
from loopbook.program.types import Pointer, Scalar, Type
from loopbook.steps.editor import Editor
from loopbook.steps.library import ROW_MAJOR, TRANSPOSED


def as_loops(program: Program) -> Program:
    """The program with loops for such calls."""
    found = [
        path
        for path, node in walk.places(program)
        if isinstance(node, Block) and _is_thin(node, program)
    ]
    for path in reversed(found):
        block = walk.at(program, path)
        assert isinstance(block, Block)
        editor = Editor(program, {}, {})
        nodes = _Product.of(block, editor).loops()
        program = walk.replaced(editor.program, path, *nodes)
    return program


def _call(block: Block) -> LibraryNode | None:
    calls = [node for node in block.nodes if isinstance(node, LibraryNode)]
    return calls[0] if len(calls) == 1 and calls[0].code == "GEMM" else None


def _is_thin(block: Block, program: Program) -> bool:
    call = _call(block)
    if call is None:
        return False
    fields = call.fields.value
    if fields.get("layout") != ROW_MAJOR or len(block.memlets) != 5:
        return False
    if "1" not in (str(fields.get("m")), str(fields.get("n"))):
        return False
    ends = {m.target_connector: block.nodes[m.source] for m in block.memlets}
    if set(ends) != {"__A", "__B", "__C", "__alpha", "__beta"}:
        return False
    if any(m.subset and m.target_connector in ("__A", "__B", "__C") for m in block.memlets):
        return False
    kinds = []
    for name in ("__A", "__B", "__C"):
        end = ends[name]
        kind = program.containers.get(end.container) if isinstance(end, AccessNode) else None
        if not isinstance(kind, Pointer) or not isinstance(kind.to, Scalar):
            return False
        kinds.append(kind.to.dtype)
    return len(set(kinds)) == 1 and kinds[0] in ("double", "float")


@dataclass
class _Operand:
    """A matrix or a factor of the call: where it is, and how rows and columns are found."""

    node: AccessNode | Constant
    type: Type
    row: str = ""
    column: str = ""

    def at(self, row: str, column: str) -> tuple[Expr, ...]:
        """The subset of the element in a row and a column."""
        parts = []
        for index, stride in ((row, self.row), (column, self.column)):
            if index != "0":
                parts.append(index if stride == "1" else f"{index}*({stride})")
        return (Expr(" + ".join(parts) or "0"),)


@dataclass
class _Product:
    editor: Editor
    a: _Operand
    b: _Operand
    c: _Operand
    alpha: _Operand
    beta: _Operand
    m: str
    n: str
    k: str
    element: Scalar

    @classmethod
    def of(cls, block: Block, editor: Editor) -> _Product:
        call = _call(block)
        assert call is not None
        fields = call.fields.value
        ends: dict[str, _Operand] = {}
        for memlet in block.memlets:
            node = block.nodes[memlet.source]
            if not isinstance(node, AccessNode | Constant):
                raise SdfgError("a factor of a product is computed in the same block")
            ends[memlet.target_connector] = _Operand(node, memlet.type)
        for name, lead, turned in (
            ("__A", "lda", "trans_a"),
            ("__B", "ldb", "trans_b"),
            ("__C", "ldc", ""),
        ):
            strides = str(fields[lead]), "1"
            if turned and fields[turned] == TRANSPOSED:
                strides = strides[::-1]
            ends[name].row, ends[name].column = strides
            one = ends[name]
            assert isinstance(one.node, AccessNode)
            one.type = editor.program.containers[one.node.container]
        node = ends["__C"].node
        assert isinstance(node, AccessNode)
        return cls(
            editor,
            ends["__A"],
            ends["__B"],
            ends["__C"],
            ends["__alpha"],
            ends["__beta"],
            str(fields["m"]),
            str(fields["n"]),
            str(fields["k"]),
            editor.element_type(node.container),
        )

    def loops(self) -> list[Loop | Block]:
        """What stands for the call."""
        return [*self._scaled(), self._added()]

    def _scaled(self) -> list[Loop | Block]:
        """C = beta * C."""
        beta = self.beta.node
        if isinstance(beta, Constant) and float(beta.text) == 1.0:
            return []
        i, j = self._counters()
        subset = self.c.at(i, j)
        target = self.c.node, self.c.type, subset
        if isinstance(beta, Constant) and float(beta.text) == 0.0:
            body = _statement("assign", [(Constant("0.0", self.element), self.element, ())], target)
        else:
            body = _statement(
                "fp_mul", [(beta, self.beta.type, ()), (self.c.node, self.c.type, subset)], target
            )
        return [self._nest([(i, self.m), (j, self.n)], [body], "map")]

    def _added(self) -> Loop | Block:
        """C += alpha * A * B."""
        i, j = self._counters()
        k = self._variable()
        a = self.a.node, self.a.type, self.a.at(i, k)
        b = self.b.node, self.b.type, self.b.at(k, j)
        c = self.c.node, self.c.type, self.c.at(i, j)
        body = []
        alpha = self.alpha.node
        if not (isinstance(alpha, Constant) and float(alpha.text) == 1.0):
            scalar = self.editor.scalar("scaled", self.element)
            scaled = AccessNode(scalar), self.element, ()
            body.append(_statement("fp_mul", [(alpha, self.alpha.type, ()), a], scaled))
            a = scaled
        body.append(_statement("fp_fma", [a, b, c], c))
        rows, columns = (i, self.m), (j, self.n)
        inner = (k, self.k)
        if self.n == "1":
            order = [rows, inner] if self.a.column == "1" else [inner, rows]
            order.append(columns)
        else:
            order = [inner, columns] if self.b.column == "1" else [columns, inner]
            order.insert(0, rows)
        return self._nest(order, body, "for")

    def _counters(self) -> tuple[str, str]:
        """Variables for rows and columns: none for a dimension of one."""
        return tuple("0" if size == "1" else self._variable() for size in (self.m, self.n))  # type: ignore[return-value]

    def _variable(self) -> str:
        return self.editor.scalar("_row", Scalar(dtype="int64", storage=self.element.storage))

    def _nest(
        self, order: list[tuple[str, str]], body: list[Block], kind: LoopKind
    ) -> Loop | Block:
        inner: list[Loop | Block] = list(body)
        for variable, size in reversed(order):
            if variable != "0":
                made = self.editor.new_loop("", variable, "0", f"({size})", inner)
                inner = [replace(made, kind=kind)]
        if len(inner) > 1:
            raise SdfgError("a product of numbers is no nest")
        return inner[0]


_End = tuple[AccessNode | Constant, Type, tuple[Expr, ...]]
"""A container or a constant, the type of its memlet, and the subset."""


def _statement(code: str, sources: list[_End], target: _End) -> Block:
    """``target = code(sources)``."""
    connectors = ["_in"] if len(sources) == 1 else [f"_in{n + 1}" for n in range(len(sources))]
    nodes = [replace(node, id=None) for node, _, _ in (*sources, target)]
    operation = len(nodes)
    memlets = [
        Memlet(place, operation, "void", connector, subset, kind)
        for place, (connector, (_, kind, subset)) in enumerate(
            zip(connectors, sources, strict=True)
        )
    ]
    memlets.append(Memlet(operation, operation - 1, "_out", "void", target[2], target[1]))
    tasklet = Tasklet(code, tuple(connectors), "_out")
    return dataflow.block((*nodes, tasklet), tuple(memlets))
