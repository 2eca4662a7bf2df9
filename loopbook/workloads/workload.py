"""Workload files: a kernel, its data and its sizes in one Python file.

This is the form that NPBench-style benchmark files have, so they run as they are::

    PARAMETERS = {"S": {"N": 100}, "L": {"N": 2000}}     # preset -> sizes

    def initialize(N, datatype=np.float64):              # sizes -> data
        ...
        return A, B                                      # or {"A": A, "B": B}

    def kernel(A, B):                                    # works in place, or returns its result
        ...

    def reference(A, B):                                 # optional: the same, independently
        ...

    def results(A, B):                                   # optional: what must agree after a run
        return [B]

The kernel's arguments are found by name in what ``initialize`` returns and in the parameters.
Without ``results``, all array arguments must agree, whatever the program that computed them.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib.util
import inspect
import linecache
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from loopbook.display import brief, table
from loopbook.errors import WorkloadError

Parameters = dict[str, int]

OWN_NAMES = frozenset({"initialize", "reference", "results"})
"""Public functions of a workload file that are no kernel."""


@dataclass(frozen=True)
class Workload:
    """A kernel with the means to make its arguments.

    Attributes:
        name: how lists and reports call it.
        path: the file it comes from.
        parameters: the presets, from name to sizes, in the file's order.
        kernel: the plain Python function.
        initialize: makes the data from (some of) the sizes.
        reference: an independent version with the kernel's arguments, if there is one.
    """

    name: str
    path: Path
    parameters: dict[str, Parameters]
    kernel: Callable[..., Any]
    initialize: Callable[..., Any] = field(repr=False)
    reference: Callable[..., Any] | None = field(default=None, repr=False)
    _results: Callable[..., Any] | None = field(default=None, repr=False)
    _returned: tuple[str, ...] = field(default=(), repr=False)

    def __repr__(self) -> str:
        return brief(self, f"{self.name}: presets {', '.join(self.parameters)}")

    def _repr_html_(self) -> str:
        rows = [
            (preset, ", ".join(f"{name} {size}" for name, size in sizes.items()))
            for preset, sizes in self.parameters.items()
        ]
        return table(("preset", "sizes"), rows, f"Workload {self.name}")

    def sizes(self, preset: str, overrides: Mapping[str, int] | None = None) -> Parameters:
        """The sizes of `preset`, some of them replaced by `overrides`.

        Raises:
            WorkloadError: if there is no such preset, or no such size to override.
        """
        if preset not in self.parameters:
            known = ", ".join(self.parameters)
            raise WorkloadError(f"{self.name} has no preset {preset!r}; it has {known}")
        sizes = dict(self.parameters[preset])
        for name, value in (overrides or {}).items():
            if name not in sizes:
                raise WorkloadError(f"{self.name} has no size {name!r}; it has {', '.join(sizes)}")
            sizes[name] = value
        return sizes

    def arguments(self, preset: str, overrides: Mapping[str, int] | None = None) -> list[Any]:
        """Freshly initialised arguments of the kernel, in its order.

        Raises:
            WorkloadError: if the preset is unknown, `initialize` raises, or nothing provides an
                argument.
        """
        sizes = self.sizes(preset, overrides)
        accepted = _accepted(self.initialize, sizes)
        try:
            made = self.initialize(**accepted)
        except Exception as error:
            raise WorkloadError(f"{self.path}: initialize raised {_described(error)}") from error
        return self._in_order(made, sizes)

    def results(self, arguments: list[Any]) -> list[np.ndarray]:
        """What of a finished run's `arguments` must be the same for every right program.

        All arrays among them, unless the file's own ``results`` says otherwise (where rounding
        decides, as in a Gram-Schmidt of dependent columns).
        """
        if self._results is not None:
            return list(self._results(*arguments))
        return [value for value in arguments if isinstance(value, np.ndarray)]

    def _in_order(self, made: Any, sizes: Parameters) -> list[Any]:
        parameters = inspect.signature(self.kernel).parameters.values()
        if isinstance(made, Mapping):
            data = dict(made)
        else:
            values = made if isinstance(made, tuple) else (made,)
            data = self._named(values, [p.name for p in parameters], sizes)
        available = {**sizes, **data}
        arguments = []
        for parameter in parameters:
            if parameter.name in available:
                arguments.append(available[parameter.name])
            elif parameter.default is not inspect.Parameter.empty:
                arguments.append(parameter.default)
            else:
                raise WorkloadError(
                    f"{self.path}: nothing provides {self.kernel.__name__}'s argument "
                    f"{parameter.name!r}; return it from initialize or name it in PARAMETERS"
                )
        return arguments

    def _named(
        self, values: tuple[Any, ...], arguments: list[str], sizes: Parameters
    ) -> dict[str, Any]:
        """Names for a tuple: the return line's if they serve the kernel, else by position, with or
        without the sizes."""
        wanted = [name for name in arguments if name not in sizes]
        if len(self._returned) == len(values):
            data = dict(zip(self._returned, values, strict=True))
            if data.keys() >= set(wanted) or len(values) != len(wanted):
                return data
        if len(values) == len(wanted):
            return dict(zip(wanted, values, strict=True))
        if len(values) == len(arguments):
            return dict(zip(arguments, values, strict=True))
        raise WorkloadError(
            f"{self.path}: initialize returns {len(values)} values, "
            f"{self.kernel.__name__} takes {len(wanted)} besides the sizes; return them by name"
        )


def load_workload(path: str | Path, func: str | None = None) -> Workload:
    """Read a workload file. **Runs the file**, as importing it would: load only what you trust.

    Args:
        path: the file; ``FILE.py:FUNC`` names the kernel function too.
        func: the kernel function; default ``kernel``, else the only public function besides
            ``initialize``, ``reference`` and ``results``. A function that a decorator such as
            docc's ``@native`` has wrapped is taken as it was written.

    Raises:
        WorkloadError: if the file is missing, does not run, or lacks one of its parts.
    """
    path = Path(path)
    if func is None and not path.exists() and ".py:" in path.name:
        stem, _, func = path.name.rpartition(":")
        path = path.with_name(stem)
    return read_workload(_read(path), path, func)


def read_workload(source: str, path: Path, func: str | None = None) -> Workload:
    """The workload whose file would have the text `source`; **runs it**, as `load_workload` does.

    Args:
        path: the file, or what is to stand for it where there is none.
        func: as for `load_workload`.

    Raises:
        WorkloadError: if the text does not run, or lacks one of its parts.
    """
    if not path.exists():
        # docc asks `inspect` for the source of a kernel, which looks here for text without a file.
        lines = source.splitlines(keepends=True)
        linecache.cache[str(path.resolve())] = (len(source), None, lines, str(path))
    module = _execute(path, source)
    kernel = _kernel(module, path, func)
    initialize = getattr(module, "initialize", None)
    if not callable(initialize):
        raise WorkloadError(f"{path} has no initialize function; it makes the kernel's data")
    return Workload(
        name=path.stem if func is None else func,
        path=path,
        parameters=_parameters(module, path),
        kernel=kernel,
        initialize=initialize,
        reference=_optional(module, "reference"),
        _results=_optional(module, "results"),
        _returned=_returned_names(source),
    )


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise WorkloadError(f"there is no file {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no UTF-8 text"
        raise WorkloadError(f"cannot read {path}: {reason}") from None


def _execute(path: Path, source: str) -> ModuleType:
    tag = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]
    name = f"_loopbook_workload_{tag}"
    spec = importlib.util.spec_from_loader(name, loader=None, origin=str(path))
    if spec is None:
        raise WorkloadError(f"cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(path.resolve())
    try:
        code = compile(source, module.__file__, "exec")
    except (SyntaxError, ValueError) as error:
        line = f" line {error.lineno}" if isinstance(error, SyntaxError) else ""
        raise WorkloadError(f"{path}{line} is no valid Python: {_described(error)}") from None
    sys.modules[name] = module  # dataclasses and the like look their module up while it runs
    try:
        with _importable(path.resolve().parent):
            exec(code, module.__dict__)
    except (Exception, SystemExit) as error:
        sys.modules.pop(name, None)
        raise WorkloadError(f"{path} raised {_described(error)} when it was run") from error
    return module


@contextlib.contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Let the file import its neighbours, as ``python FILE.py`` would."""
    entry = str(folder)
    sys.path.insert(0, entry)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(entry)


