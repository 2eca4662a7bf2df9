"""An SDFG's document, from text of any origin."""

from __future__ import annotations

from typing import Any

from loopbook.errors import SdfgError
from loopbook.program.json_text import loaded
from loopbook.program.members import Json

MAX_TEXT = 32 << 20
"""Longest SDFG text that is read, bytes."""


def load_json(text: str) -> Json:
    """The SDFG document in `text`, not yet checked by docc.

    Raises:
        SdfgError: if it is no JSON object or clearly no SDFG.
    """
    document = as_sdfg(parsed(text))
    _check_dataflow(document["root"])
    return document


def parsed(text: str) -> Any:
    """The JSON document in a text that is not too long.

    Raises:
        SdfgError: it is, or it is no JSON.
    """
    if len(text) > MAX_TEXT:
        raise SdfgError(f"the SDFG text has {len(text) >> 20} MiB, more than {MAX_TEXT >> 20}")
    try:
        return loaded(text)
    except (ValueError, RecursionError) as error:
        raise SdfgError(f"this is no JSON: {error}") from None


def as_sdfg(document: Any) -> Json:
    """A document that has what every SDFG has.

    Raises:
        SdfgError: it has not.
    """
    if not isinstance(document, dict) or not {"root", "containers", "arguments"} <= document.keys():
        raise SdfgError("this JSON is no SDFG: it has no root, containers and arguments")
    return document


def _check_dataflow(root: Any) -> None:
    """Refuse edges without nodes: docc follows them, and crashes."""
    waiting = [root]
    while waiting:
        element = waiting.pop()
        if isinstance(element, list):
            waiting += element
        elif isinstance(element, dict):
            waiting += [element[key] for key in ("root", "children", "branches") if key in element]
            flow = element.get("dataflow")
            if flow is None:
                continue
            try:
                nodes = {node["element_id"] for node in flow["nodes"]}
                ends = {edge[end] for edge in flow["edges"] for end in ("src", "dst")}
            except (KeyError, TypeError):
                raise SdfgError("the SDFG is damaged: a block's dataflow is incomplete") from None
            if not ends <= nodes:
                raise SdfgError("the SDFG is damaged: a block has an edge without a node")
