"""Variables that are called what docc calls something else."""

from __future__ import annotations

import ast
import re

from loopbook.sdfg.known_wrong.helpers import BUILTINS
from loopbook.sdfg.known_wrong.kinds import Kinds, assigned

CONNECTORS = re.compile(r"_?(in|out)\d*")
"""What docc calls the ends of its tasklets, in C++ variables that hide those around them."""

CONSTANTS = {"e", "E", "I", "pi", "oo", "zoo", "inf", "nan", "EulerGamma", "Catalan", "GoldenRatio"}
"""What the symbolic engine that reads docc's indices takes for numbers."""

_WORDS = """
    alignas alignof asm auto bitand bitor case catch char char8_t char16_t char32_t co_await
    co_return co_yield compl concept const const_cast consteval constexpr constinit decltype
    default delete do double dynamic_cast enum explicit export extern friend goto inline long
    mutable namespace new noexcept nullptr operator private protected public register
    reinterpret_cast requires short signed sizeof static static_assert static_cast struct switch
    template this thread_local throw typedef typeid typename union unsigned using virtual void
    volatile wchar_t xor
    NULL NAN INFINITY HUGE_VAL EOF RAND_MAX BUFSIZ assert errno stdin stdout stderr linux unix
    true false isnan isinf isfinite signbit malloc free memset memcpy fabs fmax fmin fmod pow
    floor"""

RESERVED = frozenset(_WORDS.split()).union(BUILTINS)
"""Words of C++, macros that its headers define, functions that docc's code calls, and what docc
takes for Python's own whatever it is."""

DEFINED = re.compile(r"M_\w+|u?int\w*_t|size_t")
"""Macros and types of C's headers."""


def run(kinds: Kinds) -> None:
    """Give such variables other names, in place.

    Before: ``out[i] = A[i]``: docc's C++ says ``double out = …; out[i] = out``, and crashes.
    ``A[e]``: docc looks for element 2.718…. ``new[i]`` is no C++. After: ``lb_out``, ``lb_e``,
    ``lb_new``.
    """
    source = kinds.source
    local = {name for name, _ in assigned(source.body)} | set(source.parameters)
    counts = {name for name in local & CONSTANTS if kinds.of(ast.Name(id=name)).rank == 0}
    called = {node.attr for node in source.walk() if isinstance(node, ast.Attribute)}  # math.exp
    taken = {n for n in local if CONNECTORS.fullmatch(n) or DEFINED.fullmatch(n)}
    renamed = {n: f"lb_{n}" for n in taken | counts | (local & (RESERVED | called))}
    if not renamed:
        return
    for node in source.walk():
        if isinstance(node, ast.Name) and node.id in renamed:
            node.id = renamed[node.id]
    for argument in source.node.args.args:
        argument.arg = renamed.get(argument.arg, argument.arg)
    source.mend(source.node, f"call {', '.join(sorted(renamed))} something else")
