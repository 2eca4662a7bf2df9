"""Where docc's own transformations are allowed or refused otherwise than our steps.

Every first step of some kinds on every loop of a program: what `Workbench` says, what docc's
``can_be_applied`` says, and, where only docc allows it, whether what docc makes of the program is
right.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from docc import sdfg as docc

from benchmarks.legality_steps import kind_of
from loopbook.errors import IllegalStepError
from loopbook.interpreter import NotInterpretedError
from loopbook.program.nest import Nest
from loopbook.program.read import read
from loopbook.program.tree import Program
from loopbook.program.write import write
from loopbook.sdfg import program
from loopbook.steps.workbench import StepPair, Workbench
from loopbook.toolchain.stderr import quiet_stderr

SIZE = 3

Made = Callable[[Mapping[int, Any]], Any]
"""docc's transformation, of docc's loops by number."""


class Pair(NamedTuple):
    """One of our steps and what docc has for it."""

    step: StepPair
    made: Made


def pairs(nest: Nest) -> Iterator[Pair]:
    """First steps that docc has transformations for."""
    for loop in nest.loops:
        if not loop.indvar:
            continue
        name, own = loop.name, loop.element_id
        yield Pair(("tile", (name, SIZE)), lambda at, own=own: docc.LoopTiling(at[own], SIZE))
        yield Pair(("distribute", (name,)), lambda at, own=own: docc.LoopDistribute(at[own]))
        yield Pair(("vectorize", (name,)), lambda at, own=own: docc.VectorizeTransform(at[own]))
        yield Pair(("unroll", (name,)), lambda at, own=own: docc.UnrollTransform(at[own]))
        yield Pair(("parallel", (name,)), lambda at, own=own: docc.OMPTransform(at[own]))
        yield Pair(("collapse", (name, 2)), lambda at, own=own: docc.MapCollapse(at[own], 2))
        if loop.parent >= 0 and nest.loops[loop.parent].indvar:
            outer = nest.loops[loop.parent]
            over = outer.element_id
            yield Pair(
                ("interchange", (outer.name, name)),
                lambda at, own=own, over=over: docc.LoopInterchange(at[over], at[own]),
            )
            yield Pair(
                ("skew", (outer.name, name)),
                lambda at, own=own, over=over: docc.LoopSkewing(at[over], at[own]),
            )


def compared(
    tree: Program, nests: list[Nest], fault: Callable[[Program], str]
) -> Counter[tuple[str, str]]:
    """How often which verdicts were given: step and what was said.

    Args:
        fault: what is wrong with a program; raises `NotInterpretedError`.
    """
    found: Counter[tuple[str, str]] = Counter()
    text = json.dumps(write(tree))
    for nest in nests:
        for pair in pairs(nest):
            ours = _refusal(Workbench(tree, nest), pair.step)
            applied = _applied(text, pair)
            found[pair.step[0], _verdict(ours, applied, fault)] += 1
    return found


def _verdict(ours: str, applied: Program | str, fault: Callable[[Program], str]) -> str:
    if isinstance(applied, str):
        return applied or ("both refuse" if ours else "only loopbook allows")
    if not ours:
        return "both allow"
    try:
        said = fault(applied)
    except NotInterpretedError:
        return "only docc allows: not run"
    return f"only docc allows: {'wrong' if said else 'right'} | {ours}"


def _refusal(bench: Workbench, step: StepPair) -> str:
    try:
        bench.apply(*step)
    except IllegalStepError as error:
        return kind_of(str(error))
    return ""


def _applied(text: str, pair: Pair) -> Program | str:
    """The program after docc's transformation; nothing if docc refuses, a word if it cannot say."""
    sdfg = program.parse(text)
    builder = docc.StructuredSDFGBuilder(sdfg)
    manager = docc.AnalysisManager(builder)
    loops = {loop.element_id: loop for loop in manager.loop_analysis().loops()}
    try:
        with quiet_stderr():
            made = pair.made(loops)
            if not made.can_be_applied(builder, manager):
                return ""
            made.apply(builder, manager)
        return read(json.loads(sdfg.to_json()))
    except TypeError:  # it is for maps alone
        return ""
    except (RuntimeError, ValueError, KeyError, IndexError) as error:
        return f"docc raises {type(error).__name__}: {str(error)[:60]}"
