"""What a recurrence waits for is added last, in one instruction.

In ``y[i] = b * x[i] - p * y[i - 1] - q * y[i - 2]`` all but one product can be had before the
iteration before has ended. clang adds in an order of its own, and joins products with sums as they
come; each iteration waits for several of them. Compiled, and last of all::

    e = b * x[i];  e = fma(-q, y[i - 2], e);  y[i] = fma(-p, y[i - 1], e)

Functions are called for it, since clang puts sums back into its own order. (A million elements of a
filter of first order: 1.67 to 0.95 ms, of second order 2.1 to 1.2, AVX-512, 2026-11-28.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from loopbook.dependence.scalars import private_to_iterations
from loopbook.errors import SdfgError
from loopbook.program import expr, tree
from loopbook.program.accesses import accesses
from loopbook.program.amplifies import amplifies
from loopbook.program.cancels import cancels
from loopbook.program.dataflow import (
    AccessNode,
    Block,
    MathsCall,
    Memlet,
    Node,
    Operation,
    Tasklet,
    block,
)
from loopbook.program.expr import Expr
from loopbook.program.rounds import rounds
from loopbook.program.tree import Program
from loopbook.program.types import Scalar, Type
from loopbook.program.units import units
from loopbook.program.walk import Inner, spread, with_children
from loopbook.sdfg.new_scalars import NewScalars

SUFFIX = {"double": "", "float": "f"}
"""Types of numbers, and what C adds to a function's name for them."""

COMPUTED, UNKNOWN = 10.0, 100.0
"""How late a number is there that this iteration computes of carried ones, or nobody knows when.
What the n-th iteration before has left is 1/n late, what does not depend on it not at all."""


def with_carried_sums(program: Program) -> Program:
    """A finished program with recurrences in fewer instructions; itself if there are none."""
    if rounds(program) or cancels(program) or amplifies(program):
        # each product is rounded by itself
        return program
    new = NewScalars(program)
    made = spread(program, partial(_shortened, program, new))
    return made.declaring(**new.made) if new.made else made


def _shortened(program: Program, new: NewScalars, node: Inner) -> list[Inner]:
    if not isinstance(node, tree.Loop) or node.kind != "for":
        return [node]
    blocks = [child for child in node.body.children if isinstance(child, Block)]
    if len(blocks) < len(node.body.children):
        return [node]
    try:
        body = _Body(program, node, [unit for one in blocks for unit in units(one)], new)
    except SdfgError:
        return [node]
    made = body.rewritten()
    return [node if made is None else replace(node, body=with_children(node.body, made))]


@dataclass(frozen=True)
class _Number:
    """What an operation takes, or gives."""

    node: Node
    subset: tuple[Expr, ...]
    type: Type

    @property
    def name(self) -> str:
        return self.node.container if isinstance(self.node, AccessNode) else ""

    @property
    def names(self) -> frozenset[str]:
        """The container, and what its indices name."""
        return frozenset((self.name,)).union(*(index.symbols for index in self.subset))


@dataclass(frozen=True)
class _Term:
    """A number, or the product of two, that a sum takes."""

    sign: int
    factors: tuple[_Number, ...]
    late: float


@dataclass
class _Sum:
    """What a unit gives as a sum, and the units whose results go nowhere else."""

    root: int
    terms: list[_Term] = field(default_factory=list)
    absorbed: set[int] = field(default_factory=set)


