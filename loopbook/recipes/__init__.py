"""The database of tuned loop nests: recipes, hardware, records, and the book of them.

The names below are loaded at first use: a program that only reads a recipe's text must not wait
for SQLAlchemy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loopbook.recipes.book import Book
    from loopbook.recipes.embedding import Embedding
    from loopbook.recipes.hardware import HardwareProfile
    from loopbook.recipes.layer import Neighbour
    from loopbook.recipes.recipe import Recipe
    from loopbook.recipes.record import Measurement, Provenance, Record

_HOMES = {
    "Book": "book",
    "Embedding": "embedding",
    "HardwareProfile": "hardware",
    "Measurement": "record",
    "Neighbour": "layer",
    "Provenance": "record",
    "Recipe": "recipe",
    "Record": "record",
}

__all__ = [
    "Book",
    "Embedding",
    "HardwareProfile",
    "Measurement",
    "Neighbour",
    "Provenance",
    "Recipe",
    "Record",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
