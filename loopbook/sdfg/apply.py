"""Applies a recipe's steps to a nest of a docc SDFG.

Steps speak of loops by name; `loopbook.sdfg.naming` says what the loops are called that steps make.
A trailing star, ``L0*``, means the loop and all its ``.rest`` and ``.part`` copies.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Set
from typing import Any

import docc.sdfg
from docc.sdfg import AnalysisManager, StructuredSDFG, StructuredSDFGBuilder

from loopbook.errors import DependenceError, IllegalStepError, LoopbookError, RecipeError
from loopbook.program.nest import Nest
from loopbook.program.read import read
from loopbook.program.tree import Loop, Program, While
from loopbook.program.types import Type
from loopbook.program.walk import preorder
from loopbook.program.write import write
from loopbook.sdfg.hazards import is_left_early, tiles_may_clash, unordered
from loopbook.sdfg.headers import independent, tests_too_early
from loopbook.sdfg.isolation import Isolated, Mentions
from loopbook.sdfg.marks import ordered
from loopbook.sdfg.naming import LoopNames
from loopbook.sdfg.rewrites import REWRITINGS, Draft
from loopbook.sdfg.signed import sign_counters, unsigned
from loopbook.sdfg.transformations import stagings
from loopbook.steps import Step, base_name, checked
from loopbook.steps.editor import Editor
from loopbook.steps.hosts import Made, S
from loopbook.steps.staging import check_staging
from loopbook.toolchain.stderr import quiet_stderr

Json = dict[str, Any]
Args = tuple[str | int, ...]
StepPair = tuple[str, Args]
Done = Draft | Editor
"""A program that a step of ours has made."""


DEEP = 6
"""Loops in each other from which on docc is not asked whether two of them may be interchanged, if
our own test says so."""


class _Shown:
    """A nest as docc's objects.

    Args:
        sdfg: that docc works on.
        foreign: element ids of what does not belong to the nest.
    """

    def __init__(self, sdfg: StructuredSDFG, foreign: Set[int]) -> None:
        self.sdfg = sdfg
        self.builder = StructuredSDFGBuilder(sdfg)  # must live as long as the manager
        self.manager = AnalysisManager(self.builder)
        self._foreign = foreign

    def allows(self, transformation: Any) -> bool:
        return transformation.can_be_applied(self.builder, self.manager)

    def loops(self) -> dict[int, Any]:
        """Element id to docc's loop object of the nest's loops as they are now, in preorder."""
        self.manager.invalidate_all()
        loops = self.manager.loop_analysis().loops()
        return {loop.element_id: loop for loop in loops if loop.element_id not in self._foreign}

    def variables(self) -> dict[int, str]:
        """What each of `loops` counts with."""
        return {number: getattr(loop, "indvar", "") for number, loop in self.loops().items()}


class Workbench:
    """One nest while steps are applied to it.

    Args:
        program: an SDFG, or the document of one. It is left as it is.
        mentions: of the document's elements, if other nests ask for them, too.
    """

    docc = docc.sdfg
    """Where steps find docc's transformations."""

    def __init__(
        self,
        program: StructuredSDFG | Json,
        nest: Nest,
        mentions: Mentions | None = None,
    ) -> None:
        ids = {loop.name: loop.element_id for loop in nest.loops}
        document = program if isinstance(program, dict) else json.loads(program.to_json())
        self._program = Isolated(document, set(ids.values()), mentions)
        self._shown: _Shown | None = None
        self._tree: Program | None = None
        self._written = True
        self._position = 0
        self._data = {c.name: c.data for c in nest.containers}
        self._nest = nest
        self._base_loops = {loop.name: loop.index for loop in nest.loops}
        serial = ordered(self._program.sdfg)
        self._ordered = {nest.loops[i].name for i in unordered(nest)} | {
            loop.name for loop in nest.loops if loop.element_id in serial
        }
        self._left_early = {loop.name for loop in nest.loops if is_left_early(nest, loop)}
        self._proven: set[str] = set()
        self._rewrote = False
        depth = 1 + max((loop.depth for loop in nest.loops), default=0)
        self._deep = depth >= DEEP
        self._called = False
        self._split: set[int] = set()
        self._checked: tuple[Step, Done] | None = None
        self._names = LoopNames(ids, self._shown_variables())

    @property
    def _docc(self) -> _Shown:
        """What docc sees of the program as it is now."""
        self._write()
        if self._shown is None:
            self._shown = _Shown(self._program.sdfg, self._program.foreign)
        return self._shown

    def _write(self) -> None:
        """Hand what steps have made of the tree on to docc."""
        if not self._written and self._tree is not None:
            self._program.adopt(write(self._tree))
            self._written, self._shown = True, None

    def _read(self) -> Program:
        """The tree of the program as it is now."""
        if self._tree is None:
            document = self._program.document()
            sign_counters(document)  # docc's own steps make loops, too
            self._tree = read(document)
        return self._tree

    @property
    def sdfg(self) -> StructuredSDFG:
        """The program with the nest as it is now, with the same element ids."""
        self._write()
        return self._program.whole()

    def document(self) -> Json:
        """The document of `sdfg`."""
        self._write()
        return self._program.document()

    @property
    def names(self) -> dict[str, int]:
        """Name to element id of every loop, in preorder."""
        return self._names.ids

    def loop(self, name: str) -> Any:
        """docc's loop object for `name`."""
        if self._called:
            raise self.refusal("the nest is a library call already")
        loop = self._docc.loops().get(self._names.id_of(name))
        if loop is None:
            known = ", ".join(self.names)
            raise self.refusal(f"there is no loop {name}, only {known}")
        return loop

    def container(self, name: str) -> str:
        """What the program calls the array `name`."""
        try:
            return self._data[name]
        except KeyError:
            raise self.refusal(f"there is no container {name} in this nest") from None

    def can_apply(self, op: str, args: Args) -> bool:
        """Whether the step is allowed now (for starred names: on at least one copy; of a step that
        stands for several: whether the first of them is)."""
        self._checked = None
        try:
            step, *_ = self._well_formed(op, args).expansion()
        except IllegalStepError:
            return False
        try:
            step.check(self)
            if any(
                self._docc.allows(transformation)
                for transformation, _ in self._transformations(step)
            ):
                return True
        except (IllegalStepError, RuntimeError, ValueError, TypeError):
            pass
        try:
            return self._rewritten(step) is not None
        except (IllegalStepError, RuntimeError, ValueError, TypeError):
            return False

    def apply(self, op: str, args: Args, position: int = 0) -> None:
        """Apply one step.

        A starred step is applied to the copies that allow it, and refused if none does.

        Raises:
            IllegalStepError: if it names an unknown loop or container, or is not legal here.
        """
        self._position = position
        step = self._well_formed(op, args)
        for part in step.expansion():
            self._checked = None
            if part.has_transformation():
                self._transform_or_rewrite(part)
            else:
                self._rewrite(part)

    def _well_formed(self, op: str, args: Args) -> Step:
        try:
            step = checked(op, args)
        except RecipeError as error:
            raise self.refusal(str(error)) from None
        left = {name.rstrip("*").partition(".")[0] for name in step.loops} & self._left_early
        if left:  # docc tiles a loop with a break, which then leaves one tile only
            raise self.refusal(f"{min(left)} may be left early")
        return step

    def _rewrite(self, step: Step) -> None:
        """Do a step that docc has no transformation for."""
        rewrote = self._rewrote
        self._adopt(self._rewritten(step))
        self._rewrote = rewrote or not step.plain
        self._called = step.ends
        if step.proves:
            self._proven.update(step.loops)
        if step.splits:
            self._split.add(self._names.id_of(step.loops[0]))

    def _transform_or_rewrite(self, step: Step) -> None:
        """Do a step in docc's way, or else in ours where we have one."""
        first, second = self._transform, self._fall_back
        ours = type(step) in REWRITINGS or step.is_applied_to_tree()
        # docc's own test takes seconds on what rewritings leave behind.
        if ours and self._rewrote:
            first, second = second, first
        try:
            first(step)
        except IllegalStepError as refusal:
            # docc has been seen to allow an interchange there that a dependence forbids. Peeling
            # leaves conditions that rule dependences out, which only docc's test reads.
            forbidden = isinstance(refusal.__cause__, DependenceError) and not self._split
            if not ours or forbidden:
                raise
            try:
                second(step)
            except IllegalStepError:
                raise refusal from None

    def _fall_back(self, step: Step) -> None:
        self._adopt(self._rewritten(step))

    def _transform(self, step: Step) -> None:
        """Apply one of docc's transformations."""
        step.check(self)
        done = 0
        reason = f"docc refuses '{step.text()}' here"
        try:
            with quiet_stderr():
                for single in self.each(step):
                    for transformation, label in self._transformations(single):
                        sure = step.slow_with_docc and self._deep and self._may_turn(single)
                        if sure or self._docc.allows(transformation):
                            docc = self._docc
                            transformation.apply(docc.builder, docc.manager)
                            self._tree = None
                            self._names.transformed(docc.variables(), label, transformation)
                            if step.splits:
                                self._split.add(self._names.id_of(single.loops[0]))
                            done += 1
                            break
        except IllegalStepError:
            raise
        except (RuntimeError, ValueError, TypeError, IndexError) as error:
            raise self.refusal(f"{reason}: {' '.join(str(error).split())[:160]}") from None
        if not done:
            raise self.refusal(reason)

    def _transformations(self, step: Step) -> Made:
        """docc's transformations for a step."""
        try:
            yield from step.transformations(self)
        except TypeError as error:
            if "incompatible" not in str(error):
                raise
            # docc's own constructor: a map is wanted, mostly
            raise self.refusal(f"docc refuses '{step.text()}' on this kind of loop") from None

    # -- rewritings -----------------------------------------------------------------------------

    def _rewritten(self, step: Step) -> Done:
        """The program after a step of our own."""
        if self._checked is not None and self._checked[0] == step:
            return self._checked[1]
        return self._done(step)

    def _done(self, step: Step) -> Done:
        return self._edited(step) if step.is_applied_to_tree() else self._draft(step)

    def _edited(self, step: Step) -> Editor:
        if self._called:
            raise self.refusal("the nest is a library call already")
        program = self._read()
        if any(kind.element.startswith("uint") for kind in self._counters(program)):
            raise self.refusal(f"'{step.op}' may give unsigned loops an end below zero")
        editor = Editor(program, self.names, self._data)
        refusals = [editor.tried(single) for single in self.each(step)]
        if all(refusals):
            raise self.refusal(
                f"'{step.text()}' is not known to be legal: {refusals[-1]}"
            ) from refusals[-1]
        return editor

    def _counters(self, program: Program) -> Iterator[Type]:
        """The types of the variables that the nest's loops count with."""
        for name in self._names.indvars:
            if name in program.containers:
                yield program.containers[name]

    def _draft(self, step: Step) -> Draft:
        rewriting = REWRITINGS.get(type(step))
        if rewriting is None:
            raise self.refusal(f"there is no rewriting for '{step.op}'")
        self._write()
        draft = Draft(self._program.document(), {i: n for n, i in self.names.items()})
        loops = [self.loop(name).element_id for name in step.loops]
        sign_counters(draft.document)  # docc's own steps make loops, too
        if unsigned(draft.document, self._names.indvars):
            raise self.refusal(f"'{step.op}' may give unsigned loops an end below zero")
        try:
            rewriting(draft, loops, step.sizes)
        except LoopbookError as error:
            raise self.refusal(f"'{step.text()}' is not known to be legal: {error}") from error
        return draft

    def _adopt(self, done: Done) -> None:
        """Go on with the program that a step of ours has made."""
        self._rewrote = True
        if isinstance(done, Editor):
            self._tree, self._written = done.program, False
            foreign = self._program.foreign
            loops = {
                node.id: getattr(node, "variable", "")
                for node in preorder(done.program)
                if isinstance(node, Loop | While) and node.id not in foreign
            }
            self._names.rewritten({i: v for i, v in loops.items() if i is not None}, done.made)
            return
        self._tree, self._shown = None, None
        self._program.adopt(done.document)
        self._names.rewritten(self._shown_variables(), done.made)

    def each(self, step: S) -> list[S]:
        """The step once for each loop that a starred name stands for."""
        stars = [n for n, a in enumerate(step.args) if isinstance(a, str) and a.endswith("*")]
        if not stars:
            return [step]
        if len(stars) > 1:
            raise self.refusal("only one name of a step may carry a star")
        place = stars[0]
        base = str(step.args[place])[:-1]
        copies = self._names.copies(base)
        if not copies:
            raise self.refusal(f"there is no loop {base}, only {', '.join(self.names)}")
        before, after = step.args[:place], step.args[place + 1 :]
        return [type(step)._make((step.op, (*before, name, *after))) for name in copies]

    def _shown_variables(self) -> dict[int, str]:
        return self._docc.variables()

    # -- what docc allows and should not: what steps ask for before docc is asked ---------------

    def stagings(self, loop: str, container: str, direction: str) -> Made:
        """docc's ways to keep a part of an array in a local buffer."""
        return stagings(self.loop(loop), self.container(container), direction, f"{loop}.load")

    def keep_staged(self, loop: str, container: str) -> None:
        """Refuse a copy of an array that the loop also uses in another way."""
        editor = Editor(self._read(), self.names, self._data)
        try:
            check_staging(editor, self.loop(loop).element_id, self.container(container))
        except IllegalStepError as error:
            raise self.refusal(f"'stage {loop} {container}' would lose values: {error}") from None

    def keep_ends(self, loop: str) -> None:
        """Refuse to peel loops of which an inner one ends where an outer one says.

        docc tests the ends of all tiles in front of the outermost loop, with the variables of loops
        that have not begun (seen with 0.8.1: triangles, and tiles of tiles).
        """
        if tests_too_early(self.loop(loop)):
            raise self.refusal(f"'peel {loop}' would test a variable before its loop")

    def keep_tile_order(self, step: Step) -> None:
        """Refuse to move a loop over tiles against a dependence.

        docc sees no dependences of it where indices have only the variable of the loop through a
        tile (seen with 0.8.1). Peeling leaves conditions that our own test does not read.
        """
        if self._split or not any(name.split(".")[-1].startswith("tile") for name in step.loops):
            return
        try:
            # Where docc then has no such interchange, ours need not be drawn up again.
            self._checked = (step, self._done(step))
        except IllegalStepError as refusal:
            if isinstance(refusal.__cause__, DependenceError):
                raise

    def _may_turn(self, step: Step) -> bool:
        """Whether our own test allows what docc may do to two loops: it takes a part of docc's time
        in deep nests."""
        outer, inner = (self.loop(name) for name in step.loops)
        if not independent(outer, inner):
            return False
        try:
            self._rewritten(step)
        except IllegalStepError:
            return False
        return True

    def keep_values(self, loop: str) -> None:
        """Refuse threads on a loop that was peeled, unrolled or staged, or inside of one.

        docc makes every variable that such a loop writes private to its threads, local buffers
        included, but does not hand the values from before the loop over (seen with 0.8.1).
        """
        analysis = self._docc.manager.loop_analysis()
        around = self.loop(loop)
        while around is not None:
            if around.element_id in self._split:
                raise self.refusal(f"'parallel {loop}' would lose values that its threads need")
            around = analysis.parent_loop(around)

    def keep_inputs(self, first: str, second: str) -> None:
        """Refuse to let tiles of one loop overwrite what the other's still need."""
        one, other = (self._base_loops.get(base_name(name)) for name in (first, second))
        if one is not None and other is not None and tiles_may_clash(self._nest, one, other):
            raise self.refusal(
                f"'fuse_tiles' would let {second} overwrite what {first} still needs"
            )

    def keep_order(self, step: Step) -> None:
        """Refuse to reorder iterations that docc wrongly takes for independent."""
        for name in step.loops:
            base = base_name(name)
            if name not in self._proven and base in self._ordered:
                raise self.refusal(
                    f"'{step.op}' would reorder {base}, whose iterations may depend on their order"
                )

    def refusal(self, message: str) -> IllegalStepError:
        """The error that says why a step is not legal here."""
        return IllegalStepError(f"step {self._position + 1}: {message}", self._position)