class _Body:
    """The body of a loop, operation by operation."""

    def __init__(
        self, program: Program, loop: tree.Loop, operations: Sequence[Block], new: NewScalars
    ) -> None:
        self._new = new
        self._units = operations
        self._variable = loop.variable
        self._private = private_to_iterations(program, loop)
        self._writes: dict[str, list[int]] = {}
        self._reads: dict[str, list[int]] = {}
        for number, unit in enumerate(self._units):
            for access in accesses(unit):
                uses = self._writes if access.write else self._reads
                uses.setdefault(access.container, []).append(number)

    def rewritten(self) -> list[Block] | None:
        """The units with sums in another order; None if all stay."""
        gone: set[int] = set()
        made: dict[int, list[Block]] = {}
        for number in reversed(range(len(self._units))):
            if number in gone or self._code(number) not in ("fp_add", "fp_sub"):
                continue
            found = _Sum(number)
            if self._gather(found, number, 1) and self._gains(found):
                made[number] = [*self._emitted(found)]
                gone |= found.absorbed
        if not made:
            return None
        return [
            one
            for number, unit in enumerate(self._units)
            if number not in gone
            for one in made.get(number, [unit])
        ]

    # -- what there is ----------------------------------------------------------------------------

    def _operation(self, number: int) -> tuple[Operation, list[_Number], list[_Number]] | None:
        """What a unit computes, of what, and where that goes."""
        unit = self._units[number]
        for place, node in enumerate(unit.nodes):
            if isinstance(node, Operation):
                into = {m.target_connector: m for m in unit.inputs[place]}
                order = node.inputs if isinstance(node, Tasklet) else sorted(into)
                given = [_at(unit, into[name].source, into[name]) for name in order]
                return node, given, [_at(unit, m.target, m) for m in unit.outputs[place]]
        return None

    def _code(self, number: int) -> str:
        found = self._operation(number)
        return found[0].op if found else ""

    def _gather(self, total: _Sum, number: int, sign: int) -> bool:
        """Note a unit's terms; whether all of them are understood."""
        found = self._operation(number)
        if found is None or len(found[1]) != 2:
            return False
        operation, given, _ = found
        for operand, own in zip(
            given, (sign, sign * (-1) ** (operation.op == "fp_sub")), strict=True
        ):
            inner = self._inner(operand, number)
            code = "" if inner is None else self._code(inner)
            if inner is not None and code in ("fp_add", "fp_sub"):
                total.absorbed.add(inner)
                if not self._gather(total, inner, own):
                    return False
                continue
            factors, at = (operand,), number
            if inner is not None and code == "fp_mul":
                product = self._operation(inner)
                assert product is not None
                total.absorbed.add(inner)
                factors, at = tuple(product[1]), inner
            if any(self._changes(name, at, total.root) for one in factors for name in one.names):
                return False
            late = max(self._late(one, at) for one in factors)
            total.terms.append(_Term(own, factors, late))
        return True

    def _inner(self, operand: _Number, at: int) -> int | None:
        """The unit whose result an operand is, if nothing else takes it."""
        name = operand.name
        if operand.subset or name not in self._private:
            return None
        if len(self._writes.get(name, ())) != 1 or len(self._reads.get(name, ())) != 1:
            return None
        (writer,) = self._writes[name]
        return writer if writer < at else None

    def _changes(self, name: str, begin: int, end: int) -> bool:
        """Whether something is stored between two units."""
        return any(begin < number < end for number in self._writes.get(name, ()))

    def _late(self, number: _Number, at: int, depth: int = 0) -> float:
        """How late a number is there (see `COMPUTED`)."""
        writers = self._writes.get(number.name, ())
        if not writers:
            return 0.0
        if len(writers) > 1 or depth > len(self._units):
            return UNKNOWN
        (writer,) = writers
        found = self._operation(writer)
        if number.subset:
            stored = found and next((o for o in found[2] if o.name == number.name), None)
            age = _distance(stored, number, self._variable) if stored else None
            if age is None or (age == 0 and writer < at):
                return UNKNOWN
            return 1 / age if age > 0 else 0.0
        if writer < at:
            given = found[1] if found else [self._copied(writer)]
            lates = [self._late(one, writer, depth + 1) for one in given if one is not None]
            late = max(lates, default=0.0)
            return late if late in (0.0, UNKNOWN) else COMPUTED
        copied = self._copied(writer)
        late = 1.0
        if copied is not None and copied.name != number.name:
            late = self._late(copied, writer, depth + 1)
        if late > 1:
            return 1.0
        return late / (late + 1) if copied is not None else late  # it is one iteration older now

    def _copied(self, number: int) -> _Number | None:
        """What a unit only copies."""
        found = self._operation(number)
        if found is not None:
            operation, given, _ = found
            return given[0] if operation.op == "assign" else None
        unit = self._units[number]
        (memlet,) = unit.memlets
        return _at(unit, memlet.source, memlet)

    # -- what it becomes --------------------------------------------------------------------------

    def _gains(self, total: _Sum) -> bool:
        """Whether the order matters, and all is of one type."""
        late = [term.late for term in total.terms]
        if not 0 < max(late) <= (COMPUTED if len(late) > 2 else 1):
            return False
        found = self._operation(total.root)
        assert found is not None
        _, _, out = found
        if len(out) != 1 or out[0].type.element not in SUFFIX:
            return False
        numbers = [one for term in total.terms for one in term.factors]
        if any(one.type.element != out[0].type.element for one in numbers):
            return False
        products = sum(len(term.factors) == 2 for term in total.terms)
        return len(late) > 2 or products == 2

    def _emitted(self, total: _Sum) -> Iterator[Block]:
        """The sum, what is late in it last; of what is not, a product last."""
        found = self._operation(total.root)
        assert found is not None
        (out,) = found[2]
        terms = sorted(total.terms, key=lambda term: (term.late, len(term.factors)))
        plain = next((t for t in terms if t.sign > 0 and t.late == terms[0].late), terms[0])
        terms.remove(plain)
        sign, sum_ = plain.sign, plain.factors[0]
        if len(plain.factors) == 2:
            sum_ = self._scalar(out)
            yield _unit(_binary("fp_mul"), plain.factors, sum_)
        for left, term in zip(reversed(range(len(terms))), terms, strict=True):
            last = not left and (sign > 0 or (term.sign > 0 and len(term.factors) == 1))
            into = out if last else self._scalar(out)
            if len(term.factors) == 2:
                one, other = sorted(term.factors, key=lambda f: bool(self._writes.get(f.name)))
                if term.sign != sign:
                    negative = self._scalar(out)
                    yield _unit(Tasklet("fp_neg", ("_in",), "_out"), [one], negative)
                    one = negative
                call = MathsCall("fma", f"fma{SUFFIX[out.type.element]}", out.type.element)
                yield _unit(call, [one, other, sum_], into)
            elif term.sign == sign:
                yield _unit(
                    Tasklet("fp_add", ("_in1", "_in2"), "_out"), [sum_, *term.factors], into
                )
            else:
                pair = [sum_, *term.factors] if sign > 0 else [*term.factors, sum_]
                yield _unit(_binary("fp_sub"), pair, into)
                sign = 1
            sum_ = into
        if sum_ is not out:
            yield _unit(Tasklet("fp_neg", ("_in",), "_out"), [sum_], out)

    def _scalar(self, like: _Number) -> _Number:
        kind = Scalar(dtype=like.type.element)
        return _Number(AccessNode(self._new.of("carried_", kind)), (), kind)


