"""Multiples of counts, rounded by themselves: ``start + i * step``.

Before::

    {
        double _in1 = tmp_7;         // i
        double _in2 = s_0;
        double _out;

        _out = _in1 * _in2;

        tmp_6 = _out;
    }

After::

    {
        #pragma clang fp contract(off)
        double _in1 = tmp_7;
        ...

Without it clang adds to the product before that is rounded. The place in the middle of
``np.linspace(-1.2, 1.2, 7)`` is 0 for NumPy, and was 4e-17, of which ``np.sign(x)`` and ``1 / x``
make something else. Nor is a step ``3 / 10`` three times a tenth: what is divided by a whole number
in front of all loops is divided by it.
"""

from __future__ import annotations

import re

PRAGMA = "#pragma clang fp contract(off)"
"""`loopbook.toolchain.compiler` looks for it, and has clang heed it then."""

PRECISELY = "#pragma float_control(precise, on)"

_CONVERTED = re.compile(
    r"\{\n[ \t]*int(?:64|32)_t _in = [^\n;\[]+;\n[ \t]*(?:double|float) _out;\n\s*"
    r"_out = _in;\n\s*(?P<name>\w+) = _out;\n"
)

_PRODUCT = re.compile(
    r"^(?P<indent>[ \t]*)\{\n"
    r"(?P<given>[ \t]*(?:double|float) _in1 = [^\n]*;\n[ \t]*(?:double|float) _in2 = [^\n]*;\n)"
    r"[ \t]*(?:double|float) _out;\n\s*_out = _in1 \* _in2;\n",
    re.MULTILINE,
)

_QUOTIENT = re.compile(
    r"^(?P<indent>    )\{\n"
    r"(?P<given> *(?:double|float) _in1 = [^\n]*;\n *(?:double|float) _in2 = [^\n]*;\n)"
    r" *(?:double|float) _out;\n\s*_out = _in1 / _in2;\n",
    re.MULTILINE,
)

_GIVEN = re.compile(r"_in\d = (\w+);\n")


def with_grids(code: str) -> str:
    """C++ in which multiples of whole numbers are rounded before something is added to them."""
    counts = {found["name"] for found in _CONVERTED.finditer(code)}
    if not counts:
        return code

    def marked(found: re.Match[str]) -> str:
        if counts.isdisjoint(_GIVEN.findall(found["given"])):
            return found[0]
        pragma = PRAGMA if found.re is _PRODUCT else PRECISELY
        head = f"{found['indent']}{{\n"
        return f"{head}{found['indent']}    {pragma}\n{found[0].removeprefix(head)}"

    return _QUOTIENT.sub(marked, _PRODUCT.sub(marked, code))
