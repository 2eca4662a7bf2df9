"""A nest that docc's client can put back into the program that it has taken it from.

The client (docc before 0.7) sends one nest as a program of its own. Of the answer it takes the
first element of the outermost sequence, and the containers of which it has none with such a name;
those that it has stay of its own type. So all of the answer is made one element, and containers
that are new, or of another type now, get names that nothing else in the client's program has.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from loopbook.errors import SdfgError
from loopbook.sdfg.names import rename
from loopbook.sdfg.untrusted import Admitted

Json = dict[str, Any]

DIGITS = 12
"""Of what a nest's new names end in, which other nests of the same program must not share."""


def graft(sdfg: str, given: Admitted) -> Json:
    """The finished form of a nest, to be put back.

    Args:
        sdfg: JSON text of the finished program.
        given: the nest as the client has sent it.

    Raises:
        SdfgError: nothing is left of it, or an argument is of another type.
    """
    document = json.loads(sdfg)
    containers, known = document["containers"], given.document["containers"]
    arguments = set(document["arguments"])
    if any(containers[name] != known.get(name) for name in arguments):
        raise SdfgError("the nest's arguments are others now")
    mark = hashlib.sha256(given.text.encode()).hexdigest()[:DIGITS]
    names = {
        name: f"{name}_{mark}"
        for name, kind in containers.items()
        if name not in arguments and kind != known.get(name)
    }
    document["containers"] = {names.get(name, name): kind for name, kind in containers.items()}
    for part in (document["containers"], document["root"]):
        rename(part, names)
    _make_one(document)
    return document


def _make_one(document: Json) -> None:
    """Put what the outermost sequence consists of into one element, in place."""
    root = document["root"]
    if not root["children"]:
        raise SdfgError("nothing is left of the nest")
    if len(root["children"]) == 1:
        return
    document["element_counter"] = number = int(document["element_counter"]) + 1
    whole = {"type": "sequence", "element_id": number, "debug_info": root["debug_info"]}
    root["children"] = [{**whole, "children": root["children"]}]
