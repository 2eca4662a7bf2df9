"""A program whose two nests are one region, records of it, and sweeps in a time loop."""

from __future__ import annotations

from client_kit import product, record

from loopbook.program.load import load_json
from loopbook.program.regions import is_region
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.record import Measurement, Provenance, Record
from loopbook.sdfg import program

ROLLED = "roll L1 1\n"


def smoothed(A, B):
    t = (A[:-2] + A[1:-1] + A[2:]) / 3.0
    u = (t[:, :-2] + t[:, 1:-1] + t[:, 2:]) / 3.0
    B[2:-2, 2:-2] = u[1:-1, 2:] * u[1:-1, :-2] - u[2:, 1:-1] * u[:-2, 1:-1]


def two_sweeps(A, T, n):
    for t in range(n):  # noqa: B007
        for i in range(1, A.shape[0] - 1):
            for j in range(A.shape[1]):
                T[i, j] = A[i - 1, j] + A[i, j] + A[i + 1, j]
        for i in range(1, A.shape[0] - 1):
            for j in range(A.shape[1]):
                A[i, j] = 0.25 * T[i, j]


def regional(speedup: float, text: str, recipe: str = ROLLED, kernel: str = "smoothed") -> Record:
    """A record of the only region of a prepared program."""
    joined, nests = program.in_regions(text)
    (region,) = (nest for nest in nests if is_region(nest.loop))
    return Record(
        fingerprint=region.fingerprint,
        nest=f"{kernel}:0",
        nest_json=program.cut_from(load_json(joined), region),
        target="sequential",
        hardware=record(product, "").hardware,
        recipe=Recipe.parse(recipe),
        measurements=(Measurement(speedup, 1.0, 0.01, 5, {}),),
        provenance=Provenance(kernel),
    )
