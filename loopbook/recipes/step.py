"""One textbook loop transformation with its parameters: the words that recipes are made of.

A step names loops and containers of a nest, never a program's variables. Loops are ``L0``, ``L1``,
… by preorder position, containers ``A0``, ``A1``, … by first access. What a step creates gets a
suffix: tiling ``L0`` makes ``L0.tile``. A trailing ``*`` means every copy of that loop.

:data:`OPERATIONS` is the whole vocabulary. Whether a step is legal for some nest is not decided
here; only whether it is well formed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from loopbook.errors import RecipeError

MAX_SIZE = 2**20
MAX_SKEW = 64
MAX_COLLAPSE = 16
MAX_NAME = 64

# At most four digits and a bounded number of suffixes: a name is never longer than MAX_NAME, and
# no number has two spellings (L07), so that equal recipes have equal texts.
_SUFFIX = r"(?:\.[a-z]{1,8}(?:0|[1-9][0-9]{0,3})?)"
_LOOP = re.compile(rf"L(?:0|[1-9][0-9]{{0,3}}){_SUFFIX}{{0,8}}\*?", re.ASCII)
_CONTAINER = re.compile(rf"A(?:0|[1-9][0-9]{{0,3}}){_SUFFIX}{{0,8}}", re.ASCII)
_INTEGER = re.compile(r"-?[0-9]{1,9}", re.ASCII)


class Step(NamedTuple):
    """One transformation: the operation's name and its arguments, in the order of its text form.

    A bare ``Step`` is not checked; :func:`checked` and :class:`~loopbook.recipes.recipe.Recipe` do.
    """

    op: str
    args: tuple[str | int, ...]

    def text(self) -> str:
        """The step as people write it, such as ``tile L0 32``."""
        return " ".join([self.op, *map(str, self.args)])


@dataclass(frozen=True)
class Argument:
    """What one position of a step accepts.

    Attributes:
        kind: ``"loop"``, ``"container"``, ``"integer"`` or ``"keyword"``.
        label: what the argument is called in messages.
        low, high: bounds of an integer, both included.
        words: the keywords allowed.
        optional: whether it may be left out; ``default`` (where not None) then takes its place.
    """

    kind: str
    label: str
    low: int = 0
    high: int = 0
    words: tuple[str, ...] = ()
    optional: bool = False
    default: str | int | None = None


def _loop(label: str = "loop") -> Argument:
    return Argument("loop", label)


OPERATIONS: dict[str, tuple[Argument, ...]] = {
    "tile": (_loop(), Argument("integer", "size", 2, MAX_SIZE)),
    "interchange": (_loop("outer loop"), _loop("inner loop")),
    "skew": (
        _loop("outer loop"),
        _loop("inner loop"),
        Argument("integer", "factor", -MAX_SKEW, MAX_SKEW, optional=True, default=1),
    ),
    "distribute": (_loop(),),
    "peel": (_loop(), Argument("keyword", "form", words=("predicate",), optional=True)),
    "fuse": (_loop("first loop"), _loop("second loop")),
    "collapse": (_loop(), Argument("integer", "count", 2, MAX_COLLAPSE)),
    "fuse_tiles": (_loop("first tile loop"), _loop("second tile loop")),
    "stage": (
        _loop(),
        Argument("container", "container"),
        Argument(
            "keyword", "direction", words=("in", "out", "auto"), optional=True, default="auto"
        ),
    ),
    "block": (
        _loop("outer loop"),
        _loop("inner loop"),
        Argument("integer", "rows", 1, MAX_SIZE),
        Argument("integer", "columns", 1, MAX_SIZE),
    ),
    "buffer": (_loop("scope"), _loop("outer loop"), _loop("inner loop")),
    "pad": (_loop(),),
    "serial": (_loop(),),
    "widen": (_loop("tile loop"),),
    "sink": (_loop(), Argument("integer", "size", 2, MAX_SIZE)),
    "time_tile": (
        _loop("time loop"),
        Argument("integer", "steps", 2, MAX_SIZE),
        Argument("integer", "width", 1, MAX_SIZE),
        Argument("integer", "second width", 1, MAX_SIZE, optional=True),
    ),
    "time_waves": (
        _loop("time loop"),
        Argument("integer", "count", 2, MAX_SIZE),
        Argument("integer", "steps", 2, MAX_SIZE),
        Argument("integer", "width", 1, MAX_SIZE),
        Argument("integer", "second width", 1, MAX_SIZE, optional=True),
    ),
    "wavefront": (
        _loop("time loop"),
        Argument("integer", "steps", 2, MAX_SIZE),
        Argument("integer", "count", 2, MAX_SIZE, optional=True),
        Argument("integer", "rows", 1, MAX_SIZE, optional=True),
    ),
    "push": (_loop("outer loop"), _loop("inner loop")),
    "demote": (_loop(),),
    "delay": (_loop(),),
    "expand": (_loop("outer loop"), Argument("loop", "inner loop", optional=True)),
    "join": (_loop("first loop"), _loop("second loop")),
    "cut": (
        _loop(),
        _loop("tile loop"),
        Argument("integer", "distance", 1, MAX_SIZE, optional=True),
    ),
    "prove": (_loop(),),
    "straighten": (_loop(),),
    "hoist": (_loop(),),
    "library": (_loop(),),
    "vectorize": (_loop(),),
    "unroll": (_loop(),),
    "parallel": (_loop(),),
    "single": (),
}
"""Every operation with the arguments that it takes."""


def parsed(line: str) -> Step:
    """Read one line of a recipe's text, such as ``stage L2 A0 out``.

    Raises:
        RecipeError: the line is no well-formed step.
    """
    op, *words = line.split()
    arguments = OPERATIONS.get(op, ())
    args: list[str | int] = []
    for position, word in enumerate(words):
        wants_integer = position < len(arguments) and arguments[position].kind == "integer"
        args.append(int(word) if wants_integer and _INTEGER.fullmatch(word) else word)
    return checked(op, args)


def checked(op: object, args: Iterable[object]) -> Step:
    """The step with its arguments checked and its left-out arguments filled in.

    Raises:
        RecipeError: unknown operation, too few or too many arguments, or one of the wrong kind.
    """
    if not isinstance(op, str) or op not in OPERATIONS:
        raise RecipeError(f"unknown step {_shown(op)}: use one of {', '.join(OPERATIONS)}")
    arguments, given = OPERATIONS[op], list(args)
    if len(given) > len(arguments):
        raise RecipeError(f"{op} takes {_counted(arguments)}, not {len(given)}")
    done: list[str | int] = []
    for position, argument in enumerate(arguments):
        if position < len(given):
            done.append(_checked_argument(op, argument, given[position]))
        elif not argument.optional:
            raise RecipeError(f"{op} needs {_article(argument.label)}: write `{usage(op)}`")
        elif argument.default is not None:
            done.append(argument.default)
    return Step(op, tuple(done))


def usage(op: str) -> str:
    """How the operation is written, such as ``tile LOOP SIZE``."""
    words = [op]
    for argument in OPERATIONS[op]:
        word = "|".join(argument.words) or argument.label.upper().replace(" ", "-")
        words.append(f"[{word}]" if argument.optional else word)
    return " ".join(words)


def base_name(name: str) -> str:
    """The nest's own loop or container that a name goes back to: ``L0`` for ``L0.tile*``."""
    return re.split(r"[.*]", name, maxsplit=1)[0]


