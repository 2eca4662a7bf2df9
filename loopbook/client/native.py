"""``@loopbook.native``: docc's ``@native`` with recipes from the book."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from loopbook.client.decision import Plan
from loopbook.client.plan import build_plan, make_plan
from loopbook.client.shelf import Shelf, open_shelf
from loopbook.errors import CompilerError, IllegalStepError, RunError, SdfgError
from loopbook.sdfg.build import build_baseline
from loopbook.sdfg.frontend import DoccOptions, PipedProgram, size_symbols
from loopbook.sdfg.program import TARGETS

Book = Shelf | str | Path | None
"""A shelf, the path or URL of a book to put over the starter book, or the user's own book."""


class NativeProgram(PipedProgram):
    """A function that compiles itself with recipes from the book when it is first called.

    Attributes:
        plan: what was found and done at the last compile.
    """

    def __init__(
        self, func: Callable[..., Any], target: str, book: Book, exclude: Collection[str]
    ) -> None:
        super().__init__(func, DoccOptions(target=target), self._build)
        functools.update_wrapper(self, func)
        self.plan: Plan | None = None
        self._target = target
        self._book = book
        self._exclude = tuple(exclude)
        self._arguments: tuple[Any, ...] = ()
        self._placed = False

    def compile(self, *args: Any, output_folder: str | None = None) -> Any:
        """Called by docc with the first call's arguments. Recipes are chosen for their sizes; as
        with docc's ``@native``, the result serves later calls at other sizes too."""
        self._arguments, self._placed = args, output_folder is not None
        try:
            return super().compile(*args, output_folder=output_folder)
        finally:
            self._arguments = ()

    def _build(self, sdfg: Any, folder: Path) -> Path:
        if not self._placed:
            # docc gives all programs of one function and target the same folder, its own too, and
            # a process that has loaded a library gets that one for its path ever after.
            folder.mkdir(parents=True, exist_ok=True)
            folder = Path(tempfile.mkdtemp(prefix="loopbook-", dir=folder))
        sizes = size_symbols(self.func, self._arguments)
        self.plan, library = compile_text(
            sdfg.to_json(), self._target, folder, self._book, self._exclude, sizes
        )
        return library


def native(
    func: Callable[..., Any] | None = None,
    *,
    target: str = "sequential",
    book: Book = None,
    exclude: Collection[str] = (),
) -> Any:
    """Compile a Python function at its first call, with the best recipes that the book knows.

    Used as ``@loopbook.native`` or ``@loopbook.native(target="openmp")``. Nests that the book knows
    nothing for get docc's own schedule; a program that it knows nothing for at all is compiled
    exactly as docc would.

    Args:
        target: "sequential" or "openmp".
        book: a `Shelf`, or the path of a book to put over the starter book; default the user's.
        exclude: kernels whose records are ignored.

    Raises:
        SdfgError: if there is no such target.
    """
    if func is None:
        return functools.partial(native, target=target, book=book, exclude=exclude)
    if target not in TARGETS:
        raise SdfgError(f"there is no target {target!r}; take {' or '.join(TARGETS)}")
    return NativeProgram(func, target, book, exclude)


def compile_text(
    text: str,
    target: str,
    folder: Path,
    book: Book = None,
    exclude: Collection[str] = (),
    sizes: Mapping[str, int] | None = None,
) -> tuple[Plan, Path]:
    """Compile an SDFG's JSON text with what the book knows.

    A recipe that turns out not to compile is left out: then the program is docc's own.

    Args:
        sizes: see `loopbook.client.plan.make_plan`.

    Returns:
        What was done, and the shared library.

    Raises:
        LoopbookError: if the SDFG does not compile as docc's own either.
    """
    shelf = book if isinstance(book, Shelf) else open_shelf(book)
    try:
        plan = make_plan(text, target, shelf, exclude=exclude, sizes=sizes)
        shelf.note_misses(plan.missed, target)
    except (SdfgError, RunError):  # what docc cannot prepare in our way it may compile in its own
        plan = Plan(target, ())
    finally:
        if shelf is not book:
            shelf.close()
    try:
        return plan, build_plan(text, plan, folder).library
    except (IllegalStepError, CompilerError, RunError) as error:
        if not plan.active:
            raise
        return plan.without_recipes(str(error)), build_baseline(text, target, folder).library
