"""Applies a recipe's steps to a nest of a docc SDFG, in place.

Steps speak of loops by name. docc gives loops new element ids whenever it moves them, so
`Workbench` keeps the book of names: after each step it compares the loops before and after, lets
survivors keep their names, hands the names of moved loops on, and names what the step made:

=============== ==========================================================================
``tile L0 4``    ``L0.tile``, the loop over tiles outside ``L0``
``peel L0``      ``L0.rest`` and ``Ln.rest`` for the copies of ``L0`` and the loops in it
``collapse L0``  ``L0.flat``
``distribute``   ``L0.part1``, ``L0.part2``… after what stays ``L0``
``stage L2 A0``  ``L2.load``, ``L2.load1``…, ``L2.store``… for the copying loops
=============== ==========================================================================

A trailing star, ``L0*``, means the loop and all its ``.rest`` and ``.part`` copies.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import docc.sdfg as docc
from docc.sdfg import AnalysisManager, Recorder, StructuredSDFG, StructuredSDFGBuilder

from loopbook.errors import IllegalStepError
from loopbook.sdfg.hazards import hazards, tiles_may_clash
from loopbook.sdfg.nest import Nest
from loopbook.sdfg.program import ordered
from loopbook.sdfg.stderr import quiet_stderr

Args = tuple[str | int, ...]
StepPair = tuple[str, Args]


REORDERING = frozenset({"interchange", "collapse", "parallel", "skew", "distribute", "fuse"})
"""Steps that may change the order in which a loop's iterations run."""


SPLITTING = frozenset({"peel", "unroll", "stage", "vectorize"})
"""Steps after which a loop's body no longer works on its own in another thread."""


def apply_steps(
    sdfg: StructuredSDFG, nest: Nest, steps: Iterable[StepPair]
) -> list[dict[str, Any]]:
    """Apply `steps` to `nest` of `sdfg`, in place.

    Args:
        nest: one of the nests of this very SDFG, read since its last change.
        steps: pairs of operation and arguments, such as ``("tile", ("L0", 32))``.

    Returns:
        docc's replay sequence of all that was done.

    Raises:
        IllegalStepError: if a step names an unknown loop or container, or docc refuses it. The SDFG
            has been changed by the steps before it then: work on a copy where that matters.
    """
    bench = Workbench(sdfg, nest)
    for position, (op, args) in enumerate(steps):
        bench.apply(op, args, position)
    return bench.history()


