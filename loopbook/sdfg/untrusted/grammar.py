"""What an SDFG of docc 0.8 is made of: its elements, and the members of each.

Each member has a function that takes it from `loopbook.sdfg.untrusted.admission.Admission` and
gives what is written in its place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from loopbook.program.dataflow import OPCODES
from loopbook.program.json_element import NOWHERE
from loopbook.program.types import DTYPES
from loopbook.sdfg.untrusted import vocabulary

if TYPE_CHECKING:
    from loopbook.sdfg.untrusted.admission import Admission

Check = Callable[["Admission", Any], Any]
"""Takes a member's value, or refuses it."""


class Fields(NamedTuple):
    """The members of an object, in the order in which they are read."""

    members: Mapping[str, Check]
    optional: Mapping[str, Check] = {}


def _one_of(*known: str) -> Check:
    return lambda admission, given: admission.word(given, known)


def _among(known: Any) -> Check:
    return lambda admission, given: admission.word(given, known)


def _up_to(most: int) -> Check:
    return lambda admission, given: admission.number(given, most)


def _many(check: Check) -> Check:
    return lambda admission, given: admission.many(given, check)


def _object(fields: Fields) -> Check:
    return lambda admission, given: admission.object(given, fields)


def _number(admission: Admission, given: Any) -> int:
    return admission.number(given)


def _truth(admission: Admission, given: Any) -> bool:
    return given if isinstance(given, bool) else bool(admission.number(given, 1))


def _factor(admission: Admission, given: Any) -> float:
    """A number that need not be whole."""
    if type(given) is float and math.isfinite(given):
        return given
    return float(admission.number(given))


def _nothing(admission: Admission, given: Any) -> list[Any]:
    admission.number(len(admission.many(given, _nothing)), 0)
    return []


def _text(admission: Admission, given: Any) -> str:
    """What is looked at together with other members."""
    return given if isinstance(given, str) else admission.word(given, ())


def _element(admission: Admission, given: Any) -> Any:
    return admission.element(given)


def _sequence(admission: Admission, given: Any) -> Any:
    return admission.sequence(given)


def _expression(admission: Admission, given: Any) -> str:
    return admission.expression(given)


def _container(admission: Admission, given: Any) -> str:
    return admission.container(given)


def _data(admission: Admission, given: Any) -> str:
    return admission.data(given)


def _returned(admission: Admission, given: Any) -> str:
    return "" if given == "" else admission.data(given)


def _type(admission: Admission, given: Any) -> Any:
    return admission.type(given)


def _name(admission: Admission, given: Any) -> str:
    return admission.identifier(given)


def _connector(admission: Admission, given: Any) -> str:
    return admission.connector(given)


def _containers(admission: Admission, given: Any) -> dict[str, Any]:
    return {admission.container(name): admission.type(one) for name, one in given.items()}


def _properties(admission: Admission, given: Any) -> dict[str, str]:
    known = dict.fromkeys(vocabulary.SCHEDULE_PROPERTIES, _text)
    made = admission.object(given, Fields({}, known))
    for name, value in made.items():
        if vocabulary.SCHEDULE_PROPERTIES[name].fullmatch(value) is None:
            admission.word(value, ())
    return made


def _position(admission: Admission, given: Any) -> dict[str, Any]:
    return dict(NOWHERE) if given == NOWHERE else admission.object(given, _POSITION)


_expressions = _many(_expression)

# -- what is in many places ----------------------------------------------------------------------

_POSITION = Fields(
    {
        **dict.fromkeys(("end_column", "end_line", "start_column", "start_line"), _number),
        **dict.fromkeys(("filename", "function"), lambda a, given: a.place(given)),
        "has": _truth,
    }
)

_COMMON: dict[str, Check] = {"type": _text, "element_id": _number, "debug_info": _position}


def _fields(**members: Check) -> Fields:
    return Fields({**_COMMON, **members})


# -- types ---------------------------------------------------------------------------------------

_STORAGE = Fields(
    {"allocation": _up_to(8), "deallocation": _up_to(8), "value": _among(vocabulary.STORAGES)},
    {"allocation_size": _expression},
)
_TYPE: dict[str, Check] = {
    "type": _text,
    "alignment": _up_to(4096),
    "initializer": _one_of(""),
    "storage_type": _object(_STORAGE),
}
_PRIMITIVE = _up_to(len(DTYPES) - 1)

