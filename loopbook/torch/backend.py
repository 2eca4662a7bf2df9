"""What ``torch.compile`` calls for ``backend="loopbook"``."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, fx
from torch.fx.node import map_arg

from loopbook.sdfg.from_torch import missing
from loopbook.torch.decision import Decision, Runs, note
from loopbook.torch.form import operations
from loopbook.torch.graph import Graph, warn
from loopbook.torch.options import Options

NAME = "loopbook"

MOST_SIZES = 8
"""Sizes that a graph of unknown sizes is compiled for; for others it runs as eager."""

Run = Callable[..., Any]


def backend(
    module: fx.GraphModule,
    example_inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] | None = None,
) -> Run:
    """What runs in place of a graph; it decides at its first call.

    Args:
        options: see `loopbook.torch.options.Options`.

    Raises:
        InputError: if an option is not known, or cannot be used here.
    """
    chosen = Options.of(options)
    reason = _unfit(example_inputs)
    if reason:
        note(Decision(Runs.EAGER, operations(module), reason))
        warn(reason)
        return module.forward
    if all(isinstance(value, Tensor) for value in example_inputs) and not _open(module):
        return Graph(module, chosen, _weights(module, example_inputs))
    return _Sizes(module, chosen)


def register() -> None:
    """Make the backend known by its name where no entry point has done so."""
    import torch._dynamo.backends.registry as registry

    if NAME not in registry.list_backends(exclude_tags=()):
        registry.register_backend(backend, name=NAME)


def _unfit(inputs: Sequence[Any]) -> str:
    if torch.is_grad_enabled() and any(
        isinstance(value, Tensor) and value.requires_grad for value in inputs
    ):
        return "gradients are wanted; call the model in torch.no_grad()"
    return missing()


def _open(module: fx.GraphModule) -> bool:
    """Whether sizes of the graph are left open."""
    for node in module.graph.nodes:
        value = node.meta.get("example_value")
        if node.op != "placeholder" or not isinstance(value, Tensor):
            continue
        if not all(isinstance(size, int) for size in value.shape):
            return True
    return False


def _weights(module: fx.GraphModule, inputs: Sequence[Any]) -> frozenset[int]:
    """Positions of parameters and buffers of modules among the inputs."""
    names = [node.name.lower() for node in module.graph.nodes if node.op == "placeholder"]
    return frozenset(
        place
        for place, (name, value) in enumerate(zip(names, inputs, strict=False))
        if isinstance(value, torch.nn.Parameter) or "_parameters_" in name or "_buffers_" in name
    )


class _Sizes:
    """A graph whose sizes are left open: one of its own for each sizes that come."""

    def __init__(self, module: fx.GraphModule, options: Options) -> None:
        self._module = module
        self._options = options
        self._made: dict[Any, tuple[Graph, list[int]]] = {}
        self._said = False

    def __call__(self, *inputs: Any) -> Any:
        key = tuple(value.shape if isinstance(value, Tensor) else value for value in inputs)
        if key not in self._made:
            if len(self._made) == MOST_SIZES:
                if not self._said:
                    self._said = True
                    warn(f"it is called with more than {MOST_SIZES} sizes")
                return self._module.forward(*inputs)
            self._made[key] = self._fixed(inputs)
        graph, tensors = self._made[key]
        return graph(*[inputs[place] for place in tensors])

    def _fixed(self, inputs: Sequence[Any]) -> tuple[Graph, list[int]]:
        """The graph for these sizes: numbers that it takes become constants."""
        module = copy.deepcopy(self._module)
        tensors = []
        holders = [node for node in module.graph.nodes if node.op == "placeholder"]
        for place, (node, value) in enumerate(zip(holders, inputs, strict=True)):
            if isinstance(value, Tensor):
                tensors.append(place)
                continue
            for user in list(node.users):
                user.args = map_arg(user.args, lambda n, m=node, v=value: v if n is m else n)
                user.kwargs = map_arg(user.kwargs, lambda n, m=node, v=value: v if n is m else n)
            module.graph.erase_node(node)
        module.recompile()
        return Graph(module, self._options), tensors
