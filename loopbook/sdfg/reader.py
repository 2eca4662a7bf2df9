"""Reads nests from an SDFG's JSON.

The reader walks one outermost loop in program order and gives out canonical names as it meets
things: loops ``L0…`` in preorder, arrays ``A0…`` and scalars ``S0…`` by first access, size symbols
``N0…`` by first use. The canonical text that comes out along the way is what fingerprints hash.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

from loopbook.errors import SdfgError
from loopbook.sdfg import expr, strides
from loopbook.sdfg.document import (
    Json,
    Types,
    assigned_symbols,
    blocks,
    opcode,
    outermost,
    reductions,
    subset,
)
from loopbook.sdfg.nest import (
    Access,
    Block,
    Bound,
    Branch,
    Loop,
    Nest,
    NodeRef,
    Operation,
)
from loopbook.sdfg.order import container_roles, is_data, program_order
from loopbook.sdfg.vocabulary import Vocabulary

MAX_LOOPS = 512
MAX_NODES = 50_000


def read_nests(sdfg: Json, wanted: Callable[[Json], bool] = lambda loop: True) -> list[Nest]:
    """The nests of a parsed SDFG JSON document, in program order.

    Args:
        wanted: whether to read the nest of an outermost loop. Reading takes most of the time that
            rewritings take.

    Raises:
        SdfgError: if the document is no SDFG or is damaged.
    """
    try:
        containers = sdfg["containers"]
        loops = enumerate(outermost(sdfg["root"]))
        return [_Reader(containers, place).read(loop) for place, loop in loops if wanted(loop)]
    except SdfgError:
        raise
    except RecursionError:
        raise SdfgError("the SDFG is nested too deeply") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise SdfgError(f"the SDFG is damaged ({type(error).__name__}: {error})") from None


class _Reader:
    """State of one walk over one nest."""

    def __init__(self, containers: Mapping[str, Json], position: int) -> None:
        self._types = Types(containers)
        self._names = Vocabulary(self._types)
        self._position = position
        self._body: Json = {}
        self._loops: list[Loop] = []
        self._branches: list[Branch] = []
        self._blocks: list[Block] = []
        self._operations: list[Operation] = []
        self._accesses: list[Access] = []
        self._contains: list[tuple[NodeRef, NodeRef]] = []
        self._order: list[tuple[NodeRef, NodeRef]] = []
        self._flows: list[tuple[NodeRef, NodeRef]] = []
        self._text: list[str] = []

    def read(self, loop: Json) -> Nest:
        self._names.changing = set(assigned_symbols(loop))
        self._body = loop
        self._loop(loop, parent=-1, guards=())
        return Nest(
            position=self._position,
            loops=tuple(self._loops),
            containers=tuple(self._names.containers.values()),
            branches=tuple(self._branches),
            blocks=tuple(self._blocks),
            operations=tuple(self._operations),
            accesses=tuple(self._accesses),
            contains=tuple(self._contains),
            order=tuple(self._order),
            flows=tuple(self._flows),
            symbols=tuple(self._names.symbols),
            canonical="\n".join(self._text),
            body=loop,
        )

    # -- control flow ---------------------------------------------------------------------------

    def _loop(self, loop: Json, parent: int, guards: tuple[int, ...]) -> NodeRef:
        index = len(self._loops)
        if index >= MAX_LOOPS:
            raise SdfgError(f"a nest of more than {MAX_LOOPS} loops is too large")
        depth = self._loops[parent].depth + 1 if parent >= 0 else 0
        indvar = str(loop.get("indvar", ""))
        init, condition, update = (str(loop.get(k, "")) for k in ("init", "condition", "update"))
        kind = loop["type"] if loop["type"] != "for" else loop.get("sub_type", "for")
        init_text = self._names.canonical(init) if init else ""
        shadowed = self._names.scope.get(indvar)
        self._names.scope[indvar] = f"L{index}"
        step = strides.step(indvar, update)
        bound, trip = self._bounds(indvar, init, condition, step)
        schedule = str(loop.get("schedule_type", {}).get("value", ""))
        self._loops.append(
            Loop(
                index=index,
                kind=kind,
                parent=parent,
                depth=depth,
                indvar=indvar,
                init=init,
                condition=condition,
                update=update,
                step=step,
                trip=trip,
                bound=bound,
                schedule=schedule,
                element_id=int(loop["element_id"]),
            )
        )
        bounds = "; ".join(
            [init_text]
            + [self._names.canonical(text) if text else "" for text in (condition, update)]
        )
        self._text.append(f"{kind} L{index} [{bounds}] {schedule} {{")
        node = ("loop", index)
        self._children(loop["root"], node, index, guards)
        sums = [f"{r['op']}:{self._names.container(r['container']).name}" for r in reductions(loop)]
        self._text.append(" ".join(["}", *sorted(sums)]))
        if shadowed is None:
            self._names.scope.pop(indvar, None)
        else:
            self._names.scope[indvar] = shadowed
        return node

    def _children(
        self, sequence: Json, container: NodeRef, loop: int, guards: tuple[int, ...]
    ) -> None:
        previous: NodeRef | None = None
        for child in sequence["children"]:
            for node in self._element(child, loop, guards):
                self._contains.append((container, node))
                if previous is not None:
                    self._order.append((previous, node))
                previous = node

    def _element(self, element: Json, loop: int, guards: tuple[int, ...]) -> list[NodeRef]:
        match element["type"]:
            case "for" | "map" | "while":
                return [self._loop(element, loop, guards)]
            case "block":
                return [self._dataflow(element, loop, guards)]
            case "assignment_block":
                return [self._assignments(element, loop, guards)]
            case "if_else":
                return [self._branch(case, loop, guards, element) for case in element["branches"]]
            case "sequence":
                nodes = []
                for child in element["children"]:
                    nodes += self._element(child, loop, guards)
                return nodes
            case "break" | "continue" | "return" as jump:
                block = self._block(element, loop, guards)
                self._operation(block, jump, "void", 0)
                self._text.append(jump)
                return [("block", block)]
            case other:
                raise SdfgError(f"the SDFG has an element of unknown type {other!r}")

    def _branch(self, case: Json, loop: int, guards: tuple[int, ...], element: Json) -> NodeRef:
        index = len(self._branches)
        condition = str(case["condition"])
        self._branches.append(Branch(index, loop, condition, int(element["element_id"])))
        self._text.append(f"if {self._names.canonical(condition)} {{")
        node = ("branch", index)
        self._children(case["root"], node, loop, (*guards, index))
        self._text.append("}")
        return node

    # -- blocks ---------------------------------------------------------------------------------

    def _block(self, element: Json, loop: int, guards: tuple[int, ...]) -> int:
        index = len(self._blocks)
        self._blocks.append(Block(index, loop, guards, int(element["element_id"])))
        return index

    def _operation(self, block: int, op: str, dtype: str, inputs: int) -> int:
        index = len(self._operations)
        if index >= MAX_NODES:
            raise SdfgError(f"a nest of more than {MAX_NODES} operations is too large")
        self._operations.append(Operation(index, block, op, dtype, inputs))
        self._contains.append((("block", block), ("operation", index)))
        return index

    def _assignments(self, element: Json, loop: int, guards: tuple[int, ...]) -> NodeRef:
        block = self._block(element, loop, guards)
        for assignment in element["assignments"]:
            symbol, expression = str(assignment["symbol"]), str(assignment["expression"])
            text = self._names.canonical(expression)
            operation = self._operation(block, "symbol", "int64", 0)
            access = self._access(block, operation, symbol, True, "_out", ())
            self._flows.append((("operation", operation), ("access", access)))
            target = self._names.containers[symbol].name
            self._text.append(f"{target} := {text}")
        return ("block", block)

    def _dataflow(self, element: Json, loop: int, guards: tuple[int, ...]) -> NodeRef:
        block = self._block(element, loop, guards)
        flow = element["dataflow"]
        nodes = {int(node["element_id"]): node for node in flow["nodes"]}
        inputs: dict[int, list[Json]] = {key: [] for key in nodes}
        outputs: dict[int, list[Json]] = {key: [] for key in nodes}
        for edge in flow["edges"]:
            inputs[int(edge["dst"])].append(edge)
            outputs[int(edge["src"])].append(edge)
        writers: dict[int, int] = {}
        for key in program_order(nodes, inputs, outputs, self._describe, self._index):
            node = nodes[key]
            if "data" in node:
                self._references(block, key, nodes, inputs, writers)
                continue
            op = opcode(node)
            dtype = self._types.operation_dtype(node, inputs[key], outputs[key], nodes)
            operation = self._operation(block, op, dtype, len(inputs[key]))
            reads = [
                self._read(block, operation, nodes[int(edge["src"])], edge, writers)
                for edge in sorted(inputs[key], key=lambda e: str(e["dst_conn"]))
            ]
            writes = []
            for edge in sorted(outputs[key], key=lambda e: str(e["src_conn"])):
                target = nodes[int(edge["dst"])]
                access = self._access(
                    block,
                    operation,
                    str(target["data"]),
                    True,
                    str(edge["src_conn"]),
                    subset(edge),
                )
                writers[int(edge["dst"])] = access
                self._flows.append((("operation", operation), ("access", access)))
                writes.append(self._access_text(access))
            self._text.append(f"{','.join(writes)} = {op}:{dtype}({','.join(reads)})")
        return ("block", block)

    def _read(
        self, block: int, operation: int, source: Json, edge: Json, writers: Mapping[int, int]
    ) -> str:
        if "data_type" in source:
            return str(source["data"])
        access = self._access(
            block, operation, str(source["data"]), False, str(edge["dst_conn"]), subset(edge)
        )
        self._flows.append((("access", access), ("operation", operation)))
        written = writers.get(int(edge["src"]))
        if written is not None:
            self._flows.append((("access", written), ("access", access)))
        return self._access_text(access)

    def _references(
        self,
        block: int,
        key: int,
        nodes: Mapping[int, Json],
        inputs: Mapping[int, list[Json]],
        writers: dict[int, int],
    ) -> None:
        """Edges from data to data: pointer arithmetic and dereferences."""
        for edge in inputs[key]:
            source = nodes[int(edge["src"])]
            if "data" not in source or "data_type" in source:
                continue
            dtype = self._types.dtype(str(source["data"]))
            operation = self._operation(block, "reference", dtype, 1)
            read = self._read(block, operation, source, edge, writers)
            access = self._access(block, operation, str(nodes[key]["data"]), True, "_out", ())
            writers[key] = access
            self._flows.append((("operation", operation), ("access", access)))
            self._text.append(f"{self._access_text(access)} = reference({read})")

    def _access(
        self,
        block: int,
        operation: int,
        data: str,
        write: bool,
        connector: str,
        subset: tuple[str, ...],
    ) -> int:
        container = self._names.container(data, write)
        classes = tuple(
            strides.stride(subset, loop.indvar, self._names.scope, self._names.changing)
            for loop in self._enclosing(self._blocks[block].parent)
        )
        index = len(self._accesses)
        self._accesses.append(
            Access(index, block, operation, container.index, write, connector, subset, classes)
        )
        return index

    @cached_property
    def _roles(self) -> dict[str, int]:
        """What tells containers without a name apart: the part that each plays in the nest."""
        flows = [block["dataflow"] for block in blocks(self._body)]
        data = {node["data"] for flow in flows for node in flow["nodes"] if is_data(node)}
        kinds = {name: f"{self._types.dtype(name)} {self._types.is_array(name)}" for name in data}
        return container_roles(flows, kinds, opcode)

    def _describe(self, node: Json) -> str:
        """What is known of a dataflow node so far, free of the program's names."""
        if "data" not in node:
            return opcode(node)
        data = str(node["data"])
        if "data_type" in node:
            return f"={data}"
        if data in self._names.containers:
            return self._names.containers[data].name
        if data in self._names.scope:
            return self._names.scope[data]
        return f"?{self._roles[data]}"

    def _index(self, edge: Json) -> str:
        """An edge's subset, free of the program's names."""
        return ",".join(expr.normal_form(text, self._names.marked("")) for text in subset(edge))

    def _access_text(self, index: int) -> str:
        access = self._accesses[index]
        name = next(c.name for c in self._names.containers.values() if c.index == access.container)
        if not access.subset:
            return name
        return f"{name}[{','.join(self._names.canonical(text) for text in access.subset)}]"

    # -- affine analysis ------------------------------------------------------------------------

    def _enclosing(self, loop: int) -> list[Loop]:
        chain = []
        while loop >= 0:
            chain.append(self._loops[loop])
            loop = self._loops[loop].parent
        return chain[::-1]

    def _bounds(
        self, indvar: str, init: str, condition: str, step: int | None
    ) -> tuple[Bound, int | None]:
        if not indvar:
            return Bound.UNKNOWN, None
        words = {*expr.symbols(init), *expr.symbols(condition)} - {indvar}
        names = {word for word in words if word in self._types}
        bound = strides.bound(names, self._names.scope, self._names.changing)
        if bound != Bound.CONSTANT:
            return bound, None
        return bound, strides.trip_count(indvar, init, condition, step)
