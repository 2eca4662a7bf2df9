"""The forms of a graph between PyTorch's and docc-ai's."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, fx
from torch.fx.experimental.proxy_tensor import make_fx

from loopbook.errors import SdfgError
from loopbook.printable import one_line
from loopbook.torch.rewrites import REWRITES

GUARDS = "_guards_fn"
"""A call that PyTorch may put into graphs to check what it has checked before."""


@dataclass(frozen=True)
class TensorGraph:
    """A graph that takes tensors only, holds none, and returns a tuple of different ones.

    Attributes:
        module: of its own: it can be changed.
        constants: what it takes after the inputs of the graph that it was made of.
        places: for each value that the graph returned, its position in the tuple.
        single: whether the graph returned one value instead of a tuple.
    """

    module: fx.GraphModule
    constants: tuple[Tensor, ...]
    places: tuple[int, ...]
    single: bool

    @classmethod
    def of(cls, module: fx.GraphModule) -> TensorGraph:
        """Raises `SdfgError` for a graph that has no such form."""
        graph = fx.Graph()
        copied: dict[fx.Node, fx.Node] = {}
        returned: Any = None
        constants: list[Tensor] = []
        last: fx.Node | None = None
        for node in module.graph.nodes:
            if node.op == "placeholder":
                last = copied[node] = graph.placeholder(node.name)
        for node in module.graph.nodes:
            if node.op == "get_attr":
                value = operator.attrgetter(node.target)(module)
                if not isinstance(value, Tensor):
                    raise SdfgError("it holds what is no tensor")
                with graph.inserting_after(last) if last else graph.inserting_before():
                    last = copied[node] = graph.placeholder(f"constant_{len(constants)}")
                constants.append(value.detach())
        for node in module.graph.nodes:
            if node.op == "output":
                returned = node.args[0]
            elif node.op == "call_module":
                if node.target != GUARDS or node.users:
                    raise SdfgError(f"it calls a module, {node.target}")
            elif node not in copied:
                copied[node] = graph.node_copy(node, copied.__getitem__)
        single = isinstance(returned, fx.Node)
        values = [returned] if single else list(returned or ())
        if not values:
            raise SdfgError("it returns nothing")
        different: dict[fx.Node, int] = {}
        for value in values:
            if not isinstance(value, fx.Node):
                raise SdfgError("it returns what is no tensor")
            if value.op in ("placeholder", "get_attr"):
                raise SdfgError("it returns what it is given")
            different.setdefault(value, len(different))
        graph.output(tuple(copied[value] for value in different))
        made = fx.GraphModule({}, graph)
        return cls(made, tuple(constants), tuple(different[value] for value in values), single)

    def given(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """What the module takes for these inputs."""
        return [*(tensor.detach() for tensor in inputs), *self.constants]

    def bound(self, run: Callable[..., Sequence[Tensor]]) -> Callable[..., Any]:
        """What takes and returns what the graph did, from what stands for the module."""
        constants, places = self.constants, self.places
        if self.single:
            if constants:
                return lambda *inputs: run(*inputs, *constants)[0]
            return lambda *inputs: run(*inputs)[0]
        if not constants and places == tuple(range(len(places))):
            return run

        def ordered(*inputs: Tensor) -> list[Tensor]:
            made = run(*inputs, *constants)
            return [made[place] for place in places]

        return ordered


def functional(module: fx.GraphModule, inputs: Sequence[Tensor]) -> fx.GraphModule:
    """The same graph of ATen's operations, none of which changes its inputs.

    Raises:
        SdfgError: if PyTorch cannot trace it.
    """
    return _traced(torch.func.functionalize(module), inputs, {})


def rewritten(module: fx.GraphModule, inputs: Sequence[Tensor]) -> fx.GraphModule:
    """The same with `loopbook.torch.rewrites`, as docc-ai is to see it.

    Raises:
        SdfgError: if PyTorch cannot trace it.
    """
    return _traced(torch.func.functionalize(module), inputs, REWRITES)


def _traced(run: Any, inputs: Sequence[Tensor], rewrites: Any) -> fx.GraphModule:
    try:
        with torch.no_grad():
            made = make_fx(run, decomposition_table=rewrites, tracing_mode="fake")(*inputs)
    except Exception as error:  # a graph that breaks PyTorch's own tracing is none for us
        raise SdfgError(f"PyTorch cannot trace it: {one_line(error, 150)}") from None
    made.graph.eliminate_dead_code()
    made.recompile()
    return made


def operations(module: fx.GraphModule) -> int:
    """How many operations a graph has."""
    return sum(node.op.startswith("call") for node in module.graph.nodes)
