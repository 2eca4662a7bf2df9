"""What docc's Python front end is known to translate wrongly: mended, or refused.

docc parses a function, and for some programs what comes out computes something else; nothing
downstream can tell. `understood` reads the function first, with the arguments that it is going to
be called with. Where a fault can be written around exactly, docc is given a function that says the
same in other words; where it cannot, `MistranslationError` says what is wrong, where, and what to
write instead. A function without known faults is handed on as it is.

One module for each group of faults, each rewriter with its before and after:

- `ignored`: statements that docc leaves out;
- `spelling`: variables with the names of something else;
- `helpers`: called functions, and names that are not what they seem;
- `truth`: ``not``, ``and``, ``or``, chains of comparisons;
- `assignments`: tuples, variables and results that change their type;
- `integers`: floor division, remainders, shifts;
- `narrow_sums`: sums of 32 bits, of which all bits count;
- `conditionals`: ``x if … else y``;
- `jumps`: ``continue``;
- `repeated`: updates that both branches end in;
- `loops`: counters, steps, bounds, ``break``;
- `subscripts`: negative indices;
- `arrays`: products, slices, types of array expressions;
- `overwritten`: elements that are stored twice;
- `in_place`: elements that change by what NumPy's functions give;
- `copies`: elements that are copied before they change;
- `carried`: variables that docc takes for their first value in all iterations;
- `firsts`: the same, where the text of the function shows it;
- `resets`: variables that a branch sets before all iterations use them;
- `scalars`: NumPy's scalars as arguments;
- `nans`: data that is no number;
- `shown`: what an SDFG shows whose function nobody has.

All are listed, each with its test, in docs/known-wrong.md, with what cannot be recognised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from loopbook.sdfg.known_wrong import (
    arrays,
    assignments,
    carried,
    conditionals,
    copies,
    firsts,
    helpers,
    ignored,
    in_place,
    integers,
    jumps,
    loops,
    nans,
    narrow_sums,
    overwritten,
    repeated,
    resets,
    scalars,
    spelling,
    subscripts,
    truth,
)
from loopbook.sdfg.known_wrong.kinds import Kind, Kinds, of_value
from loopbook.sdfg.known_wrong.shown import shown
from loopbook.sdfg.known_wrong.source import Source

__all__ = ["confirmed", "shown", "understood"]

DEEPEST = 4
"""How far calls within calls are looked into."""


def understood(func: Callable[..., Any], args: Sequence[Any]) -> Callable[..., Any]:
    """A function that docc translates to what `func` computes, as far as is known.

    Args:
        args: what it is called with.

    Returns:
        `func` itself where nothing has to be written differently.

    Raises:
        MistranslationError: docc would give wrong numbers, and we know no other way to say it.
    """
    source = _examined(func, args)
    return func if source is None else source.function()


def confirmed(func: Callable[..., Any], text: str, args: Sequence[Any]) -> Callable[..., Any]:
    """What docc is to read instead, where only what it makes of a function shows that it is wrong.

    Args:
        func: what `understood` gave.
        text: its SDFG, as docc's front end makes it.
        args: what it is called with.

    Returns:
        `func` itself where nothing is known to be wrong.

    Raises:
        MistranslationError: docc would give wrong numbers, and we know no other way to say it.
    """
    source = Source.of(func)
    if source is None or len(source.parameters) != len(args):
        return func
    carried.mend(source, text, args)
    return source.function()


def _examined(func: Callable[..., Any], args: Sequence[Any]) -> Source | None:
    source = Source.of(func)
    if source is None or len(source.parameters) != len(args):
        return None  # docc says why it does not translate those
    ignored.check(source)
    spelling.run(Kinds(source, dict(zip(source.parameters, map(of_value, args), strict=True))))
    given = dict(zip(source.parameters, args, strict=True))
    parameters = {name: of_value(value) for name, value in given.items()}
    scattered = frozenset(
        name
        for name, value in given.items()
        if isinstance(value, np.ndarray) and not value.flags["C_CONTIGUOUS"]
    )
    scalars.check(source, given)
    nans.check(Kinds(source, parameters), args)
    _rewrite(source, parameters, scattered, loops.extents_of_one(given.items()))
    return source


def _rewrite(
    source: Source,
    parameters: dict[str, Kind],
    scattered: frozenset[str],
    ones: frozenset[tuple[str, int]],
    depth: int = 0,
) -> None:
    """All checks and rewritings, in an order in which none makes work for one before it."""

    def kinds() -> Kinds:
        return Kinds(source, parameters)

    ignored.check(source)
    helpers.check(source)
    if depth < DEEPEST:
        _check_helpers(kinds(), depth)
    ignored.Annotations(source).run()
    jumps.run(source)
    repeated.run(source)
    truth.Truth(kinds()).run()
    assignments.Together(kinds()).run()
    assignments.negatives(kinds())
    overwritten.run(kinds())
    copies.counts(kinds())
    copies.held(kinds())
    integers.SingleCounts(kinds(), ones).run()
    narrow_sums.check(kinds())
    integers.Division(kinds()).run()
    conditionals.Conditionals(kinds()).run()
    assignments.Retyped(kinds()).run()
    assignments.Results(kinds()).run()
    subscripts.Negative(kinds()).run()
    in_place.InPlace(source).run()
    copies.run(kinds())
    arrays.check(kinds(), scattered)
    arrays.transposed_operands(kinds(), scattered)
    loops.Loops(kinds(), ones).run()
    resets.run(kinds())
    firsts.run(kinds())


def _check_helpers(kinds: Kinds, depth: int) -> None:
    """Functions that the function calls are part of it for docc; only their texts are not ours to
    rewrite, so what would have to be is refused."""
    for call, inner in helpers.called(kinds.source):
        if len(inner.parameters) != len(call.args):
            continue  # docc says so
        given = [kinds.of(argument) for argument in call.args]
        parameters = dict(zip(inner.parameters, given, strict=True))
        inner.node.returns = None  # docc does not look at it there
        _rewrite(inner, parameters, frozenset(), frozenset(), depth + 1)
        if inner.mends:
            kinds.source.refuse(
                call,
                f"mistranslates '{inner.node.name}', {inner.mends[0]}",
                "write it out in the function",
            )
