"""Vector versions of maths functions, glibc's or ours, that loops call where clang knows none.

Of glibc's vector library (libmvec, since glibc 2.35) clang 19 knows `sin`, `cos`, `tan`, `exp`,
`log` and `pow` alone, and these for AVX2 only: a loop with any other function is not vectorised,
and one with these takes half of AVX-512's vectors. LLVM's vectoriser takes what a function's
attribute ``vector-function-abi-variant`` names ("Vector Function ABI"), and clang sets attributes
that a table names (``-forceattrs-csv-path``, since clang 18). So each function gets another name,
whose body calls C's, which is never inlined, and which has such an attribute. 200,000 values of the
others take 0.25 to 0.45 ms for 1.0 to 2.1 (AVX-512, 2026-11-27).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from loopbook.errors import CompilerError
from loopbook.toolchain import wide_functions
from loopbook.toolchain.clang import shared_library

NAMES = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cos", "cosh", "erf", "erfc"),
    *("exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "sin", "sinh", "tan", "tanh"),
)
"""The functions of one number. All are right to 4 units in the last place, of whichever width."""

POWER = "pow"

REMAINDER = "fmod"
"""Of which glibc has no vectors: ours are exact, as C's is."""

MARK = "vector-functions"
"""A file beside the wrapper around the compiler, if the compiler takes the table."""

TABLE = "functions.csv"
"""A file beside the wrapper: a line for each function."""

FLAG = "-DLOOPBOOK_VECTOR_FUNCTIONS"

_WIDTHS = {"b": 16, "d": 32, "e": 64}
"""Bytes of the vectors of SSE, AVX2 and AVX-512, by their letters."""


@dataclass(frozen=True)
class _Function:
    """A function, of doubles or, with an f behind its name, of floats.

    Attributes:
        ours: letters of the vectors whose version is ours.
        lacks: letters of vectors that it has no version for.
    """

    name: str
    numbers: int = 1
    ours: str = ""
    lacks: str = ""

    @property
    def kind(self) -> str:
        return "float" if self.name.endswith("f") and self.name != "erf" else "double"

    def variants(self) -> Iterator[tuple[str, str, str]]:
        """The letters and lanes of its versions, and what they are called."""
        for letter, size in _WIDTHS.items():
            if letter not in self.lacks:
                lanes = size // (4 if self.kind == "float" else 8)
                shape = f"{letter}N{lanes}{'v' * self.numbers}"
                theirs = f"_ZGV{shape}_{self.name}"
                yield (
                    letter,
                    shape,
                    f"loopbook_{self.name}_{letter}" if letter in self.ours else theirs,
                )

    @property
    def text(self) -> str:
        """The function under its other name."""
        declared, kept = "", ""
        for letter, shape, wide in self.variants():
            vector = f"loopbook_{self.kind}_{letter}"
            types = ", ".join((vector,) * self.numbers)
            if letter not in self.ours:
                declared += f"LOOPBOOK_{letter}({vector} {wide}({types});)\n"
            kept += (
                f"LOOPBOOK_{letter}(static {vector} (*const {shape})({types}) "
                f"__attribute__((used)) = {wide};)\n"
            )
        places = "xy"[: self.numbers]
        taken = ", ".join(f"{self.kind} {place}" for place in places)
        head = f"inline __attribute__((noinline, const, nothrow)) {self.kind}"
        body = f"{kept}return {self.name}({', '.join(places)});"
        return f"{declared}{head} loopbook_{self.name}({taken}) {{\n{body}\n}}\n"

    @property
    def lines(self) -> str:
        """Those of the table. A call that is the same in all iterations is made in front of the
        loop, as one of C's would be, if it may be made in vain."""
        name = f"loopbook_{self.name}"
        wide = ",".join(f"_ZGV{shape}_{name}({to})" for _, shape, to in self.variants())
        return f"{name},vector-function-abi-variant={wide}\n{name},speculatable\n"


