"""Steps as people write them: one line each, the name and then the arguments.

Whether a step is legal for some nest is not decided here; only whether it is well formed.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from loopbook.errors import RecipeError
from loopbook.steps.arguments import Argument, article, shown
from loopbook.steps.base import STEPS, Step, kind_of, name_of


@lru_cache(maxsize=4096)
def parsed(line: str) -> Step:
    """Read one line of a recipe's text, such as ``stage L2 A0 out``.

    Raises:
        RecipeError: the line is no well-formed step.
    """
    op, *words = line.split()
    arguments = kind_of(op).arguments
    read = [argument.read(word) for argument, word in zip(arguments, words, strict=False)]
    return checked(op, [*read, *words[len(read) :]])


def respelled(text: str) -> str:
    """A recipe's text with the names that its steps have today."""
    lines = (line.partition(" ") for line in text.split("\n"))
    return "\n".join(name_of(op) + gap + rest for op, gap, rest in lines)


def checked(op: object, args: Iterable[object]) -> Step:
    """The step with its arguments checked and its left-out arguments filled in.

    Raises:
        RecipeError: unknown operation, too few or too many arguments, or one of the wrong kind.
    """
    given = tuple(args)
    try:
        return _checked(op, *given)
    except TypeError:  # a list among them, or another thing that nothing can be found by
        return _checked.__wrapped__(op, *given)


@lru_cache(maxsize=4096, typed=True)
def _checked(op: object, *given: object) -> Step:
    kind = kind_of(op) if isinstance(op, str) else Step
    if kind is Step:
        raise RecipeError(f"unknown step {shown(op)}: use one of {', '.join(STEPS)}")
    name = kind.name
    if len(given) > len(kind.arguments):
        raise RecipeError(f"{name} takes {_counted(kind.arguments)}, not {len(given)}")
    done: list[str | int] = []
    for position, argument in enumerate(kind.arguments):
        if position < len(given):
            done.append(argument.checked(name, given[position]))
        elif not argument.optional:
            raise RecipeError(f"{name} needs {article(argument.label)}: write `{kind.usage()}`")
        elif argument.default is not None:
            done.append(argument.default)
    return Step(name, tuple(done))


def _counted(arguments: tuple[Argument[Any], ...]) -> str:
    required = sum(not argument.optional for argument in arguments)
    bound = str(required) if required == len(arguments) else f"{required} to {len(arguments)}"
    return f"{bound} argument{'' if bound == '1' else 's'}"
