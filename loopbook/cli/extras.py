"""The optional parts of loopbook, and the libraries that each brings."""

from __future__ import annotations

from importlib.util import find_spec

from loopbook.errors import InputError

EXTRAS: dict[str, tuple[tuple[str, ...], str]] = {
    "tune": (("lightgbm",), "a ranker for long searches"),
    "train": (("torch", "torch_geometric"), "training of encoder and cost model"),
    "corpus": (("pyarrow",), "the corpus of measured candidates"),
    "plot": (("matplotlib",), "plots of searches and evaluations"),
    "server": (("fastapi", "uvicorn", "pydantic", "prometheus_client", "psycopg"), "'serve'"),
    "ui": (("fastapi", "uvicorn", "openTSNE"), "'ui', books in the browser"),
    "farm": (("ray", "psycopg"), "a farm of several machines"),
}
"""Extra to the modules that it brings, and what they are for."""


def missing(extra: str) -> list[str]:
    """The modules of an extra that are not installed; none of them is imported."""
    return [module for module in EXTRAS[extra][0] if find_spec(module) is None]


def need(extra: str, *modules: str) -> None:
    """Go on only with these modules of an extra.

    Raises:
        InputError: one is not installed.
    """
    lacking = [module for module in missing(extra) if module in modules]
    if lacking:
        raise InputError(f"this needs {lacking[0]}; {_install(extra)}")


def advice(module: str) -> str:
    """What brings a module that is missing."""
    found = [name for name, (modules, _) in EXTRAS.items() if module.split(".")[0] in modules]
    if not found:
        return "install loopbook anew"
    return _install(found[0])


def _install(extra: str) -> str:
    return f"install it with 'pip install loopbook[{extra}]'"
