"""One graph of PyTorch: eager at its first call, then what was found to be right and fastest."""

from __future__ import annotations

import contextlib
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch import Tensor, fx

from loopbook.client.decision import Plan
from loopbook.client.plan import build_plan
from loopbook.client.served import served
from loopbook.display import seconds
from loopbook.errors import EagerWarning, LoopbookError, SdfgError
from loopbook.sdfg.build import build_tuned
from loopbook.sdfg.from_torch import refused_operation, translate
from loopbook.sdfg.rows import with_rows
from loopbook.targets import TARGETS
from loopbook.toolchain import scratch
from loopbook.torch import check
from loopbook.torch.decision import Decision, Runs, note
from loopbook.torch.form import TensorGraph, functional, operations, rewritten
from loopbook.torch.kernel import Kernel
from loopbook.torch.options import Options
from loopbook.torch.split import refused_in, split

Run = Callable[..., Any]

BETWEEN = ("loopbook", "torch", "contextlib")
"""Packages between the user's call and a graph's."""

TRIES = 3
"""Graphs are taken apart so often, each time around one more operation that docc-ai refuses."""


class Graph:
    """A graph, called with tensors.

    Args:
        module: what PyTorch made; it is run as it is where nothing is better.
        fixed: positions of inputs that are weights.
        part: whether it is a part of another graph.

    Attributes:
        decision: how it runs; None before its first call.
    """

    def __init__(
        self,
        module: fx.GraphModule,
        options: Options,
        fixed: frozenset[int] = frozenset(),
        *,
        part: bool = False,
    ) -> None:
        self.decision: Decision | None = None
        self._eager: Run = module.forward
        self._module = module
        self._options = options
        self._fixed = fixed
        self._part = part
        self._run: Run | None = None
        self._lock = threading.RLock()

    def __call__(self, *inputs: Any) -> Any:
        """What the graph returns."""
        if self._run is not None:
            return self._run(*inputs)
        with self._lock:
            if self._run is not None:
                return self._run(*inputs)
            return self._first(inputs)

    def _first(self, inputs: Sequence[Any]) -> Any:
        answer, reason = _observed(self._eager, inputs)
        count = operations(self._module)
        if reason:
            decision, run = Decision(Runs.EAGER, count, reason), self._eager
        else:
            decision, run = self._decided(inputs, count)
        self.decision, self._run = decision, run
        if not self._part:
            note(decision)
            if decision.runs is Runs.EAGER:
                warn(decision.reason)
        return answer

    # -- deciding -------------------------------------------------------------------------------

    def _decided(self, inputs: Sequence[Tensor], count: int) -> tuple[Decision, Run]:
        try:
            form = TensorGraph.of(self._module)
        except SdfgError as error:
            return Decision(Runs.EAGER, count, str(error)), self._eager
        decision, run = self._whole(form, inputs, count)
        if self._part or not self._options.split:
            return decision, run
        taken_apart = self._in_parts(form, inputs, count, refused_operation(decision.reason))
        if taken_apart is None:
            return decision, run
        parts, run_parts = taken_apart
        if decision.runs is Runs.COMPILED and not _faster(parts, decision):
            return decision, run
        return replace(parts, reason=decision.reason), run_parts

    def _whole(
        self, form: TensorGraph, inputs: Sequence[Tensor], count: int
    ) -> tuple[Decision, Run]:
        """The graph compiled as one, or eager."""
        try:
            ways = self._compiled(form, inputs)
        except LoopbookError as error:
            return Decision(Runs.EAGER, count, str(error)), self._eager
        found = [
            self._tried(Decision(Runs.COMPILED, count, plan=p), run, inputs) for p, run in ways
        ]
        right = [one for one in found if one[0].runs is Runs.COMPILED]
        return min(right or found, key=lambda one: one[0].compiled_s or 0.0)

    def _tried(
        self, decision: Decision, run: Run, inputs: Sequence[Tensor]
    ) -> tuple[Decision, Run]:
        """What was compiled, if it is right and faster than eager."""
        if self._options.check:
            calls = check.variants(inputs, self._fixed)
            try:
                check.check_numbers(_as_list(run), _as_list(self._eager), calls)
            except LoopbookError as error:
                return replace(decision, runs=Runs.EAGER, reason=str(error)), self._eager
        return self._timed(decision, run, inputs)

    def _compiled(self, form: TensorGraph, inputs: Sequence[Tensor]) -> list[tuple[Plan, Run]]:
        """The graph with the book's recipes, without them, and row by row.

        What a recipe promises holds for its own nest, and may be lost to the nests beside it.
        """
        given = form.given(inputs)
        with torch.no_grad():
            outputs = form.module(*given)
        module = rewritten(form.module, given)
        if operation := refused_in(module):
            raise SdfgError(f"docc-ai cannot translate {operation}")
        translated = translate(module, given, "graph")
        options = self._options

        def build(text: str, plan: Plan) -> Path:
            return build_plan(text, plan, scratch.make(), arena=True).library

        def bound(library: Path) -> Run:
            return form.bound(Kernel(translated, library, given, outputs, options.threads))

        plan, library = served(
            translated.text,
            options.target,
            build,
            options.book,
            expressions=True,
            libraries=True,
        )
        ways = [(plan, bound(library))]
        if not options.measure:
            return ways
        bare = plan.without_recipes("the graph is faster without recipes")
        if plan.choices:
            with contextlib.suppress(LoopbookError):
                ways.append((bare, bound(build(translated.text, bare))))
        if plan.normalised and not TARGETS[options.target].parallel:
            with contextlib.suppress(LoopbookError):
                text = with_rows(plan.normalised)
                made = build_tuned(
                    text, options.target, {}, scratch.make(), vector_maths=True, arena=True
                )
                ways.append((bare, bound(made.library)))
        return ways

    def _in_parts(
        self, form: TensorGraph, inputs: Sequence[Tensor], count: int, refused: str
    ) -> tuple[Decision, Run] | None:
        """The graph in parts, each decided about by itself; None where that is no better."""
        given = form.given(inputs)
        avoided = {refused} - {""}
        decisions: list[Decision] = []
        for _ in range(TRIES):
            try:
                made, names = split(functional(form.module, given), frozenset(avoided))
            except SdfgError:
                return None
            parts = [self._replaced(made, name) for name in names]
            if not parts:
                return None
            with torch.no_grad():
                made.forward(*given)
            decisions = [part.decision for part in parts if part.decision is not None]
            more = {refused_operation(one.reason) for one in decisions} - {""} - avoided
            if not more:
                break
            avoided |= more
        if all(decision.runs is Runs.EAGER for decision in decisions):
            return None
        run = form.bound(made.forward)
        decision = Decision(Runs.IN_PARTS, count, parts=tuple(decisions))
        decision, run = self._timed(decision, run, inputs)
        return None if decision.runs is Runs.EAGER else (decision, run)

    def _replaced(self, module: fx.GraphModule, name: str) -> Graph:
        """A graph in place of a submodule, called without a module's hooks."""
        part = module.get_submodule(name)
        assert isinstance(part, fx.GraphModule)
        graph = Graph(part, self._options, part=True)
        module.delete_submodule(name)
        module.__dict__[name] = graph
        return graph

    def _timed(
        self, decision: Decision, run: Run, inputs: Sequence[Tensor]
    ) -> tuple[Decision, Run]:
        """What was compiled, if it is faster than eager, or is not to be looked at."""
        if not self._options.measure:
            return decision, run
        alone = torch.get_num_threads() == 1 and not TARGETS[self._options.target].parallel
        ours, theirs = check.times(run, self._eager, inputs, alone=alone)
        decision = replace(decision, eager_s=theirs, compiled_s=ours)
        if ours < check.FASTER * theirs:
            return decision, run
        reason = f"eager is as fast: {seconds(theirs)}, compiled {seconds(ours)}"
        return replace(decision, runs=Runs.EAGER, reason=reason), self._eager


