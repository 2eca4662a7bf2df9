"""One textbook loop transformation with its arguments: the words that recipes are made of.

A step names loops and containers of a nest, never a program's variables. Loops are ``L0``, ``L1``,
… by preorder position, containers ``A0``, ``A1``, … by first access. What a step creates gets a
suffix: tiling ``L0`` makes ``L0.tile``. A trailing ``*`` means every copy of that loop.

All that is known of one transformation stands in one class, a subclass of :class:`Step` in a file
of its own in this package. The registry below is filled by these files; there is no list of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from loopbook.steps.arguments import Argument, Container, Loop

if TYPE_CHECKING:
    from loopbook.steps.editor import Editor

STEPS: dict[str, type[Step]] = {}
"""Every step by its name."""

_SPELLINGS: dict[str, type[Step]] = {}
"""Every step by each of the words that are read for it."""


class _Words(NamedTuple):
    op: str
    args: tuple[str | int, ...]


class Step(_Words):
    """One step of a recipe: the operation's name and its arguments, in the order of its text.

    ``Step("tile", ("L0", 32))`` makes a `Tile`; a word that is no step's makes a bare `Step`.
    Neither is checked: :func:`~loopbook.steps.grammar.checked` and
    :class:`~loopbook.recipes.recipe.Recipe` do.

    The first line of a subclass's docstring says what the step does; the rest shows a nest before
    and after it.

    Attributes:
        name: how recipes spell it.
        recorded_as: its name when records of it were first written, which is read, too: a record's
            id goes by it for ever.
        textbook: what compiler writers call it, and `source` where they do.
        example: one such step, with `makes`: how the loops are called that it makes, with
            arguments in braces; ``*`` stands for the loops inside. More of one name are numbered.
        arguments: what it takes, in order.
        frees: a loop may have threads afterwards that could have none before.
        refines: a recipe without it is slower, not another one: a port may leave it out.
        only_orders: it changes nothing but the order and form in which iterations run.
        vectors: the first loop walks along vectors, so that its tiles are whole ones.
        rows: tiles of the first loop are rows of a register tile.
        traits: what it says of the recipe that it is in, for `loopbook.recipes.similarity`. Chosen,
            not learnt.
    """

    name: ClassVar[str] = ""
    recorded_as: ClassVar[str] = ""
    textbook: ClassVar[str] = ""
    source: ClassVar[str] = ""
    example: ClassVar[str] = ""
    makes: ClassVar[tuple[str, ...]] = ()
    arguments: ClassVar[tuple[Argument[Any], ...]] = ()

    frees: ClassVar[bool] = False
    refines: ClassVar[bool] = False
    only_orders: ClassVar[bool] = False
    vectors: ClassVar[bool] = False
    rows: ClassVar[bool] = False
    traits: ClassVar[Mapping[str, float]] = {"other": 0.3}

    _loops: ClassVar[tuple[int, ...]] = ()
    _containers: ClassVar[tuple[int, ...]] = ()

    def __new__(cls, op: str, args: tuple[str | int, ...]) -> Step:
        kind = kind_of(op)
        return tuple.__new__(kind, (kind.name or op, args))

    def __reduce__(self) -> tuple[Any, ...]:
        return Step, (self.op, self.args)

    def __init_subclass__(cls) -> None:
        cls.arguments = tuple(own for own in vars(cls).values() if isinstance(own, Argument))
        for place, argument in enumerate(cls.arguments):
            argument.place = place
        cls._loops = tuple(a.place for a in cls.arguments if isinstance(a, Loop))
        cls._containers = tuple(a.place for a in cls.arguments if isinstance(a, Container))
        cls.recorded_as = vars(cls).get("recorded_as", cls.name)
        for spelling in cls.spellings():
            if _SPELLINGS.setdefault(spelling, cls) is not cls:
                raise TypeError(f"two steps are called {spelling}")
        STEPS[cls.name] = cls

    @classmethod
    def spellings(cls) -> tuple[str, ...]:
        """All that is read for it, its name first."""
        return tuple(dict.fromkeys((cls.name, cls.recorded_as)))

    # -- as people write it ---------------------------------------------------------------------

    @classmethod
    def usage(cls) -> str:
        """How it is written, such as ``tile LOOP SIZE``."""
        words = (f"[{a.word}]" if a.optional else a.word for a in cls.arguments)
        return " ".join([cls.name, *words])

    @classmethod
    def summary(cls) -> str:
        """What it does, in a line."""
        return (cls.__doc__ or "").strip().partition("\n")[0]

    def text(self) -> str:
        """The step as people write it, such as ``tile L0 32``."""
        return " ".join([self.op, *map(str, self.args)])

    # -- what it speaks of ----------------------------------------------------------------------

    def given(self) -> Iterator[tuple[Argument[Any], Any]]:
        """The arguments with their values, but those left out."""
        return zip(self.arguments, self.args, strict=False)

    @property
    def loops(self) -> list[str]:
        """The names of loops in it."""
        return self._named(self._loops)

    @property
    def containers(self) -> list[str]:
        """The names of containers in it."""
        return self._named(self._containers)

    def _named(self, places: tuple[int, ...]) -> list[str]:
        args = self.args
        return [str(args[place]) for place in places if place < len(args)]

    @property
    def sizes(self) -> list[int]:
        """The numbers in it."""
        return [value for value in self.args if isinstance(value, int)]

    def made(self) -> list[str]:
        """How the loops are called that it makes; a leading ``*`` stands for any loop."""
        values = {argument.name: value for argument, value in self.given()}
        return [name.format_map(values) for name in self.makes]

    def known_by(self) -> Mapping[str, float]:
        """What this very step says of its recipe: its `traits`, unless arguments decide."""
        return self.traits

    # -- how it is applied ----------------------------------------------------------------------

    def expansion(self) -> tuple[Step, ...]:
        """Steps that do the same one after the other; itself where there are none."""
        return (self,)

    def apply(self, editor: Editor) -> None:
        """Do it to the program that the editor holds.

        Raises:
            IllegalStepError: the nest does not allow it; the editor is of no use then.
        """
        raise NotImplementedError(f"'{self.op}' stands for other steps")


def kind_of(op: str) -> type[Step]:
    """The class of a step by any of its names; `Step` for a word that is none."""
    return _SPELLINGS.get(op, Step)


def name_of(op: str) -> str:
    """What a step is called today, by any of its names; a word that is none stays."""
    return kind_of(op).name or op


def expanded(steps: Iterable[Step]) -> Iterator[Step]:
    """The steps, those that stand for several replaced by these."""
    return (part for step in steps for part in step.expansion())


def base_name(name: str) -> str:
    """The nest's own loop or container that a name goes back to: ``L0`` for ``L0.tile*``."""
    return name.partition(".")[0].partition("*")[0]
