"""A recipe: the ordered steps that make a nest fast. Data, never code.

Two forms say the same and turn into each other without loss::

    tile L0 32              {"version": 1, "steps": [["tile", "L0", 32],
    vectorize L1*                                    ["vectorize", "L1*"]]}

In the text, ``#`` begins a comment and blank lines are skipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from loopbook.display import brief, counted, table
from loopbook.errors import RecipeError
from loopbook.steps import Container, Loop, Step, base_name, checked, kind_of, parsed

MAX_STEPS = 256
MAX_TEXT = 64 * 1024
JSON_VERSION = 1


@dataclass(frozen=True)
class Recipe:
    """An ordered, checked tuple of steps; hashable, and equal to any recipe of the same steps.

    ::

        Recipe.parse("tile L0 32").to_json()["steps"] == [["tile", "L0", 32]]

    Args:
        steps: steps or ``(op, args)`` pairs; arguments left out are filled in (``skew L0 L1``
            becomes ``skew L0 L1 1``).

    Raises:
        RecipeError: a step is malformed, or there are more than :data:`MAX_STEPS`.
    """

    steps: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.steps, str):
            raise RecipeError("a recipe is made of steps: read text with Recipe.parse")
        if len(self.steps) > MAX_STEPS:
            raise RecipeError(f"a recipe has at most {MAX_STEPS} steps")
        done: list[Step] = []
        try:
            for op, args in self.steps:
                done.append(checked(op, args))
        except RecipeError as error:
            raise RecipeError(f"step {len(done) + 1}: {error}") from None
        object.__setattr__(self, "steps", tuple(done))

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Recipes are looked up again and again."""
        return hash(self.steps)

    def __reduce__(self) -> tuple[type[Recipe], tuple[tuple[Step, ...]]]:
        return Recipe, (self.steps,)  # another process hashes otherwise

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return brief(self, f"of {counted(len(self), 'step')}: {self.in_line()}".rstrip(": "))

    def _repr_html_(self) -> str:
        rows = [(number, step.text()) for number, step in enumerate(self.steps, 1)]
        return table((), rows, f"Recipe of {counted(len(self), 'step')}")

    @classmethod
    def parse(cls, text: str) -> Recipe:
        """Read the text form, one step a line.

        Raises:
            RecipeError: naming the first line that is no step.
        """
        if not isinstance(text, str):
            raise RecipeError(f"a recipe's text is a string, not {type(text).__name__}")
        if len(text) > MAX_TEXT:
            raise RecipeError(f"a recipe's text has at most {MAX_TEXT} characters")
        steps: list[Step] = []
        for number, line in enumerate(text.split("\n"), 1):
            line = line.split("#", 1)[0].strip()
            if not line:
                continue
            with _located(f"line {number}"):
                steps.append(parsed(line))
        return cls._of(steps)

    @classmethod
    def _of(cls, steps: list[Step]) -> Recipe:
        """A recipe of steps that have been checked."""
        if len(steps) > MAX_STEPS:
            raise RecipeError(f"a recipe has at most {MAX_STEPS} steps")
        made = object.__new__(cls)
        object.__setattr__(made, "steps", tuple(steps))
        return made

    def text(self) -> str:
        """The text form: one step a line, each line ended; empty for no steps."""
        return "".join(step.text() + "\n" for step in self.steps)

    def in_line(self) -> str:
        """The steps on one line, for people: ``tile L0 4; unroll L0*``."""
        return "; ".join(step.text() for step in self.steps)

    @classmethod
    def from_json(cls, obj: object) -> Recipe:
        """Read the JSON form, as decoded by :mod:`json`.

        Raises:
            RecipeError: another version, or not of that form.
        """
        if not isinstance(obj, dict):
            raise RecipeError('a recipe\'s JSON is an object with "version" and "steps"')
        version = obj.get("version")
        if version != JSON_VERSION or isinstance(version, bool):
            raise RecipeError(f"a recipe's JSON needs version {JSON_VERSION}")
        steps = obj.get("steps")
        if not isinstance(steps, list) or len(steps) > MAX_STEPS:
            raise RecipeError(f"a recipe's steps are a list of at most {MAX_STEPS}")
        pairs = []
        for number, step in enumerate(steps, 1):
            if not isinstance(step, list) or not step:
                raise RecipeError(f'step {number}: write a list such as ["tile", "L0", 32]')
            with _located(f"step {number}"):
                pairs.append(checked(step[0], step[1:]))
        return cls(tuple(pairs))

    def to_json(self) -> dict[str, Any]:
        """The JSON form, ready for :func:`json.dumps`."""
        return {"version": JSON_VERSION, "steps": [[step.op, *step.args] for step in self.steps]}

    def recorded(self) -> dict[str, Any]:
        """The JSON form with the names that steps had when records of them were first written:
        what ids of records go by."""
        steps = [[kind_of(step.op).recorded_as, *step.args] for step in self.steps]
        return {"version": JSON_VERSION, "steps": steps}

    def base_loops(self) -> tuple[str, ...]:
        """The nest's own loops that the recipe speaks of, in order of first mention."""
        return self._base_loops

    @cached_property
    def _base_loops(self) -> tuple[str, ...]:
        return _bases(name for step in self.steps for name in step.loops)

    def containers(self) -> tuple[str, ...]:
        """The nest's containers that the recipe speaks of, in order of first mention."""
        return self._own_containers

    @cached_property
    def _own_containers(self) -> tuple[str, ...]:
        return _bases(name for step in self.steps for name in step.containers)

    def rename(
        self, loops: Mapping[str, str] | None = None, containers: Mapping[str, str] | None = None
    ) -> Recipe:
        """The same recipe for a nest whose loops and containers have other names.

        All names are replaced at once, so that a mapping may swap two. Suffixes stay
        (``L0.tile*`` under ``L0 → L2`` is ``L2.tile*``); names without an entry stay too.

        Raises:
            RecipeError: a new name is no loop or container name.
        """
        tables = {Loop: loops or {}, Container: containers or {}}
        return Recipe(
            tuple(
                Step(
                    step.op,
                    tuple(
                        _renamed(value, tables[type(argument)])
                        if type(argument) in tables
                        else value
                        for argument, value in step.given()
                    ),
                )
                for step in self.steps
            )
        )


def _bases(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(base_name, names)))


def _renamed(name: str, table: Mapping[str, str]) -> str:
    base = base_name(name)
    return table.get(base, base) + name[len(base) :]


class _located:
    """Puts the place of the mistake in front of a RecipeError's message."""

    def __init__(self, place: str) -> None:
        self.place = place

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, RecipeError):
            raise RecipeError(f"{self.place}: {error}") from None
