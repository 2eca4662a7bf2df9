"""How accesses move with the loops around them, whatever steps have made of both."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from loopbook.errors import SdfgError
from loopbook.program import tree
from loopbook.program.accesses import accesses
from loopbook.program.expr import Expr, polynomial, symbols
from loopbook.program.nest import Nest, Stride


class Moves:
    """The stride classes of one nest's accesses, which the versions of it share."""

    def __init__(self, nest: Nest) -> None:
        stored = (access for access in accesses(nest.loop) if access.write)
        self._changing = {access.container for access in stored if not access.subset}
        self._own = {container.data for container in nest.containers}
        self._known: dict[tuple[tuple[str, ...], tuple[str, ...]], Mapping[str, Stride]] = {}

    def own(self, container: str) -> bool:
        """Whether the nest used it before any step was applied."""
        return container in self._own

    def __call__(
        self, subset: Sequence[Expr], around: Sequence[tree.Loop | tree.While]
    ) -> Mapping[str, Stride]:
        """For each loop variable that moves an access the class of its step, as
        `loopbook.program.strides.stride`."""
        variables = tuple(loop.variable for loop in around if isinstance(loop, tree.Loop))
        key = tuple(index.text for index in subset), variables
        if key not in self._known:
            self._known[key] = self._worked_out(*key)
        return self._known[key]

    def _worked_out(self, subset: tuple[str, ...], variables: tuple[str, ...]) -> dict[str, Stride]:
        worst: dict[str, Stride] = {}
        for dimension, text in enumerate(subset):
            for name, stride in _in_one_dimension(text, variables, self._changing).items():
                if stride == Stride.UNIT and dimension < len(subset) - 1:
                    stride = Stride.CONSTANT
                worst[name] = max(stride, worst.get(name, Stride.ZERO))
        return worst


def _in_one_dimension(
    text: str, variables: Collection[str], changing: Collection[str]
) -> dict[str, Stride]:
    try:
        terms = polynomial(text)
    except SdfgError:
        return dict.fromkeys(variables, Stride.NON_AFFINE)
    if any(not _names(symbol).isdisjoint(changing) for term in terms for symbol in term):
        return dict.fromkeys(variables, Stride.NON_AFFINE)
    found: dict[str, Stride] = {}
    for term, factor in terms.items():
        moving = [symbol for symbol in term if symbol in variables]
        opaque = {name for symbol in term if "(" in symbol for name in _names(symbol)}
        for name in opaque.intersection(variables):
            found[name] = Stride.NON_AFFINE
        for name in moving:
            if len(moving) > 1:
                stride = Stride.NON_AFFINE
            elif len(term) > 1:
                stride = Stride.SYMBOLIC
            else:
                stride = Stride.UNIT if abs(factor) == 1 else Stride.CONSTANT
            found[name] = max(stride, found.get(name, Stride.ZERO))
    return found


def _names(symbol: str) -> set[str]:
    """Those in a symbol, or in an opaque term."""
    return set(symbols(symbol)) if "(" in symbol else {symbol}
