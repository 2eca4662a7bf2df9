"""From Python functions to SDFGs, and from compiled libraries back to Python functions."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from docc.compiler.compiled_sdfg import CompiledSDFG
from docc.compiler.docc_program import DoccOptions
from docc.python.python_program import PythonProgram
from docc.sdfg import DoccMetrics, StructuredSDFG

from loopbook.errors import LoopbookError, RunError, SdfgError
from loopbook.program.extent_names import extent_names
from loopbook.program.json_text import dumped, loaded
from loopbook.sdfg import notes
from loopbook.sdfg.known_wrong import confirmed, understood
from loopbook.toolchain import blas, scratch
from loopbook.toolchain.batch import symbols
from loopbook.toolchain.run import Binding, Results
from loopbook.toolchain.stderr import quiet_stderr

Pipe = Callable[[StructuredSDFG, Path], Path]
"""What happens between docc's frontend and the library: SDFG and folder in, library out."""


class PipedProgram(PythonProgram):
    """A docc program that leaves everything between parsing and loading to `pipe`."""

    def __init__(self, func: Callable[..., Any], options: DoccOptions, pipe: Pipe) -> None:
        super().__init__(func, options)
        self._pipe = pipe

    def _build_sdfg(self, arg_types: Any, args: Sequence[Any], *rest: Any) -> Any:
        """Called by docc to parse the function. It gets one that it does not mistranslate.

        Raises:
            MistranslationError: see `loopbook.sdfg.known_wrong.understood`.
        """
        written = self.func
        self.func = understood(written, args)
        try:
            while True:
                built = super()._build_sdfg(arg_types, args, *rest)
                func = confirmed(self.func, built[0].to_json(), args)
                if func is self.func:
                    return built
                self.func = func
        finally:
            self.func = written

    def sdfg_pipe(
        self,
        sdfg: StructuredSDFG,
        output_folder: str | None,
        reuse_sources: bool = False,
        metrics: Any = None,
    ) -> str:
        """Called by docc with the freshly parsed SDFG."""
        self.last_sdfg = sdfg
        folder = Path(output_folder) if output_folder else scratch.make()
        return str(self._pipe(sdfg, folder))


class _Traced(Exception):
    """Carries the SDFG out of docc's compile, which would go on otherwise."""


def trace(func: Callable[..., Any], args: Sequence[Any]) -> str:
    """The SDFG of ``func(*args)`` as docc's frontend makes it, with what the function says
    (`loopbook.sdfg.notes`): JSON text, not yet prepared.

    Raises:
        MistranslationError: docc would make another program of it (`loopbook.sdfg.known_wrong`).
        SdfgError: if docc cannot parse the function for these arguments.
    """

    def stop(sdfg: StructuredSDFG, folder: Path) -> NoReturn:
        raise _Traced(sdfg.to_json())

    try:
        _compile(func, args, stop)
    except _Traced as traced:
        document = loaded(str(traced))
        notes.note(document, func, args)
        return dumped(document)
    raise AssertionError("docc's compile skipped its pipeline")


def size_symbols(func: Callable[..., Any], args: Sequence[Any]) -> dict[str, int]:
    """Values of the size symbols in the SDFG of ``func(*args)``: the integers among the arguments,
    and what docc's frontend makes of the shapes of arrays."""
    names = extent_names(arg.shape for arg in args if isinstance(arg, np.ndarray))
    symbols = {name: size for size, name in names.items()}
    for name, value in zip(
        inspect.signature(understood(func, args)).parameters, args, strict=False
    ):
        if isinstance(value, (int, np.integer)):
            symbols[name] = int(value)
    return symbols


def bind(func: Callable[..., Any], args: Sequence[Any], library: Path) -> CompiledSDFG:
    """A callable for `library`, which was built from the SDFG of ``func(*args)``.

    Called with arguments like `args`; returns what the function returns.

    Raises:
        RunError: if the library cannot be loaded.
    """
    check_loads(library)
    return _compile(func, args, lambda sdfg, folder: library)


def functions(first: CompiledSDFG, library: Path, names: Sequence[str]) -> list[CompiledSDFG]:
    """The functions of another library of the same program, for callers in a child process.

    Args:
        first: any bound library of the program (see `bind`).
        names: of the sources of the library (`loopbook.toolchain.batch.symbols`).

    Raises:
        RunError: if the library cannot be loaded.
    """
    check_loads(library)
    bound = CompiledSDFG(
        str(library),
        first.sdfg,
        first.shape_sources,
        first.structure_member_info,
        first.output_args,
        first.output_shapes,
        first.output_strides,
    )
    found = [bound]
    for name in symbols(names)[1:]:
        other = copy.copy(bound)
        other.func = getattr(bound.lib, name)
        other.func.argtypes, other.func.restype = bound.func.argtypes, bound.func.restype
        found.append(other)
    return found


def binding(func: Callable[..., Any], args: Sequence[Any], results: Results = None) -> Binding:
    """Runs libraries built from the SDFG of ``func(*args)``.

    Args:
        results: see `loopbook.toolchain.run.Binding`.
    """
    return Binding(partial(bind, func, args), args, results, functions)


def check_loads(library: Path) -> None:
    """Load a library; docc's own words for one that does not are misleading.

    Raises:
        RunError: if it cannot be loaded.
    """
    try:
        blas.program(library)
    except OSError as error:
        raise RunError(f"cannot load the compiled program: {error}") from None


def pipe(program: PythonProgram, text: str, folder: Path) -> Path:
    """All that docc does for `program` between its frontend and the library.

    Args:
        text: what the frontend made, an SDFG's JSON text.

    Raises:
        SdfgError: if docc refuses it.
    """
    sdfg = StructuredSDFG.parse(text)
    try:
        return Path(program.sdfg_pipe(sdfg, str(folder), metrics=DoccMetrics()))
    except LoopbookError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise SdfgError(f"docc cannot compile {program.name}: {reason}") from None


def _compile(func: Callable[..., Any], args: Sequence[Any], pipe: Pipe) -> CompiledSDFG:
    program = PipedProgram(func, DoccOptions(target="none"), pipe)
    with scratch.folder() as folder:
        try:
            with quiet_stderr():
                return program.compile(*args, output_folder=str(folder / "docc"))
        except (_Traced, SdfgError):
            raise
        except Exception as error:  # docc's frontend raises whatever its visitors meet
            reason = " ".join(str(error).split())[:200]
            name = getattr(func, "__name__", "the function")
            raise SdfgError(f"docc cannot parse {name}: {type(error).__name__}: {reason}") from None
