"""What all rules share: where parameters come from, and small builders of steps.

A rule turns a band of loops into a list of steps, with parameters sampled from ranges that
fit the nest and the machine. Rules need not be legal: each step decides that when it is applied,
and what is refused is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from loopbook.recipes.hardware import HardwareProfile
from loopbook.rules.bands import Band
from loopbook.steps import Step
from loopbook.targets import TARGETS

TILES = (8, 16, 32, 64, 128, 256, 512)
ROWS = (2, 3, 4, 6, 8)

Steps = list[Step]


@dataclass(frozen=True)
class TuningContext:
    """What rules sample their parameters from: the machine, the target, and the sizes at hand.

    Attributes:
        target: a name in `loopbook.targets.TARGETS`.
        lanes: doubles in one vector register.
        l1_bytes, l2_bytes, l3_bytes: data caches as one core sees them.
        threads: that the code runs with.
        trips: loop name to how often it runs at the size of the search; loops of which that is not
            known are missing.
        libraries: nests may become calls of BLAS.
    """

    target: str
    lanes: int
    l1_bytes: int = 32 << 10
    l2_bytes: int = 512 << 10
    l3_bytes: int = 8 << 20
    threads: int = 1
    trips: Mapping[str, int] = field(default_factory=dict)
    libraries: bool = False

    @property
    def parallel(self) -> bool:
        """Whether threads share the iterations of outermost loops."""
        return TARGETS[self.target].parallel

    @classmethod
    def of(
        cls,
        hardware: HardwareProfile,
        target: str,
        trips: Mapping[str, int] | None = None,
        *,
        libraries: bool = False,
    ) -> TuningContext:
        """For a machine; caches that are not known get the usual sizes."""
        caches = {
            name: size
            for name in ("l1", "l2", "l3")
            if (size := getattr(hardware, f"{name}{'d' if name == 'l1' else ''}_bytes"))
        }
        return cls(
            target,
            max(2, hardware.vector_bits // 64),
            threads=hardware.threads,
            trips=dict(trips or {}),
            libraries=libraries,
            **{f"{name}_bytes": size for name, size in caches.items()},
        )


def step(op: str, *args: str | int) -> Step:
    return Step(op, args)


def reorder(before: Sequence[str], after: Sequence[str]) -> Steps:
    """Interchanges of neighbours that bring loops from order `before` to order `after`."""
    order = list(before)
    rank = {name: place for place, name in enumerate(after)}
    steps: Steps = []
    for end in range(len(order) - 1, 0, -1):
        for place in range(end):
            if rank[order[place]] > rank[order[place + 1]]:
                steps.append(step("interchange", order[place], order[place + 1]))
                order[place], order[place + 1] = order[place + 1], order[place]
    return steps


def tile_all(sizes: dict[str, int]) -> Steps:
    return [step("tile", name, size) for name, size in sizes.items()]


def with_tiles(names: Sequence[str], tiled: Sequence[str]) -> list[str]:
    """The order of loops right after the `tiled` ones of a band have been tiled."""
    order = []
    for name in names:
        order += [f"{name}.tile", name] if name in tiled else [name]
    return order


def order_after(names: Sequence[str], steps: Iterable[Step]) -> list[str]:
    """The order of a band's loops, and of their tiles, after steps; others' steps do not count."""
    order = list(names)
    for op, args in steps:
        if not args or args[0] not in order:
            continue
        place = order.index(str(args[0]))
        if op == "tile":
            order.insert(place, f"{args[0]}.tile")
        elif op == "block":
            outer, inner = map(str, args[:2])
            order.remove(inner)
            place = order.index(outer)
            order[place : place + 1] = [f"{inner}.tile", f"{outer}.tile", outer, inner]
        elif op == "interchange" and args[1] in order:
            other = order.index(str(args[1]))
            order[place], order[other] = order[other], order[place]
    return order


def rows_written_out(row: str, along: str, count: int) -> Steps:
    """What puts so many iterations of a loop inside the one that it holds, and writes them out. The
    loops of an incomplete tile stay in their order, so that nothing is asked in the inner one."""
    return [
        step("tile", row, count),
        step("peel", row),
        step("interchange", row, along),
        step("unroll", f"{row}*"),
    ]


BandRule = Callable[[Band, Random, TuningContext], Steps]
"""One file of this package for each family of rules."""


def some_order(band: Band, random: Random) -> list[str]:
    """A random order of the band's loops; mostly with the best strides innermost."""
    names = list(band.names)
    random.shuffle(names)
    if random.random() < 0.7:
        best = band.by_locality()[-1]
        names.remove(best)
        names.append(best)
    return names