class Workbench:
    """One nest while steps are applied to it."""

    def __init__(self, sdfg: StructuredSDFG, nest: Nest) -> None:
        self._sdfg = sdfg  # docc's builder does not keep it alive
        self._builder = StructuredSDFGBuilder(sdfg)
        self._manager = AnalysisManager(self._builder)
        self._recorder = Recorder()
        self._position = 0
        self._data = {c.name: c.data for c in nest.containers}
        self._nest = nest
        self._base_loops = {loop.name: loop.index for loop in nest.loops}
        serial = ordered(sdfg)
        self._ordered = {nest.loops[index].name for index in hazards(nest)} | {
            loop.name for loop in nest.loops if loop.element_id in serial
        }
        self._split: set[int] = set()
        own = {loop.element_id for loop in nest.loops}
        self._foreign = {i for i in self._ids() if i not in own}
        self._names: dict[str, int] = {loop.name: loop.element_id for loop in nest.loops}
        self._indvars: dict[int, str] = {}
        self._refresh()

    @property
    def names(self) -> dict[str, int]:
        """Name to element id of every loop, in preorder."""
        by_id = {element: name for name, element in self._names.items()}
        return {by_id[i]: i for i in self._order if i in by_id}

    def history(self) -> list[dict[str, Any]]:
        """docc's replay sequence of the steps so far."""
        return json.loads(self._recorder.get_history())

    def loop(self, name: str) -> Any:
        """docc's loop object for `name`."""
        try:
            return self._loops[self._names[name]]
        except KeyError:
            known = ", ".join(self.names)
            raise self._refusal(f"there is no loop {name}, only {known}") from None

    def can_apply(self, op: str, args: Args) -> bool:
        """Whether the step is allowed now (for starred names: on at least one copy)."""
        try:
            self._check(op, args)
            return any(
                transformation.can_be_applied(self._builder, self._manager)
                for transformation, _ in self._transformations(op, args)
            )
        except (IllegalStepError, RuntimeError, ValueError, TypeError):
            return False

    def apply(self, op: str, args: Args, position: int = 0) -> None:
        """Apply one step.

        A starred step is applied to the copies that allow it, and refused if none does.

        Raises:
            IllegalStepError: see `apply_steps`.
        """
        self._position = position
        self._check(op, args)
        done = 0
        reason = f"docc refuses '{op} {' '.join(map(str, args))}' here"
        try:
            with quiet_stderr():
                for single in self._expand(args):
                    for transformation, label in self._transformations(op, single):
                        if transformation.can_be_applied(self._builder, self._manager):
                            before = set(self._loops)
                            self._recorder.apply(
                                transformation, self._builder, self._manager, False
                            )
                            self._refresh(label, before, transformation)
                            if op in SPLITTING:
                                self._split.add(self._names.get(str(single[0]), 0))
                            done += 1
                            break
        except IllegalStepError:
            raise
        except (RuntimeError, ValueError, TypeError, IndexError) as error:
            raise self._refusal(f"{reason}: {' '.join(str(error).split())[:160]}") from None
        if not done:
            raise self._refusal(reason)

    # -- names ----------------------------------------------------------------------------------

    def _expand(self, args: Args) -> list[Args]:
        """`args` once for each loop that a starred name stands for."""
        stars = [n for n, a in enumerate(args) if isinstance(a, str) and a.endswith("*")]
        if not stars:
            return [args]
        if len(stars) > 1:
            raise self._refusal("only one name of a step may carry a star")
        place = stars[0]
        base = str(args[place])[:-1]
        copies = [name for name in self.names if name == base or _is_copy(name, base)]
        if not copies:
            raise self._refusal(f"there is no loop {base}, only {', '.join(self.names)}")
        return [(*args[:place], name, *args[place + 1 :]) for name in copies]

    def _ids(self) -> list[int]:
        return [loop.element_id for loop in self._manager.loop_analysis().loops()]

    def _refresh(
        self, label: str = "", before: set[int] | None = None, transformation: Any = None
    ) -> None:
        """Bring loops and names up to date after a change."""
        self._manager.invalidate_all()
        loops = [
            loop
            for loop in self._manager.loop_analysis().loops()
            if loop.element_id not in self._foreign
        ]
        self._loops = {loop.element_id: loop for loop in loops}
        order = [loop.element_id for loop in loops]
        if before is not None:
            self._hand_on_names(label, before, transformation, order)
        self._order = order
        self._indvars = {i: getattr(loop, "indvar", "") for i, loop in self._loops.items()}

    def _hand_on_names(
        self, label: str, before: set[int], transformation: Any, order: list[int]
    ) -> None:
        fresh = [i for i in order if i not in before]
        made = _made_loop(transformation)
        if made in fresh:
            fresh.remove(made)
            self._names[self._free(label)] = made
        lost: dict[str, list[str]] = {}
        for name, element in self.names.items():
            if element not in self._loops:
                lost.setdefault(self._indvars.get(element, ""), []).append(name)
                del self._names[name]
        unnamed = []
        copies: dict[str, list[str]] = {}
        for element in fresh:
            indvar = getattr(self._loops[element], "indvar", "")
            waiting = lost.get(indvar)
            if waiting:
                name = waiting.pop(0)
                copies.setdefault(indvar, []).append(name)
                self._names[name] = element
            elif indvar in copies:
                self._names[self._free(f"{copies[indvar][0]}.rest")] = element
            else:
                unnamed.append(element)
        orphans = [name for names in lost.values() for name in names]
        for element in unnamed:
            if orphans and _is_split(transformation):
                self._names[orphans.pop(0)] = element
            else:
                self._names[self._free(self._label_new(label, element))] = element

    def _label_new(self, label: str, element: int) -> str:
        indvar = getattr(self._loops[element], "indvar", "")
        if "_wb_" in indvar:
            return label.removesuffix(".load") + ".store"
        return label

    def _free(self, wanted: str) -> str:
        """`wanted`, with a number behind it if that name is taken."""
        if not wanted:
            wanted = "X"
        if wanted not in self._names:
            return wanted
        number = 1 if wanted.endswith((".load", ".store")) else 2
        while f"{wanted}{number}" in self._names:
            number += 1
        return f"{wanted}{number}"

    def _check(self, op: str, args: Args) -> None:
        """Refuse what docc allows although it breaks the program."""
        self._check_order(op, args)
        if op == "parallel":
            for single in self._expand(args):
                self._check_threads(str(single[0]))

    def _check_threads(self, name: str) -> None:
        """Refuse threads on a loop that was peeled, unrolled or staged, or inside of one.

        docc makes every variable that such a loop writes private to its threads, local buffers
        included, but does not hand the values from before the loop over (seen with 0.8.1).
        """
        analysis = self._manager.loop_analysis()
        loop = self.loop(name)
        while loop is not None:
            if loop.element_id in self._split:
                raise self._refusal(f"'parallel {name}' would lose values that its threads need")
            loop = analysis.parent_loop(loop)

    def _check_order(self, op: str, args: Args) -> None:
        """Refuse what reorders iterations that docc wrongly takes for independent."""
        if op == "fuse_tiles" and len(args) == 2:
            first, second = (self._base_loops.get(str(name).split(".")[0]) for name in args)
            if (
                first is not None
                and second is not None
                and tiles_may_clash(self._nest, first, second)
            ):
                raise self._refusal(
                    f"'{op}' would let {args[1]} overwrite what {args[0]} still needs"
                )
            return
        if op not in REORDERING:
            return
        for argument in args:
            base = str(argument).split(".")[0].rstrip("*")
            if base in self._ordered:
                raise self._refusal(
                    f"'{op}' would reorder {base}, whose iterations may depend on their order"
                )

    def _refusal(self, message: str) -> IllegalStepError:
        return IllegalStepError(f"step {self._position + 1}: {message}", self._position)

    # -- steps to docc's transformations --------------------------------------------------------

    def _transformations(self, op: str, args: Args) -> Iterator[tuple[Any, str]]:
        """The docc transformations that may stand for a step, best first, each with the name that a
        loop made by it gets."""
        maker = _MAKERS.get(op)
        if maker is None:
            raise self._refusal(f"unknown step '{op}'; there are {', '.join(sorted(_MAKERS))}")
        try:
            yield from maker(self, *args)
        except TypeError as error:
            if "incompatible" in str(error):  # docc's own constructor: a map is wanted, mostly
                reason = f"docc refuses '{op} {' '.join(map(str, args))}' on this kind of loop"
                raise self._refusal(reason) from None
            raise self._refusal(f"'{op}' does not take these arguments: {error}") from None

    def _tile(self, loop: str, size: int) -> Iterator[tuple[Any, str]]:
        yield docc.LoopTiling(self.loop(loop), int(size)), f"{loop}.tile"

    def _interchange(self, outer: str, inner: str) -> Iterator[tuple[Any, str]]:
        yield docc.LoopInterchange(self.loop(outer), self.loop(inner)), outer

    def _skew(self, outer: str, inner: str, factor: int = 1) -> Iterator[tuple[Any, str]]:
        yield docc.LoopSkewing(self.loop(outer), self.loop(inner), int(factor)), inner

    def _distribute(self, loop: str) -> Iterator[tuple[Any, str]]:
        yield docc.LoopDistribute(self.loop(loop)), f"{loop}.part"

    def _peel(self, loop: str, predicate: str = "") -> Iterator[tuple[Any, str]]:
        yield docc.LoopPeeling(self.loop(loop), predicate == "predicate"), f"{loop}.rest"

    def _fuse(self, first: str, second: str) -> Iterator[tuple[Any, str]]:
        yield docc.MapFusion(self.loop(first), self.loop(second)), first

    def _collapse(self, loop: str, count: int) -> Iterator[tuple[Any, str]]:
        yield docc.MapCollapse(self.loop(loop), int(count)), f"{loop}.flat"

    def _fuse_tiles(self, first: str, second: str) -> Iterator[tuple[Any, str]]:
        yield docc.TileFusion(self.loop(first), self.loop(second)), f"{first}.fused"

    def _vectorize(self, loop: str) -> Iterator[tuple[Any, str]]:
        yield docc.VectorizeTransform(self.loop(loop)), loop

    def _unroll(self, loop: str) -> Iterator[tuple[Any, str]]:
        yield docc.UnrollTransform(self.loop(loop)), loop

    def _parallel(self, loop: str) -> Iterator[tuple[Any, str]]:
        yield docc.OMPTransform(self.loop(loop)), loop

    def _stage(self, loop: str, container: str, way: str = "auto") -> Iterator[tuple[Any, str]]:
        scope = self.loop(loop)
        data = self._data.get(container)
        if data is None:
            raise self._refusal(f"there is no container {container} in this nest")
        label = f"{loop}.load"
        whole = _copies_whole_tiles(scope)
        for node in _accesses(scope.body, data):
            if way == "out" and whole:
                yield docc.OutLocalStorage(scope, node), label
            elif way == "in" and whole:
                yield docc.InLocalStorage(scope, node), label
            elif not _has_branch(scope.body):
                yield docc.LocalStorage(scope, node), label


