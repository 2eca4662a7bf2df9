"""How to search, confirm and refine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loopbook import targets
from loopbook.toolchain.run import RUN_SECONDS
from loopbook.tuner.strategies import DEFAULT


@dataclass(frozen=True)
class Settings:
    """How to search.

    Attributes:
        target: a name in `loopbook.targets.TARGETS`.
        trials: candidates to measure.
        strategy: a name in `STRATEGIES`.
        seed: of every random choice.
        refine: candidates to measure at the last size to confirm at, around the best ones found.
        confirm: presets at which the best recipes are compared with docc's own compile as well,
            smallest first.
        timeout: limit for a run of the unoptimised program, seconds.
        builders: processes that compile candidates; 0 is one a core.
        libraries: nests may become calls of BLAS. What is found then is worth what the BLAS of the
            machine is worth that runs it, and has as many threads as that likes to have.
        regions: not nests by themselves, but neighbouring ones that hand data to each other
            (`loopbook.program.regions`).
    """

    target: str = targets.DEFAULT
    trials: int = 100
    strategy: str = DEFAULT
    seed: int = 0
    refine: int = 40
    confirm: Sequence[str] = ()
    timeout: float = RUN_SECONDS
    builders: int = 0
    libraries: bool = False
    regions: bool = False