TYPES: dict[str, Fields] = {
    "scalar": Fields({**_TYPE, "primitive_type": _PRIMITIVE}),
    "pointer": Fields(_TYPE),
    "array": Fields({**_TYPE, "num_elements": _expression}),
    "tensor": Fields(
        {**_TYPE, "offset": _expression, "shape": _expressions, "strides": _expressions}
    ),
    "structure": Fields({**_TYPE, "name": lambda admission, given: admission.structure(given)}),
}
INNER_TYPES = {"pointer": "pointee_type", "array": "element_type", "tensor": "element_type"}
"""The member of a type that is a type."""

PLAIN_TYPES = {
    primitive: {
        "alignment": 0,
        "initializer": "",
        "primitive_type": primitive,
        "storage_type": {"allocation": 0, "deallocation": 0, "value": "CPU_Stack"},
        "type": "scalar",
    }
    for primitive in range(len(DTYPES))
}

# -- control flow --------------------------------------------------------------------------------

_SCHEDULE = Fields(
    {"category": _up_to(16), "properties": _properties, "value": _among(vocabulary.SCHEDULES)}
)
_REDUCTION = Fields({"container": _container, "op": _among(vocabulary.REDUCTIONS)})
_LOOP: dict[str, Check] = {
    **_COMMON,
    "sub_type": _one_of("for", "map", "reduce"),
    "indvar": _container,
    "init": _expression,
    "condition": _expression,
    "update": _expression,
    "schedule_type": _object(_SCHEDULE),
    "root": _sequence,
}
_COUNTED = Fields(_LOOP, {"reductions": _many(_object(_REDUCTION))})
_ASSIGNMENT = Fields({"symbol": _container, "expression": _expression})
_CASE = Fields({"condition": _expression, "root": _sequence})

ELEMENTS: dict[str, Fields] = {
    "sequence": _fields(children=_many(_element)),
    "for": _COUNTED,
    "map": _COUNTED,
    "reduce": _COUNTED,
    "while": _fields(root=_sequence),
    "if_else": _fields(branches=_many(_object(_CASE))),
    "block": _fields(dataflow=lambda admission, given: admission.dataflow(given)),
    "assignment_block": _fields(assignments=_many(_object(_ASSIGNMENT))),
    "break": _fields(),
    "continue": _fields(),
    "return": _fields(data=_returned),
}

CONSTANT_RETURN = _fields(data=_text, data_type=_type)

# -- dataflow ------------------------------------------------------------------------------------

DATAFLOW = Fields(
    {
        "type": _one_of("dataflow"),
        "nodes": _many(lambda admission, given: admission.node(given)),
        "edges": _many(lambda admission, given: admission.edge(given)),
    }
)
EDGE = Fields(
    {
        "element_id": _number,
        "debug_info": _position,
        "src": _number,
        "dst": _number,
        "src_conn": _text,
        "dst_conn": _text,
        "subset": _expressions,
        "base_type": _type,
    }
)
NODES: dict[str, Fields] = {
    "access_node": _fields(data=_data),
    "constant_node": _fields(data=_text, data_type=_type),
    "tasklet": _fields(code=_up_to(len(OPCODES) - 1), inputs=_many(_name), output=_name),
    "library_node": _fields(),
}

_LAYOUT = _object(Fields({"offset": _expression, "shape": _expressions, "strides": _expressions}))
_DIMENSION = Fields(
    {
        "indvar": lambda admission, given: admission.index(given),
        "init": _expression,
        "bound": _expression,
    }
)


def _library(**members: Check) -> Fields:
    common = {"code": _text, "implementation_type": _among(vocabulary.IMPLEMENTATIONS)}
    return Fields({**_COMMON, **common, **members})


def _elementwise(**members: Check) -> Fields:
    return _library(shape=_expressions, result_quant=_PRIMITIVE, **members)


_REDUCING = _library(shape=_expressions, axes=_many(_up_to(64)), keepdims=_truth)
_WINDOW: dict[str, Check] = dict.fromkeys(
    ("shape", "kernel_shape", "strides", "pads", "dilations"), _expressions
)
_LAYERNORM: dict[str, Check] = dict.fromkeys(
    ("x_layout", "y_layout", "mean_layout", "rstd_layout"), _LAYOUT
)

