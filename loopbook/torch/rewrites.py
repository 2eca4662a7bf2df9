"""Operations that docc-ai is given in other words.

torch-mlir takes the variance of a layer normalisation in doubles, and PyTorch's fused operations
as a whole, or not at all. Compilers keep the order in which a maximum is taken, because of NaN: it
is taken in `LANES` columns first, which a vector holds side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._decomp import get_decompositions

aten = torch.ops.aten

LANES = 32
"""Maxima that are taken side by side."""


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


def softmax(x: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """Of numbers no greater than 0, so that none overflows."""
    x = x.float() if half_to_float else x
    powers = torch.exp(x - _maximum(x, dim))
    return powers * torch.reciprocal(powers.sum(dim, keepdim=True))


def _maximum(x: Tensor, dim: int) -> Tensor:
    size = x.shape[dim]
    if dim not in (-1, x.dim() - 1) or size % LANES or size == LANES:
        return x.amax(dim, keepdim=True)
    return x.unflatten(-1, (size // LANES, LANES)).amax(-2).amax(-1, keepdim=True)


REWRITES: dict[Any, Callable[..., Any]] = {
    **get_decompositions([aten._scaled_dot_product_flash_attention_for_cpu.default]),
    aten._softmax.default: softmax,
    aten.native_layer_norm.default: layer_norm,
}
"""Each operation, and the function that does the same by others."""
