"""Products that are handed to BLAS, as NumPy does with them.

A recipe that calls a library is worth what the library of the machine is worth, so no book of
another machine says when it pays. Python calls a BLAS for ``A @ B``: what is compiled has to reach
that one.
"""

from __future__ import annotations

import ctypes
import math
import os
from functools import lru_cache
from random import Random

from loopbook.client.sizes import Trips
from loopbook.client.thresholds import LEAST_PRODUCT
from loopbook.program.nest import Nest
from loopbook.recipes.recipe import Recipe
from loopbook.rules import TuningContext
from loopbook.rules.library import library_call

NAMES = ("libblas.so.3", "libblas.so", "libblas.dylib")
"""What docc links ``-lblas`` is found as when a program is loaded."""

VARIABLE = "LOOPBOOK_LIBRARIES"
"""Products stay loops where it is 0."""

TUNED = ("openblas_get_config", "MKL_Get_Version", "bli_info_get_version_str", "appleblas_dgemm")
"""Functions that tell a BLAS with kernels for the processor from the reference implementation."""


def product_call(nest: Nest, target: str, trips: Trips) -> Recipe | None:
    """The recipe that hands a nest to BLAS, if it looks like products that are large enough, and
    there is a BLAS that is fast and wanted. Whether it is legal, the step itself finds out."""
    if os.environ.get(VARIABLE) == "0":
        return None
    steps = library_call(nest, Random(0), TuningContext(target, 1, libraries=True))
    runs = math.prod(trips.get(loop.name, 0) for loop in nest.loops[-3:])
    return Recipe(tuple(steps)) if steps and runs >= LEAST_PRODUCT and has_tuned_blas() else None


@lru_cache(maxsize=1)
def has_tuned_blas() -> bool:
    """Whether compiled programs are linked with a BLAS that is faster than plain loops."""
    for name in NAMES:
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        return any(hasattr(library, function) for function in TUNED)
    return False