LIBRARY: dict[str, Fields] = {
    "CMath": _library(
        function_stem=_among(vocabulary.CMATH), name=_text, primitive_type=_PRIMITIVE
    ),
    "Malloc": _library(size=_expression),
    "Free": _library(),
    "Memcpy": _library(count=_expression),
    "Memset": _library(value=_expression, num=_expression),
    "barrier_local": _library(),
    "GEMM": _library(
        **dict.fromkeys(("m", "n", "k", "lda", "ldb", "ldc"), _expression),
        **dict.fromkeys(("layout", "precision", "trans_a", "trans_b"), _up_to(255)),
    ),
    "DOT": _library(n=_expression, incx=_expression, incy=_expression, precision=_up_to(255)),
    "Einsum": _library(
        dims=_many(_object(_DIMENSION)),
        out_indices=_expressions,
        in_indices=_many(_expressions),
        inputs=_many(_connector),
        output=_connector,
        side_effect=_truth,
    ),
    **{f"ml::{name}": _elementwise() for name in vocabulary.ELEMENTWISE},
    **{f"ml::{name}": _REDUCING for name in vocabulary.REDUCING},
    "ml::CMath": _elementwise(cmath_function=_among(vocabulary.CMATH), inputs=_many(_connector)),
    "ml::Tasklet": _elementwise(tasklet_code=_up_to(len(OPCODES) - 1), inputs=_many(_connector)),
    "ml::GELU": _elementwise(tanh_approx=_truth),
    "ml::Arange": _library(shape=_expressions),
    "ml::BatchNorm": _library(batch_layout=_LAYOUT, batch_quant=_PRIMITIVE),
    "ml::Broadcast": _library(input_shape=_expressions, output_shape=_expressions, padded=_truth),
    "ml::Concat": _library(
        dim=_up_to(64),
        result=_connector,
        result_layout=_LAYOUT,
        tensors=_many(_connector),
        tensor_layouts=_many(_LAYOUT),
    ),
    "ml::ConditionalCopy": _library(
        **dict.fromkeys(("layout_mask", "layout_x1", "layout_x2", "layout_y"), _LAYOUT)
    ),
    "ml::ConstPadding": _library(pads=_expressions, x_layout=_LAYOUT, y_layout=_LAYOUT),
    "ml::Conv": _library(
        **_WINDOW,
        group=_expression,
        output_channels=_expression,
        result_quant=_PRIMITIVE,
        with_bias=_truth,
    ),
    "ml::Copy": _library(layout_x=_LAYOUT, layout_y=_LAYOUT),
    "ml::Embedding": _library(index_shape=_expressions, weight_shape=_expressions),
    "ml::Index": _library(
        dim_offset=_up_to(64),
        num_indices=_up_to(64),
        index_shape=_expressions,
        input_shape=_expressions,
    ),
    "ml::LayerNorm": _library(
        **_LAYERNORM,
        normalized_shape=_expressions,
        quant=_PRIMITIVE,
        bias=_truth,
        elementwise_affine=_truth,
    ),
    "ml::MatMul": _library(layout_a=_LAYOUT, layout_b=_LAYOUT, result_quant=_PRIMITIVE),
    "ml::Pooling": _library(**_WINDOW, mode=_among(vocabulary.POOLINGS), result_quant=_PRIMITIVE),
    "ml::UpsampleBilinear2D": _library(
        input_shape=_expressions,
        output_shape=_expressions,
        align_corners=_truth,
        scale_factors=_many(_factor),
    ),
}
"""docc's library nodes by their code."""

# -- the whole -----------------------------------------------------------------------------------

_STRUCTURE = Fields(
    {
        "name": lambda admission, given: admission.structure(given),
        "is_packed": _truth,
        "members": _many(_type),
    }
)

PROGRAM = Fields(
    {
        "name": _text,
        "type": _one_of("CPU"),
        "element_counter": _number,
        "externals": _nothing,
        "structures": _many(_object(_STRUCTURE)),
        "containers": _containers,
        "arguments": _many(_container),
        "return_type": _type,
        "metadata": lambda admission, given: admission.metadata(given),
        "root": _sequence,
    }
)
