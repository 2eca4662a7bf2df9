"""From loops, as they were written, to a `Lowered`: the kernel's text and its arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from loopbook.errors import LoweringError
from loopbook.frontend import types
from loopbook.frontend.code import Code, Line
from loopbook.frontend.fusion import fused
from loopbook.frontend.jamming import jammed
from loopbook.frontend.lowered import CALLED, Lowered, tuple_text
from loopbook.frontend.narrow import WORD, held_as, is_narrow
from loopbook.frontend.reuse import reused
from loopbook.frontend.short import written_out
from loopbook.frontend.symbols import ONE, Int
from loopbook.frontend.unread import without_unread
from loopbook.frontend.values import Buffer


def assembled(
    name: str,
    parameters: tuple[str, ...],
    given: dict[str, Any],
    code: Code,
    result: str,
    defaults: tuple[Any, ...],
) -> Lowered:
    """A function's translation.

    Args:
        name, parameters, defaults: of the function.
        given: a call's arguments, by name.
        code: the loops, as they were written.
        result: text of what the function returns.

    Raises:
        LoweringError: an argument is stored into whose elements are looked at before the loops.
    """
    aliases = repeated(given)
    numeric = [
        p for p in parameters
        if isinstance(given[p], np.ndarray | bool | int | float | complex | np.generic)
        and p not in aliases
    ]  # fmt: skip
    if code.failed:
        code.temporaries.append(Buffer(code.failed, types.INT, (ONE,)))
        code.lines.insert(0, Line(0, f"{code.failed}[0] = 0", code.origin))
    lines = written_out(code, code.lines)
    body = jammed(code, reused(code, fused(code, lines), result))
    buffers = code.temporaries
    body = without_unread(body, {b.name for b in buffers})
    names = tuple(b.name for b in buffers)
    lines = [""]
    line_map: dict[int, int] = {}
    body = [replace(line, text=_without_powers(code, given, line.text)) for line in body]
    body = [replace(line, text=_in_numbers(code, given, line.text)) for line in body]
    for line in body:
        text = "    " * (line.depth + 1) + line.text
        if line.origin and line.origin != line_map.get(len(lines)):
            text += f"  # {line.origin}"
        lines.append(text)
        line_map[len(lines)] = line.origin
    if not body:
        lines.append("    pass")
    for line in body:
        if line.text.partition("[")[0] in code.looked_into and " = " in line.text:
            raise LoweringError(
                "storing into an argument that is looked at before the loops; copy it first",
                line.origin,
            )
    words = set(re.findall(r"\w+", "\n".join(lines[1:])))
    definitions = tuple(code.facts.in_order())
    numeric = [q for p in numeric for q in kernel_names(p, given[p])]
    constants = tuple(
        (b.name, _as_held(b.values))
        for b in code.constants
        if b.values is not None and b.name in words
    )
    kernel_parameters = (
        *numeric, *(d for d, _ in definitions if d in words), *(c for c, _ in constants), *names,
    )  # fmt: skip
    lines[0] = f"def {name}({', '.join(kernel_parameters)}):"
    kernel_source = "\n".join(lines) + "\n"
    allocations = tuple(
        (b.name, tuple_text([_size(s) for s in b.shape]), held_as(b.dtype)) for b in buffers
    )
    stored = tuple(p for p in parameters if any(line.text.startswith(f"{p}[") for line in body))
    as_they_lie = tuple(f"{p}.flags.c_contiguous" for p in stored if p in code.laid_out)
    lines_of = frozenset(p for p in numeric if p in code.in_line and _rank(given[p]) > 1)
    copies = _copies(code, {name: v for name, v in given.items() if name not in aliases})
    conversions = dict(_conversions(given, copies, buffers))
    for one in lines_of:
        if one in copies:
            place, text = copies[one]
            copies[one] = place, f"{text}.reshape(-1)"
        else:
            place, dot, rest = conversions.get(one, one).partition(".")
            conversions[one] = f"{place}.reshape(-1){dot}{rest}"
    after = [
        (f"{own}[...]", f"{place}.reshape({own}.shape)" if own in lines_of else place)
        for own, (place, _) in copies.items()
        if own in stored
    ]
    lowered = Lowered(
        name, parameters, kernel_parameters, kernel_source, "", line_map, names,
        (*code.facts.guards, *as_they_lie), allocations, result,
        tuple(conversions.items()), definitions,
        (*copies.values(), *(pair for b in buffers for pair in code.before.get(b.name, ()))),
        (*after, *_cut(buffers, result)),
        defaults, frozenset(code.looked_into), 0, code.failed, stored, constants,
        words=_narrow(given, buffers), copied=tuple(copies), in_line=lines_of,
    )  # fmt: skip
    source = "import math\n\nimport numpy as np\n\n"
    for own, value in constants:
        source += f"{own} = np.array({value.tolist()}, np.{value.dtype.name})\n"
    source += "\n" + kernel_source
    source += "\n\n" + lowered._outer_source.replace(f"{CALLED}(", f"{name}(", 1)
    object.__setattr__(lowered, "source", source)
    return lowered


def _in_numbers(code: Code, given: dict[str, Any], text: str) -> str:
    """A statement with the last sizes of complex arguments computed before the loops: the kernel
    sees twice as many floats; and with all sizes of those whose elements it has in one line."""
    for name, value in given.items():
        if not isinstance(value, np.ndarray):
            continue
        first = 0 if name in code.in_line else value.ndim - 1 if value.dtype.kind == "c" else None
        for axis in range(value.ndim if first is None else first, value.ndim):
            size = f"{name}.shape[{axis}]"
            if re.search(rf"(?<!\w){re.escape(size)}", text):
                own = code.facts.definitions.get(size) or code.fresh("numbers_")
                code.facts.definitions[size] = own
                text = re.sub(rf"(?<!\w){re.escape(size)}", own, text)
    return text


_POWER = re.compile(r"(?<![*/%] )(?<![\w.])([A-Za-z_]\w*)(?: \* \1\b(?! \*\*|[.(\[])){3,}")
"""A number multiplied with itself, first in its product."""


def _without_powers(code: Code, given: dict[str, Any], text: str) -> str:
    """A statement with powers of whole arguments computed before the loops: docc has a statement
    for each product, and a transform that goes through all powers of a size has thousands."""

    def named(found: re.Match[str]) -> str:
        name = found[1]
        if type(given.get(name)) is not int or name in code.mutable:
            return found[0]
        part = Int.atom(name)
        return code.facts.derive(found[0], [part], lambda n: n ** found[0].split().count(name)).text

    return _POWER.sub(named, text)


def kernel_names(name: str, value: Any) -> list[str]:
    """What the kernel calls an argument: a complex number is two."""
    if isinstance(value, complex | np.complexfloating):
        return [f"{name}_re", f"{name}_im"]
    return [name]


def _conversions(
    given: dict[str, Any], copies: dict[str, tuple[str, str]], buffers: Sequence[Buffer]
) -> Iterator[tuple[str, str]]:
    for name, value in given.items():
        place = copies[name][0] if name in copies else name
        if isinstance(value, complex | np.complexfloating):
            parts = kernel_names(name, value)
            yield from zip(parts, (f"float({name}.real)", f"float({name}.imag)"), strict=True)
        elif isinstance(value, np.generic) and value.dtype == types.WIDE:
            yield name, f"int({name}.astype(np.int64))"
        elif isinstance(value, np.ndarray) and value.dtype == types.WIDE:
            yield name, f"{name}.view(np.int64)"
        elif isinstance(value, np.generic):
            yield name, f"{ {'b': 'bool', 'f': 'float'}.get(value.dtype.kind, 'int') }({name})"
        elif isinstance(value, np.ndarray) and value.dtype.kind == "c":
            yield name, _pairs(place, value.dtype)
        elif place != name:
            yield name, place
    for buffer in buffers:
        if buffer.dtype.kind == "c":
            yield buffer.name, _pairs(buffer.name, buffer.dtype)


def _rank(value: Any) -> int:
    return value.ndim if isinstance(value, np.ndarray) else 0


def _copies(code: Code, given: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Arguments that the kernel gets copies of, and how those are called and made: narrow whole
    numbers are words, and complex numbers that do not lie in C order are no pairs."""
    found = {}
    for name, value in given.items():
        if not isinstance(value, np.ndarray):
            continue
        if is_narrow(value.dtype) and value.dtype != types.WIDE:
            found[name] = code.fresh(f"{name}_"), f'{name}.astype(np.{WORD}, "C")'
        elif value.dtype.kind == "c" and not value.flags.c_contiguous:
            found[name] = code.fresh(f"{name}_"), f"np.ascontiguousarray({name})"
    return found


