"""A nest that docc's client can put back into the program that it has taken it from.

The client (docc before 0.7) sends one nest as a program of its own. Of the answer it takes the
first element of the outermost sequence, and the containers of which it has none with such a name;
those that it has stay of its own type. So all of the answer is made one element, and containers
that are new, or of another type now, get names that nothing else in the client's program has.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from types import MappingProxyType

from loopbook.errors import SdfgError
from loopbook.program.members import Json
from loopbook.program.read import read, read_containers
from loopbook.program.rename import renamed, renamed_type
from loopbook.program.tree import Sequence
from loopbook.program.write import write
from loopbook.sdfg.untrusted import Admitted

DIGITS = 12
"""Of what a nest's new names end in, which other nests of the same program must not share."""


def graft(sdfg: Json, given: Admitted) -> Json:
    """The finished form of a nest, to be put back.

    Args:
        sdfg: the finished program.
        given: the nest as the client has sent it.

    Raises:
        SdfgError: nothing is left of it, or an argument is of another type.
    """
    finished, known = read(sdfg), read_containers(dict(given.document))
    arguments = set(finished.arguments)
    if any(finished.containers[name] != known.get(name) for name in arguments):
        raise SdfgError("the nest's arguments are others now")
    mark = hashlib.sha256(given.text.encode()).hexdigest()[:DIGITS]
    names = {
        name: f"{name}_{mark}"
        for name, one in finished.containers.items()
        if name not in arguments and one != known.get(name)
    }
    containers = {
        names.get(name, name): renamed_type(one, names) for name, one in finished.containers.items()
    }
    body = _made_one(renamed(finished.body, names))
    return write(replace(finished, containers=MappingProxyType(containers), body=body))


def _made_one(body: Sequence) -> Sequence:
    """The outermost sequence with all that it consists of in one element."""
    if not body.children:
        raise SdfgError("nothing is left of the nest")
    if len(body.children) == 1:
        return body
    return replace(body, children=(Sequence(body.children, position=body.position),))