def _binary(code: str) -> Tasklet:
    return Tasklet(code, ("_in1", "_in2"), "_out")


def _at(unit: Block, place: int, memlet: Memlet) -> _Number:
    return _Number(unit.nodes[place], memlet.subset, memlet.type)


def _distance(stored: _Number, read: _Number, variable: str) -> int | None:
    """How many iterations ago an element was stored; None if that is not always the same."""
    try:
        (one,), (other,) = ([i.polynomial for i in n.subset] for n in (stored, read))
        gap = expr.plus(one, other, -1)
    except (SdfgError, ValueError):
        return None
    factor = one.get((variable,), 0)
    if set(gap) - {()} or not factor or gap.get((), 0) % factor:
        return None
    return gap.get((), 0) // factor


def _unit(operation: Tasklet | MathsCall, given: Sequence[_Number], into: _Number) -> Block:
    names = (
        operation.inputs
        if isinstance(operation, Tasklet)
        else [f"_in{number}" for number in range(1, len(given) + 1)]
    )
    nodes = (*(replace(one.node, id=None) for one in given), operation, replace(into.node, id=None))
    task = len(given)
    memlets = [
        Memlet(
            number,
            task,
            "void",
            name,
            one.subset,
            one.type,
        )
        for number, (one, name) in enumerate(zip(given, names, strict=True))
    ]
    return block(nodes, (*memlets, Memlet(task, task + 1, "_out", "void", into.subset, into.type)))
