"""What would be refused in the functions of a file, told without running any of it.

Modules other than NumPy and `math` are not imported, and nothing of the file is executed: types
come from annotations, whole numbers from a literal ``PARAMETERS``::

    def kernel(n: int, A: "float64[N, M]", x: "float32[:]"): ...
    def kernel(A: np.ndarray[tuple[int, int], np.dtype[np.float64]]): ...

Of arguments without a type only that is told which is certain whatever they are.
"""

from __future__ import annotations

import ast
import builtins
import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loopbook.errors import InputError, LoweringError
from loopbook.frontend.code import Code, UntoldError
from loopbook.frontend.homes import Frame
from loopbook.frontend.inline import Local
from loopbook.frontend.liveness import Liveness, stores
from loopbook.frontend.lower import arguments
from loopbook.frontend.refusals import Collector, in_order
from loopbook.frontend.results import returned
from loopbook.frontend.returns import RETURNED, single_exit
from loopbook.frontend.samples import Samples
from loopbook.frontend.values import Thing, Unknown, Value
from loopbook.syntax import mentioned

MODULES = ("numpy", "math")

NO_KERNELS = frozenset(("initialize", "reference", "results"))
"""Functions of a workload file that are not translated."""

ABOUT_SIZES = ("shapes that do not fit", "a product of shapes")


@dataclass(frozen=True)
class Linted:
    """What is told of one function.

    Attributes:
        name: of the function.
        refusals: what has no loops, by line.
        untyped: arguments of which no type is known, so that there may be more.
    """

    name: str
    refusals: tuple[LoweringError, ...]
    untyped: tuple[str, ...]


def lint(path: Path, function: str = "") -> list[Linted]:
    """All that would be refused in a file's functions, or in one of them.

    Without a name: in those that are decorated with ``native``; if there are none, in all that are
    public and no part of a workload file but its kernel.

    Raises:
        InputError: if the file cannot be read or has no such function.
    """
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except (SyntaxError, ValueError) as error:
        raise InputError(f"{path} is no Python: {error}") from None
    nodes = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    if function and function not in nodes:
        raise InputError(f"{path} has no function {function!r}")
    chosen = [nodes[function]] if function else kernels(nodes)
    if not chosen:
        raise InputError(f"{path} has no function that could be a kernel")
    names = _names(tree, str(path))
    return [_linted(node, names, sizes_of(tree), str(path)) for node in chosen]


def kernels(nodes: Mapping[str, ast.FunctionDef]) -> list[ast.FunctionDef]:
    """Of a file's functions those that are to be translated."""
    public = [n for n in nodes.values() if n.name not in NO_KERNELS and n.name[0] != "_"]
    native = [n for n in nodes.values() if any(map(_is_native, n.decorator_list))]
    return native or public


def _is_native(node: ast.expr) -> bool:
    node = node.func if isinstance(node, ast.Call) else node
    return (node.attr if isinstance(node, ast.Attribute) else ast.unparse(node)) == "native"


def _linted(
    node: ast.FunctionDef, names: dict[str, Any], sizes: Mapping[str, Any], file: str
) -> Linted:
    found: list[LoweringError] = []
    code = Code(origin=node.lineno)
    samples = Samples(sizes)
    parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    given = {a.arg: samples.of(a.arg, a.annotation) for a in parameters}
    known = {name: value for name, value in given.items() if value is not None}
    try:
        if node.args.vararg or node.args.kwarg:
            found.append(
                LoweringError(f"{node.name}() takes any number of arguments", node.lineno, file)
            )
        body = single_exit(node.body)
        env: dict[str, Value] = {name: Unknown() for name in given}
        code.facts.taken |= set(given) | {"np", "math"}
        env.update(arguments(code, known))
        frame = Frame(env, names, file, Liveness(body, frozenset((RETURNED,))))
        t = Collector(code, frame, found)
        t.body(body)
        value = frame.env.get(RETURNED, Thing(None))
        if not isinstance(value, Unknown):
            returned(t, value)
    except UntoldError:
        pass
    except LoweringError as error:
        found.append(LoweringError(error.what, error.line or code.origin, error.file or file))
    if samples.loose:
        found = [e for e in found if not e.what.startswith(ABOUT_SIZES)]
    untyped = tuple(name for name, value in given.items() if value is None)
    return Linted(node.name, tuple(in_order(found)), untyped)


# -- the file's globals --------------------------------------------------------------------------


def _names(tree: ast.Module, file: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    frame = Frame({}, names, file, Liveness([]))
    for node in tree.body:
        match node:
            case ast.Import():
                for alias in node.names:
                    top = alias.name.partition(".")[0]
                    wanted = alias.name if alias.asname else top
                    names[alias.asname or top] = _module(wanted)
            case ast.ImportFrom():
                module = _module(node.module or "") if not node.level else Unknown()
                for alias in node.names:
                    names[alias.asname or alias.name] = getattr(module, alias.name, Unknown())
            case ast.FunctionDef():
                names[node.name] = Thing(Local(node, frame))
            case ast.ClassDef():
                names[node.name] = Unknown()
            case _:
                names.update(dict.fromkeys(stores([node]), Unknown()))
                names.update(literals(node))
    if "*" in names:  # nobody knows what that brings
        used = mentioned(tree)
        names.update({n: Unknown() for n in used - names.keys() if not hasattr(builtins, n)})
    return names


def _module(name: str) -> Any:
    if name.partition(".")[0] not in MODULES:
        return Unknown()
    try:
        return importlib.import_module(name)
    except ImportError:
        return Unknown()


def literals(node: ast.stmt) -> dict[str, Any]:
    """What a statement gives names that can be told without running it."""
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return {}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    try:
        value = ast.literal_eval(node.value)
    except (ValueError, TypeError, SyntaxError):
        return {}
    return {t.id: value for t in targets if isinstance(t, ast.Name)}


def sizes_of(tree: ast.Module) -> dict[str, Any]:
    """The sizes of the first preset of a literal ``PARAMETERS``."""
    for node in tree.body:
        presets = literals(node).get("PARAMETERS")
        if isinstance(presets, dict) and presets:
            first = next(iter(presets.values()))
            if isinstance(first, dict):
                return {str(k): v for k, v in first.items() if isinstance(v, bool | int | float)}
    return {}
