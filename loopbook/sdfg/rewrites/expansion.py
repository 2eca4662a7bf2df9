"""How `expand` is done: which temporaries every iteration sets before it uses them, and the arrays
that take their place.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

from loopbook.dependence import domain, holds
from loopbook.errors import IllegalStepError
from loopbook.program import expr
from loopbook.sdfg import affine
from loopbook.sdfg.affine import Linear
from loopbook.sdfg.document import Types, assigned_symbols
from loopbook.sdfg.looptree import LoopNode, Statement, private_scalars, statements
from loopbook.sdfg.rewrites.demotion import renewed
from loopbook.sdfg.rewrites.document import Draft, Json, elements, rewriting
from loopbook.sdfg.rewrites.region import Region
from loopbook.steps.expand import Expand


@dataclass(frozen=True)
class _Temporary:
    """What is expanded: `extent` is the text of an array's size, empty for a scalar."""

    name: str
    extent: str


@rewriting(Expand)
def expand(draft: Draft, loops: Sequence[int], numbers: Sequence[int]) -> None:
    """``expand L0 L1``: what each iteration of ``L1``'s body sets first and then uses.

    With one loop, iterations of what is around it share the memory. The program finds in an array
    what the last iteration left there.

    Raises:
        IllegalStepError: there is no such temporary, its last value is used and it is a scalar, or
            the loops' sizes are no plain parameters of the program.
    """
    region = Region.of(draft, loops[0])
    tree = region.tree(loops[0])
    path = _path(tree, loops)
    sizes = [_size(draft, loop) for loop in path]
    found = _scalars(draft, path[-1], loops[0]) or _arrays(draft, [*region.around, *path])
    if not found:
        raise IllegalStepError("no temporary is set first in each iteration")
    after: list[Json] = []
    for temporary in found:
        wide = _Wide.make(draft, temporary, path, sizes)
        wide.redirect(path[-1].element)
        if temporary.extent:
            after.append(wide.copied_back())
    place = region.place(loops[0])
    region.siblings[place + 1 : place + 1] = after


def _path(tree: LoopNode, loops: Sequence[int]) -> list[LoopNode]:
    """The given loops, each all that the one before it holds."""
    path = [tree]
    for wanted in loops[1:]:
        (*others, child) = path[-1].children
        if others or not isinstance(child, LoopNode) or child.element["element_id"] != wanted:
            raise IllegalStepError("the loops are not perfectly nested")
        path.append(child)
    return path


def _size(draft: Draft, loop: LoopNode) -> str:
    if loop.lows != [{}] or len(loop.highs) != 1 or loop.step != 1:
        raise IllegalStepError(f"the loop over {loop.variable} does not run from 0 up to a size")
    return _plain(draft, loop.highs[0])


def _plain(draft: Draft, size: Linear) -> str:
    """A size that is known before the program begins: one of its arguments."""
    text = affine.text(size)
    document = draft.document
    if text.isdigit() and int(text) > 0:
        return text
    if text not in document["arguments"] or text in assigned_symbols(document["root"]):
        raise IllegalStepError(f"{text} is no plain size")
    return text


def _scalars(draft: Draft, loop: LoopNode, outermost: int) -> list[_Temporary]:
    """Scalars that the body sets first, and that its statements hand on to each other."""
    document = draft.document
    shared = {
        touch.container
        for statement, _ in statements(loop)
        for touch in statement.touches
        if not touch.subset and touch.write
    }
    used = {*document["arguments"], *document.get("externals", ())}
    found: list[_Temporary] = []
    for name in sorted(shared - used - private_scalars(document)):
        if renewed(loop.element["root"]["children"], name) and renewed(
            document["root"]["children"], name, outermost
        ):
            found.append(_Temporary(name, ""))
    return found


def _arrays(draft: Draft, path: Sequence[LoopNode]) -> list[_Temporary]:
    """Arrays that the body's first loop sets from end to end, and that are used within."""
    first = path[-1].children[0]
    if not isinstance(first, LoopNode) or len(first.children) != 1:
        return []
    (setting,) = first.children
    if not isinstance(setting, Statement) or any(e["type"] != "block" for e in setting.elements):
        return []
    found: list[_Temporary] = []
    for touch in setting.touches:
        others = [t for t in setting.touches if t.container == touch.container]
        if touch.write and others == [touch] and touch.subset == (first.variable,):
            extent = _size(draft, first)
            _check_within(path, touch.container, extent)
            found.append(_Temporary(touch.container, extent))
    return found


