"""JSON that is not understood, kept as it came."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from loopbook.program import expr


@dataclass(frozen=True, slots=True)
class Kept:
    """A JSON value that nobody can change."""

    text: str

    @classmethod
    def of(cls, value: Any) -> Kept:
        return cls(json.dumps(value, separators=(",", ":")))

    @property
    def value(self) -> Any:
        """The value, the caller's own."""
        return json.loads(self.text)

    @property
    def symbols(self) -> frozenset[str]:
        """Whatever may be a name in it."""
        return frozenset(expr.symbols(self.text))