_MAKERS: dict[str, Callable[..., Iterator[tuple[Any, str]]]] = {
    "tile": Workbench._tile,
    "interchange": Workbench._interchange,
    "skew": Workbench._skew,
    "distribute": Workbench._distribute,
    "peel": Workbench._peel,
    "fuse": Workbench._fuse,
    "collapse": Workbench._collapse,
    "fuse_tiles": Workbench._fuse_tiles,
    "stage": Workbench._stage,
    "vectorize": Workbench._vectorize,
    "unroll": Workbench._unroll,
    "parallel": Workbench._parallel,
}

OPERATIONS = tuple(_MAKERS)
"""The steps that `apply_steps` knows."""


def _is_copy(name: str, base: str) -> bool:
    rest = name.removeprefix(base)
    return rest != name and rest.startswith((".rest", ".part"))


def _made_loop(transformation: Any) -> int | None:
    """Element id of the loop that a transformation says it made."""
    for attribute in ("outer_loop", "collapsed_loop", "fused_loop"):
        try:
            made = getattr(transformation, attribute, None)
        except RuntimeError:
            continue
        if made is not None:
            return made.element_id
    return None


def _is_split(transformation: Any) -> bool:
    return isinstance(transformation, docc.LoopDistribute | docc.MapFusion)