def _functions() -> Iterator[_Function]:
    """All but what is in `own_maths` alone, as `erff`."""
    for name in (*NAMES, POWER, REMAINDER):
        for one in (name, f"{name}f"):
            if one in ("erff", "fmodf"):
                continue
            ours = "e" if one in wide_functions.NAMES else ""
            if name in ("exp", REMAINDER) or one == "tanh":
                ours = "bde"
            numbers = 2 if name in (POWER, REMAINDER) else 1
            yield _Function(one, numbers, ours, lacks="b" if name == REMAINDER else "")


_TYPES = "".join(
    f"typedef {kind} loopbook_{kind}_{letter} __attribute__((vector_size({size})));\n"
    for letter, size in _WIDTHS.items()
    for kind in ("double", "float")
)

_NARROW = """\
KIND _ZGVLETTERNLANESv_NAME(KIND);
inline KIND loopbook_NAME_LETTER(KIND x) {
    auto least = x < LEAST;
    KIND most = x < 2 * LEAST ? KIND{} + 2 * LEAST : x;
    KIND found = _ZGVLETTERNLANESv_NAME(least ? most - LEAST : most);
    return least ? found * FACTOR : found;
}
"""
"""``exp``: glibc's leave to a scalar function what is below the least normal number, as in masked
rows of attention, which take 2.5 times as long then. Here that is scaled."""

_TANH = """\
inline KIND loopbook_tanh_LETTER(KIND x) {
    KIND a = __builtin_elementwise_abs(x), z = x * x, next = KIND{} + 1, last = KIND{} + 17;
    KIND e = loopbook_exp_LETTER(2 * (a > 22 ? KIND{} + 22 : a));
#pragma clang loop unroll(full)
    for (int odd = 15; odd > 0; odd -= 2) {
        KIND sum = odd * last + z * next;
        next = last;
        last = sum;
    }
    KIND small = x * (next / last), large = __builtin_elementwise_copysign(1 - 2 / (e + 1), x);
    return a < 0.625 ? small : large;
}
"""
"""Lambert's continued fraction near 0, where the form with ``exp`` would lose digits; right to 3
units."""


_GUARDS = {"d": "defined(__AVX2__) && defined(__FMA__)", "e": "defined(__AVX512F__)"}


def _only(letter: str, text: str) -> str:
    """Text for where there are such vectors."""
    return f"#if {_GUARDS[letter]}\n{text}#endif\n" if letter in _GUARDS else text


