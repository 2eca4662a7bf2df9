"""Programs as they are compiled: with recipes, docc's schedule for the rest, and what docc's C++
would get wrong mended last.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

from docc.sdfg import AnalysisManager, StructuredSDFG, StructuredSDFGBuilder

from loopbook.errors import IllegalStepError
from loopbook.normal_form.rolling import rolled
from loopbook.program import walk
from loopbook.program.canonical_order import in_canonical_order
from loopbook.program.combined import combined
from loopbook.program.json_text import dumped
from loopbook.program.members import Json
from loopbook.program.nest import Nest
from loopbook.program.regions import without_regions
from loopbook.program.tree import Program
from loopbook.program.write import write
from loopbook.sdfg import passes, program
from loopbook.sdfg.carried_sums import with_carried_sums
from loopbook.sdfg.cells import with_scalars_for_cells
from loopbook.sdfg.conditional_sums import with_conditional_sums
from loopbook.sdfg.decided import decide
from loopbook.sdfg.docc_schedule import scheduled
from loopbook.sdfg.early_loads import with_early_loads
from loopbook.sdfg.extremes import found_in_vectors
from loopbook.sdfg.guarded_extremes import with_guards_apart
from loopbook.sdfg.incomplete_tiles import keep_loops
from loopbook.sdfg.inner_vectors import keep_vectors_inside
from loopbook.sdfg.iterated import with_elements_together
from loopbook.sdfg.jammed import with_rows_written_out
from loopbook.sdfg.narrow import narrowed
from loopbook.sdfg.one_division import divide_once
from loopbook.sdfg.own_extremes import with_own_extremes
from loopbook.sdfg.remainders import with_plain_remainders
from loopbook.sdfg.searches import with_block_searches
from loopbook.sdfg.shifts import keep_signs
from loopbook.sdfg.short_numbers import in_short_numbers
from loopbook.sdfg.short_words import with_short_words
from loopbook.sdfg.stores_behind import with_stores_behind
from loopbook.sdfg.sunk_stores import keep_stores_apart
from loopbook.sdfg.threads import improve_threads
from loopbook.sdfg.vectors_beside import with_vectors_beside
from loopbook.steps import Step
from loopbook.steps.workbench import StepPair, Workbench
from loopbook.steps.workbench import Transformed as Tried
from loopbook.targets import TARGETS

Recipes = Mapping[int, Iterable[StepPair]]
"""Position of a nest in its program to the steps for it."""


@dataclass(frozen=True)
class Transformed:
    """A program with its recipes and docc's schedule.

    Attributes:
        owners, applied: as `Built.owners` and `Built.recipes`.
    """

    tree: Program
    owners: dict[int, int]
    applied: dict[int, tuple[StepPair, ...]]

    @property
    def document(self) -> Json:
        """The program as JSON, the caller's own."""
        return write(self.tree)

    @cached_property
    def sdfg(self) -> StructuredSDFG:
        """The program as docc has it."""
        return program.parse(dumped(self.document))

    def as_python(self, *, decided: bool = False) -> StructuredSDFG:
        """With what docc's C++ would get wrong mended last; `decided` as in `as_python`."""
        mended = _mended(self.tree, decided=decided)
        return self.sdfg if mended is self.tree else program.parse(dumped(write(mended)))


def transform(
    text: str,
    target: str,
    recipes: Recipes,
    *,
    lenient: bool = False,
    patient: bool = False,
    prepared: tuple[Program, Sequence[Nest]] | None = None,
    tried: Mapping[int, Tried] = MappingProxyType({}),
    together: bool = False,
    late: bool = False,
) -> Transformed:
    """Prepare the SDFG, apply recipes to its nests, give the rest docc's own schedule.

    Args:
        prepared: the SDFG's tree and nests, if it is prepared and they have been read already.
        tried: position of a nest to what its recipe has made of that tree, where this is known.
        lenient: leave out all steps that do not fit.
        patient: leave out those that only refine others (`loopbook.steps.Step.refines`).
        together: let nests without a recipe be fused where that spares a temporary, and the target
            has one thread (`loopbook.normal_form.rolling`): then no nest can be timed by itself.
        late: also what is done to served programs alone: see `loopbook.sdfg.remainders` and
            `loopbook.sdfg.early_loads`.

    Raises:
        IllegalStepError: a step does not fit, and is not to be left out.
    """
    given, nests = prepared or program.prepare_tree(text)[1:]
    owners: dict[int, int] = {}
    applied: dict[int, tuple[StepPair, ...]] = {}
    tree = given
    for nest in nests:
        steps = tuple(recipes.get(nest.position, ()))
        own = [loop.element_id for loop in nest.loops]
        applied[nest.position] = ()
        if steps and (known := _known(nest, given, tree, tried)):
            applied[nest.position] = steps
            tree, own = known.program, [*known.names.values()]
        elif steps:
            bench = Workbench(tree, nest)
            applied[nest.position] = _apply(bench, steps, lenient, patient)
            tree, own = bench.program, [*bench.names.values()]
        owners |= dict.fromkeys(own, nest.position)
    tree = without_regions(tree)
    if together and not TARGETS[target].parallel:
        tree = rolled(tree, lambda loop: not applied.get(owners.get(loop.id or 0, -1), "own"))
    kept = tree if tree is given else keep_loops(tree)
    finished = _scheduled(kept, target, late=late)
    before, after = [[n.id for n in walk.outermost(one)] for one in (kept, finished)]
    owned = {}
    if len(before) == len(after):  # docc numbers loops anew where it shares them among threads
        pairs = zip(after, before, strict=True)
        owned = {new: owners[old] for new, old in pairs if new and old in owners}
    return Transformed(finished, owned, applied)


