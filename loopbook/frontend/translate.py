"""Statements: from the tree of a Python function to `Code`.

Names of scalars are made anew at each assignment, and a name of an array stands for a view, a
buffer of its own or an expression that is not computed yet. Where a name has to mean the same thing
whichever way control came (loops, branches), it gets a *home* first: one variable or one buffer
that every assignment writes to.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from loopbook.frontend import demands, lists, loose, nests, relisted, sorts
from loopbook.frontend.code import Code, bare
from loopbook.frontend.definite import Definite, described
from loopbook.frontend.hints import STATEMENTS
from loopbook.frontend.homes import Frame
from loopbook.frontend.liveness import rebinds, stores, uses_next
from loopbook.frontend.returns import RETURNED
from loopbook.frontend.symbols import Int
from loopbook.frontend.values import (
    Array,
    Listing,
    Scalar,
    Thing,
    Tup,
    Unknown,
    Value,
)

LISTS = (ast.List, ast.Call)
"""Expressions that may make a list."""


def _parts(targets: Sequence[ast.expr]) -> Sequence[ast.expr]:
    """What the items of a tuple are assigned to, where that is one tuple of targets."""
    return targets[0].elts if len(targets) == 1 and isinstance(targets[0], ast.Tuple) else ()


class Translator(Definite):
    """Translates statements into `code`, in the frame of the function at hand.

    Attributes:
        sure: by the variable that counts a list's items, whether they are known to be appended.
    """

    def __init__(self, code: Code, frame: Frame) -> None:
        super().__init__(code, frame)
        self.sure: dict[str, bool] = {}

    def expr(self, node: ast.expr) -> Value:
        """The value of an expression."""
        from loopbook.frontend.expressions import evaluate

        return evaluate(self, node)

    def test(self, node: ast.expr) -> Scalar:
        """Whether an expression is true, where nothing else is asked of it."""
        from loopbook.frontend.conditions import test

        return test(self, node)

    def body(self, statements: Sequence[ast.stmt]) -> None:
        for place, statement in enumerate(statements):
            self.frame.rest.append(statements[place + 1 :])
            self.code.origin = self.frame.line or statement.lineno
            self.frame.at = statement
            try:
                self.statement(statement)
            finally:
                self.frame.rest.pop()

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign():
                self._assign(node)
            case ast.AnnAssign():
                if node.value is not None:
                    self.store(node.target, self.expr(node.value))
            case ast.AugAssign():
                from loopbook.frontend.operators import augmented

                augmented(self, node)
            case ast.Expr(value=ast.BinOp() as part) if hasattr(node, "checks_room"):
                from loopbook.frontend.outgrown import checked

                checked(self, part)
            case ast.Expr():
                if not isinstance(node.value, ast.Constant):
                    self.expr(node.value)
            case ast.For() | ast.While():
                from loopbook.frontend import loops

                if isinstance(node, ast.For):
                    loops.for_(self, node)
                else:
                    loops.while_(self, node)
            case ast.If():
                self._if(node)
            case ast.Break() | ast.Continue():
                if self.frame.unrolled:
                    raise self.code.fail("break out of a loop over a tuple; use range")
                word = "break" if isinstance(node, ast.Break) else "continue"
                self.code.emit(word)
                sorts.leave(self, word)
            case ast.Pass():
                pass
            case ast.Import() | ast.ImportFrom():
                from loopbook.frontend.imports import imported

                self.frame.env |= imported(node)
            case ast.Assert():
                condition = self.test(node.test)
                if condition.value is not True:
                    demands.check(self, node.test, condition, met=True)
            case ast.Raise():
                demands.raises(self)
            case ast.Global() | ast.Nonlocal():
                if set(node.names) & stores([s for rest in self.frame.rest for s in rest]):
                    what = f"{type(node).__name__.lower()} names that are assigned"
                    raise self.code.fail(f"{what}; return them instead")
            case ast.FunctionDef():
                from loopbook.frontend.inline import Local

                self.frame.env[node.name] = Thing(Local(node, self.frame, self))
            case _:
                kind = type(node).__name__
                hint = f"; {STATEMENTS[kind]}" if kind in STATEMENTS else ""
                raise self.code.fail(f"{kind.lower()} statements{hint}")

    # -- names -----------------------------------------------------------------------------------

    def _assign(self, node: ast.Assign) -> None:
        from loopbook.frontend.conditions import as_branches

        if (branches := as_branches(self, node)) is not None:
            self.statement(branches)
            return
        value = self.expr(node.value)
        match node.targets:
            case [ast.Name(id=name)]:
                value = self._list(name, node.value, value)
            case [ast.Tuple(elts=names)] if isinstance(node.value, ast.Tuple) and isinstance(
                value, Tup
            ):
                value = Tup(
                    tuple(
                        self._list(to.id, made, item) if isinstance(to, ast.Name) else item
                        for to, made, item in zip(names, node.value.elts, value.items, strict=True)
                    )
                )
        several = len(node.targets) > 1 or isinstance(node.targets[0], ast.Tuple | ast.List)
        if several:
            value = self.fixed(value)
            if isinstance(value, Tup):
                value = self._beside(value, node.targets)
        for target in node.targets:
            self.store(target, value)

    def _list(self, name: str, node: ast.expr, value: Value) -> Value:
        """What a name is assigned: a list that grows, if it is appended to in loops or branches."""
        from loopbook.frontend.passed_on import is_passed_on, is_surely_appended

        rest = self.frame.rest[-1] if self.frame.rest else ()
        if isinstance(value, Listing) and not value.rest:
            filled = isinstance(node, ast.ListComp) and lists.shrinks(name, rest)
            if filled or isinstance(node, ast.Call):
                lists.named(self, value, name, rest)
        if not (type(value) is Tup and isinstance(node, LISTS)):
            return value
        if not (lists.grows(name, rest) or is_passed_on(self, name, rest)):
            return value
        made = lists.begun(self, name, value.items, shrinks=lists.shrinks(name, rest))
        made.rest = rest
        self.sure[made.count] = is_surely_appended(self, name, rest)
        return made

    def store(self, target: ast.expr, value: Value) -> None:
        """Assign to a name, a tuple of targets or elements."""
        match target:
            case ast.Name():
                self.bind(target.id, value)
            case ast.Tuple() | ast.List():
                from loopbook.frontend.unpacking import spread

                for inner, item in spread(self, target.elts, value):
                    self.store(inner, item)
            case ast.Subscript() if lists.holds(self, target):
                lists.store(self, target, value)
            case ast.Subscript():
                from loopbook.frontend.indexing import items_of, store_at
                from loopbook.frontend.list_parts import put

                if (owner := lists.named_by(self, target.value)) is not None:
                    put(self, owner, items_of(self, target.slice), value)
                    return
                store_at(self, self.target_array(target.value), items_of(self, target.slice), value)
            case ast.Attribute(attr="real" | "imag"):
                from loopbook.frontend.indexing import store_at

                part = self.expr(target)
                if not isinstance(part, Array) or part.view is None or not part.rank:
                    raise self.code.fail(f"assigning to {ast.unparse(target)}")
                store_at(self, part, [Thing(Ellipsis)], value)
            case _:
                raise self.code.fail(f"assigning to {ast.unparse(target)}")

    def bind(self, name: str, value: Value) -> None:
        """Assign to a name."""
        home = self.frame.homes.get(name)
        if home is not None:
            self.code.memo = {}
            self._move_in(name, home, value)
            self.frame.env[name] = home.value if home.value is not None else value
        else:
            value = self.frame.env[name] = self.settled(name, value)
            if name in self.frame.rising and isinstance(value, Scalar) and value.whole is not None:
                self.code.facts.natural(value.whole)

    def fixed(self, value: Value) -> Value:
        """`value` so that no assignment changes it, but through views as in NumPy."""
        if isinstance(value, Tup):
            return value.of(map(self.fixed, value.items))
        if isinstance(value, Array):
            value = nests.force(self.code, value)
        if isinstance(value, Scalar):
            return self.code.let(value)
        if isinstance(value, Array) and value.view is None:
            return self.stored(value)
        return value

    def _beside(self, value: Tup, targets: Sequence[ast.expr]) -> Tup:
        """The items, those copied that lie where another name lives that is assigned: ``a, b = b,
        a``."""
        names = stores(targets)
        own = [target.id if isinstance(target, ast.Name) else "" for target in _parts(targets)]
        homes = [h.value for n, home in self.frame.homes.items() if n in names for h in home.all()]
        buffers = {b for place in homes if isinstance(place, Array) for b in place.buffers}
        grown = [place for place in homes if isinstance(place, Listing)]

        def kept(item: Value, name: str = "") -> Value:
            if isinstance(item, Tup):
                return item.of(map(kept, item.items))
            lives = self.frame.homes[name].value if name in self.frame.homes else None
            if isinstance(item, Array) and isinstance(lives, Array) and item.view == lives.view:
                return item  # where it is already
            if isinstance(item, Listing) and any(item is place for place in grown):
                return relisted.copied(self, item)
            if isinstance(item, Array) and item.buffers & buffers:
                copy = nests.materialise(self.code, item)
                if item.view is not None and copy.view is not None:
                    self.aliases.copied(copy.view.buffer, item)
                return copy
            return item

        if not value.items:
            return value
        others = value.items[1:]
        rest = map(kept, others, own[1:]) if len(own) == len(value.items) else map(kept, others)
        return value.of((value.items[0], *rest))

    def settled(self, name: str, value: Value) -> Value:
        """What a name shall stand for when it is assigned `value`."""
        if isinstance(value, Tup):
            return value.of(self.settled(name, item) for item in value.items)
        if isinstance(value, Array) and (value.sums or not value.rank):
            forced = nests.force(self.code, value, name)
            return self.settled(name, forced) if isinstance(forced, Scalar) else forced
        if isinstance(value, Scalar):
            return self.code.let(value, name)
        if isinstance(value, Array) and value.view is None:
            if not self._can_wait(name, value):
                return self.stored(value, name)
            once = len(uses_next(name, self.frame.rest[-1])) == 1
            return value if once else self._remembered(value)
        return value

    def _can_wait(self, name: str, value: Array) -> bool:
        """Whether an expression may wait: one statement soon uses it element by element."""
        uses = uses_next(name, self.frame.rest[-1]) if self.frame.rest else []
        if not uses or len({id(s) for s, _ in uses}) > 1 or name in self.frame.homes:
            return False
        statement, _ = uses[0]
        if isinstance(statement, ast.For | ast.While | ast.If | ast.FunctionDef):
            return False
        after = self.frame.live.after.get(id(statement), frozenset())
        if name in after and name not in stores([statement]):
            return False
        from loopbook.frontend.calls import is_elementwise

        if not all(
            is_elementwise(self, way, len(uses), value.dtype.kind == "b") for _, way in uses
        ):
            return False
        return not self._reads_mutable(value)

    def _reads_mutable(self, value: Array) -> bool:
        code = self.code
        with code.captured() as lines:
            own = tuple(Int.atom("_") for _ in value.shape)
            text = " ".join(value.element(own).texts)
            if value.mask is not None:
                text += value.mask.element(own).text
        words = set(re.findall(r"\w+", " ".join([text, *(line.text for line in lines)])))
        return bool(words & code.mutable)

    def _remembered(self, value: Array) -> Array:
        """`value`, computed once for each element of a nest however often it is used there."""
        code, key, at = self.code, object(), value.at
        assert at is not None

        def element(own: tuple[Int, ...]) -> Scalar:
            place = (key, own)
            if place not in code.memo:
                code.memo[place] = code.let(at(own))
            return code.memo[place]

        return replace(value, at=element)

    def assigned(self, body: Sequence[ast.stmt]) -> frozenset[str]:
        """Names that `body` gives another value; arrays that ``+=`` changes keep theirs."""
        env = self.frame.env
        whole_names = rebinds(body)
        return frozenset(
            n for n in stores(body) if n in whole_names or not isinstance(env.get(n), Array)
        )

    def _if(self, node: ast.If) -> None:
        condition = self.test(node.test)
        if condition.value is not None:
            self.body(node.body if condition.value else node.orelse)
            return
        if demands.only_tells(node):
            demands.silent(self, node, condition)
            return
        if demands.only_raises(node):
            demands.check(self, node.test, condition, met=False)
            return
        for branch, other, met in ((node.body, node.orelse, False), (node.orelse, node.body, True)):
            if demands.gives_none(branch):
                demands.check(self, node.test, condition, met=met)
                self.body(other)
                return
        self.settle_all()
        condition = self.code.let(condition) if "[" in condition.text else condition
        assigned = self.assigned([*node.body, *node.orelse])
        live = self.frame.live.after.get(id(node), frozenset()) | {RETURNED}
        # What a branch may leave as it is, or reads first, has its value before the branches.
        both = stores(node.body) & stores(node.orelse)
        anew = both - self.frame.live.taken.get(id(node), both)
        names = [(n, n in anew or n not in self.frame.env) for n in sorted(assigned & live)]

        from loopbook.frontend.tested import narrowed

        def run() -> None:
            frame, aliases = self.frame, self.aliases
            frame.tests.append(node.test)
            before, known = dict(frame.env), list(aliases.known)
            begun = sorts.state(self)
            with (
                self.code.indented(f"if {bare(condition.text)}:"),
                narrowed(self, [node.test], True),
            ):
                self.body(node.body)
            taken = sorts.state(self)
            frame.env = {**before, **{n: h.value for n, h in frame.homes.items() if h.value}}
            sorts.restore(self, begun)
            changing = any(home.sizes for home in frame.homes.values())
            then, aliases.known = aliases.known, known
            if node.orelse:
                with self.code.indented("else:"), narrowed(self, [node.test], False):
                    if changing:
                        loose.refresh(self, but={n for n, empty in names if empty})
                    self.body(node.orelse)
            aliases.known = [*then, *(a for a in aliases.known if a not in then)]
            frame.env = {**before, **{n: h.value for n, h in frame.homes.items() if h.value}}
            for name, home in frame.homes.items():
                none = isinstance(home.began, Thing) and home.began.value is None
                if none and home.value is not None:
                    raise self.code.fail(f"{name} is None here and something else there")
            sorts.restore(self, sorts.merged(taken, sorts.state(self)))
            if changing:
                loose.refresh(self)

        tests = list(self.frame.tests)
        self.with_homes(names, run)
        self.frame.tests = tests

    # -- values as arrays ------------------------------------------------------------------------

    def array(self, value: Value) -> Array:
        """`value` as an array without sums that wait; a number has rank 0.

        Raises:
            LoweringError: if it is neither.
        """
        if isinstance(value, Tup):
            from loopbook.frontend.constructs.joining import from_nested

            return from_nested(self, value)
        if isinstance(value, Listing):
            return lists.as_numpy(self, value)
        if isinstance(value, Array):
            value = nests.force(self.code, value)
        if isinstance(value, Thing) and isinstance(value.value, np.ndarray):
            from loopbook.frontend.expressions import from_outside

            value = from_outside(self, value.value)
        if isinstance(value, Thing):
            from loopbook.frontend.constructs.evenly import numbers_in

            value = numbers_in(self, value) or self.number(value)
        if isinstance(value, Scalar):
            scalar = value
            return Array((), value.dtype, lambda own: scalar, weak=value.weak)
        if isinstance(value, Unknown):
            raise self.code.untold()
        if not isinstance(value, Array):
            raise self.code.fail(f"{described(value)} where an array is needed")
        return self.stored(value) if value.mask is not None else value

    def target_array(self, node: ast.expr) -> Array:
        """The array that is stored into, in memory."""
        value = self.expr(node)
        if not isinstance(value, Array):
            text = ast.unparse(node)
            raise self.code.fail(
                f"storing into {text}, which is no array; make it one with np.zeros"
            )
        if value.view is None:
            value = self.array(value)
            if value.view is None:
                value = self.stored(value)
            if isinstance(node, ast.Name):
                self.frame.env[node.id] = value
        return value
