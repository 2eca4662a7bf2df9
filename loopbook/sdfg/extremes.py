"""The greatest or least number of a loop, found in vectors.

NumPy's maximum keeps a NaN. No compiler makes vectors of a loop that does: of two numbers, it would
have to know that neither is a NaN. So the numbers are compared as if there were none, and it is
counted beside that how many there are, which are both sums of a kind that vectors are made for::

    for k: m = fmax(m, x[k])                seen = m != m; m = nexttoward(m, seen)
                                            for k: m = fdim(m, x[k]); seen += x[k] != x[k]
                                            m = nexttoward(m, seen)

What is chosen by a branch keeps no NaN that it meets, nor does Python's own ``max(m, x[k])``
(`loopbook.sdfg.own_extremes`), so it is compared with something else there::

    for k: if x[k] > m: m = x[k]            seen = m != m; m = nexttoward(m, seen); first = m
                                            for k: m = fdim(m, remainder(x[k], first))
                                            m = nexttoward(m, seen)

docc knows C's functions only, so four that nothing else calls stand for "the greater one, none of
which is a NaN" (``fdim``), the lesser one (``nextafter``), "this one, or a NaN if any has been
seen" (``nexttoward``), and "this one, or that one if it is a NaN" (``remainder``): in what is
compiled they are ours (`loopbook.toolchain.extremes`). Programs that call these themselves stay as
they are. The greatest numbers of the rows of 1,000 by 1,000 take 0.10 ms in place of 0.75, written
as ``max`` (AVX-512, 2026-11-27).

Like `loopbook.sdfg.one_division` it is done last of all, to what is served.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from loopbook.dependence.scalars import private_scalars
from loopbook.program.accesses import Access, accesses, own_accesses, symbols
from loopbook.program.dataflow import (
    AccessNode,
    Block,
    MathsCall,
    Memlet,
    Node,
    Statement,
    Tasklet,
    block,
    container_at,
)
from loopbook.program.tree import Assignments, Branch, Case, Loop, Program, Sequence
from loopbook.program.types import Scalar
from loopbook.program.walk import Inner, preorder, spread, with_new
from loopbook.sdfg.chosen_extremes import Chosen, chosen_extremes
from loopbook.sdfg.new_scalars import NewScalars
from loopbook.sdfg.own_extremes import OWN, are_noted

PLAIN = {"fmax": "fdim", "fmin": "nextafter"}
"""Functions that keep a NaN to those that take it for granted that there is none."""

KEPT, NUMBER = "nexttoward", "remainder"

SUFFIX = {"double": "", "float": "f"}

Touched = dict[str, list[Access]]
"""Containers to what a loop does to them."""

_ONE, _TWO = ("_in",), ("_in1", "_in2")

_COUNT = Scalar(dtype="int64")
_FLAG = Scalar(dtype="bool")


def has_own(program: Program) -> bool:
    """Whether a program calls a function that stands for something else here."""
    ours = {*PLAIN.values(), *OWN.values(), KEPT, NUMBER}
    return any(
        isinstance(node, MathsCall) and node.function in ours
        for one in preorder(program)
        if isinstance(one, Block)
        for node in one.nodes
    )


def found_in_vectors(program: Program) -> Program:
    """A finished program whose innermost loops find their extremes in vectors, but for those that
    threads share; itself if there are none."""
    if has_own(program):
        return program
    work = _Work(program, private_scalars(program), are_noted(program), NewScalars(program))
    made = spread(program, work.of_loop)
    return made.declaring(**work.new.made) if work.new.made else made


@dataclass(frozen=True)
class _Extreme:
    """A number that a loop goes on from, in one place only.

    Attributes:
        block: in which it is compared.
        call: the place of the function there.
        best: the number's name.
        dtype: its type.
        other: leads to what it is compared with.
        first: whether the number is the function's first argument.
    """

    block: Block
    call: int
    best: str
    dtype: str
    other: Memlet
    first: bool


@dataclass
class _Work:
    """The program, and the scalars that it needs in addition.

    Attributes:
        private: scalars that carry nothing from one statement to another one.
        pythons: whether extremes are Python's own, which gives its first argument if in doubt.
    """

    program: Program
    private: frozenset[str]
    pythons: bool
    new: NewScalars

    def of_loop(self, node: Inner) -> list[Inner]:
        """An innermost loop with what has to stand before it and behind it; other nodes alone."""
        if not isinstance(node, Loop) or not _is_plain(node):
            return [node]
        before: list[Inner] = []
        behind: list[Inner] = []
        body = list(node.body.children)
        now: dict[Block, Block] = {}
        for found in self._extremes(node):
            seen = self._begun(found.best, found.dtype, before, behind)
            place = next(
                n for n, one in enumerate(body) if one is now.get(found.block, found.block)
            )
            body[place] = made = now[found.block] = _compared(found, now.get(found.block))
            if self.pythons and found.first:
                body[place] = now[found.block] = self._of_numbers(found, made, before)
                continue
            other = made.nodes[found.other.source]
            assert isinstance(other, AccessNode)
            body.insert(place + 1, self._counted(seen, other, found.other))
        for one in chosen_extremes(body, self.program, self.private):
            self._begun(one.best, one.dtype, before, behind)
            chosen = self._chosen(one, before)
            body = [chosen if n is one.choice else n for n in body if n is not one.test]
        return [*before, with_new(node, body), *behind] if before else [node]

    def _begun(self, best: str, dtype: str, before: list[Inner], behind: list[Inner]) -> str:
        """The count of NaNs: begun before the loop, and looked at behind it."""
        seen = self.new.of("loopbook_seen_", _COUNT)
        start = AccessNode(best), Memlet(0, 0, "void", "", (), Scalar(dtype=dtype))
        before.append(self._counted(seen, *start, begin=True))
        # A compiler that takes it for granted that nothing is infinite must not see that this is.
        before.append(self._kept(best, dtype, seen))
        behind.append(self._kept(best, dtype, seen))
        return seen

    def _of_numbers(self, found: _Extreme, made: Block, before: list[Inner]) -> Block:
        """The block with ``remainder(other, first)`` in the place of what is compared."""
        kind = Scalar(dtype=found.dtype)
        first, number = self._first(found.best, kind, before), self.new.of("loopbook_number_", kind)
        end = len(made.nodes)
        nodes = AccessNode(first), _call(NUMBER, found.dtype), AccessNode(number)
        (other,) = (m for m in made.inputs[found.call] if m.target_connector == _TWO[1])
        memlets = (
            *(memlet for memlet in made.memlets if memlet is not other),
            replace(other, target=end + 1, target_connector=_TWO[0]),
            Memlet(end, end + 1, "void", _TWO[1], (), kind),
            Memlet(end + 1, end + 2, "_out", "void", (), kind),
            Memlet(end + 2, found.call, "void", _TWO[1], (), kind),
        )
        return replace(made, nodes=(*made.nodes, *nodes), memlets=memlets)

    def _first(self, best: str, kind: Scalar, before: list[Inner]) -> str:
        """What a number is to begin with."""
        first = self.new.of("loopbook_first_", kind)
        copied = AccessNode(best), Tasklet("assign", _ONE, "_out"), AccessNode(first)
        memlets = Memlet(0, 1, "void", "_in", (), kind), Memlet(1, 2, "_out", "void", (), kind)
        before.append(block(copied, memlets))
        return first

    def _chosen(self, one: Chosen, before: list[Inner]) -> Block:
        """``best = fdim(best, remainder(value, first))``."""
        kind = Scalar(dtype=one.dtype)
        first, number = self._first(one.best, kind, before), self.new.of("loopbook_number_", kind)
        name = PLAIN[one.function]
        nodes = (
            AccessNode(one.value), AccessNode(first),
            _call(NUMBER, one.dtype), AccessNode(number),
            AccessNode(one.best), _call(name, one.dtype),
            AccessNode(one.best),
        )  # fmt: skip
        ways = (
            (0, 2, "_in1"),
            (1, 2, "_in2"),
            (2, 3, ""),
            (4, 5, "_in1"),
            (3, 5, "_in2"),
            (5, 6, ""),
        )
        return block(
            nodes,
            tuple(
                Memlet(a, b, "void" if to else "_out", to or "void", (), kind) for a, b, to in ways
            ),
        )

    def _extremes(self, loop: Loop) -> Iterator[_Extreme]:
        """What is compared in every iteration of a loop, and is in no other statement of it."""
        touched: Touched = {}
        for access in accesses(loop):
            touched.setdefault(access.container, []).append(access)
        named = symbols(loop)
        for number, one in enumerate(loop.body.children):
            if type(one) is not Statement:
                continue
            for found in self._compared_in(one, touched):
                result = container_at(one, one.outputs[found.call][0].target)
                names = {found.best, result}
                if not names.isdisjoint(named) or not all(_once_each(touched[n]) for n in names):
                    continue
                if result == found.best or (
                    result in self.private
                    and any(_copies(n, result, found.best) for n in loop.body.children[number:])
                ):
                    yield found

    def _compared_in(self, one: Block, touched: Touched) -> Iterator[_Extreme]:
        """Functions of a number and of something that is the same behind the block."""
        stored = {access.container for access in own_accesses(one) if access.write}
        for place, call in enumerate(one.nodes):
            if not isinstance(call, MathsCall) or call.function not in PLAIN:
                continue
            if call.dtype not in SUFFIX or len(one.inputs[place]) != 2:
                continue
            if len(one.outputs[place]) != 1:
                continue
            left, right = one.inputs[place]
            for memlet, other in ((left, right), (right, left)):
                first = memlet.target_connector == _TWO[0]
                best, compared = (container_at(one, m.source) for m in (memlet, other))
                kind = self.program.containers.get(best)
                if not isinstance(kind, Scalar) or kind.dtype != call.dtype:
                    continue
                made_here = one.inputs[other.source] and _writes(touched[compared]) == 1
                if compared and (compared not in stored or made_here):
                    yield _Extreme(one, place, best, call.dtype, other, first)

    def _counted(self, seen: str, what: Node, read: Memlet, *, begin: bool = False) -> Block:
        """``seen += what != what``; without what it was, to begin with."""
        flag = self.new.of("loopbook_nan_", _FLAG)
        last = Tasklet("assign", _ONE, "_out") if begin else Tasklet("int_add", _TWO, "_out")
        nodes = (
            what, Tasklet("fp_une", _TWO, "_out"), AccessNode(flag),
            last, AccessNode(seen), AccessNode(seen),
        )  # fmt: skip
        memlets = (
            Memlet(0, 1, "void", "_in1", read.subset, read.type),
            Memlet(0, 1, "void", "_in2", read.subset, read.type),
            Memlet(1, 2, "_out", "void", (), _FLAG),
            Memlet(2, 3, "void", last.inputs[0], (), _FLAG),
            Memlet(3, 4, "_out", "void", (), _COUNT),
            Memlet(5, 3, "void", last.inputs[-1], (), _COUNT),
        )
        return block(nodes[:5], memlets[:5]) if begin else block(nodes, memlets)

    def _kept(self, best: str, dtype: str, seen: str) -> Block:
        """``best = nexttoward(best, seen)``."""
        kind = Scalar(dtype=dtype)
        number = self.new.of("loopbook_nans_", kind)
        nodes = (
            AccessNode(seen), Tasklet("assign", _ONE, "_out"), AccessNode(number),
            AccessNode(best), _call(KEPT, dtype),
            AccessNode(best),
        )  # fmt: skip
        memlets = (
            Memlet(0, 1, "void", "_in", (), _COUNT),
            Memlet(1, 2, "_out", "void", (), kind),
            Memlet(3, 4, "void", "_in1", (), kind),
            Memlet(2, 4, "void", "_in2", (), kind),
            Memlet(4, 5, "_out", "void", (), kind),
        )
        return block(nodes, memlets)


def _call(name: str, dtype: str) -> MathsCall:
    return MathsCall(name, f"{name}{SUFFIX[dtype]}", dtype)


def _compared(found: _Extreme, now: Block | None) -> Block:
    """The block, as it is by `now`, with a function that keeps no NaN."""
    call = found.block.nodes[found.call]
    assert isinstance(call, MathsCall)
    nodes = list((now or found.block).nodes)
    nodes[found.call] = _call(PLAIN[call.function], call.dtype)
    return replace(now or found.block, nodes=tuple(nodes))


def _is_plain(loop: Loop) -> bool:
    """Whether a loop is an innermost one that may be long, is not left early, nor shared."""
    ends = (loop.init.symbols | loop.condition.symbols) - {loop.variable}
    if loop.schedule.is_shared or not ends:
        return False
    allowed = Sequence | Case | Branch | Statement | Assignments
    return all(isinstance(node, allowed) for node in preorder(loop) if node is not loop)


def _writes(found: list[Access]) -> int:
    return sum(access.write for access in found)


def _once_each(found: list[Access]) -> bool:
    """Whether something is read once and written once."""
    return len(found) == 2 and _writes(found) == 1


def _copies(node: Inner, source: str, target: str) -> bool:
    """Whether a block gives one scalar what another one is."""
    return isinstance(node, Block) and any(
        isinstance(one, Tasklet)
        and one.code == "assign"
        and [container_at(node, memlet.source) for memlet in node.inputs[place]] == [source]
        and [container_at(node, memlet.target) for memlet in node.outputs[place]] == [target]
        for place, one in enumerate(node.nodes)
    )
