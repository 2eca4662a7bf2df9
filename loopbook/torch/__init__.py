"""``torch.compile(model, backend="loopbook")``: PyTorch models, compiled with the book's recipes.

::

    fast = torch.compile(model, backend="loopbook", options={"target": "sequential"})
    with torch.no_grad():
        fast(x)

docc-ai translates the graph that PyTorch makes of the model; it is prepared, planned and compiled
as `loopbook.native` does it. At its first call a graph gives eager PyTorch's numbers, and what was
compiled is run beside it in a child process. What cannot be translated, crashes, gives other
numbers or is slower than eager runs as eager from then on, with one
`loopbook.errors.EagerWarning` that says why. A graph that is not faster as a whole is taken apart:
products and convolutions stay PyTorch's, and what lies between them is compiled.

Graphs whose gradients are wanted run as eager: call the model in ``torch.no_grad()``.

PyTorch finds the backend by itself where loopbook is installed. ``import loopbook`` does not import
torch; this module does.
"""

from __future__ import annotations

from loopbook.torch.backend import backend, register
from loopbook.torch.decision import Decision, decisions
from loopbook.torch.options import Options

__all__ = ["Decision", "Options", "backend", "decisions"]

register()
