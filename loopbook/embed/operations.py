"""Classes of operations, as few as make a difference to how a nest is tuned."""

from __future__ import annotations

OPERATIONS = (
    *("assign", "neg", "add", "sub", "mul", "div", "rem", "fma", "minmax", "abs", "compare"),
    *("bits", "root", "exponential", "trigonometric", "power", "function", "library"),
    *("symbol", "jump", "reference", "integer"),
)
"""What an operation may be; integer arithmetic is marked besides."""

_STEM_OPERATION = {
    **{stem: stem for stem in ("assign", "neg", "add", "sub", "mul", "div", "rem", "fma", "abs")},
    **dict.fromkeys(("sdiv", "udiv"), "div"),
    **dict.fromkeys(("srem", "urem"), "rem"),
    **dict.fromkeys(("smin", "smax", "umin", "umax"), "minmax"),
    **dict.fromkeys(("and", "or", "xor", "shl", "ashr", "lshr"), "bits"),
}

_FUNCTION_OPERATION = {
    **dict.fromkeys(("fmin", "fmax"), "minmax"),
    **dict.fromkeys(("fabs", "abs"), "abs"),
    **dict.fromkeys(("sqrt", "cbrt"), "root"),
    **dict.fromkeys(("exp", "exp2", "expm1", "log", "log2", "log10", "log1p"), "exponential"),
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan", "tanh"), "trigonometric"),
    "pow": "power",
}


def operation_class(op: str) -> str:
    """The one of `OPERATIONS` that a nest's operation belongs to."""
    family, _, stem = op.partition(":")
    if family == "cmath":
        return _FUNCTION_OPERATION.get(stem.removesuffix("f"), "function")
    if family == "lib":
        return "library"
    if op in ("break", "continue", "return"):
        return "jump"
    if op in ("symbol", "reference", "assign"):
        return op
    return _STEM_OPERATION.get(op.partition("_")[2], "compare")
