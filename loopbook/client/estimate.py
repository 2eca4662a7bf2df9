"""What to expect of recipes on one nest: the cost model's predictions for what was ported."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from loopbook.client.layered import LayeredBook
from loopbook.client.ports import Port
from loopbook.client.sizes import Trips
from loopbook.client.thresholds import HOPE, SAME_FORM
from loopbook.predict.cost_model import Prediction
from loopbook.predict.rows import Donor, Rows
from loopbook.program.nest import Nest
from loopbook.steps.workbench import Transformed
from loopbook.targets import TARGETS


class Estimator:
    """Predicts how ports will do on one nest. Without a cost model that was trained for the
    target (`LayeredBook.cost_model`), what `Ports`
    expects is all there is, with nothing known of how sure that is.

    Args:
        trips: of the nest at the size at hand, as far as they are known.
        rules: names of the rules that apply to the nest.
    """

    def __init__(
        self, layered: LayeredBook, nest: Nest, target: str, trips: Trips, rules: Collection[str]
    ) -> None:
        self._layered = layered
        cost_model = layered.cost_model
        self._cost_model = (
            cost_model if cost_model is not None and target in cost_model.forests else None
        )
        self._rows = None
        self._hope = HOPE[TARGETS[target].parallel]
        if self._cost_model is not None:
            self._rows = Rows(nest, layered.hardware(target), target, trips, rules)

    def __call__(
        self, ports: Sequence[Port], dropped: int = 0, after: Transformed | None = None
    ) -> list[Prediction]:
        """One prediction for each port.

        Args:
            dropped: how many of each one's steps are left out.
            after: the nest as the ports leave it; None where they have not been tried. What they
                reach for sure is not asked then, and 0.

        Raises:
            BookError: if the nest of a port's record cannot be read.
        """
        if self._cost_model is None or self._rows is None:
            told = [math.exp(one.expected) for one in ports]
            return [Prediction(speedup, lower=speedup) for speedup in told]
        rows = [self._rows(one.recipe.steps, after, self._donor(one), dropped) for one in ports]
        told = self._cost_model.predict(rows, sure=after is not None)
        if after is None:
            told = [Prediction(self._hope * one.speedup, one.lower) for one in told]
        return [_sober(*pair) for pair in zip(told, ports, strict=True)]

    def _donor(self, port: Port) -> Donor:
        near = port.evidence.near
        return Donor(
            *self._layered.bodies(near.record, port.evidence.source),
            expected=math.exp(port.expected),
            speedup=near.record.speedup,
            distance=near.distance,
            hardware_distance=near.hardware_distance,
        )


def _sober(told: Prediction, port: Port) -> Prediction:
    """No more than the recipe gained on a nest of the same canonical form, if there is one."""
    evidence = port.evidence
    if evidence.near.distance > SAME_FORM or not evidence.gain:
        return told
    most = math.exp(evidence.gain)
    return Prediction(min(told.speedup, most), min(told.lower, most))
