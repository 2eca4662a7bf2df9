"""What every strategy is given and what it does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Protocol

from loopbook.program.nest import Nest
from loopbook.rules import TuningContext
from loopbook.steps import Step
from loopbook.steps.transformer import Transformer


@dataclass(frozen=True)
class Problem:
    """One nest to search recipes for.

    Attributes:
        nest: of the prepared program.
        context: machine, target and sizes.
        random: where all random choices come from.
        starts: recipes of near neighbours, ported to this nest, nearest first.
    """

    nest: Nest
    context: TuningContext
    random: Random
    starts: Sequence[tuple[Step, ...]] = ()

    @cached_property
    def transformed(self) -> Transformer:
        """The nest after a recipe."""
        return Transformer(self.nest)


class Strategy(Protocol):
    """Searches the recipes of one nest.

    Measuring is pipelined: several recipes may be asked for before the first of them is told, and
    they may be told in another order.
    """

    def ask(self) -> tuple[Step, ...]:
        """The next recipe to measure."""
        ...

    def tell(self, steps: tuple[Step, ...], speedup: float | None) -> None:
        """How a measured recipe did: its speedup over docc's own schedule, None for a failure.

        Args:
            steps: those that docc accepted of what was asked; it leaves out what it refuses.

        Also called for recipes that this strategy did not propose (results of an earlier run).
        """
        ...
