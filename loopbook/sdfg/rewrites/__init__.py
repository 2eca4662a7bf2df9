"""Loop transformations of our own, where docc has no fitting one.

What a step does, its before and after, stands in its class in `loopbook.steps`; here is how it is
done. A rewriting works on the SDFG's JSON document: it checks with a conservative test of its own
that the program's dependences allow it, and changes the document. What comes out is parsed by docc
again, so a rewriting makes a new SDFG, where docc's transformations change theirs in place.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from loopbook.sdfg.rewrites.document import REWRITINGS, Draft, Rewriting

__all__ = ["REWRITINGS", "Draft", "Rewriting"]

for _file in iter_modules(__path__):
    import_module(f"{__name__}.{_file.name}")