def _check_within(path: Sequence[LoopNode], name: str, extent: str) -> None:
    """Refuse an array of which more is used than is set."""
    around, loop = list(path[:-1]), path[-1]
    for statement, inner in statements(loop):
        variables = {node.variable for node in (*around, *inner)}
        rows = domain([*around, *inner])
        for touch in statement.touches:
            if touch.container != name:
                continue
            if len(touch.subset) != 1:
                raise IllegalStepError(f"{name} is not indexed as one block of memory")
            index = affine.linear(touch.subset[0], variables)
            room = affine.shifted(affine.minus({extent: 1}, index), -1)
            if not (holds(rows, index) and holds(rows, room)):
                raise IllegalStepError(f"{name} may be used beyond what each iteration sets")


@dataclass(frozen=True)
class _Wide:
    """A temporary's expanded form."""

    draft: Draft
    old: _Temporary
    new: str
    kind: Json
    path: Sequence[LoopNode]
    sizes: Sequence[str]

    @classmethod
    def make(
        cls, draft: Draft, old: _Temporary, path: Sequence[LoopNode], sizes: Sequence[str]
    ) -> _Wide:
        types = Types(draft.document["containers"])
        if types.dtype(old.name) not in ("float", "double"):
            raise IllegalStepError(f"{old.name} holds no floating-point numbers")
        element = draft.document["containers"][old.name]
        element = element.get("pointee_type", element)
        if element.get("type") != "scalar":
            raise IllegalStepError(f"{old.name} is no plain array")
        extents = [*sizes, old.extent] if old.extent else list(sizes)
        new, kind = draft.fresh_heap(f"{old.name}_wide", element, extents)
        return cls(draft, old, new, kind, path, sizes)

    def index(self, variables: Sequence[str], place: str) -> str:
        """Where an iteration has its own copy of one place of the temporary."""
        extents = [*self.sizes[1:], *([self.old.extent] if self.old.extent else [])]
        terms = [place] if place else []
        for number, variable in enumerate(variables):
            terms.append("*".join([variable, *extents[number:]]))
        return " + ".join(terms)

    def redirect(self, root: Json) -> None:
        """Let everything inside of the loops use each iteration's own copy."""
        variables = [loop.variable for loop in self.path]
        for element in elements(root):
            for reduction in element.get("reductions", ()):
                if reduction["container"] == self.old.name:
                    reduction["container"] = self.new
            flow = element.get("dataflow")
            if flow is None:
                own = {k: v for k, v in element.items() if k not in ("root", "children")}
                if self.old.name in expr.symbols(_words(own)):
                    raise IllegalStepError(f"{self.old.name} is used where no array can be")
                continue
            nodes = {n["element_id"] for n in flow["nodes"] if n.get("data") == self.old.name}
            for edge in flow["edges"]:
                if self.old.name in expr.symbols(" ".join(edge.get("subset", ()))):
                    raise IllegalStepError(f"{self.old.name} is used as an index")
                if edge["src"] in nodes or edge["dst"] in nodes:
                    place = "".join(f"({text})" for text in edge.get("subset", ()))
                    edge["subset"] = [self.index(variables, place)]
                    edge["base_type"] = copy.deepcopy(self.kind)
            for node in flow["nodes"]:
                if node["element_id"] in nodes:
                    node["data"] = self.new

    def copied_back(self) -> Json:
        """Loops over the last iteration only that put an array's values back."""
        new = [self.draft.fresh_variable(f"{o.variable}_last", o.variable) for o in self.path]
        name = self.draft.names.get(self.path[0].element["element_id"], "X")
        inner = self.draft.fresh_variable("place", self.path[-1].variable)
        block = self.draft.copy_block(
            (self.new, [self.index(new, inner)]), (self.old.name, [inner]), source_kind=self.kind
        )
        nest = self.draft.loop(f"{name}.last", inner, ("0", self.old.extent), [block])
        for variable, size in reversed(list(zip(new, self.sizes, strict=True))):
            nest = self.draft.loop(f"{name}.last", variable, (f"max(0, {size} - 1)", size), [nest])
        return nest


def _words(own: Json) -> str:
    texts = [str(own.get(key, "")) for key in ("init", "condition", "update", "assignments")]
    texts += [str(case["condition"]) for case in own.get("branches", ())]
    return " ".join(texts)
