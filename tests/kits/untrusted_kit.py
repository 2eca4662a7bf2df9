"""Hostile SDFGs: real ones with fragments of shell, C++ and paths in their strings."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from loopbook.recipes.book import Book

MARK = "zq7hostile"
"""Stands in every fragment, and in nothing else."""

FRAGMENTS = (
    f"nest$(touch {MARK})",
    f"`touch {MARK}`",
    f"x; touch {MARK} #",
    f"x' && touch {MARK} '",
    f'"; system("touch {MARK}"); //',
    f'[]{{ system("touch {MARK}"); return 1.0; }}()',
    f'q=(system("touch {MARK}"),0.0),zz',
    f"0.0 + {MARK}()",
    f"{MARK}()",
    f"{MARK}",
    f"max(1, {MARK}(2))",
    f"i\n#include <{MARK}>\n",
    f"i }} void {MARK}() {{",
    f"a<{MARK}>::b",
    f"${{{MARK}}}",
    f"/tmp/{MARK}/../../etc/passwd",
    f"../../../{MARK}.so",
    f"-fplugin={MARK}.so",
    f"@{MARK}",
    f"*/ {MARK} /*",
    f"{MARK}\x00{MARK}",
    f"{MARK}\u202e\u00e9\\",
)

NAMES = (MARK, f"system_{MARK}", f"__asm__{MARK}", f"_{MARK}_", f"{MARK}ß", f"v00x{MARK}")
"""Fragments that are good names: they are let in, and must be left behind all the same."""


@cache
def nests() -> tuple[str, ...]:
    """Nests of the starter book, as JSON texts: one of each twentieth record."""
    path = Path(__file__).parents[2] / "loopbook" / "data" / "starter.book"
    with Book.open(path, readonly=True) as book:
        return tuple(record.nest_json for record in book.records())[::20]


def strings(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every string below a JSON value: what holds it, and its key or index there. A name of a
    member counts too, by the key None."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        if isinstance(inner, str):
            yield value, key
        elif isinstance(inner, dict | list):
            yield from strings(inner)
    if isinstance(value, dict):
        yield value, None


def poisoned(text: str, numbers: random.Random, fragments: int = 1) -> dict[str, Any]:
    """A copy of an SDFG with fragments in some of its strings, or as names of members.

    A fragment may take the place of a name everywhere, as somebody would do who wants it to be
    declared.
    """
    document = json.loads(text)
    if numbers.random() < 0.3:
        old = numbers.choice([document["name"], *document["containers"]])
        return json.loads(re.sub(rf"\b{old}\b", numbers.choice(NAMES), text))
    places = list(strings(document))
    for _ in range(fragments):
        fragment = numbers.choice(FRAGMENTS)
        owner, key = numbers.choice(places)
        if key is None:
            owner[fragment] = copy.deepcopy(numbers.choice(list(owner.values()) or [""]))
        elif numbers.random() < 0.5:
            document = _replaced(document, owner[key], fragment)
            places = list(strings(document))
        elif numbers.random() < 0.3:
            owner[key] += fragment
        else:
            owner[key] = fragment
    return document


def _replaced(value: Any, old: str, new: str) -> Any:
    """A copy in which a string is another one, wherever it stands, as a name of a member too."""
    if isinstance(value, str):
        return new if value == old else value
    if isinstance(value, dict):
        return {new if k == old else k: _replaced(v, old, new) for k, v in value.items()}
    return [_replaced(v, old, new) for v in value] if isinstance(value, list) else value


ATTACKS = ("name", "constant", "connector", "container")


def attacked(text: str, attack: str, command: str) -> str:
    """An SDFG with one of `ATTACKS`, which runs a command where docc compiles or runs it."""
    document = json.loads(text)
    call = f'system("{command}")'
    if attack == "name":
        document["name"] = f"nest$({command})"
    elif attack == "constant":
        node = _first(document, "constant_node")
        if node is None:  # one more operand: the sum of what there was, and of what system() gives
            node = _first(document, "access_node")
            assert node is not None
            kind = {**_scalar(15)}
            node |= {"type": "constant_node", "data_type": kind}
        node["data"] = f"[]{{ {call}; return 1.0; }}()"
    elif attack == "connector":
        tasklet = _first(document, "tasklet")
        assert tasklet is not None
        old, new = tasklet["inputs"][0], f"q=({call},0.0),zz"
        document = _replaced(document, old, new)
    else:
        old = document["arguments"][0]
        document = _replaced(document, old, f"a;\n{call}; double* b")
    return json.dumps(document)


def _scalar(primitive: int) -> dict[str, Any]:
    storage = {"allocation": 0, "deallocation": 0, "value": "CPU_Stack"}
    return {
        "type": "scalar",
        "primitive_type": primitive,
        "alignment": 0,
        "initializer": "",
        "storage_type": storage,
    }


def _first(value: Any, kind: str) -> dict[str, Any] | None:
    """The first element or node of a type."""
    if isinstance(value, dict):
        if value.get("type") == kind:
            return value
        value = list(value.values())
    inner = (_first(one, kind) for one in value) if isinstance(value, list) else ()
    return next((one for one in inner if one is not None), None)