def _known(nest: Nest, given: Program, tree: Program, tried: Mapping[int, Tried]) -> Tried | None:
    """A tree with what a nest's recipe has made of it, where the recipe was tried on `given`."""
    known = tried.get(nest.position)
    if known is None or tree is given:
        return known
    if (both := combined(given, tree, known.program)) is None:
        return None
    new = {name: n + both.shift if n > given.counter else n for name, n in known.names.items()}
    return replace(known, program=both.program, names=new)


def _scheduled(given: Program, target: str, *, late: bool = False) -> Program:
    """A program with docc's schedule for what has none."""
    jammed = with_rows_written_out(given, scheduled(given, target))
    return in_canonical_order(improve_threads(_served(jammed) if late else jammed))


def of_docc(sdfg: StructuredSDFG, *, late: bool) -> tuple[StructuredSDFG, Program]:
    """What docc has made, and its tree; `late` as in `transform`."""
    tree = program.tree_of(sdfg)
    served = _served(tree) if late else tree
    improved = improve_threads(served) if late else served
    if improved is not served:
        served = in_canonical_order(improved)
    return (sdfg if served is tree else program.parse(dumped(write(served)))), served


def _served(tree: Program) -> Program:
    """A program with what is done to served ones alone."""
    plain = with_elements_together(with_scalars_for_cells(with_vectors_beside(tree)))
    apart = with_stores_behind(with_plain_remainders(plain))
    return with_early_loads(apart)


def _apply(
    bench: Workbench, steps: Iterable[StepPair], lenient: bool, patient: bool
) -> tuple[StepPair, ...]:
    applied = []
    for position, (op, args) in enumerate(steps):
        try:
            bench.apply(op, args, position)
        except IllegalStepError:
            if not (lenient or (patient and Step(op, args).refines)):
                raise
        else:
            applied.append((op, args))
    return tuple(applied)


def outermost(sdfg: StructuredSDFG) -> list[int]:
    builder = StructuredSDFGBuilder(sdfg)  # must live as long as the manager
    manager = AnalysisManager(builder)
    return [loop.element_id for loop in manager.loop_analysis().outermost_loops()]


def as_python(sdfg: StructuredSDFG, tree: Program, *, decided: bool = False) -> StructuredSDFG:
    """The finished program, whose tree is `tree`, with what docc's C++ would get wrong mended last.

    Args:
        decided: comparisons with a NaN too (`loopbook.sdfg.decided`), besides shifts; extremes in
            vectors (`loopbook.sdfg.extremes`), and Python's own (`loopbook.sdfg.own_extremes`).
    """
    mended = _mended(tree, decided=decided)
    return sdfg if mended is tree else program.parse(dumped(write(mended)))


def _mended(tree: Program, *, decided: bool) -> Program:
    if decided:
        tree = with_conditional_sums(found_in_vectors(with_guards_apart(decide(tree))))
        tree = with_own_extremes(with_block_searches(with_carried_sums(tree)))
    tree = with_short_words(divide_once(keep_signs(tree)))
    return in_short_numbers(narrowed(keep_stores_apart(keep_vectors_inside(tree))))


def cpp_of(tree: Program, target: str) -> str:
    """The C++ of a prepared program after some steps, with docc's own schedule for what they leave.

    Raises:
        SdfgError: docc cannot schedule it.
    """
    kept = keep_loops(tree)
    return program.parse(dumped(write(_scheduled(kept, target)))).to_cpp()


def served_code(text: str, target: str, recipes: Recipes) -> str:
    """The C++ that is compiled for callers (`build_tuned` with vector maths).

    Args:
        recipes: none: docc's own schedule.

    Raises:
        SdfgError, IllegalStepError: as `build_tuned`.
    """
    if recipes:
        mended = transform(text, target, recipes, together=True, late=True).as_python(decided=True)
    else:
        mended = as_python(*of_docc(program.baseline(text, target), late=True), decided=True)
    return passes.source_of(mended, target, noalias=True)


_PRIVATE = re.compile(r"\bprivate\(([^)]*)\)")


def code_of(sdfg: StructuredSDFG) -> str:
    """Hash of the generated C++. docc lists private variables in another order every time."""
    text = _PRIVATE.sub(lambda found: " ".join(sorted(found[1].split(", "))), sdfg.to_cpp())
    return hashlib.sha256(text.encode()).hexdigest()[:32]
