"""What something is: ``type``, ``hasattr``, ``callable``; known when the loops are written.

Before::

    if type(x) is np.ndarray:                   if callable(f):

After: the branch that is taken.
"""

from __future__ import annotations

import numpy as np

from loopbook.frontend import arith
from loopbook.frontend.records import Fields
from loopbook.frontend.registry import lowers
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Bound, Scalar, Thing, Tup, Value


def kind_of(t: Translator, value: Value) -> type:
    """The class of a value."""
    if isinstance(value, Array) and (value.rank or value.mask is not None):
        return np.ndarray
    if isinstance(value, Fields):
        return value.kind
    if isinstance(value, Tup):
        return list if value.listed else tuple
    if isinstance(value, Thing):
        return type(value.value)
    if isinstance(value, Scalar):
        return type(value.dtype.type(0).item()) if value.weak else value.dtype.type
    raise t.code.fail("the type of this")


@lowers(type)
def type_(t: Translator, value: Value) -> Value:
    return Thing(kind_of(t, value))


@lowers(hasattr)
def hasattr_(t: Translator, value: Value, name: Value) -> Value:
    wanted = t.python(name)
    if isinstance(value, Fields) and wanted in value.names and value.kind not in (dict, list):
        return arith.constant(True)
    if isinstance(value, Thing):
        return arith.constant(hasattr(value.value, wanted))
    return arith.constant(hasattr(kind_of(t, value), wanted))


@lowers(getattr)
def getattr_(t: Translator, value: Value, name: Value, *default: Value) -> Value:
    from loopbook.frontend.expressions import attribute

    if default and not hasattr_(t, value, name).value:
        return default[0]
    return attribute(t, value, t.python(name))


@lowers(np.iscomplexobj)
def iscomplexobj(t: Translator, x: Value) -> Value:
    return arith.constant(isinstance(x, Array | Scalar) and x.dtype.kind == "c")


@lowers(np.isrealobj)
def isrealobj(t: Translator, x: Value) -> Value:
    return arith.constant(not isinstance(x, Array | Scalar) or x.dtype.kind != "c")


@lowers(callable)
def callable_(t: Translator, value: Value) -> Value:
    is_method = isinstance(value, Bound)
    return arith.constant(is_method or (isinstance(value, Thing) and callable(value.value)))


__all__ = ["callable_", "getattr_", "hasattr_", "iscomplexobj", "isrealobj", "type_"]
