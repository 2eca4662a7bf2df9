"""What docc calls for its targets ``loopbook`` and the like (`loopbook.targets`), in this order.

docc lets a target expand, schedule and compile. Recipes want loops whose induction variables have
names of their own, which cannot be changed in docc's object. So `expand` keeps the program's text,
`schedule` does in place what can be done there (what ``last_sdfg`` shows), and `build` compiles
from the text.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from loopbook import private
from loopbook.client import optimize
from loopbook.client.native import compile_text
from loopbook.client.opening import open_book
from loopbook.client.variants.dispatch import Dispatcher
from loopbook.errors import FolderError
from loopbook.sdfg import frontend, inplace
from loopbook.sdfg.traced import Traced
from loopbook.toolchain import compiler, scratch

_texts = threading.local()


def dispatcher(program: Any) -> Dispatcher:
    """What answers the calls of one of docc's programs for our targets. Each case of the arguments
    goes through docc's own pipeline, with the options of the program, in a folder of its own."""

    def build(traced: Traced, args: Sequence[Any], folder: Path) -> Path:
        return frontend.pipe(program, traced.text, folder)

    return Dispatcher(program.func, build)


def expand(target: str, sdfg: Any, category: str, options: Mapping[str, Any]) -> None:
    """docc's first step for a target; keeps the text of the untouched program."""
    _texts.sdfg, _texts.text = sdfg, sdfg.to_json()
    inplace.expand(sdfg, target)


def schedule(target: str, sdfg: Any, category: str, options: Mapping[str, Any]) -> None:
    """docc's second step: in place, as `loopbook.optimize` does it."""
    with open_book() as layered:
        optimize.schedule(sdfg, target, layered)


def build(
    target: str,
    sdfg: Any,
    folder: str,
    instrumentation: str,
    capture: bool,
    options: Mapping[str, Any],
) -> str:
    """docc's last step: the library. With docc's instrumentation or argument capture on, it is made
    from the SDFG as scheduled in place, which those are about.

    Args:
        folder: docc's own choice unless the caller of its ``compile`` has one. docc does not ask
            whose that is; see `_private`.
    """
    text = _texts.text if getattr(_texts, "sdfg", None) is sdfg else None
    _texts.sdfg = _texts.text = None
    ours = _private(folder)
    if text is None or instrumentation or capture:
        compiler.activate()
        return inplace.build(sdfg, str(ours), target, instrumentation, capture, dict(options))
    return str(compile_text(text, target, ours)[1])


def _private(folder: str) -> Path:
    """The folder, or another one where others may write in it or put their own in its place."""
    try:
        return private.place(Path(folder))
    except FolderError:
        return scratch.make()
