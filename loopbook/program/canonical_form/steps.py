"""Operations and where their values are: what a nest is made of while its form is found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from loopbook.program.nest import Stride


@dataclass(frozen=True)
class Place:
    """An element of an array, or a scalar.

    Attributes:
        strides: by number of the loop; zero in loops that are not named.
    """

    container: int
    subset: tuple[str, ...]
    strides: tuple[tuple[int, Stride], ...]

    def stride(self, loop: int) -> Stride:
        return next((stride for at, stride in self.strides if at == loop), Stride.ZERO)


@dataclass(eq=False)
class Step:
    """An operation on values that other steps make, or that places hold.

    Attributes:
        block: number of the nest's block that it is in.
        constants: how many more inputs it has that are constants.
    """

    op: str
    dtype: str
    block: int
    constants: int
    inputs: list[Step | Place]
    writes: list[Place] = field(default_factory=list)


def places(steps: Iterable[Step]) -> Iterator[Place]:
    """All that `steps` read from memory and write to it."""
    for step in steps:
        yield from (value for value in step.inputs if isinstance(value, Place))
        yield from step.writes
