"""The one door for SDFGs from outside: requests, records, files, answers of servers.

docc writes names, constants and connectors of an SDFG into C++ and into a shell's command line as
they stand. So what others have written is read here by a closed grammar, and written anew: names
are our own, and every word and number that is left is one that the grammar knows. What is not in
the grammar is refused with one line that says what and where.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from loopbook.errors import SdfgError
from loopbook.program.json_text import dumped
from loopbook.program.load import as_sdfg, parsed
from loopbook.sdfg.untrusted.admission import Admission, Limits
from loopbook.sdfg.untrusted.renaming import Names

__all__ = ["Admitted", "Limits", "Names", "admit"]


@dataclass(frozen=True)
class Admitted:
    """A program from outside that may be given to docc.

    Attributes:
        document: the SDFG in our names.
        names: what its author calls things.
    """

    document: Mapping[str, Any]
    names: Names

    @property
    def text(self) -> str:
        """The SDFG in our names, as JSON text."""
        return dumped(self.document)


def admit(program: str | Mapping[str, Any], limits: Limits | None = None) -> Admitted:
    """Let a program from outside in.

    Its fingerprints are those of what is let in. Asks docc nothing, and takes time in proportion to
    the program's length.

    Args:
        program: an SDFG's JSON, as text or parsed.

    Raises:
        SdfgError: it is none, or something in it is not in the grammar.
    """
    given = as_sdfg(parsed(program) if isinstance(program, str) else program)
    try:
        document, names = Admission(limits or Limits()).program(given)
    except RecursionError:
        raise SdfgError("this SDFG is not accepted: it is nested too deeply") from None
    return Admitted(document, names)
