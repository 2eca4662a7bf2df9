"""The closed sets of words that docc 0.8 writes into SDFGs: what is not here is refused.

Collected from what its front end, its passes and its schedules write for PolyBench, the synthetic
programs, the starter book and NumPy programs, and from what its builder makes of each library node.
Nodes for accelerators are left out.
"""

from __future__ import annotations

import re


def words(text: str) -> frozenset[str]:
    """The words in `text`."""
    return frozenset(text.split())


CMATH = words(
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp10 exp2 "
    "expm1 fabs fdim floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log "
    "log10 log1p log2 logb lrint lround modf nearbyint nextafter nexttoward pow remainder rint "
    "round roundeven scalbln scalbn sin sinh sqrt tan tanh tgamma trunc"
)
"""docc's mathematical functions (``docc.sdfg.CMathFunction``)."""

CONNECTORS = words(
    "void ref deref _ptr _ret _in _out in out _src _dst _val _x _y _i _start _end _step _mean "
    "_rstd _eps __out __x __y __A __B __C __alpha __beta __einsum_out A B C E I W X Y Mask Batch "
    "Var Gamma Beta epsilon B_out"
)
"""Connectors of everything but tasklets."""

ELEMENTWISE = words(
    "Abs Add Div Elu Erf Exp Fill HardSigmoid LeakyReLU Maximum Minimum Mul Pow ReLU Rsqrt Sigmoid "
    "Sqrt Sub Tanh Cast"
)
"""Nodes for whole tensors that have nothing but a shape and a type."""

REDUCING = words("Max Mean Min Softmax Std Sum")
"""Nodes that reduce some axes of a tensor."""

TASKLET_CONNECTORS = words(
    "_in _in0 _in1 _in2 _in3 _out in out __out _step _i _start b x e one sqrt frac g var eps num "
    "den"
)

NUMBERED_CONNECTOR = re.compile(
    r"(?:_in|X|Y|I|W|B|__einsum_in_|__einsum_const_?)[0-9]{1,3}", re.ASCII
)

REDUCTIONS = frozenset({"add", "mul", "max", "min", "and", "or", "xor"})

SCHEDULES = frozenset({"SEQUENTIAL", "CPU_PARALLEL", "VECTORIZE"})

SCHEDULE_PROPERTIES = {
    "unroll": re.compile(r"full|[0-9]{1,4}", re.ASCII),
    "omp_schedule": re.compile(r"[0-9]", re.ASCII),
    "num_threads": re.compile(r"[0-9]{1,3}", re.ASCII),
}

STORAGES = frozenset({"CPU_Stack", "CPU_Heap"})

IMPLEMENTATIONS = frozenset({"", "BLAS"})

POOLINGS = frozenset({"max", "sum", "avg"})

OUR_METADATA = {
    "loopbook_prepared": re.compile(r"[0-9]{1,4}", re.ASCII),
    "loopbook_ordered": re.compile(r"(?:[0-9]{1,9}(?:,[0-9]{1,9}){0,9999})?", re.ASCII),
    "loopbook_misordered": re.compile(r"(?:[0-9]{1,9}(?:,[0-9]{1,9}){0,9999})?", re.ASCII),
    "loopbook_frames": re.compile(r"(?:[0-9]{1,9}(?:,[0-9]{1,9}){0,9999})?", re.ASCII),
}
"""What our own passes note about a program, and what they read back."""

DOCC_METADATA = words(
    "output_dir output_args output_shapes output_strides return_shape device_resident "
    "device_backend loopbook_extents"
)
"""What clients note about a program for themselves. No pass reads it: it is taken out, and put back
into the answer."""

NULLS = frozenset({"__daisy_nullptr", "__nullptr__"})

LONGEST_NAME = 200

_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,19})", re.ASCII)  # C++ reads 010 as 8
_DECIMAL = re.compile(
    r"-?[0-9]{1,40}(?:\.[0-9]{0,40}(?:[eE][+-]?[0-9]{1,3})?|[eE][+-]?[0-9]{1,3})", re.ASCII
)
_SPECIAL = re.compile(r"-?(?:INFINITY|NAN)", re.ASCII)
_TRUTH = re.compile(r"true|false|[01]", re.ASCII)

VOID, BOOL, FIRST_FLOAT = 0, 1, 12
"""Among docc's primitive types by number, see `loopbook.program.types.DTYPES`."""


def is_identifier(text: str) -> bool:
    """Whether `text` is a name as Python takes them: letters, digits and underscores of any
    script, which none of our own names have."""
    return len(text) <= LONGEST_NAME and text.isidentifier()


def is_literal(text: str, primitive: int | None) -> bool:
    """Whether docc may write `text` for a constant.

    Args:
        primitive: its type by docc's number; None for pointers.
    """
    if primitive is None:
        return text in NULLS
    if primitive == BOOL:
        return _TRUTH.fullmatch(text) is not None
    if primitive >= FIRST_FLOAT and _SPECIAL.fullmatch(text):
        return True
    # docc's front end writes 2.0 into programs of integers too.
    return primitive != VOID and bool(_WHOLE.fullmatch(text) or _DECIMAL.fullmatch(text))