def _kernel(module: ModuleType, path: Path, func: str | None) -> FunctionType:
    if func is not None:
        chosen = _unwrapped(getattr(module, func, None))
        if chosen is None:
            raise WorkloadError(f"{path} has no function {func!r}")
        return chosen
    chosen = _unwrapped(getattr(module, "kernel", None))
    if chosen is not None:
        return chosen
    candidates = {
        name: function
        for name, value in vars(module).items()
        if not name.startswith("_") and name not in OWN_NAMES
        if (function := _unwrapped(value)) is not None and function.__module__ == module.__name__
    }
    if len(candidates) == 1:
        return next(iter(candidates.values()))
    if not candidates:
        raise WorkloadError(f"{path} has no kernel function")
    raise WorkloadError(
        f"{path} has no function 'kernel' but {', '.join(candidates)}; choose one with FILE.py:FUNC"
    )


def _unwrapped(value: Any) -> FunctionType | None:
    """The plain function behind `value`, through decorators that keep it as ``func``."""
    if isinstance(value, FunctionType):
        return inspect.unwrap(value)  # type: ignore[return-value]
    inner = getattr(value, "func", None)
    return inner if isinstance(inner, FunctionType) else None


def _optional(module: ModuleType, name: str) -> Callable[..., Any] | None:
    value = getattr(module, name, None)
    return value if callable(value) else None


def _parameters(module: ModuleType, path: Path) -> dict[str, Parameters]:
    presets = getattr(module, "PARAMETERS", None)
    if not isinstance(presets, Mapping) or not presets:
        raise WorkloadError(f"{path} has no PARAMETERS; write PARAMETERS = {{'S': {{'N': 100}}}}")
    for preset, sizes in presets.items():
        if not isinstance(sizes, Mapping):
            raise WorkloadError(f"{path}: PARAMETERS[{preset!r}] is no dict of sizes")
    return {str(preset): dict(sizes) for preset, sizes in presets.items()}


def _accepted(initialize: Callable[..., Any], sizes: Parameters) -> Parameters:
    """Those sizes that `initialize` takes: stencils' time steps, for example, it often does not."""
    parameters = inspect.signature(initialize).parameters
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values()):
        return sizes
    return {name: value for name, value in sizes.items() if name in parameters}


def _returned_names(source: str) -> tuple[str, ...]:
    """The names on the last line ``return a, b, c`` of ``initialize``; none if it returns else."""
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "initialize":
            returns = [node for node in _own_nodes(statement) if isinstance(node, ast.Return)]
            if not returns:
                return ()
            value = max(returns, key=lambda node: node.lineno).value
            elements = value.elts if isinstance(value, ast.Tuple) else [value]
            names = [element.id for element in elements if isinstance(element, ast.Name)]
            return tuple(names) if len(names) == len(elements) else ()
    return ()


def _own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of a function's body without those of the functions and classes inside it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))


def _described(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:300] if text else type(error).__name__
