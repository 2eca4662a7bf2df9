"""The steps that recipes are made of: one file and class each.

Importing the package imports all its files, so a new step is a new file and nothing else. Nothing
here imports docc, NumPy or isl: to read a recipe is light. See ``docs/add-a-step.md``.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from loopbook.steps.arguments import (
    MAX_COLLAPSE,
    MAX_NAME,
    MAX_SIZE,
    MAX_SKEW,
    Argument,
    CacheSize,
    Container,
    Integer,
    Keyword,
    Loop,
    Threads,
    TileSize,
    VectorSize,
)
from loopbook.steps.base import STEPS, Step, base_name, expanded, kind_of
from loopbook.steps.grammar import checked, parsed

__all__ = [
    "MAX_COLLAPSE",
    "MAX_NAME",
    "MAX_SIZE",
    "MAX_SKEW",
    "STEPS",
    "Argument",
    "CacheSize",
    "Container",
    "Integer",
    "Keyword",
    "Loop",
    "Step",
    "Threads",
    "TileSize",
    "VectorSize",
    "base_name",
    "checked",
    "expanded",
    "kind_of",
    "parsed",
]

for _file in sorted(iter_modules(__path__), key=lambda file: file.name):
    import_module(f"{__name__}.{_file.name}")

for _name in sorted(STEPS):  # some files import others
    STEPS[_name] = STEPS.pop(_name)