def _narrow() -> str:
    """What is ours for SSE and AVX2."""
    text = ""
    for letter in "bd":
        ours = ""
        for name, kind, least in (("exp", "double", 708), ("expf", "float", 87)):
            factor = math.exp(-least).hex() + ("f" if kind == "float" else "")
            own = _NARROW.replace("KIND", f"loopbook_{kind}_{letter}").replace("NAME", name)
            own = own.replace("LANES", str(_WIDTHS[letter] // (8 if kind == "double" else 4)))
            ours += own.replace("LEAST", f"-{least}").replace("FACTOR", factor)
        ours += _TANH.replace("KIND", f"loopbook_double_{letter}")
        text += _only(letter, ours.replace("LETTER", letter))
    return text


_WHOLE = """\
static inline double loopbook_whole_log10(double x) {
    double found = loopbook_log10(x), near = rint(found);
    return fabs(found - near) < 5e-16 * fabs(near) ? near : found;
}
static inline double loopbook_whole_cbrt(double x) {
    double found = loopbook_cbrt(x), near = rint(found);
    return near * near * near == x ? near : found;
}
"""
"""The logarithm of a power of ten and the root of a cube are whole, as NumPy has them: programs
count digits by them."""

_REMAINDERS = """\
inline loopbook_double_LETTER loopbook_fmod_LETTER(loopbook_double_LETTER x,
                                                   loopbook_double_LETTER y) {
#pragma clang fp reassociate(off)
    loopbook_double_LETTER a = __builtin_elementwise_abs(x), b = __builtin_elementwise_abs(y);
    loopbook_double_LETTER whole = __builtin_elementwise_trunc(a / b);
    loopbook_double_LETTER rest = __builtin_elementwise_fma(-whole, b, a);
    rest = rest < 0 ? rest + b : rest;
    auto far = !((whole < 0x1p53) & (b < HUGE_VAL));
    if (__builtin_reduce_or(far))
        for (int lane = 0; lane < LANES; lane++)
            if (far[lane]) rest[lane] = fmod(a[lane], b[lane]);
    return __builtin_elementwise_copysign(rest, x);
}
"""
"""A quotient below 2**53 is cut to the whole number below it, or to the next one. What is left is
less than the divisor, counts in units of the divisor's last place, and fits."""


def _remainders() -> str:
    """`fmod` for AVX2 and AVX-512: without products that are added up at once, as SSE is, it would
    not be exact."""
    text = ""
    for letter in "de":
        own = _REMAINDERS.replace("LETTER", letter).replace("LANES", str(_WIDTHS[letter] // 8))
        text += _only(letter, own)
    return text


_IN_PLACE = {"log10": "whole_log10", "cbrt": "whole_cbrt"}
_MACROS = "".join(
    f"#define {one.name}(x) loopbook_{_IN_PLACE.get(one.name, one.name)}(x)\n"
    for one in _functions()
    if one.numbers == 1
)

TEXT = (
    "#ifdef LOOPBOOK_VECTOR_FUNCTIONS\n"
    "#define LOOPBOOK_b(text) text\n"
    + "".join(
        f"#if {guard}\n#define LOOPBOOK_{letter}(text) text\n#else\n"
        f"#define LOOPBOOK_{letter}(text)\n#endif\n"
        for letter, guard in _GUARDS.items()
    )
    + f'{_TYPES}{wide_functions.TEXT}extern "C" {{\n{_narrow()}{_remainders()}'
    + "".join(one.text for one in _functions())
    + f"}}\n{_WHOLE}{_MACROS}"
    + "#define fmod(x, y) loopbook_fmod((double)(x), (double)(y))\n"
    "#define LOOPBOOK_VECTOR(function) loopbook_##function\n"
    "#else\n#define LOOPBOOK_VECTOR(function) function\n#endif\n"
)
"""The functions under their other names. What is not called leaves nothing behind."""

LINES = "".join(one.lines for one in _functions())
"""The table. clang complains of functions that a program has not, so each gets its own."""

SCRIPT = f"""\
if [ "$source" ] && [ -e "${{0%/*}}/{MARK}" ]; then
  set -- {FLAG} "$@"
  called=$(grep -owE '({"|".join((*NAMES, POWER, REMAINDER))})f?' "$source" | sort -u)
  if [ "$called" ]; then
    printf '^loopbook_%s,\\n' $called | grep -f - "${{0%/*}}/{TABLE}" >"${{source%.cpp}}.csv"
    set -- "-mllvm=-forceattrs-csv-path=${{source%.cpp}}.csv" "$@"
  fi
fi
"""
"""For the wrapper, where loops are to call vector versions. A program that calls none of the
functions is compiled as ever."""


def has_vector_functions(compiler: Path, table: Path) -> bool:
    """Whether the compiler takes the table, and the library has all functions.

    Args:
        table: a file with `LINES`.
    """
    calls = " + ".join(
        f"loopbook_{one.name}({', '.join('x' * one.numbers)})" for one in _functions()
    )
    source = f'#include <cmath>\n{TEXT}extern "C" double all(double x) {{ return {calls}; }}\n'
    words = (FLAG, "-march=native", f"-mllvm=-forceattrs-csv-path={table}", "-Wl,-z,defs")
    try:
        shared_library(compiler, source, *words, "-lm", "-l:libmvec.so.1")
    except CompilerError:
        return False
    return True