def _checked_argument(op: str, argument: Argument, value: object) -> str | int:
    if argument.kind == "integer":
        if not isinstance(value, int) or isinstance(value, bool):
            raise RecipeError(f"{op} needs a whole number as {argument.label}, not {_shown(value)}")
        if value < argument.low:
            raise RecipeError(
                f"{op} needs a {argument.label} of {argument.low} or more, not {_shown(value)}"
            )
        if value > argument.high:
            raise RecipeError(
                f"{op} needs a {argument.label} of {argument.high} or less, not {_shown(value)}"
            )
        if value == 0:
            raise RecipeError(f"{op} needs a {argument.label} other than 0")
        return int(value)
    if argument.kind == "keyword":
        if not isinstance(value, str) or value not in argument.words:
            choices = " or ".join(argument.words)
            raise RecipeError(f"{op} knows {argument.label} {choices}, not {_shown(value)}")
        return value
    pattern, example = (_LOOP, "L0") if argument.kind == "loop" else (_CONTAINER, "A0")
    if not isinstance(value, str) or len(value) > MAX_NAME or not pattern.fullmatch(value):
        raise RecipeError(
            f"{op} needs {_article(argument.label)} such as {example}, not {_shown(value)}"
        )
    return str(value)


def _shown(value: object) -> str:
    """The value for a one-line message, cut to a bearable length."""
    if isinstance(value, int) and abs(value) >= 10**12:
        return "a number that large"
    text = value if isinstance(value, str) and value.isprintable() else ascii(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _article(label: str) -> str:
    return f"an {label}" if label[0] in "aeiou" else f"a {label}"


def _counted(arguments: tuple[Argument, ...]) -> str:
    required = sum(not argument.optional for argument in arguments)
    bound = str(required) if required == len(arguments) else f"{required} to {len(arguments)}"
    return f"{bound} argument{'' if bound == '1' else 's'}"
