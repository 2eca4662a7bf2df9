"""One kernel: docc's own schedule, the tuner's recipes and what methods serve, timed in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loopbook.client.decision import Plan
from loopbook.client.layered import LayeredBook
from loopbook.client.plan import make_plan
from loopbook.client.verify import Verifier
from loopbook.errors import LoopbookError
from loopbook.learn.methods import Method
from loopbook.sdfg import program
from loopbook.toolchain.built import Built
from loopbook.toolchain.times import Schedule
from loopbook.workloads import reference
from loopbook.workloads.call import Call
from loopbook.workloads.workload import Workload

CHOICES = 5
"""Recipes of each nest that are measured where measuring is allowed."""

SLOWER = 1.05
"""What takes this many times as long as docc's own compile was served to harm."""

SCHEDULE = Schedule(repeats=31, seconds=1.0, at_least=2)
AGAIN = Schedule(repeats=61, seconds=4.0, at_least=3)
"""For what seems to be slower than docc's own compile: others use the machine too."""

QUICK = Schedule(repeats=9, seconds=0.5, at_least=1)
"""For choosing among recipes by measuring."""


@dataclass(frozen=True)
class Served:
    """What one method gave one kernel.

    Attributes:
        seconds: of the fastest run; `docc_s` of docc's own compile next to it.
        nests: one entry for each nest: tier, record, distance, predicted and lower speedup, recipe.
        error: why nothing ran; docc's own compile is taken then.
    """

    seconds: float
    docc_s: float
    nests: list[dict[str, Any]]
    error: str = ""

    @property
    def speedup(self) -> float:
        return self.docc_s / self.seconds


@dataclass
class Comparison:
    """Times of one kernel.

    Attributes:
        served: by method and way: ``ours 1`` for one recipe, nothing measured; ``ours 5`` for the
            best of five measured; ``tuner`` for the records of this very kernel.
    """

    kernel: str
    target: str
    preset: str
    docc_s: float
    served: dict[str, Served] = field(default_factory=dict)


class Builder(Verifier):
    """A verifier that compiles a plan once, however many methods come to it."""

    def compiled(self, plan: Plan, *, timers: bool = False) -> Built:
        recipes = {position: recipe.text() for position, recipe in plan.recipes.items()}
        key = (tuple(sorted(recipes.items())), plan.active, timers)
        known = self.__dict__.setdefault("_known", {})
        if key not in known:
            known[key] = super().compiled(plan, timers=timers)
        return known[key]


class Kernel:
    """A kernel that is being evaluated.

    Attributes:
        fingerprints: of its nests.

    Args:
        folder: where builds go.
        seconds: limit for all runs of one comparison together.

    Raises:
        WrongResultError: docc's own code gives other numbers than Python.
        LoopbookError: if docc cannot compile or run it.
    """

    def __init__(
        self, workload: Workload, target: str, preset: str, folder: Path, seconds: float
    ) -> None:
        self.name, self.target, self.preset = workload.name, target, preset
        reference.check(workload, workload.parameters)
        call = Call.of(workload, workload.arguments(preset))
        self._sizes = call.symbols
        self._verifier = Builder(call.text, call.binding(), target, folder, seconds=seconds)
        # Prepared once: that may take docc seconds.
        self._text, nests = program.prepare_apart(self._verifier.text)
        self.fingerprints = [nest.fingerprint for nest in nests]
        self._builts: dict[str, Built] = {}
        self._nests: dict[str, list[dict[str, Any]]] = {}
        self._errors: dict[str, str] = {}

    def enter_tuner(self, layered: LayeredBook) -> None:
        """Let the records of this very kernel take part."""
        plan = make_plan(self._text, self.target, layered, sizes=self._sizes)
        self._enter("tuner", plan)

    def enter(
        self, method: Method, layered: LayeredBook, exclude: Sequence[str], ways: Sequence[int]
    ) -> None:
        """Let a method take part.

        Args:
            exclude: kernels whose records it must not use.
            ways: 1 for serving one recipe without measuring, more for the best of so many.
        """
        for way in ways:
            plan = make_plan(
                self._text,
                self.target,
                layered,
                exclude=exclude,
                choices=way,
                sizes=self._sizes,
                max_distance=method.max_distance,
            )
            name = f"{method.name} {way}"
            if way == 1:
                self._enter(name, plan)
            else:
                verdict = self._verifier.choose(plan, QUICK, tries=way)
                self._keep(name, verdict.plan, verdict.built)

    def _enter(self, name: str, plan: Plan) -> None:
        try:
            built = self._verifier.build(plan)
            self._verifier.check(built)
            self._keep(name, plan, built)
        except LoopbookError as error:
            # What gives wrong numbers or does not compile is not served: docc's own is.
            self._keep(name, plan.without_recipes(str(error)), self._verifier.baseline)
            self._errors[name] = str(error)[:300]

    def _keep(self, name: str, plan: Plan, built: Built) -> None:
        self._builts[name] = built
        self._nests[name] = [_told(plan, position) for position in range(len(plan.nests))]

    def run(self) -> Comparison:
        """Time all that take part in turn with docc's own compile.

        Raises:
            LoopbookError: a run crashed or hung.
        """
        verifier = self._verifier
        distinct: dict[str, Built] = {verifier.baseline.code: verifier.baseline}
        for built in self._builts.values():
            distinct.setdefault(built.code, built)
        seconds = self._times(list(distinct.values()), SCHEDULE)
        docc_s = seconds[verifier.baseline.code]
        comparison = Comparison(self.name, self.target, self.preset, docc_s)
        slow = [code for code, taken in seconds.items() if taken > SLOWER * docc_s]
        before = dict.fromkeys(distinct, docc_s)
        for code in slow:
            again = self._times([verifier.baseline, distinct[code]], AGAIN)
            seconds[code], before[code] = again[code], again[verifier.baseline.code]
        for name, built in self._builts.items():
            error = self._errors.get(name, "")
            served = Served(seconds[built.code], before[built.code], self._nests[name], error)
            comparison.served[name] = served
        return comparison

    def _times(self, builts: list[Built], schedule: Schedule) -> dict[str, float]:
        """Code to the fastest run's seconds."""
        measured = self._verifier.binding.measure(builts, schedule, seconds=self._verifier.seconds)
        return {
            built.code: min(times.seconds) for built, times in zip(builts, measured, strict=True)
        }


def _told(plan: Plan, position: int) -> dict[str, Any]:
    report = plan.nests[position]
    chosen = plan.choices.get(report.position, ())
    return {
        "tier": report.tier,
        "record": report.record if report.tier != "none" else None,
        "neighbour": report.neighbour,
        "distance": report.distance,
        "predicted": report.predicted_speedup,
        "lower": chosen[0].lower if chosen else None,
        "recipe": report.recipe,
        "reason": report.reason,
    }
