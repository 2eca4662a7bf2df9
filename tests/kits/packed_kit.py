"""The recipe of a packed matrix product, which several tests take apart."""

from __future__ import annotations

ORDER = """\
interchange L0 L1.tile
interchange L1 L2.tile
interchange L1 L2
interchange L0.tile L1.tile
interchange L0 L2.tile
interchange L0 L2
interchange L0.tile L2.tile
"""
MICRO = """\
pad L1
peel L0
vectorize L1*
unroll L0*
"""


def packed(rows: int, columns: int, depth: int) -> str:
    """Tiles of so many iterations, the second operand and the result in local buffers; without the
    micro-kernel, which is `MICRO`."""
    tiles = f"tile L0 {rows}\ntile L1 {columns}\ntile L2 {depth}\n"
    return f"{tiles}{ORDER}stage L0.tile A1 in\nstage L2 A2 out\n"
