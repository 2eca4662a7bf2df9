"""What floating-point numbers are while a program is interpreted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from loopbook.program.dataflow import Constant, Operation


class Arithmetic(Protocol):
    """Writes what programs compute with numbers as Python."""

    def constant(self, number: Constant) -> str:
        """A constant of a block.

        Raises:
            NotInterpretedError: it is none of these numbers.
        """
        ...

    def computed(self, node: Operation, values: list[str]) -> str:
        """What an operation makes of values.

        Raises:
            NotInterpretedError: nobody knows.
        """
        ...

    def stored(self, node: Operation, value: str, types: list[str], target: str) -> str:
        """What a place of the type `target` holds when what an operation makes is stored there.

        Args:
            types: of what the operation is done to.
        """
        ...

    @property
    def runtime(self) -> Mapping[str, Any]:
        """What is called in what the others write; `_gemm` is the product of matrices."""
        ...
