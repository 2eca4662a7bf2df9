"""What a step's arguments may be: loops, containers, whole numbers of several kinds, keywords.

A step's class declares them in the order in which they are written::

    class Tile(Step):
        loop = Loop()
        size = TileSize(2, MAX_SIZE, of="loop")

On a step ``step.size`` is the value; on the class ``Tile.size`` is the declaration. Messages and
usage lines call an argument by its name in the class.
"""

from __future__ import annotations

import re
from typing import Any, Generic, Self, TypeVar, overload

from loopbook.errors import RecipeError

MAX_SIZE = 2**20
MAX_SKEW = 64
MAX_COLLAPSE = 16
MAX_NAME = 64

T = TypeVar("T", bound=str | int)

# At most four digits and a bounded number of suffixes: a name is never longer than MAX_NAME, and
# no number has two spellings (L07), so that equal recipes have equal texts.
_SUFFIX = r"(?:\.[a-z]{1,8}(?:0|[1-9][0-9]{0,3})?)"
_LOOP = re.compile(rf"L(?:0|[1-9][0-9]{{0,3}}){_SUFFIX}{{0,8}}\*?", re.ASCII)
_CONTAINER = re.compile(rf"A(?:0|[1-9][0-9]{{0,3}}){_SUFFIX}{{0,8}}", re.ASCII)
_INTEGER = re.compile(r"-?[0-9]{1,9}", re.ASCII)


class Argument(Generic[T]):
    """What one position of a step accepts.

    Args:
        optional: it may be left out; `default` (where not None) then takes its place.
        label: what messages call it, where that is not its name in the class.
    """

    def __init__(
        self, *, optional: bool = False, default: T | None = None, label: str = ""
    ) -> None:
        self.optional = optional or default is not None
        self.default = default
        self.label = label
        self.place = 0  # told by the step's class

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self.label = self.label or name.replace("_", " ")

    @overload
    def __get__(self, step: None, kind: type) -> Self: ...
    @overload
    def __get__(self, step: Any, kind: type) -> T: ...
    def __get__(self, step: Any, kind: type) -> Any:
        if step is None:
            return self
        return step.args[self.place] if self.place < len(step.args) else self.default

    @property
    def word(self) -> str:
        """What stands for it in a usage line."""
        return self.label.upper().replace(" ", "-")

    def read(self, word: str) -> str | int:
        """A word of a recipe's text as a value, perhaps a wrong one."""
        return word

    def checked(self, op: str, value: object) -> T:
        """The value if it is a right one.

        Raises:
            RecipeError: it is not.
        """
        raise NotImplementedError


class _Name(Argument[str]):
    pattern: re.Pattern[str]
    example: str

    def checked(self, op: str, value: object) -> str:
        right = isinstance(value, str) and len(value) <= MAX_NAME and self.pattern.fullmatch(value)
        if not right:
            raise RecipeError(
                f"{op} needs {article(self.label)} such as {self.example}, not {shown(value)}"
            )
        return str(value)


class Loop(_Name):
    """The name of a loop; with a trailing star, of all its copies."""

    pattern, example = _LOOP, "L0"


class Container(_Name):
    """The name of an array."""

    pattern, example = _CONTAINER, "A0"


class Keyword(Argument[str]):
    """One of a few words."""

    def __init__(self, *words: str, optional: bool = False, default: str | None = None) -> None:
        super().__init__(optional=optional, default=default)
        self.words = words

    @property
    def word(self) -> str:
        return "|".join(self.words)

    def checked(self, op: str, value: object) -> str:
        if not isinstance(value, str) or value not in self.words:
            choices = " or ".join(self.words)
            raise RecipeError(f"{op} knows {self.label} {choices}, not {shown(value)}")
        return value


class Integer(Argument[int]):
    """A whole number other than 0, the same on every machine.

    Args:
        low, high: its bounds, both included.
    """

    def __init__(
        self,
        low: int,
        high: int,
        *,
        optional: bool = False,
        default: int | None = None,
        label: str = "",
    ) -> None:
        super().__init__(optional=optional, default=default, label=label)
        self.low, self.high = low, high

    def read(self, word: str) -> str | int:
        return int(word) if _INTEGER.fullmatch(word) else word

    def checked(self, op: str, value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise RecipeError(f"{op} needs a whole number as {self.label}, not {shown(value)}")
        if value < self.low:
            raise RecipeError(
                f"{op} needs a {self.label} of {self.low} or more, not {shown(value)}"
            )
        if value > self.high:
            raise RecipeError(
                f"{op} needs a {self.label} of {self.high} or less, not {shown(value)}"
            )
        if value == 0:
            raise RecipeError(f"{op} needs a {self.label} other than 0")
        return int(value)


class TileSize(Integer):
    """How many iterations of a loop make a tile. What that follows shows in the rest of the recipe:
    vectors where it vectorises the loop, registers where it unrolls it, else caches.

    Args:
        of: the argument that names the loop.
    """

    def __init__(self, low: int, high: int, *, of: str, label: str = "") -> None:
        super().__init__(low, high, label=label)
        self.of = of


class TileEnd(Integer):
    """How far from where a tile begins. Where that is the tile's size, it stays so on every
    machine.

    Args:
        of: the argument that names the loop over the tiles.
    """

    def __init__(self, low: int, high: int, *, of: str, optional: bool = False) -> None:
        super().__init__(low, high, optional=optional)
        self.of = of


class VectorSize(Integer):
    """How many iterations walk along vectors: as many vectors on every machine."""


class CacheSize(Integer):
    """An extent of a tile for caches. Those of one step share what a larger cache has room for."""


class Threads(Integer):
    """How much is done at the same time: as many as there are threads."""


def article(label: str) -> str:
    return f"an {label}" if label[0] in "aeiou" else f"a {label}"


def shown(value: object) -> str:
    """The value for a one-line message, cut to a bearable length."""
    if isinstance(value, int) and abs(value) >= 10**12:
        return "a number that large"
    text = value if isinstance(value, str) and value.isprintable() else ascii(value)
    return text if len(text) <= 40 else text[:37] + "..."
