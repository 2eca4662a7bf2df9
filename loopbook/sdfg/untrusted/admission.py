"""Reads an SDFG from outside member by member, and writes down what it understood, in our names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from loopbook.errors import SdfgError
from loopbook.sdfg.untrusted import expressions, grammar, vocabulary
from loopbook.sdfg.untrusted.grammar import Fields
from loopbook.sdfg.untrusted.renaming import (
    PLACE,
    PROGRAM,
    STRUCTURE,
    SYMBOL,
    Names,
    fresh_names,
)

Json = dict[str, Any]


@dataclass(frozen=True)
class Limits:
    """How large a program from outside may be.

    Attributes:
        depth: elements inside one another.
        elements: control flow, nodes and edges together.
        containers: variables.
        items: of any list within an element.
    """

    depth: int = 120
    elements: int = 200_000
    containers: int = 10_000
    items: int = 100_000


LARGEST = 10**9
"""Element ids and other numbers are smaller."""

TYPE_DEPTH = 16


class Admission:
    """One reading of one document; see `loopbook.sdfg.untrusted.admit`."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._left = limits.elements
        self._depth = 0
        self._at = "the SDFG"
        self._names: dict[str, str] = {}
        self._symbols: dict[str, str] = {}
        self._structures: dict[str, str] = {}
        self._places: dict[str, str] = {}
        self._expressions: dict[str, str] = {}
        self._metadata: dict[str, str] = {}
        self._connectors: dict[int, Mapping[str, str] | None] = {}

    def program(self, document: Any) -> tuple[Json, Names]:
        """The document as we would have written it, and what it called things.

        Raises:
            SdfgError: something in it is not in the grammar.
        """
        given = self._mapping(document)
        own = self.identifier(given.get("name"))
        containers = self._mapping(given.get("containers"))
        if len(containers) > self._limits.containers:
            self._refuse(f"there are more than {self._limits.containers} containers")
        for name in containers:
            self.identifier(name)
        self._names = fresh_names(containers)
        for one in self._items(given.get("structures")):
            name = self.identifier(self._mapping(one).get("name"))
            self._structures.setdefault(name, f"{STRUCTURE}{len(self._structures):02}x")
        made = self.object(given, grammar.PROGRAM)
        made["name"] = PROGRAM
        tables = (self._names, self._symbols, self._structures, self._places)
        known = {fresh: name for table in tables for name, fresh in table.items()}
        return made, Names(own, known, self._metadata)

    # -- what members are made of ---------------------------------------------------------------

    def object(self, given: Any, fields: Fields) -> Json:
        """An object with exactly these members."""
        checks = fields.members
        if not isinstance(given, dict) or given.keys() != checks.keys():
            checks = self._chosen(given, fields)
        return {name: check(self, given[name]) for name, check in checks.items()}

    def _chosen(self, given: Any, fields: Fields) -> Mapping[str, Callable[..., Any]]:
        """The members that are there, if those are there that must."""
        given = self._mapping(given)
        for name in given:
            if name not in fields.members and name not in fields.optional:
                self._refuse(f"there is a member {_shown(name)}, which is not known")
        for name in fields.members:
            if name not in given:
                self._refuse(f"there is no member {name!r}")
        return {**fields.members, **{k: v for k, v in fields.optional.items() if k in given}}

    def _mapping(self, given: Any) -> Json:
        if not isinstance(given, dict):
            self._refuse(f"there is {_shown(given)} where an object should be")
        return given

    def _items(self, given: Any) -> list[Any]:
        if not isinstance(given, list) or len(given) > self._limits.items:
            self._refuse("there is no list, or too long a one, where one should be")
        return given

    def _refuse(self, why: str) -> NoReturn:
        raise SdfgError(f"this SDFG is not accepted: in {self._at}, {why}")

    def many(self, given: Any, check: Callable[[Admission, Any], Any]) -> list[Any]:
        """A list of things that `check` takes."""
        return [check(self, one) for one in self._items(given)]

    def number(self, given: Any, most: int = LARGEST) -> int:
        """A whole number that is not negative."""
        if type(given) is not int or not 0 <= given <= most:
            self._refuse(f"{_shown(given)} is no whole number up to {most}")
        return given

    def word(self, given: Any, words: Any) -> Any:
        """One of `words`."""
        if not isinstance(given, str) or given not in words:
            self._refuse(f"{_shown(given)} is not known")
        return given

    def identifier(self, given: Any) -> str:
        """A name, as it came."""
        if not isinstance(given, str) or not vocabulary.is_identifier(given):
            self._refuse(f"{_shown(given)} is no name")
        return given

    # -- names ----------------------------------------------------------------------------------

    def container(self, given: Any) -> str:
        """The fresh name of a container."""
        fresh = self._names.get(given) if isinstance(given, str) else None
        if fresh is None:
            self._refuse(f"{_shown(given)} is no container")
        return fresh

    def data(self, given: Any) -> str:
        """The fresh name of a container; docc's null pointer stays what it is."""
        return (
            given if isinstance(given, str) and given in vocabulary.NULLS else self.container(given)
        )

    def structure(self, given: Any) -> str:
        """The fresh name of a structure."""
        fresh = self._structures.get(given) if isinstance(given, str) else None
        if fresh is None:
            self._refuse(f"{_shown(given)} is no structure")
        return fresh

    def index(self, given: Any) -> str:
        """The fresh name of an index of an Einstein sum, which is no container."""
        if given in self._names:
            return self._names[given]
        name = self.identifier(given)
        return self._symbols.setdefault(name, f"{SYMBOL}{len(self._symbols):02}x")

    def place(self, given: Any) -> str:
        """What stands for the name of a file or function in a source position."""
        if not isinstance(given, str) or len(given) > 4096:
            self._refuse("a source position names no file")
        return given and self._places.setdefault(given, f"{PLACE}{len(self._places):02}x")

    def expression(self, given: Any) -> str:
        """An expression in fresh names."""
        if not isinstance(given, str):
            self._refuse(f"{_shown(given)} is no expression")
        made = self._expressions.get(given)
        if made is None:
            try:
                made = expressions.read(given).renamed(self._symbol)
            except SdfgError as error:
                self._refuse(str(error))
            self._expressions[given] = made
        return made

    def _symbol(self, name: str) -> str:
        fresh = self._names.get(name) or self._symbols.get(name)
        if fresh is None:
            self._refuse(f"an expression uses {_shown(name)}, which is not declared")
        return fresh

    # -- types, constants, metadata -------------------------------------------------------------

    def type(self, given: Any, depth: int = 0) -> Json:
        """A type; `grammar.TYPES` says of which kinds."""
        if isinstance(given, dict):
            plain = grammar.PLAIN_TYPES.get(given.get("primitive_type", -1))  # what nearly all are
            if plain is not None and plain == given:
                return dict(plain)
        if depth > TYPE_DEPTH:
            self._refuse("a type is nested too deeply")
        kind = self.word(self._mapping(given).get("type"), grammar.TYPES)
        inner = grammar.INNER_TYPES.get(kind)
        if inner is None or (kind == "pointer" and inner not in given):  # one to anything
            return self.object(given, grammar.TYPES[kind])
        if inner not in given:
            self._refuse(f"there is no member {inner!r}")
        rest = {name: value for name, value in given.items() if name != inner}
        made = self.object(rest, grammar.TYPES[kind])
        made[inner] = self.type(given[inner], depth + 1)
        return made

    def constant(self, given: Json, fields: Fields) -> Json:
        """A node with a constant of its own type."""
        made = self.object(given, fields)
        primitive = made["data_type"].get("primitive_type")
        if not vocabulary.is_literal(made["data"], primitive):
            self._refuse(f"{_shown(given['data'])} is no constant of its type")
        return made

    def metadata(self, given: Any) -> Json:
        """What our own passes have noted; what docc's client has is kept apart."""
        kept = {}
        for name, value in self._mapping(given).items():
            form = vocabulary.OUR_METADATA.get(name)
            if not isinstance(value, str):
                self._refuse(f"the metadata {_shown(name)} is no text")
            if form is not None and form.fullmatch(value):
                kept[name] = value
            elif name in vocabulary.DOCC_METADATA:
                self._metadata[name] = value
            else:
                self._refuse(f"there is metadata {_shown(name)}, which is not known")
        return kept

    # -- control flow and dataflow --------------------------------------------------------------

    def element(self, given: Any) -> Json:
        """An element of control flow, with all that is in it."""
        kind = self._enter(given, grammar.ELEMENTS)
        self._depth += 1
        if self._depth > self._limits.depth:
            self._refuse(f"there are more than {self._limits.depth} elements inside one another")
        if kind == "return" and "data_type" in given:
            made = self.constant(given, grammar.CONSTANT_RETURN)
        else:
            made = self.object(given, grammar.ELEMENTS[kind])
        self._depth -= 1
        return made

    def sequence(self, given: Any) -> Json:
        """An element that has to be a sequence."""
        made = self.element(given)
        if made["type"] != "sequence":
            self._refuse(f"a {made['type']} stands where a sequence should")
        return made

    def _enter(self, given: Any, known: Mapping[str, Any]) -> str:
        """The type of an element or node."""
        self._count(given)
        kind = given.get("type")
        if not isinstance(kind, str) or kind not in known:
            self._refuse(f"there is something of type {_shown(kind)}, which is not known")
        return kind

    def _count(self, given: Any) -> None:
        """Count an element, node or edge; what is refused from now on is said to be in it."""
        self._left -= 1
        if self._left < 0:
            self._refuse(f"there are more than {self._limits.elements} elements")
        self._at = f"element {_shown(self._mapping(given).get('element_id'))}"

    def dataflow(self, given: Any) -> Json:
        """The nodes and edges of a block."""
        self._connectors = {}
        return self.object(given, grammar.DATAFLOW)

    def node(self, given: Any) -> Json:
        """A node of a dataflow, whose connectors are kept for its edges."""
        kind = self._enter(given, grammar.NODES)
        connectors: Mapping[str, str] | None = None
        if kind == "tasklet":
            made = self.object(given, grammar.NODES[kind])
            connectors = self._tasklet(made)
        elif kind == "constant_node":
            made = self.constant(given, grammar.NODES[kind])
        elif kind == "library_node":
            code = self.word(given.get("code"), grammar.LIBRARY)
            made = self.object(given, grammar.LIBRARY[code])
        else:
            made = self.object(given, grammar.NODES[kind])
        if made["element_id"] in self._connectors:
            self._refuse("two nodes have the same id")
        self._connectors[made["element_id"]] = connectors
        return made

    def _tasklet(self, made: Json) -> Mapping[str, str]:
        """The connectors of a tasklet: named anew, in place, unless they have names that docc gives
        them. Fingerprints go by the order of these names."""
        inputs, output = made["inputs"], made["output"]
        own = {*inputs, output}
        if len(own) != len(inputs) + 1:
            self._refuse("a tasklet has two connectors of the same name")
        if own <= vocabulary.TASKLET_CONNECTORS:
            return {name: name for name in own}
        fresh = {name: f"_in{place}" for place, name in enumerate(sorted(inputs), 1)}
        fresh[output] = "_out"
        made["inputs"], made["output"] = [fresh[name] for name in inputs], "_out"
        return fresh

    def connector(self, given: Any) -> str:
        """A connector of a library node."""
        if isinstance(given, str) and vocabulary.NUMBERED_CONNECTOR.fullmatch(given):
            return given
        return self.word(given, vocabulary.CONNECTORS)

    def edge(self, given: Any) -> Json:
        """An edge between nodes that are there."""
        self._count(given)
        made = self.object(given, grammar.EDGE)
        for end, connector in (("src", "src_conn"), ("dst", "dst_conn")):
            if made[end] not in self._connectors:
                self._refuse("an edge has no node at its end")
            fresh = self._connectors[made[end]]
            if fresh is None:
                made[connector] = self.connector(given[connector])
            elif given[connector] not in fresh:
                self._refuse(f"{_shown(given[connector])} is no connector of the tasklet")
            else:
                made[connector] = fresh[given[connector]]
        return made


def _shown(given: Any) -> str:
    """The beginning of what was given, in ASCII."""
    if isinstance(given, str):
        given = given[:60]
    elif given is not None and not (isinstance(given, int) and abs(given) <= LARGEST):
        return "something else"
    text = ascii(given)
    return text if len(text) <= 60 else f"{text[:57]}..."
