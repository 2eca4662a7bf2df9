"""Operations that docc-ai is given in other words.

torch-mlir takes the variance of a layer normalisation in doubles, and PyTorch's fused operations
as a whole, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._decomp import get_decompositions

aten = torch.ops.aten


def layer_norm(
    x: Tensor, shape: Sequence[int], weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Mean and variance in the type of the input, in two passes."""
    axes = list(range(x.dim() - len(shape), x.dim()))
    mean = x.mean(axes, keepdim=True)
    rest = x - mean
    scale = torch.rsqrt((rest * rest).mean(axes, keepdim=True) + eps)
    y = rest * scale
    if weight is not None:
        y = y * weight
    if bias is not None:
        y = y + bias
    return y, mean, scale


REWRITES: dict[Any, Callable[..., Any]] = {
    **get_decompositions([aten._scaled_dot_product_flash_attention_for_cpu.default]),
    aten.native_layer_norm.default: layer_norm,
}
"""Each operation, and the function that does the same by others."""
