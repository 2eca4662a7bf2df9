"""``@loopbook.native``: a Python function, compiled with recipes from the book when it is called.

It gives the numbers that Python gives. Code is compiled for each case of the arguments and run for
no other (see `loopbook.client.variants`); what cannot be compiled rightly runs as Python.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from loopbook import private, targets
from loopbook.client import field
from loopbook.client.decision import Plan
from loopbook.client.plan import build_plan
from loopbook.client.served import Book, served
from loopbook.client.variants.dispatch import Dispatcher, Variant
from loopbook.display import brief
from loopbook.errors import LoopbookError
from loopbook.sdfg.traced import Traced

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")


class NativeProgram(Dispatcher, Generic[P, R]):
    """A function that compiles itself with recipes from the book when it is called; its parameters
    and what it returns are those of the function.

    Attributes:
        plan: what was found and done at the last compile.
    """

    def __init__(
        self,
        func: Callable[P, R],
        target: str,
        book: Book,
        exclude: Collection[str],
        *,
        strict: bool = False,
        check: bool = False,
        report: bool | None = None,
    ) -> None:
        written_out = functools.partial(self._place, expressions=True)
        super().__init__(func, self._place, written_out, strict=strict, check=check)
        functools.update_wrapper(self, func)
        self.plan: Plan | None = None
        self._target = target
        self._book = book
        self._exclude = tuple(exclude)
        self._report = report

    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
            """What the function itself would return and write."""
            ...

        @overload
        def __get__(self, owner: None, kind: type | None = None) -> Self: ...

        @overload
        def __get__(
            self: NativeProgram[Concatenate[Any, Q], R], owner: object, kind: type | None = None
        ) -> Callable[Q, R]: ...

        def __get__(self, owner: Any, kind: type | None = None) -> Any: ...

    def __repr__(self) -> str:
        done = "not compiled yet" if self.plan is None else repr(self.plan)
        return brief(self, f"{self._name} for {self._target}: {done}")

    def _repr_html_(self) -> str | None:
        return None if self.plan is None else self.plan._repr_html_()

    @property
    def last_sdfg(self) -> Any:
        """What docc's frontend made at the last compile; None before."""
        return None if self.last is None else self.last.traced.sdfg

    def compile(self, *args: Any, output_folder: str | Path | None = None) -> Variant:
        """Compile the function for arguments like these, as their first call would.

        Args:
            output_folder: compile it anew, into this folder, and keep it there.

        Returns:
            What such arguments can be called with; others it refuses.

        Raises:
            LoopbookError: if nothing can be compiled for them.
        """
        return self.compiled(args, None if output_folder is None else Path(output_folder))

    def _place(
        self, traced: Traced, args: Sequence[Any], folder: Path, *, expressions: bool = False
    ) -> Sequence[Path]:
        def built(text: str, target: str, folder: Path) -> tuple[Plan, Path]:
            symbols = traced.symbols(args)
            return compile_text(
                text, target, folder, self._book, self._exclude, symbols, expressions
            )

        self.plan, library = built(traced.text, self._target, folder)
        if field.wanted(self._report):
            field.tell_of_call(traced, args, self.plan, library, self._target, self._book)
        one, prepared = targets.for_threads(1).name, self.plan.normalised or traced.text
        libraries = [library]
        if self._target != one:
            with suppress(LoopbookError):
                libraries.append(built(prepared, one, private.place(folder / one))[1])
        return libraries


@overload
def native(
    func: Callable[P, R],
    *,
    target: str = ...,
    book: Book = ...,
    exclude: Collection[str] = ...,
    strict: bool = ...,
    check: bool = ...,
    report: bool | None = ...,
) -> NativeProgram[P, R]: ...


@overload
def native(
    *,
    target: str = ...,
    book: Book = ...,
    exclude: Collection[str] = ...,
    strict: bool = ...,
    check: bool = ...,
    report: bool | None = ...,
) -> Callable[[Callable[P, R]], NativeProgram[P, R]]: ...


def native(
    func: Callable[..., Any] | None = None,
    *,
    target: str = targets.DEFAULT,
    book: Book = None,
    exclude: Collection[str] = (),
    strict: bool = False,
    check: bool = False,
    report: bool | None = None,
) -> Any:
    """Compile a Python function when it is called, with the best recipes that the book knows.

    ::

        @loopbook.native                        # or @loopbook.native(target="openmp")
        def scaled(A, x):
            return 2.0 * (A @ x)

    Nests that the book knows nothing for get docc's own schedule. Maths functions in vector loops
    are those of the C library for vectors, where it has them.

    Each kind of arguments is compiled for itself: their types, ranks, which sizes are 1 and which
    are equal, whether an array that is written was passed twice. Recipes are chosen for the sizes
    of the first call whose arrays take the same cache: where larger or smaller ones take another,
    it is compiled anew. A function of array expressions is compiled as the loops that
    `loopbook.frontend.lower` makes of it, after these have been compared with it at small sizes;
    its matrix products become calls of BLAS.
    Tuples, short lists, dicts and objects are taken apart: what the function reads of them is
    passed, what it stores into them is stored after the call. Functions that are passed become part
    of what is compiled. It may be a method.
    What cannot be compiled rightly runs as plain Python, with one
    `loopbook.errors.InterpretedWarning` for each reason: arrays that overlap in part, empty ones,
    other types. Statements without a form in loops run as Python by themselves, and the rest is
    compiled (`loopbook.client.variants.mixed`); so do ``np.linalg.solve`` and the like of large
    arrays, outside of loops. So does an array program that is faster that way: its
    second to fourth calls with arrays of some shapes are timed beside Python, on copies.
    For a target with threads it is compiled for one thread, too: the first call with arrays of some
    sizes finds out, on copies, which of the two is faster there.
    Memory for what an array program computes on the way is kept from one call to the next, up to
    128 MiB for each kind of arguments.

    Args:
        target: a name in `loopbook.targets.TARGETS`.
        book: an open `LayeredBook`, or the path of one to put over the starter book; default
            the user's.
        exclude: kernels whose records are ignored.
        strict: raise `SdfgError` instead of running Python.
        check: compare the first call of everything that is compiled with Python, on copies of its
            arguments. Where the numbers differ, Python's are given, with a warning, and such calls
            run as Python from then on.
        report: tell the user's book and the server that was asked how the recipe did: whatever is
            compiled is compared with docc's own compile, on copies of its arguments. Default what
            ``LOOPBOOK_REPORT`` says, else nothing is told.

    Raises:
        InputError: if nothing can be compiled for such a target here.
    """
    if func is None:
        return functools.partial(
            native,
            target=target,
            book=book,
            exclude=exclude,
            strict=strict,
            check=check,
            report=report,
        )
    targets.runnable(target)
    return NativeProgram(func, target, book, exclude, strict=strict, check=check, report=report)


def compile_text(
    text: str,
    target: str,
    folder: Path,
    book: Book = None,
    exclude: Collection[str] = (),
    sizes: Mapping[str, int] | None = None,
    expressions: bool = False,
) -> tuple[Plan, Path]:
    """Compile an SDFG's JSON text with what the book knows (see `loopbook.client.served`).

    Returns:
        What was done, and the shared library.

    Raises:
        LoopbookError: if the SDFG does not compile as docc's own either.
    """
    return served(
        text,
        target,
        lambda text, plan: build_plan(text, plan, folder).library,
        book,
        exclude=exclude,
        sizes=sizes,
        expressions=expressions,
        libraries=True,
    )
