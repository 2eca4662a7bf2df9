"""What the book knows, carried out on a program, and what is done where that fails."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from loopbook.client.decision import Plan
from loopbook.client.layered import LayeredBook
from loopbook.client.opening import open_book
from loopbook.client.plan import make_plan
from loopbook.errors import CompilerError, IllegalStepError, RunError, SdfgError
from loopbook.targets import UNSCHEDULED

Book = LayeredBook | str | Path | None
"""An open book, the path or URL of one to put over the starter book, or the user's own."""

Made = TypeVar("Made")


def served(
    text: str,
    target: str,
    make: Callable[[str, Plan], Made],
    book: Book = None,
    *,
    exclude: Collection[str] = (),
    max_distance: float | None = None,
    sizes: Mapping[str, int] | None = None,
    expressions: bool = False,
    libraries: bool = False,
) -> tuple[Plan, Made]:
    """Plan a program, and make of the text and the plan what is wanted.

    A recipe that turns out not to work is left out: then the program is docc's own, or, where that
    may be wrong, the prepared one. What cannot be prepared is not optimised at all.

    Args:
        text: the program's SDFG as JSON text.
        exclude, max_distance, sizes, expressions, libraries: see `loopbook.client.plan.make_plan`.

    Returns:
        What was done, and what was made.

    Raises:
        LoopbookError: if there is nothing to make of docc's own form of the program either.
    """
    try:
        with opened(book) as books:
            plan = make_plan(
                text,
                target,
                books,
                exclude=exclude,
                max_distance=max_distance,
                sizes=sizes,
                expressions=expressions,
                libraries=libraries,
            )
            books.note_misses(plan.normalised, plan.missed, target, sizes)
    except (SdfgError, RunError):
        # docc's own compile may work where ours does not, but nobody has looked then at what it
        # moves, or shares out among threads.
        plan = Plan(UNSCHEDULED, ())
    try:
        return plan, make(text, plan)
    except (IllegalStepError, CompilerError, RunError) as error:
        if not plan.choices:
            raise
        bare = plan.without_recipes(str(error))
        return bare, make(text, bare)


@contextmanager
def opened(book: Book) -> Iterator[LayeredBook]:
    """An open book; closed afterwards, if it was opened for this."""
    if isinstance(book, LayeredBook):
        yield book
    else:
        with open_book(book, standing=True) as own:
            yield own
