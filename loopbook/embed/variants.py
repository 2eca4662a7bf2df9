"""Variants of an SDFG document that should get nearly the same vectors.

All work on copies of the SDFG's JSON. `renamed` gives exactly the same nest graph, the others give
one that differs in ways that matter little for which recipe is right.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any

from loopbook.program import expr
from loopbook.program.dataflow import OPCODES

Json = dict[str, Any]

_NAMED = ("data", "container", "symbol", "expression", "indvar", "init", "condition", "update")
_COMMUTATIVE = ("fp_add", "fp_mul", "int_add", "int_mul")
_FLOAT, _DOUBLE = 14, 15
_SIZES = (24, 60, 128, 250, 512, 1000, 2048)
_LOOPS = ("for", "map", "reduce")


def renamed(document: Json, rng: random.Random) -> Json:
    """Other names for all containers and loop variables, other element ids, other order of keys."""
    old = list(document["containers"])
    fresh = rng.sample(range(10_000), len(old))
    names = {name: f"v{number}" for name, number in zip(old, fresh, strict=True)}
    shift = rng.randrange(1, 1000)

    def change(key: str, value: Any) -> Any:
        if key == "containers":
            value = {names[name]: described for name, described in value.items()}
        if isinstance(value, dict):
            items = [(inner, change(inner, part)) for inner, part in value.items()]
            rng.shuffle(items)
            return dict(items)
        if isinstance(value, list):
            return [change(key, part) for part in value]
        if key in ("element_id", "src", "dst", "element_counter") and isinstance(value, int):
            return value + shift
        if isinstance(value, str) and key in (*_NAMED, "subset", "arguments", "externals"):
            return expr.substitute(value, names)
        return value

    return change("", document)


def retyped(document: Json) -> Json:
    """Single precision for double and the other way round."""
    done = copy.deepcopy(document)
    swap = {_FLOAT: _DOUBLE, _DOUBLE: _FLOAT}
    for part in _dicts(done):
        if part.get("primitive_type") in swap:
            part["primitive_type"] = swap[part["primitive_type"]]
    return done


def resized(document: Json, rng: random.Random) -> Json:
    """Constants in place of some or all size symbols."""
    done = copy.deepcopy(document)
    sizes = [
        name
        for name in document["arguments"]
        if document["containers"][name].get("type") == "scalar"
        and document["containers"][name].get("primitive_type") not in (_FLOAT, _DOUBLE)
    ]
    chosen = rng.sample(sizes, rng.randint(min(1, len(sizes)), len(sizes)))
    values = {name: str(rng.choice(_SIZES)) for name in chosen}
    for part in _dicts(done["root"]):
        for key in ("init", "condition", "update", "expression"):
            if isinstance(part.get(key), str):
                part[key] = expr.substitute(part[key], values)
        if "subset" in part:
            part["subset"] = [expr.substitute(str(text), values) for text in part["subset"]]
    return done


def reordered(document: Json, rng: random.Random) -> Json:
    """Operands of commutative operations and independent neighbours in a sequence exchanged."""
    done = copy.deepcopy(document)
    for part in _dicts(done["root"]):
        flow = part.get("dataflow")
        if flow:
            for node in flow["nodes"]:
                code = node.get("code")
                if node.get("type") == "tasklet" and OPCODES[code] in _COMMUTATIVE:
                    _exchange_operands(flow, node["element_id"], rng)
            rng.shuffle(flow["edges"])
        children = part.get("children", [])
        for first in range(len(children) - 1):
            a, b = children[first], children[first + 1]
            if rng.random() < 0.5 and _independent(a, b):
                children[first], children[first + 1] = b, a
    return done


def permuted(document: Json, rng: random.Random) -> Json:
    """Directly nested rectangular loops in another order.

    Recipes reorder loops themselves, so this is the same nest to them, whether or not it is legal.
    """
    done = copy.deepcopy(document)
    seen: set[int] = set()
    for loop in [part for part in _dicts(done["root"]) if _is_loop(part)]:
        if id(loop) in seen:
            continue
        band = [loop]
        while (inner := _only_loop(band[-1])) and not _depends(inner, band):
            band.append(inner)
        seen |= {id(member) for member in band}
        heads = [{k: v for k, v in member.items() if k != "root"} for member in band]
        rng.shuffle(heads)
        for member, head in zip(band, heads, strict=True):
            body = member["root"]
            member.clear()
            member.update(head, root=body)
    return done


def random_variant(document: Json, rng: random.Random) -> Json:
    """Some of the changes above."""
    changes: tuple[tuple[float, Callable[[Json], Json]], ...] = (
        (0.5, retyped),
        (0.4, lambda document: resized(document, rng)),
        (0.6, lambda document: reordered(document, rng)),
        (0.6, lambda document: permuted(document, rng)),
    )
    for chance, change in changes:
        if rng.random() < chance:
            document = change(document)
    return document


def _dicts(value: Any) -> Iterator[Json]:
    """All objects inside `value`, outer ones first."""
    if isinstance(value, dict):
        yield value
        for part in value.values():
            yield from _dicts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _dicts(part)


def _exchange_operands(flow: Json, node: int, rng: random.Random) -> None:
    inputs = [edge for edge in flow["edges"] if edge["dst"] == node]
    if len(inputs) == 2 and rng.random() < 0.5:
        a, b = inputs
        a["dst_conn"], b["dst_conn"] = b["dst_conn"], a["dst_conn"]


def _independent(a: Json, b: Json) -> bool:
    """Whether neither element writes what the other one touches."""
    if not {a["type"], b["type"]} <= {"block", *_LOOPS}:
        return False
    (reads, writes), (other_reads, other_writes) = _touched(a), _touched(b)
    return not (writes & (other_reads | other_writes) or other_writes & reads)


def _touched(element: Json) -> tuple[set[str], set[str]]:
    reads, writes = set(), set()
    for part in _dicts(element):
        if "indvar" in part:
            writes.add(part["indvar"])
        for assignment in part.get("assignments", ()):
            writes.add(assignment["symbol"])
            reads |= set(expr.symbols(str(assignment["expression"])))
        flow = part.get("dataflow")
        if flow:
            data = {node["element_id"]: node.get("data") for node in flow["nodes"]}
            reads |= {data[edge["src"]] for edge in flow["edges"]} - {None}
            writes |= {data[edge["dst"]] for edge in flow["edges"]} - {None}
            for edge in flow["edges"]:
                for text in edge.get("subset", ()):
                    reads |= set(expr.symbols(str(text)))
        for key in ("init", "condition", "update"):
            reads |= set(expr.symbols(str(part.get(key, ""))))
    return reads, writes


def _is_loop(part: Json) -> bool:
    return part.get("type") in _LOOPS and "indvar" in part


def _only_loop(loop: Json) -> Json | None:
    children = loop["root"]["children"]
    return children[0] if len(children) == 1 and _is_loop(children[0]) else None


def _depends(loop: Json, band: list[Json]) -> bool:
    names = set(expr.symbols(f"{loop['init']} {loop['condition']} {loop['update']}"))
    return any(outer["indvar"] in names for outer in band)
