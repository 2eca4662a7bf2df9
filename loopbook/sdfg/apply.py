"""Applies a recipe's steps to a nest of a docc SDFG, in place.

Steps speak of loops by name; `loopbook.sdfg.naming` says what the loops are called that steps make.
A trailing star, ``L0*``, means the loop and all its ``.rest`` and ``.part`` copies.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

from docc.sdfg import AnalysisManager, Recorder, StructuredSDFG, StructuredSDFGBuilder

from loopbook.errors import DependenceError, IllegalStepError, LoopbookError
from loopbook.sdfg.hazards import confirmed, hazards, tiles_may_clash
from loopbook.sdfg.headers import independent, tests_too_early
from loopbook.sdfg.isolation import Isolated
from loopbook.sdfg.marks import ordered
from loopbook.sdfg.naming import LoopNames
from loopbook.sdfg.nest import Nest
from loopbook.sdfg.rewrites import FALLBACKS, REWRITES, Draft
from loopbook.sdfg.rewrites.staging import check_staging
from loopbook.sdfg.signed import sign_counters, unsigned
from loopbook.sdfg.stderr import quiet_stderr
from loopbook.sdfg.transformations import TRANSFORMATIONS

Args = tuple[str | int, ...]
StepPair = tuple[str, Args]


REORDERING = frozenset({"interchange", "collapse", "parallel", "skew", "distribute", "fuse"})
"""Steps that may change the order in which a loop's iterations run."""


SPLITTING = frozenset({"peel", "unroll", "stage", "vectorize"})
"""Steps after which a loop's body no longer works on its own in another thread."""


PLAIN = frozenset({"block", "buffer", "pad", "serial", "single", "widen"})
"""Rewritings that leave nothing behind of which docc's own tests are slow."""


