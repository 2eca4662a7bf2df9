"""Tells clang that arrays share no element in the bodies of loops that threads share, too.

clang makes a function of such a body, which gets addresses of the variables around it: that the
program's arguments are apart (`loopbook.sdfg.restrict`) is forgotten, there and in what one thread
does before and after. So threads get arguments by value, and what is done with the copies that
`loopbook.sdfg.threads` has put into the body goes on in a function that is told again. Before::

    #pragma omp parallel for schedule(static) private(own_A, own_B, j)
    for (i = 0; i < n; i = 1 + i)
    {
        { own_A = &A[0]; }
        { own_B = &B[0]; }
        …
    }

and after::

    #pragma omp parallel for schedule(static) private(own_A, own_B, j) firstprivate(A, B, n)
    for (i = 0; i < n; i = 1 + i)
    {
        { own_A = &A[0]; }
        { own_B = &B[0]; }
        [&](double *__restrict own_A, double *__restrict own_B)
                __attribute__((always_inline)) {
        …
        }(own_A, own_B);
    }
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from loopbook.sdfg.blas_threads import OPENING

_SHARED = re.compile(
    r"^(?P<in>[ ]*)(?P<pragma>#pragma omp parallel for[^\n]*)\n(?P<head>(?P=in)for\([^\n]*)\n"
    r"(?P=in)\{\n(?P<body>.*?)^(?P=in)\}\n",
    re.MULTILINE | re.DOTALL,
)
_COPY = re.compile(
    r"\s*\{\n\s*(?P<own>own_\w+) = "
    r"(?:&\(reinterpret_cast<[^>]*>\((?P<array>\w+)\)\)\[0\]|[\w\s;=]+);\n\s*\}\n"
)
_ARGUMENT = re.compile(r"(\w+)(?=[,)])")


def with_restrict_in_threads(code: str) -> str:
    """C++ of a program whose arguments, and the arrays that it allocates, are apart."""
    opening = OPENING.search(code)
    if opening is None or "#pragma omp parallel for" not in code:
        return code
    arguments = [*dict.fromkeys(_ARGUMENT.findall(opening[0]))]
    return _SHARED.sub(lambda loop: _told(loop, arguments, code), code)


def _told(loop: re.Match[str], arguments: Collection[str], code: str) -> str:
    """A loop with both."""
    inside = loop["head"] + loop["body"]
    given = [name for name in arguments if _occurs(name, inside) and not _is_set(name, inside)]
    pragma = loop["pragma"] + (f" firstprivate({', '.join(given)})" if given else "")
    indent = loop["in"]
    body = _wrapped(loop["body"], arguments, code, indent + "    ")
    return f"{indent}{pragma}\n{loop['head']}\n{indent}{{\n{body}{indent}}}\n"


def _wrapped(body: str, arguments: Collection[str], code: str, indent: str) -> str:
    """A body that goes on in a function where all pointers that it copies are known to be apart;
    itself where one of them may be a view of another's array."""
    end, arrays = 0, dict[str, str]()
    for copy in _copies(body):
        end = copy.end()
        if copy["array"]:
            arrays[copy["own"]] = copy["array"]
    rest = body[end:]
    types = {own: re.search(rf"^\s*(\w[\w ]*\*){own};", code, re.MULTILINE) for own in arrays}
    apart = all(name in arguments or _is_allocated(name, code) for name in arrays.values())
    if len(arrays) < 2 or not apart or not all(types.values()) or re.search(r"\breturn\b", rest):
        return body
    if any(_occurs(name, rest) for name in arrays.values()):
        return body
    told = ", ".join(f"{found[1]}__restrict {own}" for own, found in types.items() if found)
    head = f"{indent}[&]({told}) __attribute__((always_inline)) {{\n"
    return f"{body[:end]}{head}{rest}{indent}}}({', '.join(arrays)});\n"


def _copies(body: str) -> Iterator[re.Match[str]]:
    """The copies that a body begins with."""
    place = 0
    while copy := _COPY.match(body, place):
        yield copy
        place = copy.end()


def _occurs(name: str, code: str) -> bool:
    return re.search(rf"\b{name}\b", code) is not None


def _is_set(name: str, code: str) -> bool:
    return re.search(rf"\b{name} = ", code) is not None


def _is_allocated(name: str, code: str) -> bool:
    """Whether all that a pointer is set to is memory of its own, also by way of another name."""
    values = re.findall(rf"\b{name} = ([^;]*);", code)
    return bool(values) and all(
        "alloc(" in value or (value.isidentifier() and value != name and _is_allocated(value, code))
        for value in values
    )