def _cut(buffers: Sequence[Buffer], result: str) -> Iterator[tuple[str, str]]:
    """The assignments that make narrow numbers of the words that the kernel wrote into what is
    returned."""
    for buffer in buffers:
        if is_narrow(buffer.dtype) and buffer.name in re.findall(r"\w+", result):
            yield buffer.name, f"{buffer.name}.astype(np.{buffer.dtype})"


def _narrow(given: dict[str, Any], buffers: Sequence[Buffer]) -> tuple[tuple[str, np.dtype], ...]:
    """Arrays of numbers of fewer bits than words have among the kernel's arguments, with their
    types."""
    arrays = [(name, v.dtype) for name, v in given.items() if isinstance(v, np.ndarray)]
    arrays += [(buffer.name, buffer.dtype) for buffer in buffers]
    narrow = [(name, dtype) for name, dtype in arrays if is_narrow(dtype)]
    return tuple((name, dtype) for name, dtype in narrow if dtype.itemsize < WORD.itemsize)


def _pairs(name: str, dtype: np.dtype) -> str:
    """A contiguous complex array as floats, without a copy."""
    return f"{name}.view(np.{types.part(dtype)})"


def _as_held(value: np.ndarray) -> np.ndarray:
    """A copy of an array from outside, as the kernel has such."""
    made = np.array(value, held_as(value.dtype), order="C")
    return made.view(types.part(made.dtype)) if made.dtype.kind == "c" else made


def _size(size: Int) -> str:
    """Text of a size; loops over fewer than no elements do nothing, but NumPy raises."""
    return f"max({size.text}, 0)" if any(c < 0 for _, c in size.terms) else size.text


def repeated(given: dict[str, Any]) -> dict[str, str]:
    """Names of arguments that are the same array as one before them, and of that one."""
    first: dict[int, str] = {}
    found: dict[str, str] = {}
    for name, value in given.items():
        if isinstance(value, np.ndarray):
            other = first.setdefault(id(value), name)
            if other != name:
                found[name] = other
    return found
