"""loopbook: a database of tuned loop nests with similarity search.

::

    @loopbook.native                    docc's @native with recipes from the book
    loopbook.open()                     the user's book over the starter book
    loopbook.optimize(sdfg)             an SDFG of docc: a new one, scheduled
    loopbook.bench("kernel.py")         docc, Python and ours, timed in turn
    loopbook.Client(url)                a server's book

After ``import loopbook``, docc's own ``@native`` knows the targets ``loopbook`` and
``loopbook-openmp``. The names are loaded at first use: this import takes no docc, torch or FAISS.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from loopbook.client.hook import install as _install

if TYPE_CHECKING:
    from loopbook.client.bench_any import BenchReport, bench
    from loopbook.client.decision import Plan
    from loopbook.client.layered import LayeredBook
    from loopbook.client.native import native
    from loopbook.client.opening import open_book as open
    from loopbook.client.optimize import Optimized, optimize
    from loopbook.client.plan import build_plan, make_plan
    from loopbook.client.remote.client import AsyncClient, Client
    from loopbook.errors import LoopbookError
    from loopbook.recipes.layer import Neighbour
    from loopbook.recipes.recipe import Recipe

_HOMES = {
    "AsyncClient": ("client.remote.client", "AsyncClient"),
    "BenchReport": ("client.bench_any", "BenchReport"),
    "Client": ("client.remote.client", "Client"),
    "LoopbookError": ("errors", "LoopbookError"),
    "Neighbour": ("recipes.layer", "Neighbour"),
    "Optimized": ("client.optimize", "Optimized"),
    "Plan": ("client.decision", "Plan"),
    "Recipe": ("recipes.recipe", "Recipe"),
    "LayeredBook": ("client.layered", "LayeredBook"),
    "bench": ("client.bench_any", "bench"),
    "build_plan": ("client.plan", "build_plan"),
    "make_plan": ("client.plan", "make_plan"),
    "native": ("client.native", "native"),
    "open": ("client.opening", "open_book"),
    "optimize": ("client.optimize", "optimize"),
}

__all__ = [
    "AsyncClient",
    "BenchReport",
    "Client",
    "LayeredBook",
    "LoopbookError",
    "Neighbour",
    "Optimized",
    "Plan",
    "Recipe",
    "bench",
    "build_plan",
    "make_plan",
    "native",
    "open",
    "optimize",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from loopbook.toolchain.circles import seldom_searched

    module, attribute = _HOMES[name]
    with seldom_searched():  # what an import makes stays
        value = getattr(import_module(f"{__name__}.{module}"), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, whether they have been loaded or not; no imports of ours."""
    return [*__all__, "__doc__", "__file__", "__name__", "__path__"]


_install()
