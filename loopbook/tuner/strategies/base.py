"""What every strategy does."""

from __future__ import annotations

from typing import Protocol

from loopbook.recipes.step import Step


class Strategy(Protocol):
    """Searches the recipes of one nest."""

    def ask(self) -> tuple[Step, ...]:
        """The next recipe to measure."""
        ...

    def tell(self, steps: tuple[Step, ...], speedup: float | None) -> None:
        """How a measured recipe did: its speedup over docc's own schedule, None for a failure.

        Also called for recipes that this strategy did not propose (results of an earlier run).
        """
        ...
