"""Imports inside of functions: names of what is imported anyway."""

from __future__ import annotations

import ast
import importlib
import sys
from types import ModuleType
from typing import Any

import numpy as np

from loopbook.frontend.values import Thing

OURS = ("numpy", "math")
"""Modules that may be imported here; others are taken if they have been."""


def imported(node: ast.Import | ast.ImportFrom) -> dict[str, Thing]:
    """What the names of an import stand for, as far as that is known without running anything."""
    found: dict[str, Any] = {}
    told: set[str] = set()
    if isinstance(node, ast.ImportFrom):
        module = None if node.level else _module(node.module or "")
        for alias in node.names:
            found[alias.asname or alias.name] = getattr(module, alias.name, None)
            if module is np and alias.name == "newaxis":  # which is None
                told.add(alias.asname or alias.name)
    else:
        for alias in node.names:
            top = alias.name.partition(".")[0]
            whole = _module(alias.name)
            found[alias.asname or top] = whole if alias.asname else whole and _module(top)
    return {
        name: Thing(value) for name, value in found.items() if value is not None or name in told
    }


def _module(name: str) -> ModuleType | None:
    if name.partition(".")[0] not in OURS:
        return sys.modules.get(name)
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
