"""The optional parts of loopbook, and the libraries that each brings."""

from __future__ import annotations

from importlib.util import find_spec

EXTRAS: dict[str, tuple[tuple[str, ...], str]] = {
    "tune": (("lightgbm",), "a ranker for long searches"),
    "train": (("torch", "torch_geometric"), "training of encoder and cost model"),
    "corpus": (("pyarrow",), "the corpus of measured candidates"),
    "plot": (("matplotlib",), "plots of searches and evaluations"),
    "server": (("fastapi", "uvicorn", "pydantic", "prometheus_client", "psycopg"), "'serve'"),
    "farm": (("ray", "psycopg"), "a farm of several machines"),
}
"""Extra to the modules that it brings, and what they are for."""


def missing(extra: str) -> list[str]:
    """The modules of an extra that are not installed; none of them is imported."""
    return [module for module in EXTRAS[extra][0] if find_spec(module) is None]


def advice(module: str) -> str:
    """What brings a module that is missing."""
    found = [name for name, (modules, _) in EXTRAS.items() if module.split(".")[0] in modules]
    if not found:
        return "install loopbook anew"
    return f"install it with 'pip install loopbook[{found[0]}]'"
