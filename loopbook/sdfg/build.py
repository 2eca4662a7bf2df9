"""From SDFG text and recipes to a shared library, without risk to our process."""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from docc.sdfg import AnalysisManager, StructuredSDFG, StructuredSDFGBuilder

from loopbook import dependence
from loopbook.errors import IllegalStepError
from loopbook.normal_form.rolling import rolled
from loopbook.program.cancels import cancels
from loopbook.program.canonical_order import in_canonical_order
from loopbook.program.json_text import dumped, loaded
from loopbook.program.nest import Nest
from loopbook.program.read import read
from loopbook.program.rounds import accumulates, rounds
from loopbook.program.tree import Program
from loopbook.program.wraps import wraps
from loopbook.program.write import write
from loopbook.sdfg import passes, program
from loopbook.sdfg.carried_sums import with_carried_sums
from loopbook.sdfg.cells import with_scalars_for_cells
from loopbook.sdfg.conditional_sums import with_conditional_sums
from loopbook.sdfg.decided import decide
from loopbook.sdfg.early_loads import has_early_loads, with_early_loads
from loopbook.sdfg.extremes import found_in_vectors, has_own
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
from loopbook.sdfg.short_words import with_short_words
from loopbook.sdfg.stores_behind import with_stores_behind
from loopbook.sdfg.sunk_stores import keep_stores_apart
from loopbook.sdfg.threads import improve_threads
from loopbook.steps import Step
from loopbook.steps.workbench import StepPair, Workbench
from loopbook.steps.workbench import Transformed as Tried
from loopbook.targets import TARGETS
from loopbook.toolchain import compiler, memory
from loopbook.toolchain.built import Built
from loopbook.toolchain.sandbox import TRIES, run_limited

Result = TypeVar("Result")

BUILD_SECONDS = 60.0
BUILD_BYTES = 6 << 30

Recipes = Mapping[int, Iterable[StepPair]]
"""Position of a nest in its program to the steps for it."""


def _limited(function: Callable[..., Result], *args: Any) -> Result:
    """``function(*args)`` in a child process, because docc and the compiler may crash or hang."""
    return run_limited(
        function,
        *args,
        seconds=BUILD_SECONDS,
        memory=BUILD_BYTES,
        what="the compile",
        tries=TRIES,
    )


def _fixed(recipes: Recipes | None) -> dict[int, tuple[StepPair, ...]] | None:
    return None if recipes is None else {place: tuple(steps) for place, steps in recipes.items()}


def build_baseline(
    text: str,
    target: str,
    folder: Path,
    *,
    timers: bool = False,
    vector_maths: bool = False,
    arena: bool = False,
) -> Built:
    """Compile the SDFG exactly as docc itself would (see `loopbook.sdfg.program.baseline`).

    Args:
        vector_maths: but with vector versions of maths functions (`loopbook.toolchain.compiler`),
            comparisons with a NaN as Python makes them (`loopbook.sdfg.decided`), and products and
            quotients rounded as NumPy rounds them where that decides whole numbers
            (`loopbook.program.rounds`); arguments are taken to share no element.
        arena: with temporaries in a block that is kept (`loopbook.toolchain.memory`).

    Raises:
        LoopbookError: as `build_tuned`.
    """
    compiler.activate()
    return _limited(_baseline, text, target, folder, timers, vector_maths, arena)


def build_tuned(
    text: str,
    target: str,
    recipes: Recipes,
    folder: Path,
    *,
    timers: bool = False,
    lenient: bool = False,
    vector_maths: bool = False,
    arena: bool = False,
) -> Built:
    """Prepare the SDFG, apply recipes to its nests, finish with docc's schedule, and compile.

    Args:
        lenient: leave out steps that do not fit instead of raising `IllegalStepError`.
        vector_maths, arena: as in `build_baseline`.

    Raises:
        SdfgError: docc cannot read or normalise the text.
        IllegalStepError: a step does not fit.
        CompilerError: the generated code does not compile, or there is no compiler.
        RunError: docc or the compiler crashed, hung, or took too much memory.
    """
    compiler.activate()
    dependence.load()
    fixed = _fixed(recipes)
    return _limited(_tuned, text, target, fixed, folder, timers, lenient, None, vector_maths, arena)


def build_once(
    text: str,
    target: str,
    recipes: Recipes,
    folder: Path,
    lenient: bool,
    codes: Path,
) -> Built:
    """`build_tuned` with timers, in this very process, for a builder that has nothing to lose.

    Args:
        codes: a folder with an empty file for each code that is known: such code is not compiled
            again, and its `library` is a path that does not exist.
    """
    compiler.activate()
    return _tuned(text, target, recipes, folder, True, lenient, codes)