DEEP = 6
"""Loops in each other from which on docc is not asked whether two of them may be interchanged, if
our own test says so."""


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
        IllegalStepError: if a step names an unknown loop or container, docc refuses it, or it is
            one of `loopbook.sdfg.rewrites`, which make a new SDFG. The SDFG has been changed by
            the steps before it then: work on a copy where that matters.
    """
    bench = Workbench(sdfg, nest, in_place=True)
    for position, (op, args) in enumerate(steps):
        bench.apply(op, args, position)
    return bench.history()


class Workbench:
    """One nest while steps are applied to it.

    Args:
        in_place: change this very SDFG, and refuse rewritings.
    """

    def __init__(self, sdfg: StructuredSDFG, nest: Nest, *, in_place: bool = False) -> None:
        self._program = Isolated(sdfg)  # docc's builder does not keep it alive
        self._begun = in_place
        self._in_place = in_place
        self._builder = StructuredSDFGBuilder(sdfg)
        self._manager = AnalysisManager(self._builder)
        self._recorder = Recorder()
        self._position = 0
        self._data = {c.name: c.data for c in nest.containers}
        self._nest = nest
        self._base_loops = {loop.name: loop.index for loop in nest.loops}
        serial = ordered(sdfg)
        self._ordered = {nest.loops[i].name for i in confirmed(nest, hazards(nest))} | {
            loop.name for loop in nest.loops if loop.element_id in serial
        }
        self._proven: set[str] = set()
        self._rewrote = False
        depth = 1 + max((loop.depth for loop in nest.loops), default=0)
        self._deep = depth >= DEEP and not in_place
        self._called = False
        self._split: set[int] = set()
        self._checked: tuple[str, Args, Draft] | None = None
        ids = {loop.name: loop.element_id for loop in nest.loops}
        self._foreign: Set[int] = frozenset()
        loops = self._loops()
        self._foreign = loops.keys() - set(ids.values())
        own = {element: loop for element, loop in loops.items() if element not in self._foreign}
        self._names = LoopNames(ids, own)

    @property
    def sdfg(self) -> StructuredSDFG:
        """The SDFG with the nest as it is now: the one given, changed, or a new one with the same
        element ids."""
        return self._program.whole()

    @property
    def names(self) -> dict[str, int]:
        """Name to element id of every loop, in preorder."""
        return self._names.ids

    def history(self) -> list[dict[str, Any]]:
        """docc's replay sequence of the steps so far."""
        return json.loads(self._recorder.get_history())

    def loop(self, name: str) -> Any:
        """docc's loop object for `name`."""
        if self._called:
            raise self._refusal("the nest is a library call already")
        loop = self._names.loop(name)
        if loop is None:
            known = ", ".join(self.names)
            raise self._refusal(f"there is no loop {name}, only {known}")
        return loop

    def container(self, name: str) -> str:
        """What the program calls the array `name`."""
        try:
            return self._data[name]
        except KeyError:
            raise self._refusal(f"there is no container {name} in this nest") from None

    def can_apply(self, op: str, args: Args) -> bool:
        """Whether the step is allowed now (for starred names: on at least one copy)."""
        self._checked = None
        try:
            self._check(op, args)
            if op not in REWRITES and any(
                transformation.can_be_applied(self._builder, self._manager)
                for transformation, _ in self._transformations(op, args)
            ):
                return True
        except (IllegalStepError, RuntimeError, ValueError, TypeError):
            pass
        try:
            return self._rewritten(op, args) is not None
        except (IllegalStepError, RuntimeError, ValueError, TypeError):
            return False

    def apply(self, op: str, args: Args, position: int = 0) -> None:
        """Apply one step.

        A starred step is applied to the copies that allow it, and refused if none does.

        Raises:
            IllegalStepError: see `apply_steps`.
        """
        self._position = position
        self._checked = None
        if not self._begun:
            self._begun = True
            if self._program.isolate(set(self.names.values())):
                self._read({})
        if op in REWRITES:
            rewrote = self._rewrote
            self._adopt(self._rewritten(op, args))
            self._rewrote = rewrote or op not in PLAIN
            self._called = op == "library"
            if op == "prove":
                self._proven.add(str(args[0]))
            if op == "buffer":
                self._split.add(self._names.id_of(str(args[0])))
            return
        first, second = self._transform, self._fall_back
        # docc's own test takes seconds on what rewritings leave behind.
        if op in FALLBACKS and self._rewrote:
            first, second = second, first
        try:
            first(op, args)
        except IllegalStepError as refusal:
            # docc has been seen to allow an interchange there that a dependence forbids. Peeling
            # leaves conditions that rule dependences out, which only docc's test reads.
            forbidden = isinstance(refusal.__cause__, DependenceError) and not self._split
            if op not in FALLBACKS or forbidden:
                raise
            try:
                second(op, args)
            except IllegalStepError:
                raise refusal from None

    def _fall_back(self, op: str, args: Args) -> None:
        self._adopt(self._rewritten(op, args))

    def _transform(self, op: str, args: Args) -> None:
        """Apply one of docc's transformations."""
        self._check(op, args)
        done = 0
        reason = f"docc refuses '{op} {' '.join(map(str, args))}' here"
        try:
            with quiet_stderr():
                for single in self._expand(args):
                    for transformation, label in self._transformations(op, single):
                        sure = op == "interchange" and self._deep and self._may_turn(single)
                        if sure or transformation.can_be_applied(self._builder, self._manager):
                            if sure:
                                transformation.apply(self._builder, self._manager)
                            else:
                                self._recorder.apply(
                                    transformation, self._builder, self._manager, False
                                )
                            self._names.transformed(self._loops(), label, transformation)
                            if op in SPLITTING:
                                self._split.add(self._names.id_of(str(single[0])))
                            done += 1
                            break
        except IllegalStepError:
            raise
        except (RuntimeError, ValueError, TypeError, IndexError) as error:
            raise self._refusal(f"{reason}: {' '.join(str(error).split())[:160]}") from None
        if not done:
            raise self._refusal(reason)

    # -- rewritings -----------------------------------------------------------------------------

    def _rewritten(self, op: str, args: Args) -> Draft:
        """The SDFG's document after one of our own rewritings."""
        if self._in_place:
            raise self._refusal(f"docc has no '{op}' that fits, and ours makes a new SDFG")
        if self._checked is not None and self._checked[:2] == (op, args):
            return self._checked[2]
        return self._draft(op, args)

    def _draft(self, op: str, args: Args) -> Draft:
        draft = Draft(self._program.document(), {i: n for n, i in self.names.items()})
        loops = [self.loop(argument).element_id for argument in args if isinstance(argument, str)]
        rewriting = REWRITES.get(op) or FALLBACKS.get(op)
        if rewriting is None:
            raise self._refusal(f"unknown step '{op}'; there are {', '.join(sorted(OPERATIONS))}")
        sign_counters(draft.document)  # docc's own steps make loops, too
        if unsigned(
            draft.document, (getattr(loop, "indvar", "") for loop in self._loops().values())
        ):
            raise self._refusal(f"'{op}' may give unsigned loops an end below zero")
        try:
            rewriting(draft, loops, [a for a in args if isinstance(a, int)])
        except LoopbookError as error:
            step = " ".join([op, *map(str, args)])
            raise self._refusal(f"'{step}' is not known to be legal: {error}") from error
        return draft

    def _adopt(self, draft: Draft) -> None:
        """Go on with the SDFG that a rewriting has made."""
        self._rewrote = True
        self._program.adopt(draft.document)
        self._read(draft.made)

    def _read(self, made: Mapping[int, str]) -> None:
        """Look at what is another SDFG now; `made` as in `Draft`."""
        self._builder = StructuredSDFGBuilder(self._program.sdfg)
        self._manager = AnalysisManager(self._builder)
        self._names.rewritten(self._loops(), made)

    def _expand(self, args: Args) -> list[Args]:
        """`args` once for each loop that a starred name stands for."""
        stars = [n for n, a in enumerate(args) if isinstance(a, str) and a.endswith("*")]
        if not stars:
            return [args]
        if len(stars) > 1:
            raise self._refusal("only one name of a step may carry a star")
        place = stars[0]
        base = str(args[place])[:-1]
        copies = self._names.copies(base)
        if not copies:
            raise self._refusal(f"there is no loop {base}, only {', '.join(self.names)}")
        return [(*args[:place], name, *args[place + 1 :]) for name in copies]

    def _loops(self) -> dict[int, Any]:
        """Element id to docc's loop object of the nest's loops as they are now, in preorder."""
        self._manager.invalidate_all()
        loops = self._manager.loop_analysis().loops()
        return {loop.element_id: loop for loop in loops if loop.element_id not in self._foreign}

    # -- what docc allows and should not --------------------------------------------------------

    def _check(self, op: str, args: Args) -> None:
        """Refuse what docc allows although it breaks the program."""
        if op == "skew" and len(args) == 3 and abs(int(args[2])) > 1:
            # Bounds are divided by the factor, and docc's interchange rounds negative ones towards
            # zero (seen with 0.8.1): iterations are lost. `wavefront` skews by more.
            raise self._refusal(f"'skew' by {args[2]} would lose iterations when interchanged")
        self._check_order(op, args)
        if op == "interchange":
            self._check_tiles(args)
        if op == "parallel":
            for single in self._expand(args):
                self._check_threads(str(single[0]))
        if op == "stage":
            for single in self._expand(args):
                self._check_staging(str(single[0]), str(single[1]))
        if op == "peel":
            for single in self._expand(args):
                self._check_tests(str(single[0]))

    def _check_staging(self, name: str, container: str) -> None:
        """Refuse a copy of an array that the loop also uses in another way."""
        draft = Draft(json.loads(self._program.sdfg.to_json()), {})
        try:
            check_staging(draft, self.loop(name).element_id, self.container(container))
        except IllegalStepError as error:
            raise self._refusal(f"'stage {name} {container}' would lose values: {error}") from None

    def _check_tests(self, name: str) -> None:
        """Refuse to peel loops of which an inner one ends where an outer one says.

        docc tests the ends of all tiles in front of the outermost loop, with the variables of loops
        that have not begun (seen with 0.8.1: triangles, and tiles of tiles).
        """
        if tests_too_early(self.loop(name)):
            raise self._refusal(f"'peel {name}' would test a variable before its loop")

    def _check_tiles(self, args: Args) -> None:
        """Refuse to move a loop over tiles against a dependence.

        docc sees no dependences of it where indices have only the variable of the loop through a
        tile (seen with 0.8.1). Peeling leaves conditions that our own test does not read.
        """
        if self._split or not any(str(name).split(".")[-1].startswith("tile") for name in args):
            return
        try:
            # Where docc then has no such interchange, ours need not be drawn up again.
            self._checked = ("interchange", args, self._draft("interchange", args))
        except IllegalStepError as refusal:
            if isinstance(refusal.__cause__, DependenceError):
                raise

    def _may_turn(self, args: Args) -> bool:
        """Whether our own test allows what docc may do to two loops: it takes a part of docc's time
        in deep nests."""
        outer, inner = (self.loop(str(name)) for name in args)
        if not independent(outer, inner):
            return False
        try:
            self._rewritten("interchange", args)
        except IllegalStepError:
            return False
        return True

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
            if argument in self._proven:
                continue
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
        maker = TRANSFORMATIONS.get(op)
        if maker is None:
            raise self._refusal(f"unknown step '{op}'; there are {', '.join(sorted(OPERATIONS))}")
        try:
            yield from maker(self, *args)
        except TypeError as error:
            if "incompatible" in str(error):  # docc's own constructor: a map is wanted, mostly
                reason = f"docc refuses '{op} {' '.join(map(str, args))}' on this kind of loop"
                raise self._refusal(reason) from None
            raise self._refusal(f"'{op}' does not take these arguments: {error}") from None


OPERATIONS = (*TRANSFORMATIONS, *REWRITES)
"""The steps that `apply_steps` knows."""
