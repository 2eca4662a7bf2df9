"""What is lowered, a file for each group of constructs; importing this registers all of them."""

from loopbook.frontend.constructs import (
    builtin,
    creation,
    elementwise,
    joining,
    linalg,
    products,
    reductions,
    scans,
    shapes,
    statistics,
)

__all__ = [
    "builtin",
    "creation",
    "elementwise",
    "joining",
    "linalg",
    "products",
    "reductions",
    "scans",
    "shapes",
    "statistics",
]
