"""What was weighed when a nest got its recipe: for who wants to see why, not for who decides."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from loopbook.recipes.layer import Neighbour
from loopbook.recipes.recipe import Recipe

if TYPE_CHECKING:
    from loopbook.client.candidates import Candidate
    from loopbook.predict.cost_model import Prediction
    from loopbook.steps import Step

LESS = "promises less than another"


@dataclass(frozen=True)
class Weighed:
    """One recipe of one neighbour, as ported.

    Attributes:
        estimate: what it promises; `lower` is 0 where it was not tried.
        taken: it can be used, and is the first choice or one of those to be measured.
        why: one line.
        refused: steps that are not legal here, with why as far as that is known.
    """

    near: Neighbour
    recipe: Recipe
    estimate: Prediction
    taken: bool
    why: str
    refused: tuple[str, ...] = ()


@dataclass
class Weighing:
    """What was weighed for the nests of a program, by their fingerprints.

    Attributes:
        neighbours: that were looked at, nearest first, those too far away included.
    """

    neighbours: dict[str, list[Neighbour]] = field(default_factory=dict)
    recipes: dict[str, list[Weighed]] = field(default_factory=dict)
    _dropped: dict[Recipe, tuple[str, ...]] = field(default_factory=dict)

    def looked_at(self, fingerprint: str, neighbours: list[Neighbour]) -> None:
        self.neighbours.setdefault(fingerprint, []).extend(neighbours)

    def dropped(self, recipe: Recipe, steps: tuple[Step, ...]) -> None:
        """Without these steps, this recipe is legal."""
        told = (f"{step.text()}: refused here, and left out" for step in steps)
        self._dropped[recipe] = (*self._dropped.get(recipe, ()), *told)

    def weighed(
        self,
        fingerprint: str,
        one: Candidate,
        why: str,
        *,
        taken: bool = False,
        refused: tuple[str, ...] = (),
    ) -> None:
        recipe = one.port.recipe
        refused = (*refused, *self._dropped.get(recipe, ()))
        told = Weighed(one.port.evidence.near, recipe, one.estimate, taken, why, refused)
        self.recipes.setdefault(fingerprint, []).append(told)


class Unheard(Weighing):
    """Keeps nothing: where nobody asks why, a plan need not pay for it."""

    def looked_at(self, fingerprint: str, neighbours: list[Neighbour]) -> None:
        pass

    def dropped(self, recipe: Recipe, steps: tuple[Step, ...]) -> None:
        pass

    def weighed(
        self,
        fingerprint: str,
        one: Candidate,
        why: str,
        *,
        taken: bool = False,
        refused: tuple[str, ...] = (),
    ) -> None:
        pass
