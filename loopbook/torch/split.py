"""Takes graphs apart: what PyTorch's own libraries do best stays, the rest are parts to compile."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import torch
from torch import fx
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

aten = torch.ops.aten

LIBRARY = frozenset(
    {
        aten.mm,
        aten.addmm,
        aten.bmm,
        aten.baddbmm,
        aten.convolution,
        aten._scaled_dot_product_flash_attention_for_cpu,
        aten._scaled_dot_product_fused_attention_overrideable,
        aten.embedding,
    }
)
"""Products and their like, for which PyTorch calls its libraries."""

VIEWS = frozenset(
    {
        aten.view,
        aten._unsafe_view,
        aten.reshape,
        aten.t,
        aten.transpose,
        aten.permute,
        aten.expand,
        aten.unsqueeze,
        aten.squeeze,
        aten.slice,
        aten.select,
        aten.split,
        aten.alias,
        aten.detach,
        operator.getitem,
    }
)
"""What costs nothing, and is no reason for a part."""

REFUSED = frozenset({aten.sort, aten.topk, aten.cumsum, aten.roll})
"""What docc-ai 0.8.1 cannot translate without saying what it was."""


def kind(node: fx.Node) -> Any:
    """A node's operation, whichever of its overloads it is."""
    return getattr(node.target, "overloadpacket", node.target)


def refused_in(module: fx.GraphModule) -> str:
    """The name of an operation in `REFUSED` that a graph holds, such as ``aten.sort``, if any."""
    return next((str(kind(n)) for n in module.graph.nodes if kind(n) in REFUSED), "")


class _Support(OperatorSupportBase):
    def __init__(self, refused: frozenset[str]) -> None:
        self._refused = refused

    def is_node_supported(self, submodules: Mapping[str, Any], node: fx.Node) -> bool:
        if node.op != "call_function":
            return False
        if node.target is operator.getitem:
            return True
        operation = kind(node)
        return (
            isinstance(node.target, torch._ops.OpOverload)
            and operation not in LIBRARY | REFUSED
            and str(operation) not in self._refused
        )


def split(
    module: fx.GraphModule, refused: frozenset[str] = frozenset()
) -> tuple[fx.GraphModule, list[str]]:
    """Put what can be compiled into submodules.

    Args:
        module: as `loopbook.torch.form.functional` makes it. It is changed.
        refused: names of operations that docc-ai cannot translate, such as ``aten.sort``.

    Returns:
        The graph, and the names of its submodules; none where there is nothing to take apart.
    """
    partitioner = CapabilityBasedPartitioner(
        module, _Support(refused), allows_single_node_partition=True
    )
    parts = partitioner.propose_partitions()
    for part in list(parts):
        if all(kind(node) in VIEWS for node in part.nodes):
            parts.remove(part)
    whole = {node for node in module.graph.nodes if node.op == "call_function"}
    if not parts or any(set(part.nodes) == whole for part in parts):
        return module, []
    fused = partitioner.fuse_partitions(parts)
    names = [
        str(node.target)
        for node in fused.graph.nodes
        if node.op == "call_module" and str(node.target).startswith("fused_")
    ]
    return fused, names
