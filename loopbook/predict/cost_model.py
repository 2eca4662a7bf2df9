"""The cost model: predicts the speedup of a recipe on a nest and machine, and how sure that is.

It starts from what near records say of the recipe, or from what it saves of waking threads (see
`expected`). For each target two forests (see `loopbook.predict.trees`) correct that, in base-2
logarithms of speedups over docc's own schedule: one tells how far it is off, of which `TRUST` is
believed, the other a low quantile of what is left. A shift makes that one hold on nests that it was
not trained on (split conformal prediction for quantiles: Y. Romano et al., "Conformalized quantile
regression", NeurIPS 2019).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from loopbook.embed.weights import write
from loopbook.errors import EncoderError
from loopbook.predict import features
from loopbook.predict.rows import COLUMNS, column_of
from loopbook.predict.trees import Forest
from loopbook.targets import TARGETS

DEFAULT_PATH = Path(__file__).resolve().parent.parent / "data" / "cost_model.npz"
"""The cost model that comes with loopbook."""

FORESTS = ("mean", "low")

TRUST = 0.7
"""How much of the correction is believed. Held-out families are served as well with all of it, but
the book may be better tuned than what the forests have seen."""

_LARGEST = 12.0
"""Predictions are kept within a factor of 2 to this: nothing measured is faster or slower."""


_KNOWN, _EXPECTED = COLUMNS.index("donor known"), COLUMNS.index("donor expected")
_OPENMP = COLUMNS.index("machine openmp")
_THREAD_TIME = COLUMNS.index("change thread time")
_CYCLES = COLUMNS.index("change cycles")

SLOWER = 0.4
"""What arithmetic tells to take 2 to this times as many cycles with several threads
(`loopbook.predict.cycles`) may be slower, whatever promises to gain. On held-out synthetic families
one in four of such recipes that promised to gain was slower than docc's own schedule, of the others
one in nine."""


@dataclass(frozen=True)
class Prediction:
    """Speedups over docc's own schedule.

    Attributes:
        speedup: to expect.
        lower: reached with the probability that the cost model was calibrated for.
    """

    speedup: float
    lower: float


class CostModel:
    """A trained cost model.

    Attributes:
        forests: target to one forest for each name in `FORESTS`.
        shifts: target to what is taken off the low quantile, by calibration.
        encoder: version of the encoder whose distances it was trained with.
        metadata: how it came about.
        version: short hash of all of it.
        columns: the rows' columns that it was trained on. What rows lack of these is not known,
            and what they have besides, such as a step that came later, is not asked about.
    """

    def __init__(
        self,
        forests: Mapping[str, Mapping[str, Forest]],
        shifts: Mapping[str, float],
        encoder: str,
        metadata: Mapping[str, Any],
        version: str = "",
        columns: Sequence[str] = COLUMNS,
    ) -> None:
        self.forests = {target: dict(own) for target, own in forests.items()}
        self.shifts = dict(shifts)
        self.encoder = encoder
        self.metadata = dict(metadata)
        self.version = version
        self.columns = tuple(columns)

    def predict(self, rows: Sequence[np.ndarray], *, sure: bool = True) -> list[Prediction]:
        """One prediction for each row (see `loopbook.predict.rows.Rows`), for targets that it was
        trained for (see `forests`).

        Args:
            sure: whether what is reached for sure is wanted, too; else it is 0.
        """
        if not rows:
            return []
        table = np.stack(rows)
        mean, low = np.empty(len(rows)), np.full(len(rows), -np.inf)
        for target, chosen in by_target(table).items():
            if target in self.forests and chosen.any():
                asked = table[chosen]
                known = self._known(asked)
                mean[chosen] = self._mean(target, asked, known)
                if sure:
                    told = self._low(target, mean[chosen], known)
                    low[chosen] = np.where(_doubtful(asked), -_LARGEST, told)
        return [
            Prediction(*pair) for pair in zip((2**mean).tolist(), (2**low).tolist(), strict=True)
        ]

    def _mean(self, target: str, table: np.ndarray, known: np.ndarray) -> np.ndarray:
        told = expected(table) + TRUST * self.forests[target]["mean"](known)
        return np.clip(told, -_LARGEST, _LARGEST)

    def _low(self, target: str, mean: np.ndarray, known: np.ndarray) -> np.ndarray:
        low = mean + self.forests[target]["low"](known) - self.shifts[target]
        return np.clip(low, -_LARGEST, mean)

    def _known(self, table: np.ndarray) -> np.ndarray:
        """The columns of rows that the forests ask about, where they look for them."""
        if self.columns == COLUMNS:
            return table
        beyond = np.full((len(table), 1), np.nan, table.dtype)
        return np.concatenate([table, beyond], axis=1).take(self._places, axis=1)

    @cached_property
    def _places(self) -> np.ndarray:
        """Where in rows the columns are that it was trained on; behind them what rows lack."""
        places = {name: place for place, name in enumerate(COLUMNS)}
        return np.array([places.get(name, len(COLUMNS)) for name in self.columns])

    def save(self, path: Path) -> CostModel:
        """Write it, so that the file is either the old or the new one.

        Returns:
            The cost model as `load` would read it.
        """
        arrays: dict[str, np.ndarray] = {}
        for target, forests in self.forests.items():
            for name, forest in forests.items():
                arrays |= forest.arrays(f"{target} {name}")
        told = {
            **self.metadata,
            "features": features.VERSION,
            "columns": self.columns,
            "encoder": self.encoder,
            "shifts": self.shifts,
        }
        write(path, arrays, told)
        return CostModel.load(path)

    @classmethod
    def load(cls, path: Path | None = None) -> CostModel:
        """Read and check a cost model, by default the one that comes with loopbook.

        Raises:
            EncoderError: if the file is missing, damaged, or made for other rows.
        """
        path = path or DEFAULT_PATH
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            metadata = json.loads(arrays.pop("metadata").tobytes())
            columns = tuple(column_of(str(name)) for name in metadata["columns"])
            meaning = metadata["features"]
            shifts = {str(t): float(shift) for t, shift in metadata["shifts"].items()}
            encoder = str(metadata["encoder"])
        except FileNotFoundError:
            raise EncoderError(
                f"there is no cost model at {path}: reinstall loopbook, or run 'loopbook train'"
            ) from None
        except Exception as error:  # NumPy reads headers as Python: whatever that may raise
            raise _damaged(path, type(error).__name__) from None
        if meaning != features.VERSION:
            raise EncoderError(
                f"the cost model {path} is for other features: run 'loopbook train'"
            ) from None
        try:
            forests = {
                target: {name: Forest.of(arrays, f"{target} {name}") for name in FORESTS}
                for target in shifts
            }
        except KeyError as error:
            raise _damaged(path, f"{error} is missing") from None
        every = [forest for own in forests.values() for forest in own.values()]
        if not all(forest.fits(len(columns)) for forest in every):
            raise _damaged(path, "a forest does not fit")
        return cls(forests, shifts, encoder, metadata, _version(arrays, shifts), columns)


def expected(rows: np.ndarray) -> np.ndarray:
    """What near records say, ``(r,)``, base-2 logarithms; 0 where none was asked. At least what the
    recipe saves of the time that threads cost, once it has been tried: that is arithmetic, and
    needs no record."""
    known = rows[:, _KNOWN] > 0
    told = np.where(known, rows[:, _EXPECTED], 0.0)
    tried = ~np.isnan(rows[:, _THREAD_TIME])
    saved = np.where((rows[:, _OPENMP] > 0) & tried, -rows[:, _THREAD_TIME], told)
    return np.maximum(told, saved).astype(np.float64)


def _doubtful(rows: np.ndarray) -> np.ndarray:
    """Which rows, ``(r,)``, cost more than they save by arithmetic: see `SLOWER`."""
    return (rows[:, _OPENMP] > 0) & (rows[:, _CYCLES] > SLOWER)


def by_target(rows: np.ndarray) -> dict[str, np.ndarray]:
    """Target to which rows are for it, ``(r,)``."""
    threads = rows[:, _OPENMP] > 0
    return {name: threads == target.parallel for name, target in TARGETS.items()}


def _damaged(path: Path, why: str) -> EncoderError:
    return EncoderError(
        f"the cost model {path} is damaged ({why}): reinstall loopbook, or run 'loopbook train'"
    )


def _version(arrays: Mapping[str, np.ndarray], shifts: Mapping[str, float]) -> str:
    digest = hashlib.sha256(repr(sorted(shifts.items())).encode())
    for name in sorted(arrays):
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return f"cost1-{digest.hexdigest()[:8]}"
