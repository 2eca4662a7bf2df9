"""What benchmarks of kernels in turns with something else have in common. They import one loopbook,
this one or an older one, after they have read their options."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent


def parser(description: str | None, what: str) -> argparse.ArgumentParser:
    """The options that all have.

    Args:
        what: one of what is compared, in capitals.
    """
    made = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    made.add_argument("--out", type=Path, required=True)
    made.add_argument("--only", nargs="+", metavar=what)
    made.add_argument("--core", type=int)
    made.add_argument("--loopbook", type=Path, default=HERE.parent)
    return made


def modules(options: argparse.Namespace, folder: str, *names: str) -> list[ModuleType]:
    """Modules in a folder beside this file, on the core and with the loopbook that are wanted."""
    if options.core is not None:
        os.sched_setaffinity(0, {options.core})
    warnings.simplefilter("ignore")
    sys.path[:0] = [str(options.loopbook.resolve()), str(HERE / folder)]
    return [importlib.import_module(name) for name in names]


def copied(values: Sequence[Any]) -> list[Any]:
    return [value.copy() if isinstance(value, np.ndarray) else value for value in values]
