"""glibc's vector versions of maths functions that clang knows none of.

Of glibc's vector library (libmvec, since glibc 2.35) clang 19 knows `sin`, `cos`, `tan`, `exp`,
`log` and `pow` alone: a loop with any other function is not vectorised. LLVM's vectoriser takes
what a function's attribute ``vector-function-abi-variant`` names ("Vector Function ABI"), and clang
sets attributes that a table names (``-forceattrs-csv-path``, since clang 18). So each function gets
another name, whose body calls C's, which is never inlined, and which has such an attribute. 200,000
values take 0.25 to 0.45 ms for 1.0 to 2.1 (AVX-512, 2026-11-27).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from loopbook.errors import CompilerError
from loopbook.toolchain.clang import shared_library

NAMES = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cosh", "erf", "erfc", "exp2"),
    *("expm1", "log10", "log1p", "log2", "sinh"),
)
"""The functions. All are right to 4 units in the last place, of whichever width."""

REMAINDER = "fmod"
"""Of which glibc has no vectors: ours are exact, as C's is."""

MARK = "vector-functions"
"""A file beside the wrapper around the compiler, if the compiler takes the table."""

TABLE = "functions.csv"
"""A file beside the wrapper: a line for each function."""

FLAG = "-DLOOPBOOK_VECTOR_FUNCTIONS"

_WIDTHS = {"b": 16, "d": 32, "e": 64}
"""Bytes of the vectors of SSE, AVX2 and AVX-512, by their letters."""


def _variants(name: str, single: bool) -> Iterator[tuple[str, str]]:
    """The letters and lanes of a function's versions, and their names in the library."""
    for letter, size in _WIDTHS.items():
        lanes = f"{letter}N{size // (4 if single else 8)}v"
        yield lanes, f"_ZGV{lanes}_{name}"


def _function(name: str, single: bool) -> str:
    kind = "float" if single else "double"
    declared, kept = "", ""
    for (lanes, wide), letter in zip(_variants(name, single), _WIDTHS, strict=True):
        vector = f"loopbook_{kind}_{letter}"
        declared += f"LOOPBOOK_{letter}({vector} {wide}({vector});)\n"
        kept += (
            f"LOOPBOOK_{letter}(static {vector} (*const {lanes})({vector}) "
            f"__attribute__((used)) = {wide};)\n"
        )
    head = f"inline __attribute__((noinline, const, nothrow)) {kind} loopbook_{name}({kind} x)"
    return f"{declared}{head} {{\n{kept}return {name}(x);\n}}\n"


def _both() -> Iterator[tuple[str, bool]]:
    """All functions, of doubles and of floats; `erff` is one of our own
    (`loopbook.toolchain.compiler`)."""
    for name in NAMES:
        yield name, False
        if name != "erf":
            yield f"{name}f", True


_TYPES = "".join(
    f"typedef {kind} loopbook_{kind}_{letter} __attribute__((vector_size({size})));\n"
    for letter, size in _WIDTHS.items()
    for kind in ("double", "float")
)

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
#if defined(VECTORS) && defined(__FMA__)
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
#endif
"""
"""A quotient below 2**53 is cut to the whole number below it, or to the next one. What is left is
less than the divisor, counts in units of the divisor's last place, and fits."""

_REMAINDER = """\
inline __attribute__((noinline, const, nothrow)) double loopbook_fmod(double x, double y) {
LOOPBOOK_d(static auto *const d __attribute__((used)) = loopbook_fmod_d;)
LOOPBOOK_e(static auto *const e __attribute__((used)) = loopbook_fmod_e;)
return fmod(x, y);
}
"""


def _remainders() -> str:
    """`fmod` and its versions for AVX2 and AVX-512: without products that are added up at once, as
    SSE is, they would not be exact."""
    text = ""
    for letter in "de":
        own = _REMAINDERS.replace("LETTER", letter).replace("LANES", str(_WIDTHS[letter] // 8))
        text += own.replace("VECTORS", "__AVX2__" if letter == "d" else "__AVX512F__")
    return text + _REMAINDER


TEXT = (
    "#ifdef LOOPBOOK_VECTOR_FUNCTIONS\n"
    "#define LOOPBOOK_b(text) text\n"
    "#if defined(__AVX2__) && defined(__FMA__)\n#define LOOPBOOK_d(text) text\n"
    "#else\n#define LOOPBOOK_d(text)\n#endif\n"
    "#ifdef __AVX512F__\n#define LOOPBOOK_e(text) text\n#else\n#define LOOPBOOK_e(text)\n#endif\n"
    + f'{_TYPES}extern "C" {{\n{"".join(_function(*one) for one in _both())}{_remainders()}}}\n'
    + _WHOLE
    + "".join(
        f"#define {name}(x) loopbook_{'whole_' if name in ('log10', 'cbrt') else ''}{name}(x)\n"
        for name, _ in _both()
    )
    + "#define fmod(x, y) loopbook_fmod((double)(x), (double)(y))\n#endif\n"
)
"""The functions under their other names. What is not called leaves nothing behind."""

LINES = "".join(
    f"loopbook_{name},vector-function-abi-variant="
    + ",".join(f"_ZGV{lanes}_loopbook_{name}({wide})" for lanes, wide in _variants(name, single))
    + "\n"
    for name, single in _both()
) + (
    "loopbook_fmod,vector-function-abi-variant=_ZGVdN4vv_loopbook_fmod(loopbook_fmod_d),"
    "_ZGVeN8vv_loopbook_fmod(loopbook_fmod_e)\n"
)
"""The table. clang complains of functions that a program has not, so each gets its own."""

SCRIPT = f"""\
if [ "$source" ] && [ -e "${{0%/*}}/{MARK}" ]; then
  set -- {FLAG} "$@"
  called=$(grep -owE '({"|".join((*NAMES, REMAINDER))})f?' "$source" | sort -u)
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
    calls = " + ".join((*(f"loopbook_{name}(x)" for name, _ in _both()), "loopbook_fmod(x, 2)"))
    source = f'#include <cmath>\n{TEXT}extern "C" double all(double x) {{ return {calls}; }}\n'
    words = (FLAG, "-march=native", f"-mllvm=-forceattrs-csv-path={table}", "-Wl,-z,defs")
    try:
        shared_library(compiler, source, *words, "-lm", "-l:libmvec.so.1")
    except CompilerError:
        return False
    return True