def warn(reason: str) -> None:
    """Say that a graph runs as eager."""
    text = f"a graph of the model runs as eager PyTorch: {reason}"
    warnings.warn(text, EagerWarning, stacklevel=_outside())


def _outside() -> int:
    """How far up the model is called, as `warnings.warn` counts."""
    frame, level = sys._getframe(1), 1
    while frame is not None and _package(frame) in BETWEEN:
        frame, level = frame.f_back, level + 1
    return level


def _package(frame: FrameType) -> str:
    return frame.f_globals.get("__name__", "").partition(".")[0]


def _faster(one: Decision, other: Decision) -> bool:
    if one.compiled_s is None or other.compiled_s is None:
        return False
    return one.compiled_s < other.compiled_s


def _observed(eager: Run, inputs: Sequence[Any]) -> tuple[Any, str]:
    """What eager returns, and why nothing else can stand for it; empty if it can."""
    if not all(isinstance(value, Tensor) for value in inputs):
        return eager(*inputs), "it takes what is no tensor"
    if any(value.device.type != "cpu" or value.layout != torch.strided for value in inputs):
        return eager(*inputs), "its tensors are not plain ones on the CPU"
    if torch.is_grad_enabled() and any(value.requires_grad for value in inputs):
        return eager(*inputs), "gradients are wanted; call the model in torch.no_grad()"
    before = [_state(value) for value in inputs]
    drawn = torch.get_rng_state()
    answer = eager(*inputs)
    if not torch.equal(drawn, torch.get_rng_state()):
        return answer, "it draws random numbers"
    if not all(_unchanged(value, was) for value, was in zip(inputs, before, strict=True)):
        return answer, "it changes what it is given"
    values = list(answer) if isinstance(answer, (tuple, list)) else [answer]
    if not all(isinstance(value, Tensor) for value in values):
        return answer, "it returns what is no tensor"
    if any(value.layout != torch.strided or value.device.type != "cpu" for value in values):
        return answer, "its tensors are not plain ones on the CPU"
    given = {value.untyped_storage().data_ptr() for value in inputs}
    made = [value.untyped_storage().data_ptr() for value in values]
    if not given.isdisjoint(made) or len(set(made)) < len(made):
        return answer, "it returns views of what it is given, or one tensor twice"
    return answer, ""


def _state(value: Tensor) -> Any:
    try:
        return value._version
    except RuntimeError:  # tensors made in torch.inference_mode() count no changes
        return value.clone()


def _unchanged(value: Tensor, was: Any) -> bool:
    if isinstance(was, Tensor):
        return torch.equal(value.view(torch.uint8), was.view(torch.uint8))
    return value._version == was


def _as_list(run: Run) -> Run:
    def called(*inputs: Tensor) -> list[Tensor]:
        answer = run(*inputs)
        return list(answer) if isinstance(answer, (tuple, list)) else [answer]

    return called
