"""Reads the program tree from docc's JSON.

A member that is missing, or is of another JSON type than docc writes, is damage. An element of a
kind that is not known, or with a member that is not, is no damage: it is kept whole, as `Opaque`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from loopbook.errors import SdfgError
from loopbook.program import members
from loopbook.program.json_element import COMMON, ElementReader
from loopbook.program.json_types import read_type
from loopbook.program.kept import Kept
from loopbook.program.members import Json
from loopbook.program.read_dataflow import read_block
from loopbook.program.tree import (
    KINDS,
    Assignment,
    Assignments,
    Branch,
    Case,
    Jump,
    Loop,
    LoopKind,
    Node,
    Opaque,
    Program,
    Reduction,
    Schedule,
    Sequence,
    While,
)
from loopbook.program.types import Type

MAX_DEPTH = 100
"""Sequences inside each other; more than programs have, and fewer than Python's stack takes."""

_PROGRAM = frozenset({
    "name", "containers", "arguments", "root", "return_type", "type", "element_counter",
})  # fmt: skip
_SEQUENCE = COMMON | {"children"}
_LOOP = COMMON | {
    "sub_type", "indvar", "init", "condition", "update", "schedule_type", "reductions", "root"
}  # fmt: skip
_KINDS: Mapping[tuple[str, str], LoopKind] = {names: kind for kind, names in KINDS.items()}
_SCHEDULE = frozenset({"value", "category", "properties"})


def read(document: Json) -> Program:
    """The program of an SDFG's JSON document. It shares nothing with the document.

    Raises:
        SdfgError: if the document is no SDFG, or is damaged.
    """
    document = members.mapping(document, "it")
    reader = _Reader()
    try:
        body = reader.sequence(document.get("root"))
        return Program(
            name=members.text(document, "name"),
            containers=read_containers(document),
            arguments=members.texts(document, "arguments"),
            body=body,
            returns=read_type(document.get("return_type")),
            target=members.text(document, "type"),
            # New elements must not get numbers that others have, whatever the document says.
            counter=max(members.number(document, "element_counter"), reader.greatest),
            extra=Kept.of({key: document[key] for key in document.keys() - _PROGRAM}),
        )
    except members.UnknownMemberError as error:  # around all that could be kept as `Opaque`
        raise SdfgError(str(error)) from None
    except RecursionError:
        raise SdfgError("the SDFG is nested too deeply") from None


def read_containers(document: Json) -> Mapping[str, Type]:
    """The types of what a document declares.

    Raises:
        SdfgError: as `read`.
    """
    declared = members.mapping(document.get("containers"), "its list of containers")
    return MappingProxyType({name: read_type(raw) for name, raw in declared.items()})


class _Reader:
    """Reads the elements of one program."""

    def __init__(self) -> None:
        self._elements = ElementReader()
        self._depth = 0

    @property
    def greatest(self) -> int:
        """The greatest number of an element so far."""
        return self._elements.greatest

    def sequence(self, raw: Any) -> Sequence:
        """A sequence and all that is in it."""
        raw = members.mapping(raw, "a sequence")
        own = self._elements.read(raw, _SEQUENCE)
        if raw.get("type") != "sequence":
            raise SdfgError("the SDFG is damaged: something else stands in the place of a sequence")
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise SdfgError("the SDFG is nested too deeply")
        children = tuple(map(self.node, members.many(raw, "children")))
        self._depth -= 1
        return Sequence(children, **own)

    def node(self, raw: Any) -> Node:
        """What stands in a sequence."""
        raw = members.mapping(raw, "an element")
        depth = self._depth
        try:
            return self._known(members.text(raw, "type"), raw)
        except members.UnknownMemberError:
            self._depth = depth
            return Opaque(Kept.of(raw))

    def _known(self, kind: str, raw: Json) -> Node:
        match kind:
            case "block":
                return read_block(raw, self._elements)
            case "for" | "map":
                return self._loop(kind, raw)
            case "while":
                own = self._elements.read(raw, COMMON | {"root"})
                return While(self.sequence(raw.get("root")), **own)
            case "if_else":
                own = self._elements.read(raw, COMMON | {"branches"})
                return Branch(tuple(map(self._case, members.many(raw, "branches"))), **own)
            case "assignment_block":
                own = self._elements.read(raw, COMMON | {"assignments"})
                return Assignments(tuple(map(_assignment, members.many(raw, "assignments"))), **own)
            case "sequence":
                return self.sequence(raw)
            case "break" | "continue":
                return Jump(kind, **self._elements.read(raw, COMMON))
            case "return":
                own = self._elements.read(raw, COMMON | {"data", "data_type"})
                constant = read_type(raw["data_type"]) if "data_type" in raw else None
                return Jump("return", members.text(raw, "data"), constant, **own)
        raise members.UnknownMemberError(f"the SDFG has an element of unknown type {kind[:40]!r}")

    def _loop(self, type_: str, raw: Json) -> Loop:
        own = self._elements.read(raw, _LOOP)
        kind = _KINDS.get((type_, members.text(raw, "sub_type")))
        if kind is None:
            raise members.UnknownMemberError("the SDFG has a loop of unknown type")
        reductions = members.many(raw, "reductions") if "reductions" in raw else None
        return Loop(
            members.text(raw, "indvar"),
            members.expression(raw, "init"),
            members.expression(raw, "condition"),
            members.expression(raw, "update"),
            self.sequence(raw.get("root")),
            kind,
            _schedule(raw.get("schedule_type")),
            None if reductions is None else tuple(map(_reduction, reductions)),
            **own,
        )

    def _case(self, raw: Any) -> Case:
        raw = members.mapping(raw, "a case")
        members.only(raw, frozenset({"condition", "root"}))
        return Case(members.expression(raw, "condition"), self.sequence(raw.get("root")))


def _assignment(raw: Any) -> Assignment:
    raw = members.mapping(raw, "an assignment")
    members.only(raw, frozenset({"symbol", "expression"}))
    return Assignment(members.text(raw, "symbol"), members.expression(raw, "expression"))


def _reduction(raw: Any) -> Reduction:
    raw = members.mapping(raw, "a reduction")
    members.only(raw, frozenset({"op", "container"}))
    return Reduction(members.text(raw, "op"), members.text(raw, "container"))


def _schedule(raw: Any) -> Schedule:
    raw = members.mapping(raw, "a schedule")
    members.only(raw, _SCHEDULE)
    properties = members.mapping(raw.get("properties"), "its properties")
    return Schedule(
        members.text(raw, "value"),
        members.number(raw, "category"),
        tuple((key, members.text(properties, key)) for key in properties),
    )
