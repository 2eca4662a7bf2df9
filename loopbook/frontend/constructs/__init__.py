"""What is lowered, a file for each group of constructs; importing this registers all of them."""

from loopbook.frontend.constructs import (
    builtin,
    complex_parts,
    creation,
    elementwise,
    joining,
    linalg,
    missing,
    places,
    products,
    reductions,
    scans,
    scatter,
    shapes,
    spread,
    statistics,
)

__all__ = [
    "builtin",
    "complex_parts",
    "creation",
    "elementwise",
    "joining",
    "linalg",
    "missing",
    "places",
    "products",
    "reductions",
    "scans",
    "scatter",
    "shapes",
    "spread",
    "statistics",
]