def finish(text: str, target: str, recipes: Recipes | None) -> str:
    """The SDFG that `build_tuned`, or without recipes `build_baseline`, compiles, as JSON text.

    Raises:
        LoopbookError: as `build_tuned`.
    """
    dependence.load()
    return _limited(_finish, text, target, _fixed(recipes))


def build_finished(
    text: str, target: str, folder: Path, wanted: Mapping[str, Any], *, dump: bool
) -> Path:
    """Compile what `finish` has made, for one of docc's users: with vector maths, and comparisons
    with a NaN as Python makes them.

    Args:
        wanted, dump: see `loopbook.sdfg.passes.build`.

    Returns:
        The shared library.

    Raises:
        LoopbookError: as `build_tuned`.
    """
    compiler.activate()
    return _limited(_compiled, text, target, folder, wanted, dump)


class Transformed(NamedTuple):
    """A program with its recipes and docc's schedule.

    Attributes:
        tree: of the same program.
        owners, applied: as `Built.owners` and `Built.recipes`.
        text: what docc says of the program as JSON, where it has been asked.
    """

    sdfg: StructuredSDFG
    tree: Program
    owners: dict[int, int]
    applied: dict[int, tuple[StepPair, ...]]
    text: str | None = None

    def to_json(self) -> str:
        """The program as JSON text."""
        return self.sdfg.to_json() if self.text is None else self.text


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
    if prepared is None:
        document, given, nests = program.prepare_tree(text)
        text = dumped(document)
    else:
        given, nests = prepared
    owners: dict[int, int] = {}
    applied: dict[int, tuple[StepPair, ...]] = {}
    tree = given
    for nest in nests:
        steps = tuple(recipes.get(nest.position, ()))
        own = [loop.element_id for loop in nest.loops]
        applied[nest.position] = ()
        if steps and tree is given and nest.position in tried:
            applied[nest.position] = steps
            tree, names = tried[nest.position].program, tried[nest.position].names
            own = [*names.values()]
        elif steps:
            bench = Workbench(tree, nest)
            applied[nest.position] = _apply(bench, steps, lenient, patient)
            tree, own = bench.program, [*bench.names.values()]
        owners |= dict.fromkeys(own, nest.position)
    if together and not TARGETS[target].parallel:
        tree = rolled(tree, lambda loop: not applied.get(owners.get(loop.id or 0, -1), "own"))
    kept = given if tree is given else keep_loops(tree)
    sdfg = program.parse(text if tree is given else dumped(write(kept)))
    before = [owners.get(element) for element in outermost(sdfg)]
    sdfg, finished, told = _scheduled(sdfg, kept, target, late=late)
    after = outermost(sdfg)
    owned = {e: owner for e, owner in zip(after, before, strict=False) if owner is not None}
    return Transformed(sdfg, finished, owned if len(before) == len(after) else {}, applied, told)


def _scheduled(
    sdfg: StructuredSDFG, given: Program, target: str, *, late: bool = False
) -> tuple[StructuredSDFG, Program, str | None]:
    """A program with docc's schedule for what has none, its tree, and its text if that is known.

    Args:
        given: its tree before.
    """
    sdfg, told, finished = program.scheduled(sdfg, target)
    jammed = with_rows_written_out(given, finished)
    improved = in_canonical_order(improve_threads(_served(jammed) if late else jammed))
    if improved is not finished:
        sdfg, told = program.parse(dumped(write(improved))), None
    return sdfg, improved, told


def _served(tree: Program) -> Program:
    """A program with what is done to served ones alone."""
    plain = with_elements_together(with_scalars_for_cells(tree))
    apart = with_stores_behind(with_plain_remainders(plain))
    return with_early_loads(apart)


def cpp_of(tree: Program, target: str) -> str:
    """The C++ of a prepared program after some steps, with docc's own schedule for what they leave.

    Raises:
        SdfgError: docc cannot schedule it.
    """
    kept = keep_loops(tree)
    return _scheduled(program.parse(dumped(write(kept))), kept, target)[0].to_cpp()


def served_code(text: str, target: str, recipes: Recipes) -> str:
    """The C++ that is compiled for callers (`build_tuned` with vector maths).

    Args:
        recipes: none: docc's own schedule.

    Raises:
        SdfgError, IllegalStepError: as `build_tuned`.
    """
    if recipes:
        sdfg, tree, *_ = transform(text, target, recipes, together=True, late=True)
    else:
        sdfg, tree = _of_docc(program.baseline(text, target), late=True)
    return passes.source_of(as_python(sdfg, tree, decided=True), target, noalias=True)


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


