"""Large programs, shown to docc in pieces.

docc compares every access of a loop with every other one before it says whether the loop is
parallel: quadratic in what the loop holds, for each loop around as well. A factorisation of complex
matrices within another loop takes it ten seconds, each time that it is asked. Of a large program it
is shown one nest after the other; a loop that is large by itself stays as it is, and what it holds
is shown in its place.

A piece is a loop, or some neighbours that hand scalars to each other. What it writes and others
read are arrays that the program was given, so docc keeps all of it; what it only reads is given to
it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from loopbook.normal_form.unread import is_idle
from loopbook.program.accesses import own_accesses, own_names
from loopbook.program.dataflow import Block
from loopbook.program.rename import renamed
from loopbook.program.tree import Branch, Loop, Opaque, Program, While
from loopbook.program.types import Pointer
from loopbook.program.walk import Inner, children, with_children

LARGE = 1000
"""Pairs of accesses in a program from which on it is cut. Those of PolyBench have 600 at most, two
products with vectors that read eight rows of a matrix at a time 736."""

LARGE_LOOP = 300
"""Pairs of accesses in a loop from which on docc is not shown the loop as a whole."""

TOGETHER = 100
"""Pairs of accesses in neighbouring loops up to which docc is shown them together: it may fuse
them."""

Work = Callable[[Program], Program | None]


@dataclass
class _Content:
    """What a node holds.

    Attributes:
        mentions: in how many nodes each name occurs.
        written: names that are given values.
        accesses: how often each container is read or written.
        stores: how often each is written.
        pairs: of accesses to one container of which one writes, for each loop around them.
    """

    mentions: Counter[str] = field(default_factory=Counter)
    written: set[str] = field(default_factory=set)
    accesses: Counter[str] = field(default_factory=Counter)
    stores: Counter[str] = field(default_factory=Counter)
    pairs: int = 0
    loops: int = 0

    def add(self, other: _Content) -> None:
        self.mentions += other.mentions
        self.written |= other.written
        self.accesses += other.accesses
        self.stores += other.stores
        self.pairs += other.pairs
        self.loops += other.loops


def pairs(program: Program) -> int:
    """How many pairs of accesses docc compares to tell which loops are parallel."""
    return _Reading().of(program.body).pairs


class Cut:
    """A large program in pieces.

    Args:
        program: expanded.
        work: what becomes of a piece, given as a program of its own; None to leave it.

    Attributes:
        program: with what has become of its pieces.
        frames: docc's numbers of the outermost loops that were not shown as a whole, or left.
    """

    def __init__(self, program: Program, work: Work) -> None:
        self._work = work
        self._reading = _Reading()
        self._whole = program
        self._given = {n for n in program.arguments if isinstance(program.containers[n], Pointer)}
        self._containers = dict(program.containers)
        self._counter = program.counter
        self._total = self._reading.of(program.body).mentions
        self.frames: list[int] = []
        body = with_children(program.body, self._sequence(program.body.children, False))
        used = self._reading.of(body).mentions.keys() | set(program.arguments)
        kept = {name: one for name, one in self._containers.items() if name in used}
        self.program = replace(
            program, body=body, containers=MappingProxyType(kept), counter=self._counter
        )

    def _sequence(self, nodes: Sequence[Inner], inside: bool) -> tuple[Inner, ...]:
        made: list[Inner] = []
        for group in self._groups([node for node in nodes if not is_idle(node, self._are_unread)]):
            content = self._content(group)
            if not content.loops:
                made += group
            elif content.pairs <= LARGE_LOOP and self._apart(content):
                made += self._piece(group, content, inside)
            else:
                made += [self._inside(node, inside) for node in group]
        return tuple(made)

    def _are_unread(self, names: set[str]) -> bool:
        """Whether integers are mentioned where they get their values, and nowhere else."""
        return names.isdisjoint(self._whole.public) and all(self._total[n] == 1 for n in names)

    def _inside(self, node: Inner, inside: bool) -> Inner:
        """A node with what has become of the pieces that it holds."""
        if isinstance(node, Loop | While) and not inside:
            self._leave([node])
            inside = True
        if isinstance(node, Branch):
            return with_children(node, [self._inside(case, inside) for case in node.cases])
        return with_children(node, self._sequence(children(node), inside))

    def _piece(self, group: Sequence[Inner], content: _Content, inside: bool) -> Sequence[Inner]:
        """What has become of some neighbours."""
        own = {name: one for name, one in self._containers.items() if content.mentions[name]}
        given = [name for name in self._whole.arguments if name in own]
        given += sorted(own.keys() - content.written - set(given))
        made = self._work(
            replace(
                self._whole,
                body=with_children(self._whole.body, group),
                containers=MappingProxyType(own),
                arguments=tuple(given),
                counter=self._counter,
            )
        )
        if made is None:
            if not inside:
                self._leave(group)
            return group
        self._counter = max(self._counter, made.counter)
        # docc may call what it adds as something that it has found to be idle, of another type.
        added = [name for name, kind in made.containers.items() if own.get(name) != kind]
        names = {name: self._fresh(name) for name in added}
        self._containers.update({names[name]: made.containers[name] for name in names})
        other = {old: new for old, new in names.items() if old != new}
        return (
            [renamed(node, other) for node in made.body.children] if other else made.body.children
        )

    def _leave(self, nodes: Sequence[Inner]) -> None:
        """Note the loops among some nodes as not shown."""
        self.frames += [n.id for n in nodes if isinstance(n, Loop | While) and n.id is not None]

    def _fresh(self, name: str) -> str:
        """The name for a container that docc has called so in a piece."""
        found, number = name, 1
        while found in self._containers:
            found, number = f"{name}_{number}", number + 1
        return found

    def _groups(self, nodes: Sequence[Inner]) -> Iterator[Sequence[Inner]]:
        """Neighbours that docc is shown together, or left as they are."""
        waiting: list[Inner] = []
        for group in self._bound(nodes):
            content = self._content(group)
            joins = content.loops > 0 and self._apart(content)
            if waiting and not (joins and self._content([*waiting, *group]).pairs <= TOGETHER):
                yield waiting
                waiting = []
            if joins:
                waiting = [*waiting, *group]
            else:
                yield group
        if waiting:
            yield waiting

    def _bound(self, nodes: Sequence[Inner]) -> Iterator[Sequence[Inner]]:
        """Neighbours, with those that write a scalar and those that it is handed to together."""
        start = 0
        while start < len(nodes):
            end = start + 1
            while end < (reach := self._reach(nodes, start, end)):
                end = reach
            if self._content(nodes[start:end]).pairs > LARGE_LOOP:
                end = start + 1
            yield nodes[start:end]
            start = end

    def _reach(self, nodes: Sequence[Inner], start: int, end: int) -> int:
        """Where the last one ends that mentions what loops before `end` write for themselves."""
        inside = self._content(nodes[start:end])
        if not inside.loops and not self._feeds(nodes, start, end):
            return end
        own = inside.written - self._given
        if all(inside.mentions[name] == self._total[name] for name in own):
            return end
        last = end
        for place in range(end, len(nodes)):
            if not own.isdisjoint(self._reading.of(nodes[place]).mentions):
                last = place + 1
        return last

    def _feeds(self, nodes: Sequence[Inner], start: int, end: int) -> bool:
        """Whether a loop behind gives what is set here another value: a sum and where it begins."""
        own = self._content(nodes[start:end]).written - self._given
        for node in nodes[end:]:
            content = self._reading.of(node)
            if content.loops and not own.isdisjoint(content.written):
                return True
        return False

    def _apart(self, content: _Content) -> bool:
        own = content.written - self._given
        return all(content.mentions[name] == self._total[name] for name in own)

    def _content(self, group: Sequence[Inner]) -> _Content:
        found = _Content()
        for node in group:
            found.add(self._reading.of(node))
        return found


class _Reading:
    """What nodes hold, each read once."""

    def __init__(self) -> None:
        self._known: dict[Inner, _Content] = {}

    def of(self, node: Inner) -> _Content:
        if node not in self._known:
            self._known[node] = self._read(node)
        return self._known[node]

    def _read(self, node: Inner) -> _Content:
        found = _Content()
        for child in children(node):
            found.add(self.of(child))
        found.mentions.update(own_names(node))
        own = list(own_accesses(node))
        found.written.update(access.container for access in own if access.write)
        if isinstance(node, Opaque):
            found.written |= node.kept.symbols
        if isinstance(node, Loop):
            found.written.add(node.variable)
        if isinstance(node, Block):
            found.accesses.update(access.container for access in own)
            found.stores.update(access.container for access in own if access.write)
        if isinstance(node, Loop | While):
            found.pairs += sum(n * found.accesses[name] for name, n in found.stores.items())
            found.loops += 1
        return found
