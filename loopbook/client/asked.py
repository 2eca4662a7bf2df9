"""The program that a look-up asks about, as the text of an SDFG, whatever it was given as."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from loopbook.errors import InputError, SdfgError
from loopbook.sdfg.untrusted import admit


def sdfg_text(query: Any, arguments: Sequence[Any] = ()) -> str:
    """The JSON text of an SDFG, not prepared.

    Args:
        query: docc's object; JSON text, which may come from anywhere; the path of a workload file,
            which is run, or of an SDFG; a function, decorated or not.
        arguments: of a function.

    Raises:
        InputError: there is no such file, or nobody knows what the function is called with.
        SdfgError: it is no usable SDFG.
    """
    if hasattr(query, "to_json"):
        return str(query.to_json())
    if isinstance(query, str) and query.lstrip()[:1] == "{":
        return admit(query).text
    if callable(query):
        return _of_function(query, arguments)
    if isinstance(query, str | Path):
        return _of_path(query)
    raise SdfgError(
        f"a {type(query).__name__} is no SDFG: give docc's object, its JSON text, a path or a"
        " function"
    )


def _of_path(given: str | Path) -> str:
    if str(given).endswith(".json"):
        try:
            return admit(Path(given).read_text(encoding="utf-8")).text
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is no UTF-8 text"
            raise InputError(f"cannot read {given}: {reason}") from None
    from loopbook.workloads.call import Call
    from loopbook.workloads.given import usual_preset, workload_of

    workload = workload_of(given)
    return Call.of(workload, workload.arguments(usual_preset(workload.parameters))).text


def _of_function(function: Callable[..., Any], arguments: Sequence[Any]) -> str:
    from loopbook.frontend.samples import sampled
    from loopbook.workloads.call import Call
    from loopbook.workloads.given import GIVEN, plain, workload_of

    last = getattr(function, "last_sdfg", None)  # of what `loopbook.native` has compiled
    if last is not None and not arguments:
        return str(last.to_json())
    workload = workload_of(function, arguments or sampled(plain(function)))
    return Call.of(workload, workload.arguments(GIVEN)).text
