"""What docc calls for its targets ``loopbook`` and the like (`loopbook.targets`), in this order.

docc lets a target expand, schedule and compile. What it does to its own object between these may
lose stores or move loops (see `loopbook.sdfg.program`), and recipes make a new object. So `expand`
keeps the program as it came, `schedule` does nothing, and `build` plans and compiles what was kept,
as `loopbook.native` does. docc goes on with its own object, which is only expanded and simplified:
name, arguments and what is returned are the same.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from loopbook import private
from loopbook.client.decision import Plan
from loopbook.client.plan import finish_plan
from loopbook.client.served import served
from loopbook.client.variants.dispatch import Dispatcher
from loopbook.errors import FolderError
from loopbook.sdfg import frontend, passes
from loopbook.sdfg.build import build_finished
from loopbook.sdfg.passes import parse
from loopbook.sdfg.traced import Traced
from loopbook.toolchain import scratch


class _State(threading.local):
    """What is remembered of a program on its way through docc.

    Attributes:
        sizes: values of its size symbols, where we know of a call.
        sdfg, text: docc's object, and what it was when it came.
        finished: JSON text of what was compiled last.
    """

    sizes: Mapping[str, int] | None = None
    sdfg: Any = None
    text = ""
    finished = ""


_state = _State()


def dispatcher(program: Any) -> Dispatcher:
    """What answers the calls of one of docc's programs for our targets. Each case of the arguments
    goes through docc's own pipeline, with the options of the program, in a folder of its own."""

    def build(traced: Traced, args: Sequence[Any], folder: Path) -> Sequence[Path]:
        _state.sizes = traced.symbols(args)
        try:
            library = frontend.pipe(program, traced.text, folder)
        finally:
            _state.sizes = None
        program.last_sdfg = parse(_state.finished)
        return [library]

    return Dispatcher(program.func, build)


def expand(target: str, sdfg: Any, category: str, options: Mapping[str, Any]) -> None:
    """docc's first step for a target; keeps the program as it came."""
    _state.sdfg, _state.text = sdfg, sdfg.to_json()
    passes.expand(sdfg, target)


def schedule(target: str, sdfg: Any, category: str, options: Mapping[str, Any]) -> None:
    """docc's second step: `build` schedules."""


def build(
    target: str,
    sdfg: Any,
    folder: str,
    instrumentation: str,
    capture: bool,
    options: Mapping[str, Any],
) -> str:
    """docc's last step: the library.

    Args:
        sdfg: docc's object. One that did not come through `expand` is finished: docc has read it
            from a file, to build again what it has built before.
        folder: docc's own choice unless the caller of its ``compile`` has one. docc does not ask
            whose that is; see `_private`.
        instrumentation, capture, options: how docc's user wants it compiled.
    """
    came = _state.text if _state.sdfg is sdfg else None
    _state.sdfg, _state.text = None, ""
    ours = _private(folder)
    dump = Path(folder, f"{sdfg.name}.{passes.AS_COMPILED}.json").exists()
    wanted = {"instrumentation_mode": instrumentation, "capture_args": capture, **options}

    def compiled(finished: str, target: str) -> Path:
        _state.finished = finished
        return build_finished(finished, target, ours, wanted, dump=dump)

    def planned(text: str, plan: Plan) -> Path:
        return compiled(finish_plan(text, plan), plan.target)

    if came is None:
        return str(compiled(sdfg.to_json(), target))
    return str(served(came, target, planned, sizes=_state.sizes, libraries=True)[1])


def _private(folder: str) -> Path:
    """The folder, or another one where others may write in it or put their own in its place."""
    try:
        return private.place(Path(folder))
    except FolderError:
        return scratch.make()