def _copies_whole_tiles(scope: Any) -> bool:
    """Whether every loop inside `scope` runs its full constant tile.

    docc's InLocalStorage and OutLocalStorage copy a tile without looking at where the array ends
    (seen with 0.8.1: rows past the end are read and written back). That is only right where a peel
    has split the incomplete tiles off; elsewhere LocalStorage, which guards its copies, is used.
    """
    return not _has_branch(scope.body) and not any(
        "And" in getattr(loop, "condition", "") for loop in _loops(scope.body)
    )


def _elements(element: Any) -> Iterator[Any]:
    """All control-flow elements below a sequence, in program order."""
    for child in element.children():
        yield child
        if isinstance(child, docc.IfElse):
            for case in child.cases():
                yield from _elements(case)
        elif hasattr(child, "body"):
            yield from _elements(child.body)


def _loops(sequence: Any) -> Iterator[Any]:
    return (e for e in _elements(sequence) if hasattr(e, "body"))


def _has_branch(sequence: Any) -> bool:
    return any(isinstance(e, docc.IfElse) for e in _elements(sequence))


def _accesses(sequence: Any, data: str) -> Iterator[Any]:
    """Access nodes of container `data` below `sequence`."""
    for element in _elements(sequence):
        if isinstance(element, docc.Block):
            for node in element.dataflow.data_nodes:
                if node.data == data:
                    yield node
