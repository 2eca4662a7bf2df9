"""From a graph of PyTorch to an SDFG: docc-ai's translation, which goes through torch-mlir."""

from __future__ import annotations

import contextlib
import json
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

from loopbook.errors import LoopbookError, SdfgError
from loopbook.printable import one_line
from loopbook.sdfg import passes
from loopbook.toolchain.sandbox import run_limited

TRANSLATING_SECONDS = 120.0
TRANSLATING_BYTES = 64 << 30
"""Of address space: torch and MLIR map much that they never touch."""

PACKAGES = ("docc.torch", "torch_mlir")
"""What translates; `HOW_TO_INSTALL` brings them."""

HOW_TO_INSTALL = "\"pip install 'loopbook[torch]'\" brings it to Python 3.11 and 3.12"


@dataclass(frozen=True)
class Translated:
    """An SDFG made of a graph of tensors.

    Attributes:
        text: the SDFG as JSON text, with all sizes in it.
        name: of the C function. It takes a pointer for each input, in order, and then one for each
            output; all lie in C order.
        shapes: of the outputs.
    """

    text: str
    name: str
    shapes: tuple[tuple[int, ...], ...]


@cache
def missing() -> str:
    """Why nothing can be translated here; empty where it can."""
    for name in PACKAGES:
        try:
            if find_spec(name) is None:
                return f"there is no {name} here; {HOW_TO_INSTALL}"
        except ImportError:
            return f"there is no {name} here; {HOW_TO_INSTALL}"
    return ""


def translate(module: Any, inputs: Sequence[Any], name: str) -> Translated:
    """The SDFG of a graph, made in a child process: MLIR and docc end theirs for some graphs.

    Args:
        module: a ``torch.fx.GraphModule`` that takes tensors and returns a tuple of tensors. It
            holds no tensors of its own.
        inputs: tensors of the sizes that the SDFG is for.
        name: of the C function.

    Raises:
        SdfgError: if docc-ai cannot translate it, or is not installed.
        RunError: if it crashes or hangs.
    """
    reason = missing()
    if reason:
        raise SdfgError(reason)
    _load()
    return run_limited(
        _translated,
        module,
        inputs,
        name,
        seconds=TRANSLATING_SECONDS,
        memory=TRANSLATING_BYTES,
        what="docc-ai",
    )


def _load() -> None:
    """Import what translates before a child is made, so that each child need not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import docc.torch  # noqa: F401  # type: ignore[import-not-found]
        import torch_mlir.fx  # noqa: F401  # type: ignore[import-not-found]


def _translated(module: Any, inputs: Sequence[Any], name: str) -> Translated:
    import torch
    from docc.torch import TorchProgram  # type: ignore[import-not-found]

    torch.set_num_threads(1)  # threads do not survive a fork
    with warnings.catch_warnings(), contextlib.suppress(RuntimeError):
        warnings.simplefilter("ignore")
        torch.set_num_interop_threads(1)
    program = TorchProgram(module, example_input=tuple(inputs), name=name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sdfg = program.to_sdfg()
    except LoopbookError:
        raise
    except Exception as error:  # torch.export, torch-mlir and docc raise whatever they meet
        raise SdfgError(f"docc-ai cannot translate it: {_first_reason(error)}") from None
    outputs = [name for name in (sdfg.metadata("output_args") or "").split(",") if name]
    arguments = list(sdfg.arguments)
    if len(arguments) != len(inputs) + len(outputs) or arguments[len(inputs) :] != outputs:
        raise SdfgError(f"docc-ai takes other arguments than the graph: {arguments}")
    shapes = tuple(tuple(json.loads(sdfg.metadata(f"{one}_shape") or "[]")) for one in outputs)
    return Translated(sdfg.to_json(), sdfg.name, shapes)


_REFUSED = re.compile(r"error: (.*)")
_OPERATION = re.compile(r"torch\.(aten\.[\w.]+)")


def _first_reason(error: Exception) -> str:
    """What torch-mlir names as the first error, else the first line."""
    text = str(error)
    found = _REFUSED.search(text)
    said = found[1] if found else passes.first_line(error)
    operation = _OPERATION.search(text)
    if operation and operation[1] not in said:
        said += f" ({operation[1]})"
    return one_line(said, 200)


def refused_operation(reason: str) -> str:
    """The operation that a message of `translate` names, such as ``aten.sort``; empty if none."""
    found = re.search(r"\b(?:torch\.)?(aten\.\w+)", reason)
    return found[1] if found else ""
