"""From SDFG text and recipes to a shared library, without risk to our process."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from loopbook import dependence
from loopbook.program.amplifies import amplifies
from loopbook.program.cancels import cancels
from loopbook.program.json_text import dumped, loaded
from loopbook.program.read import read
from loopbook.program.rounds import accumulates, rounds
from loopbook.program.tree import Program
from loopbook.program.wraps import wraps
from loopbook.sdfg import passes, program
from loopbook.sdfg.early_loads import has_early_loads
from loopbook.sdfg.extremes import has_own
from loopbook.sdfg.transformed import Recipes, as_python, code_of, of_docc, outermost, transform
from loopbook.steps.workbench import StepPair
from loopbook.toolchain import compiler, memory
from loopbook.toolchain.built import Built
from loopbook.toolchain.one_child import run_shared
from loopbook.toolchain.sandbox import TRIES

Result = TypeVar("Result")

BUILD_SECONDS = 60.0
BUILD_BYTES = 6 << 30


def _limited(function: Callable[..., Result], *args: Any) -> Result:
    """``function(*args)`` in a child process, because docc and the compiler may crash or hang."""
    return run_shared(
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
    sdfg, tree = of_docc(sdfg, late=vector_maths)
    _choose(vector_maths, tree, arena)
    sdfg = as_python(sdfg, tree, decided=vector_maths)
    library = passes.build(sdfg, folder, target, timers=timers, noalias=vector_maths)
    return Built(library, code, owners, {})


def _finish(text: str, target: str, recipes: Recipes | None) -> str:
    if recipes is None:
        return program.baseline(text, target).to_json()
    return dumped(transform(text, target, recipes, together=True).document)


def _compiled(text: str, target: str, folder: Path, wanted: Mapping[str, Any], dump: bool) -> Path:
    tree = read(loaded(text))
    _choose(True, tree)
    sdfg = as_python(program.parse(text), tree, decided=True)
    return passes.build(sdfg, folder, target, wanted=wanted, dump=dump)


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
    done = transform(text, target, recipes, lenient=lenient, together=together, late=together)
    code = code_of(done.sdfg)
    applying = time.perf_counter() - begun
    if codes is not None and (codes / code).exists():
        return Built(folder / "known", code, done.owners, done.applied, (applying, 0.0))
    _choose(vector_maths, done.tree, arena)
    sdfg = done.as_python(decided=vector_maths)
    library = passes.build(sdfg, folder, target, timers=timers, noalias=vector_maths)
    compiling = time.perf_counter() - begun - applying
    return Built(library, code, done.owners, done.applied, (applying, compiling))


def _choose(served: bool, tree: Program, arena: bool = False) -> None:
    """For the compiler that this process, a child of its own, is going to call."""
    exact = ""
    if served and cancels(tree):
        exact = "all"
    elif served and (rounds(tree) or amplifies(tree)):
        exact = compiler.BUT_SUMS if accumulates(tree) else "all"
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