def _baseline(
    text: str,
    target: str,
    folder: Path,
    timers: bool,
    vector_maths: bool = False,
    arena: bool = False,
) -> Built:
    sdfg = program.baseline(text, target)
    owners = {element: place for place, element in enumerate(outermost(sdfg))}
    code = code_of(sdfg)
    sdfg, tree = _of_docc(sdfg, late=vector_maths)
    _choose(vector_maths, tree, arena)
    sdfg = as_python(sdfg, tree, decided=vector_maths)
    library = passes.build(sdfg, folder, target, timers=timers, noalias=vector_maths)
    return Built(library, code, owners, {})


def _of_docc(sdfg: StructuredSDFG, *, late: bool) -> tuple[StructuredSDFG, Program]:
    """What docc has made, and its tree; `late` as in `transform`."""
    tree = program.tree_of(sdfg)
    served = _served(tree) if late else tree
    improved = improve_threads(served) if late else served
    if improved is not served:
        served = in_canonical_order(improved)
    return (sdfg if served is tree else program.parse(dumped(write(served)))), served


def _finish(text: str, target: str, recipes: Recipes | None) -> str:
    if recipes is None:
        return program.baseline(text, target).to_json()
    return transform(text, target, recipes, together=True).to_json()


def _compiled(text: str, target: str, folder: Path, wanted: Mapping[str, Any], dump: bool) -> Path:
    tree = read(loaded(text))
    _choose(True, tree)
    sdfg = as_python(program.parse(text), tree, decided=True)
    return passes.build(sdfg, folder, target, wanted=wanted, dump=dump)


def as_python(sdfg: StructuredSDFG, tree: Program, *, decided: bool = False) -> StructuredSDFG:
    """The finished program, whose tree is `tree`, with what docc's C++ would get wrong mended last.

    Args:
        decided: comparisons with a NaN too (`loopbook.sdfg.decided`), besides shifts; extremes in
            vectors (`loopbook.sdfg.extremes`), and Python's own (`loopbook.sdfg.own_extremes`).
    """
    mended = tree
    if decided:
        mended = with_conditional_sums(found_in_vectors(decide(tree)))
        mended = with_own_extremes(with_block_searches(with_carried_sums(mended)))
    mended = with_short_words(divide_once(keep_signs(mended)))
    mended = narrowed(keep_stores_apart(keep_vectors_inside(mended)))
    return sdfg if mended is tree else program.parse(dumped(write(mended)))


def _tuned(
    text: str,
    target: str,
    recipes: Recipes,
    folder: Path,
    timers: bool,
    lenient: bool,
    codes: Path | None = None,
    vector_maths: bool = False,
    arena: bool = False,
) -> Built:
    begun = time.perf_counter()
    together = vector_maths and not timers  # to be served
    sdfg, tree, owners, applied, _ = transform(
        text, target, recipes, lenient=lenient, together=together, late=together
    )
    code = code_of(sdfg)
    applying = time.perf_counter() - begun
    if codes is not None and (codes / code).exists():
        return Built(folder / "known", code, owners, applied, (applying, 0.0))
    _choose(vector_maths, tree, arena)
    sdfg = as_python(sdfg, tree, decided=vector_maths)
    library = passes.build(sdfg, folder, target, timers=timers, noalias=vector_maths)
    compiling = time.perf_counter() - begun - applying
    return Built(library, code, owners, applied, (applying, compiling))


def _choose(served: bool, tree: Program, arena: bool = False) -> None:
    """For the compiler that this process, a child of its own, is going to call."""
    exact = ""
    if served and cancels(tree):
        exact = "all"
    elif served and rounds(tree):
        exact = "1" if accumulates(tree) else "all"
    chosen = {
        compiler.VECTOR_MATHS: "1" if served else "",
        compiler.EXACT: exact,
        compiler.WRAPS: "1" if served and wraps(tree) else "",
        compiler.NAMES: "1" if served and has_own(tree) else "",
        compiler.EARLY: "1" if served and has_early_loads(tree) else "",
        memory.ARENA: "1" if arena else "",
    }
    for name, value in chosen.items():
        if value:
            os.environ[name] = value
        else:
            os.environ.pop(name, None)


_PRIVATE = re.compile(r"\bprivate\(([^)]*)\)")


def code_of(sdfg: StructuredSDFG) -> str:
    """Hash of the generated C++. docc lists private variables in another order every time."""
    text = _PRIVATE.sub(lambda found: " ".join(sorted(found[1].split(", "))), sdfg.to_cpp())
    return hashlib.sha256(text.encode()).hexdigest()[:32]
