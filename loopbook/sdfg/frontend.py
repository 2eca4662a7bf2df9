"""From Python functions to SDFGs, and from compiled libraries back to Python functions."""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from docc.compiler.compiled_sdfg import CompiledSDFG
from docc.compiler.docc_program import DoccOptions
from docc.python.python_program import PythonProgram
from docc.sdfg import StructuredSDFG

from loopbook.errors import RunError, SdfgError
from loopbook.sdfg.stderr import quiet_stderr

Pipe = Callable[[StructuredSDFG, Path], Path]
"""What happens between docc's frontend and the library: SDFG and folder in, library out."""


class PipedProgram(PythonProgram):
    """A docc program that leaves everything between parsing and loading to `pipe`."""

    def __init__(self, func: Callable[..., Any], options: DoccOptions, pipe: Pipe) -> None:
        super().__init__(func, options)
        self._pipe = pipe

    def sdfg_pipe(
        self,
        sdfg: StructuredSDFG,
        output_folder: str | None,
        reuse_sources: bool = False,
        metrics: Any = None,
    ) -> str:
        """Called by docc with the freshly parsed SDFG."""
        self.last_sdfg = sdfg
        folder = Path(output_folder or tempfile.mkdtemp(prefix="loopbook-"))
        return str(self._pipe(sdfg, folder))


class _Traced(Exception):
    """Carries the SDFG out of docc's compile, which would go on otherwise."""


def trace(func: Callable[..., Any], args: Sequence[Any]) -> str:
    """The SDFG of ``func(*args)`` as docc's frontend makes it: JSON text, not yet prepared.

    Raises:
        SdfgError: if docc cannot parse the function for these arguments.
    """

    def stop(sdfg: StructuredSDFG, folder: Path) -> NoReturn:
        raise _Traced(sdfg.to_json())

    try:
        _compile(func, args, stop)
    except _Traced as traced:
        return str(traced)
    raise AssertionError("docc's compile skipped its pipeline")


def bind(func: Callable[..., Any], args: Sequence[Any], library: Path) -> CompiledSDFG:
    """A callable for `library`, which was built from the SDFG of ``func(*args)``.

    Called with arguments like `args`; returns what the function returns.

    Raises:
        RunError: if the library cannot be loaded.
    """
    try:
        ctypes.CDLL(str(library))
    except OSError as error:
        raise RunError(f"cannot load the compiled program: {error}") from None
    return _compile(func, args, lambda sdfg, folder: library)


def _compile(func: Callable[..., Any], args: Sequence[Any], pipe: Pipe) -> CompiledSDFG:
    program = PipedProgram(func, DoccOptions(target="none"), pipe)
    with tempfile.TemporaryDirectory(prefix="loopbook-") as folder:
        try:
            with quiet_stderr():
                return program.compile(*args, output_folder=str(Path(folder) / "docc"))
        except (_Traced, SdfgError):
            raise
        except Exception as error:  # docc's frontend raises whatever its visitors meet
            reason = " ".join(str(error).split())[:200]
            name = getattr(func, "__name__", "the function")
            raise SdfgError(f"docc cannot parse {name}: {type(error).__name__}: {reason}") from None
