"""Functions cut at statements without a form in loops: these stay Python, what stands between them
becomes functions of their own, which can be compiled.

Before::

    def smoothed(u, keep):
        w = np.zeros(u.shape)
        for i in range(1, u.shape[0] - 1):
            w[i] = u[i - 1] + u[i + 1]
        f = np.fft.rfft(w)
        for k in range(keep, f.shape[0]):
            f[k] = 0.0
        return np.fft.irfft(f)

After::

    def smoothed(u, keep):
        w = smoothed_2_to_4(u)
        f = np.fft.rfft(w)
        smoothed_6_to_7(f, keep)
        return np.fft.irfft(f)
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from loopbook.frontend.liveness import Liveness, loads, stores
from loopbook.syntax import mentioned, returns, unused, walk

Names = frozenset[str]

WORTH = 2
"""Calls and operators from which on statements without a loop are compiled."""

_STAYS = (
    ast.ClassDef, ast.Import, ast.ImportFrom, ast.Delete, ast.NamedExpr, ast.Raise,
)  # fmt: skip
"""What is not moved into another function: it binds names otherwise than by assignments."""

_NEVER = (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await, ast.Match)
"""A function with these is not cut."""

_LOOK_AROUND = frozenset(("locals", "vars", "dir", "eval", "exec", "super", "__class__"))
"""Names of what looks at the function that calls it."""

_LOOPS = (ast.For, ast.While, ast.ListComp, ast.GeneratorExp)


@dataclass(frozen=True)
class Cut:
    """A function in parts.

    Attributes:
        rest: the function, which calls the parts.
        parts: functions without what they read from outside of the whole function.
    """

    rest: ast.FunctionDef
    parts: tuple[ast.FunctionDef, ...]


def cut(
    function: ast.FunctionDef, refused: Collection[int], without: Collection[str] = ()
) -> Cut | None:
    """A function cut at statements; None where nothing is left that is worth to be compiled.

    Args:
        function: its tree, which stays as it is.
        refused: lines of the statements that stay Python.
        without: names of parts that are not cut out.
    """
    if any(map(_ties, walk(function))) or mentioned(function) & _LOOK_AROUND:
        return None
    node = copy.deepcopy(function)
    cutting = _Cutting(node, frozenset(refused), frozenset(without))
    node.body = cutting.body(node.body, cutting.given, whole=True)
    node.decorator_list, node.returns = [], None
    if not cutting.parts or any(_computed(one) == _computed(function) for one in cutting.parts):
        return None  # a part that is all of it would be cut again for the same reason
    return Cut(node, tuple(cutting.parts))


def _ties(node: ast.AST) -> bool:
    """Whether something works in the function that it stands in alone. Names like ``self.__x`` are
    others in a class than elsewhere."""
    named = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return isinstance(node, _NEVER) or (named.startswith("__") and not named.endswith("__"))


def _computed(function: ast.FunctionDef) -> int:
    """How many statements do more than give names back."""
    found = (node for node in walk(function) if isinstance(node, ast.stmt))
    return sum(not (isinstance(node, ast.Return) and _is_trivial(node)) for node in found)


def naming(function: ast.FunctionDef, names: Collection[str]) -> frozenset[int]:
    """Lines of the statements that mention some names themselves, not in statements in them."""
    wanted = set(names)
    return frozenset(
        node.lineno
        for node in walk(function)
        if isinstance(node, ast.stmt) and node is not function
        for child in ast.iter_child_nodes(node)
        if isinstance(child, ast.expr | ast.withitem) and wanted & mentioned(child)
    )


def lines_of(node: ast.stmt) -> range:
    """The lines that a statement stands on."""
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


class _Cutting:
    """Cuts one function.

    Attributes:
        given: names of its parameters.
        parts: what has been cut from it.
    """

    def __init__(self, node: ast.FunctionDef, refused: frozenset[int], without: Names) -> None:
        arguments = node.args
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        named += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
        self.given: Names = frozenset(one.arg for one in named)
        self.parts: list[ast.FunctionDef] = []
        self._name = node.name if node.name.isidentifier() else "function"
        self._refused = refused
        self._without = without
        self._functions = _functions(node)
        self._own = self.given | stores(node.body) | self._functions
        self._taken = mentioned(node) | self._own
        self._live = Liveness(node.body)
        self._read = frozenset().union(*map(loads, node.body))
        self._pinned: Names = frozenset()

    def body(self, statements: Sequence[ast.stmt], known: Names, *, whole: bool) -> list[ast.stmt]:
        """Statements with calls of the parts that were cut from them.

        Args:
            known: names that have a value before them for sure.
            whole: whether these are all of the function's.
        """
        made: list[ast.stmt] = []
        run: list[ast.stmt] = []
        for statement in statements:
            if self._moves(statement, tail=whole):
                run.append(statement)
                continue
            made += self._cut_out(run, known, tail=False)
            known = known | _surely_set(run)
            run = []
            made.append(self._inside(statement, known))
            known = known | _surely_set([statement])
        return [*made, *self._cut_out(run, known, tail=whole)]

    def _moves(self, node: ast.stmt, *, tail: bool) -> bool:
        """Whether a statement can be moved into a function. One that returns can where all that
        comes after it is moved as well, which `_cut_out` sees to."""
        if any(isinstance(inner, _STAYS) for inner in walk(node)) or (returns(node) and not tail):
            return False
        return self._refused.isdisjoint(lines_of(node)) and not _leaves(node)

    def _inside(self, node: ast.stmt, known: Names) -> ast.stmt:
        """A statement that stays, with parts cut from what it holds."""
        match node:
            case ast.For():
                node.body = self.body(node.body, known | stores([node.target]), whole=False)
                node.orelse = self.body(node.orelse, known, whole=False)
            case ast.While() | ast.If():
                node.body = self.body(node.body, known, whole=False)
                node.orelse = self.body(node.orelse, known, whole=False)
            case ast.With() if _words(node).isdisjoint(_HEEDED):
                self._live.before(node.body, self._live.after.get(id(node), self._read))
                node.body = self.body(node.body, known, whole=False)
            case ast.Try():
                self._inside_try(node, known)
        return node

    def _inside_try(self, node: ast.Try, known: Names) -> None:
        """What a part has given names when it raises is lost: nobody may read these then."""
        before = self._pinned
        others = [*node.handlers, *node.orelse, *node.finalbody]
        read = self._live.after.get(id(node), self._read).union(*map(loads, others))
        for body in (node.body, *(one.body for one in node.handlers), node.orelse, node.finalbody):
            self._live.before(body, read)
            self._pinned = before | read if body is node.body else before
            body[:] = self.body(body, known, whole=False)
        self._pinned = before

    def _cut_out(self, run: list[ast.stmt], known: Names, *, tail: bool) -> list[ast.stmt]:
        """A call of a part made of neighbours, or they themselves."""
        if not tail and any(map(returns, run)):
            # What comes after stays Python: so does what may end the function before it.
            first = next(n for n, one in enumerate(run) if returns(one))
            return [*self._cut_out(run[:first], known, tail=False), *run[first:]]
        if not tail and run and _is_trivial(run[-1]):
            return [*self._cut_out(run[:-1], known, tail=False), run[-1]]
        if not _is_worth(run) or stores(run) & self._pinned:
            return run
        after = frozenset() if tail else self._live.after.get(id(run[-1]), self._read) & self._own
        after |= self._live.closed_over & self._own
        written = stores(run)
        out = sorted(written & after)
        unsure = frozenset(out) - _surely_set(run)
        first = Liveness(run, frozenset(out))
        needed = (first.before(run, frozenset(out)) & self._own) | unsure
        # A function of its own may read what is others' by the time that it is called.
        if not needed <= known or self._functions & (needed | frozenset(out)):
            return run
        if not tail and (shared := _shared(run, after) & frozenset(out)):
            return self._without_views(run, shared, known)
        hint = f"{self._name}_{run[0].lineno}_to_{run[-1].end_lineno}"
        name = unused(hint, self._taken)
        self._taken |= {name}
        if name in self._without:
            return run
        results: list[ast.stmt] = []
        if out and not tail:
            values = [ast.Name(one, ast.Load()) for one in out]
            value = values[0] if len(out) == 1 else ast.Tuple([*values], ast.Load())
            results = [ast.Return(value)]
        inputs = sorted(needed)
        part = ast.FunctionDef(
            name=name,
            args=ast.arguments([], [ast.arg(one) for one in inputs], None, [], [], None, []),
            body=[*run, *results],
            decorator_list=[],
            lineno=run[0].lineno,
            col_offset=0,
        )
        self.parts.append(part)
        call = ast.Call(
            ast.Name(name, ast.Load()), [ast.Name(one, ast.Load()) for one in inputs], []
        )
        if tail:
            return [ast.Return(call)]
        if not out:
            return [ast.Expr(call)]
        targets = [ast.Name(one, ast.Store()) for one in out]
        target = targets[0] if len(out) == 1 else ast.Tuple([*targets], ast.Store())
        return [ast.Assign([target], call, lineno=run[0].lineno)]

    def _without_views(self, run: list[ast.stmt], shared: Names, known: Names) -> list[ast.stmt]:
        """Neighbours of which some give names what may be parts of others' arrays. These stay
        Python: what a part gives back has memory of its own."""
        for place, one in enumerate(run):
            if any(targets & shared for targets, _ in _views(one)):
                if not isinstance(one, ast.Assign | ast.AnnAssign):
                    return run
                before = self._cut_out(run[:place], known, tail=False)
                known = known | _surely_set(run[: place + 1])
                return [*before, one, *self._cut_out(run[place + 1 :], known, tail=False)]
        return run


_VIEWS = frozenset((
    "T", "mT", "real", "imag", "flat", "reshape", "ravel", "transpose", "swapaxes", "view",
    "squeeze", "diagonal", "asarray", "atleast_1d", "atleast_2d", "atleast_3d", "moveaxis",
    "expand_dims", "broadcast_to", "broadcast_arrays", "split", "array_split", "hsplit", "vsplit",
    "asanyarray", "ascontiguousarray", "rollaxis", "flip", "fliplr", "flipud", "rot90", "require",
    "sliding_window_view", "as_strided", "nan_to_num", "astype", "diag",
))  # fmt: skip
"""Attributes and functions whose results may share memory with what they are of."""

_NUMBERS = frozenset(("shape", "size", "ndim", "dtype", "nbytes", "itemsize"))


def _shared(run: Sequence[ast.stmt], after: Names) -> Names:
    """Names that may be given memory of others that are read after some statements, too."""
    given = [pair for one in run for pair in _views(one)]
    found: set[str] = set()
    for name in frozenset().union(*(targets for targets, _ in given)):
        reached, new = frozenset((name,)), frozenset((name,))
        while new:
            new = frozenset().union(*(owners for names, owners in given if names & new)) - reached
            reached |= new
        if (reached - {name}) & after:
            found.add(name)
    return frozenset(found)


def _views(node: ast.stmt) -> Iterator[tuple[Names, Names]]:
    """Names that a statement assigns, and those whose arrays these may be, or be part of."""
    for inner in walk(node):
        match inner:
            case ast.Assign(targets=targets, value=value):
                yield stores(targets), frozenset(_owners(value))
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield stores([target]), frozenset(_owners(value))
            case ast.For(target=target, iter=rows):
                yield stores([target]), frozenset(_owners(rows))


def _owners(node: ast.expr) -> Iterator[str]:
    inner: list[ast.expr] = []
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Subscript(value=value):
            inner = [value]
        case ast.Attribute(value=value, attr=attr) if attr not in _NUMBERS:
            inner = [value]
        case ast.Call(func=ast.Attribute(value=value, attr=attr), args=args) if attr in _VIEWS:
            inner = [value, *args]
        case ast.Call(func=ast.Name(id="zip" | "enumerate" | "reversed" | "list"), args=args):
            inner = args
        case ast.IfExp(body=body, orelse=orelse):
            inner = [body, orelse]
        case ast.Tuple(elts=items) | ast.List(elts=items):
            inner = items
    for one in inner:
        yield from _owners(one)


_HEEDED = frozenset(("errstate", "suppress", "warnings"))
"""Words of contexts in which it matters how Python computes, or where it stops."""


def _words(node: ast.With) -> set[str]:
    """Names in a statement, and attributes in its contexts."""
    inner = [one for item in node.items for one in walk(item)]
    return mentioned(node) | {one.attr for one in inner if isinstance(one, ast.Attribute)}


def _functions(node: ast.FunctionDef) -> Names:
    """Names of functions that are defined in a function, and of what it imports."""
    found: set[str] = set()
    for inner in walk(node):
        match inner:
            case ast.FunctionDef() | ast.ClassDef() if inner is not node:
                found.add(inner.name)
            case ast.Assign(targets=targets, value=ast.Lambda()):
                found |= stores(targets)
            case ast.Import() | ast.ImportFrom():
                found |= {(one.asname or one.name).partition(".")[0] for one in inner.names}
            case ast.ExceptHandler(name=str(name)):
                found.add(name)
    return frozenset(found)


def _leaves(node: ast.stmt, inside: bool = False) -> bool:
    """Whether a statement may leave, or go on with, a loop that it stands in."""
    if isinstance(node, ast.Break | ast.Continue):
        return not inside
    if isinstance(node, ast.For | ast.While):
        return any(_leaves(one, True) for one in node.body) or any(map(_leaves, node.orelse))
    return any(_leaves(one, inside) for one in _statements(node))


def _statements(node: ast.stmt) -> Iterator[ast.stmt]:
    for value in vars(node).values():
        if isinstance(value, list):
            yield from (one for one in value if isinstance(one, ast.stmt))


def _surely_set(body: Sequence[ast.stmt]) -> Names:
    """Names that have a value after some statements for sure."""
    found: Names = frozenset()
    for node in body:
        match node:
            case ast.Assign() | ast.AugAssign():
                found |= stores([node])
            case ast.AnnAssign() if node.value is not None:
                found |= stores([node])
            case ast.If():
                found |= _surely_set(node.body) & _surely_set(node.orelse)
            case ast.With():
                found |= stores([item.optional_vars for item in node.items if item.optional_vars])
                if "suppress" not in _words(node):
                    found |= _surely_set(node.body)
            case ast.FunctionDef():
                found |= {node.name}
    return found


def _is_trivial(node: ast.stmt) -> bool:
    """Whether nothing is computed that could be compiled."""
    kinds = ast.Assign | ast.AnnAssign | ast.Pass | ast.Return
    return isinstance(node, kinds) and not any(
        isinstance(inner, ast.Call | ast.BinOp | ast.Compare | ast.Subscript)
        for inner in walk(node)
    )


def _is_worth(run: Sequence[ast.stmt]) -> bool:
    inner = [node for one in run for node in walk(one)]
    if any(isinstance(node, _LOOPS) for node in inner):
        return True
    return sum(isinstance(node, ast.Call | ast.BinOp | ast.AugAssign) for node in inner) >= WORTH
