"""The steps that recipes are made of: one file and class each.

Importing the package imports all its files, so a new step is a new file and nothing else. Nothing
here imports docc or NumPy, and isl is loaded with the first question: to read a recipe is light.
See ``docs/add-a-step.md``. What is no step::

    base, arguments, grammar    what a step is, what it takes, how it is written
    workbench                   a recipe's steps, applied to a nest
    editor, region, naming      the program while steps change it
    boxes, copying, wide        local copies of parts of arrays; scalars as arrays
    plain, time_tiling, waves   what tilings of time loops ask, and the loops that they make
    products, accumulation      which library call a nest is
    minima                      branches that are minima
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
    TileEnd,
    TileSize,
    VectorSize,
)
from loopbook.steps.base import STEPS, Step, base_name, expanded, kind_of, name_of
from loopbook.steps.grammar import checked, parsed, respelled

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
    "TileEnd",
    "TileSize",
    "VectorSize",
    "base_name",
    "checked",
    "expanded",
    "kind_of",
    "name_of",
    "parsed",
    "respelled",
]

for _file in sorted(iter_modules(__path__), key=lambda file: file.name):
    import_module(f"{__name__}.{_file.name}")

for _name in sorted(STEPS):  # some files import others
    STEPS[_name] = STEPS.pop(_name)
