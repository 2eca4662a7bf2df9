"""Scalars that a finished program gets in addition."""

from __future__ import annotations

from dataclasses import dataclass, field

from loopbook.program.tree import Program
from loopbook.program.types import Scalar


@dataclass
class NewScalars:
    """Scalars that a program is to have besides its own.

    Attributes:
        made: their types, by name.
    """

    program: Program
    made: dict[str, Scalar] = field(default_factory=dict)

    def of(self, prefix: str, kind: Scalar) -> str:
        """The name of one more."""
        name = f"{prefix}{len(self.made)}"
        while name in self.program.containers or name in self.made:
            name += "_"
        self.made[name] = kind
        return name
