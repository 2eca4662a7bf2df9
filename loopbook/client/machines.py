"""Records of one nest that several machines measured: whose come first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from loopbook.client.sizes import Trips, about_measured, exact_speedup
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.record import Record

FADING, DOUBT = 0.25, 0.3
"""What a record loses with each unit of distance between the machines (1 for AVX2 against AVX-512):
this part of its gain, in logarithms, but at least so much.

PolyBench LARGE, one thread, on AVX2, where few nests have records of that machine, against those
first whatever they gain: symm 8.1, gemm and covariance 3.1, 3mm 2.6, 2mm 2.2, doitgen and
jacobi-2d 2.0, syrk and syr2k 1.5, gemver 1.13 times as fast (products not without
`loopbook.sdfg.inner_vectors`; commit d29a718). With 0.25 and 0.1, mvt and deriche lost 12 %.
"""

OTHER_SIZE = 1.1
"""A recipe that another machine timed at other sizes only, or that was compared here at such, is
doubted like one of a machine so far away: others' records may tell of sizes like the one at hand.
Chosen. mvt at LARGE had got what SSE2 gained 1.4 with at MEDIUM, and was 0.8 times as fast."""


def ranked(
    records: Iterable[tuple[int, Record]],
    here: HardwareProfile,
    trips: Trips,
    shifts: Mapping[str, float] = MappingProxyType({}),
) -> list[Record]:
    """Of one machine: those of the first layers, then the fastest at the size at hand. The machine
    whose first record promises most for this one comes first; but where recipes were compared here,
    at about that size (`loopbook.recipes.record.ADOPTED`), what others promise is known to be no
    better, and this machine does.

    Args:
        records: with the places of their layers.
        trips: of the nest at that size, as far as they are known.
        shifts: what to add to log speedups, by record, where reports say so.
    """
    machines: dict[float, list[tuple[int, float, Record]]] = {}
    for place, record in records:
        speedup = exact_speedup(record, trips) * math.exp(shifts.get(record.id, 0.0))
        away = here.distance(record.hardware)
        if (record.adopted or away > 0) and not about_measured(record, trips):
            away += OTHER_SIZE
        machines.setdefault(away, []).append((place, -speedup, record))
    for rows in machines.values():
        rows.sort(key=lambda row: row[:2])
    known = any(one.adopted for *_, one in machines.get(0.0, ()))

    def order(away: float) -> tuple[float, float]:
        sure = known and away == 0.0
        return -math.inf if sure else -_promise(-machines[away][0][1], away), away

    first = sorted(machines, key=order)
    return [row[-1] for away in first for row in machines[away]]


def _promise(speedup: float, away: float) -> float:
    """The gain to expect, in logarithms, where a machine so far away gained so much."""
    gain = math.log(max(speedup, 1.0))
    return gain - doubt(gain, away)


def doubt(gain: float, away: float) -> float:
    """What is taken off a gain, in logarithms, that was measured on a machine so far away."""
    return away * max(FADING * gain, DOUBT)
