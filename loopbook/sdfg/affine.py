"""Linear forms as rewritings of JSON documents use them."""

from __future__ import annotations

from collections.abc import Iterable

from loopbook.dependence import linear as forms
from loopbook.dependence.linear import from_polynomial, projected, text
from loopbook.dependence.model import Linear, minus, plus, replaced, shifted
from loopbook.program.expr import Expr

__all__ = [
    "Linear",
    "from_polynomial",
    "linear",
    "minus",
    "plus",
    "projected",
    "replaced",
    "shifted",
    "text",
]


def linear(text: str, variables: Iterable[str]) -> dict[str, int]:
    """An index expression as a linear one; see `loopbook.dependence.linear.linear`."""
    return forms.linear(Expr(text), variables)
