"""What containers are made of: numbers, pointers, arrays, tensors, structures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from loopbook.errors import SdfgError
from loopbook.program.expr import Expr
from loopbook.program.kept import Kept

DTYPES = (
    "void",
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "int128",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "uint128",
    "half",
    "bfloat",
    "float",
    "double",
    "x86_fp80",
    "fp128",
    "ppc_fp128",
)
"""docc's primitive types by number (``docc.sdfg.PrimitiveType``)."""


@dataclass(frozen=True, slots=True)
class Storage:
    """Where a container lives.

    Attributes:
        place: "CPU_Stack", "CPU_Heap" or another memory.
        allocation, deallocation: docc's numbers for who allocates and who frees it.
        size: in bytes, if docc allocates it.
    """

    place: str = "CPU_Stack"
    allocation: int = 0
    deallocation: int = 0
    size: Expr | None = None


STACK = Storage()
"""Where what nobody manages lives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Type:
    """What all types have."""

    storage: Storage = STACK
    alignment: int = 0
    initializer: str = ""

    @property
    def is_array(self) -> bool:
        """False for single numbers."""
        return True

    @property
    def element(self) -> str:
        """The type of the numbers in it, one of `DTYPES`; "void" if that is not known."""
        return "void"


@dataclass(frozen=True, slots=True)
class Scalar(Type):
    """One number; `dtype` is one of `DTYPES`."""

    dtype: str

    @property
    def is_array(self) -> bool:
        return False

    @property
    def element(self) -> str:
        return self.dtype


@dataclass(frozen=True, slots=True)
class Pointer(Type):
    """The address of something; `to` is None if nobody knows of what."""

    to: Type | None = None

    @property
    def element(self) -> str:
        return "void" if self.to is None else self.to.element


@dataclass(frozen=True, slots=True)
class Array(Type):
    """So many of the same in a row."""

    of: Type
    count: Expr

    @property
    def element(self) -> str:
        return self.of.element


def on_stack(kind: Type) -> bool:
    """Whether a container is an array on the stack. Each thread has its own of those that a loop
    which threads share writes."""
    held = kind.storage.place == STACK.place and kind.storage.size is not None
    return isinstance(kind, Array) or (isinstance(kind, Pointer) and held)


@dataclass(frozen=True, slots=True)
class Tensor(Type):
    """Numbers in a grid, with an index for each dimension; strides and offset in elements."""

    of: Type
    shape: tuple[Expr, ...]
    strides: tuple[Expr, ...]
    offset: Expr

    @property
    def element(self) -> str:
        return self.of.element


@dataclass(frozen=True, slots=True)
class Structure(Type):
    """One of the program's structures, by name."""

    name: str


@dataclass(frozen=True, slots=True)
class UnknownType(Type):
    """A type that is not understood."""

    kept: Kept


_NULLS = ("__nullptr", "__daisy_nullptr")
"""What the names of null pointers begin with, which nobody declares."""


def type_of(name: str, declared: Mapping[str, Type]) -> Type:
    """The type of a container.

    Raises:
        SdfgError: if it is not declared.
    """
    if name in declared:
        return declared[name]
    if name.startswith(_NULLS):
        return Pointer()
    raise SdfgError(f"the SDFG uses {name!r} but does not declare it")


def sizes(kind: Type) -> Iterator[Expr]:
    """What a type says in terms of the program's sizes."""
    if kind.storage.size is not None:
        yield kind.storage.size
    match kind:
        case Pointer(to=Type() as to):
            yield from sizes(to)
        case Array():
            yield kind.count
            yield from sizes(kind.of)
        case Tensor():
            yield from (*kind.shape, *kind.strides, kind.offset)


BYTES = {
    **{f"{sign}int{bits}": bits // 8 for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "bool": 1,
    "half": 2,
    "float": 4,
    "double": 8,
}
"""Of the numbers of each type."""


def factors(kind: Type) -> list[int] | None:
    """By how many elements each index of an array or pointer steps; None if that cannot be told.

    Raises:
        SdfgError: an array's size is no constant.
    """
    if isinstance(kind, Pointer):
        if kind.to is None or isinstance(kind.to, Scalar):
            return [1]
        return _inner(kind.to)
    return [1] if isinstance(kind, Scalar) else _inner(kind)


def _inner(kind: Type | None) -> list[int] | None:
    if isinstance(kind, Scalar):
        return []
    if not isinstance(kind, Array):
        return None
    inner = _inner(kind.of)
    return None if inner is None else [count(kind.of), *inner]


def count(kind: Type) -> int:
    """Elements of an array of constant size; 1 for what is none.

    Raises:
        SdfgError: its size is no constant.
    """
    if not isinstance(kind, Array):
        return 1
    if not kind.count.text.isdecimal():
        raise SdfgError(f"an array has {kind.count.text[:60]} elements: that is no constant")
    return int(kind.count.text) * count(kind.of)
