# ruff: noqa: E501 - texts of programs
"""Small programs of many classes, written out from templates, for `benchmarks.semantics`.

Each is the text of one function over arrays ``A``, ``B``, ``C`` of n elements or n × n, and maybe
scalars. Templates are crossed with operators, bounds and constants, not with names or order, so
that no program is another one in other letters.
"""

from __future__ import annotations

import hashlib
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Program:
    """A function's text.

    Attributes:
        group: the class that tables count it in.
        arrays: dimensions of each array argument.
        scalars: values of the arguments after those.
    """

    name: str
    group: str
    text: str
    arrays: tuple[int, ...]
    scalars: tuple[float | int, ...] = ()


LETTERS = "ABC"


def programs() -> list[Program]:
    """All of them, in a fixed order."""
    made: dict[str, Program] = {}
    for group, arrays, body, scalars in _bodies():
        names = [*LETTERS[: len(arrays)], *("st"[: len(scalars)])]
        text = textwrap.dedent(body).strip("\n")
        tag = hashlib.sha256(f"{names}{arrays}{text}".encode()).hexdigest()[:6]
        name = f"{group.replace(' ', '_').replace('-', '_')}_{tag}"
        whole = f"def {name}({', '.join(names)}):\n{textwrap.indent(text, '    ')}\n"
        made.setdefault(name, Program(name, group, whole, arrays, scalars))
    return list(made.values())


Body = tuple[str, tuple[int, ...], str, tuple[float | int, ...]]


def _bodies() -> Iterator[Body]:
    for group in (
        _elementwise,
        _integers,
        _conditions,
        _reductions,
        _stencils,
        _nests,
        _counting,
        _whiles,
        _scalars,
        _results,
        _arrays,
        _products,
        _in_place,
    ):
        yield from group()


def _loop(line: str, bounds: str = "A.shape[0]") -> str:
    return f"for i in range({bounds}):\n    {line}"


def _elementwise() -> Iterator[Body]:
    for expression in (
        "A[i] + B[i]",
        "A[i] - 2 * B[i]",
        "A[i] * B[i] + 1",
        "-A[i]",
        "A[i] * A[i] - B[i] * 3",
        "(A[i] + B[i]) * (A[i] - B[i])",
        "A[i] / 4",
        "A[i] * 0.5",
        "(A[i] + 1) / (B[i] * B[i] + 1)",
        "A[i] ** 2",
        "i - A[i]",
        "i * 3 + 1",
        "float(A[i]) + 0.25",
        "int(A[i])",
        "int(A[i] / 3) + i",
        "min(A[i], B[i])",
        "max(A[i], 2)",
        "min(max(A[i], -3), 3)",
        "A[i] if A[i] > 0 else -A[i]",
    ):
        yield "elementwise", (1, 1, 1), _loop(f"C[i] = {expression}"), ()
    for function in ("sin", "cos", "exp", "tanh", "floor", "ceil", "trunc", "fabs", "atan"):
        text = f"C[i] = math.{function}(A[i] * 0.5) + B[i]"
        yield "elementwise", (1, 1, 1), _loop(text), ()
    for function in ("sqrt", "log", "log1p", "cbrt"):
        yield "elementwise", (1, 1), _loop(f"B[i] = math.{function}(A[i] * A[i] + 0.5)"), ()
    for function in ("hypot", "atan2", "fmod", "copysign"):
        text = f"C[i] = math.{function}(A[i] + 0.25, B[i] * B[i] + 1.5)"
        yield "elementwise", (1, 1, 1), _loop(text), ()


def _integers() -> Iterator[Body]:
    for operator in ("//", "%"):
        for divisor in ("2", "3", "-4", "7", "B[i]", "(i + 1)", "(i - 3)"):
            yield "division", (1, 1, 1), _loop(f"C[i] = A[i] {operator} {divisor}"), ()
    for expression in (
        "(A[i] // 2) % 3",
        "A[i] // 2 + A[i] % 2",
        "(i - 4) // 2",
        "(i - 4) % 3 + A[i]",
        "(2 * i) // 3",
        "i % 2 * A[i]",
        "-A[i] // 2",
        "A[i] // 2 // 2",
    ):
        yield "division", (1, 1), _loop(f"B[i] = {expression}"), ()
    for operator in ("&", "|", "^"):
        for right in ("6", "B[i]", "i"):
            yield "bits", (1, 1, 1), _loop(f"C[i] = A[i] {operator} {right}"), ()
    for expression in ("A[i] >> 1", "A[i] >> 3", "A[i] << 2", "i << 1", "~A[i]", "(1 << i % 5)"):
        yield "bits", (1, 1), _loop(f"B[i] = {expression}"), ()
    for operator in ("//", "%", ">>"):
        lines = f"B[i] = A[i]\n    B[i] {operator}= 2"
        yield "division", (1, 1), _loop(lines), ()


def _conditions() -> Iterator[Body]:
    for test in (
        "A[i] > 0",
        "A[i] <= B[i]",
        "A[i] == B[i]",
        "A[i] != 2",
        "not A[i] > 1",
        "not A[i]",
        "A[i] > 0 and B[i] > 0",
        "A[i] > 2 or B[i] < -2",
        "-2 < A[i] <= 3",
        "i % 2 == 0",
        "i > 2 and A[i] < 1",
        "not (A[i] > 0 or B[i] > 0)",
        "A[i]",
        "A[i] and B[i]",
    ):
        text = f"if {test}:\n        C[i] = A[i] + 1\n    else:\n        C[i] = B[i] - 1"
        yield "conditions", (1, 1, 1), _loop(text), ()
    for test in ("A[i] > 0", "i > 2", "A[i] > B[i] and i < 5"):
        for one, other in (
            ("1", "2"),
            ("0.5", "1.5"),
            ("1", "0.5"),
            ("A[i]", "0.25"),
            ("i", "B[i]"),
        ):
            text = f"C[i] = {one} if {test} else {other}"
            yield "conditions", (1, 1, 1), _loop(text), ()
    for first, second in (("1", "0.5"), ("A[i]", "0"), ("i", "A[i] * 0.5")):
        text = f"if A[i] > 0:\n        x = {first}\n    else:\n        x = {second}\n    B[i] = x"
        yield "conditions", (1, 1), _loop(text), ()
    yield (
        "conditions",
        (1, 1),
        _loop(
            "if A[i] > 3:\n        B[i] = 1\n    elif A[i] > 0:\n        B[i] = 2\n"
            "    elif A[i] > -3:\n        B[i] = 3\n    else:\n        B[i] = 4"
        ),
        (),
    )
    for expression in (
        "(A[i] > 0) * A[i]",
        "(A[i] > 0) + (B[i] > 0)",
        "A[i] or B[i]",
        "A[i] > B[i]",
    ):
        yield "conditions", (1, 1, 1), _loop(f"C[i] = {expression}"), ()


def _reductions() -> Iterator[Body]:
    for start in ("0", "0.0", "1", "A[0] * 0"):
        for step in ("s += A[i]", "s = s + A[i] * B[i]", "s -= 2 * A[i]", "s = max(s, A[i])"):
            yield "reductions", (1, 1), f"s = {start}\n{_loop(step)}\nB[0] = s", ()
    for step in (
        "s += A[i]\n    t += A[i] * A[i]",
        "t += s\n    s += A[i]",
        "B[i] += A[i]\n    s += A[i]\n    t = s",
    ):
        yield "reductions", (1, 1), f"s = 0.0\nt = 0.0\n{_loop(step)}\nB[0] = s - t", ()
    yield "reductions", (1, 1), "c = 0\n" + _loop("if A[i] > 0:\n        c += 1") + "\nB[0] = c", ()
    yield "reductions", (1, 1), "s = 0.0\n" + _loop("s += A[i]\n    B[i] = s"), ()
    yield "reductions", (1, 1), "s = 1.0\n" + _loop("s *= 0.5\n    B[i] = s * A[i]"), ()
    for update in ("s += A[i, j]", "s += A[i, j] * B[j]", "s += A[j, i] * B[i]"):
        yield (
            "reductions",
            (2, 1, 1),
            (
                "for i in range(A.shape[0]):\n    s = 0.0\n"
                f"    for j in range(A.shape[1]):\n        {update}\n    C[i] = s"
            ),
            (),
        )
        yield (
            "reductions",
            (2, 1, 1),
            (
                "for i in range(A.shape[0]):\n    s = 0.0\n"
                f"    for j in range(A.shape[1]):\n        C[j] += A[i, j]\n        {update}\n"
                "    C[i] += s"
            ),
            (),
        )


def _stencils() -> Iterator[Body]:
    for low, high in ((1, 1), (2, 0), (0, 2), (2, 2)):
        for scheme in ("B[i] = {}", "A[i] = {}", "B[i] += 2 * ({})"):
            terms = [f"A[i - {k}]" for k in range(low, 0, -1)] + ["A[i]"]
            terms += [f"A[i + {k}]" for k in range(1, high + 1)]
            line = scheme.format(" + ".join(terms))
            yield "stencils", (1, 1), _loop(line, f"{low}, A.shape[0] - {high}"), ()
    for offset in (1, 2):
        yield "negative indices", (1, 1), _loop(f"B[i] = A[i - {offset}] + A[i]"), ()
        yield "negative indices", (1, 1), _loop(f"B[-{offset}] += A[i]"), ()
    yield "negative indices", (1, 1), _loop("B[i] = A[-i]"), ()
    yield "negative indices", (1, 1), _loop("B[i] = A[-1] - A[i]"), ()
    yield "negative indices", (1, 1), "k = -1\n" + _loop("B[i] = A[k] + i"), ()
    for terms in ("A[i - 1, j] + A[i + 1, j]", "A[i, j - 1] + A[i, j + 1] - 2 * A[i, j]"):
        for target in ("A[i, j]", "B[i, j]"):
            yield (
                "stencils",
                (2, 2),
                (
                    "for i in range(1, A.shape[0] - 1):\n    for j in range(1, A.shape[1] - 1):\n"
                    f"        {target} = {terms}"
                ),
                (),
            )
    yield (
        "stencils",
        (1, 1),
        (
            "for t in range(3):\n    for i in range(1, A.shape[0] - 1):\n"
            "        B[i] = A[i - 1] + A[i + 1]\n    for i in range(1, A.shape[0] - 1):\n"
            "        A[i] = B[i - 1] - B[i + 1]"
        ),
        (),
    )


def _nests() -> Iterator[Body]:
    for bounds in ("A.shape[1]", "i", "i + 1", "i, A.shape[1]", "i + 1, A.shape[1]"):
        for line in ("B[i, j] = A[j, i]", "A[i, j] += A[j, j]", "B[i, i] += A[i, j]"):
            yield (
                "triangles",
                (2, 2),
                (f"for i in range(A.shape[0]):\n    for j in range({bounds}):\n        {line}"),
                (),
            )
    for line in (
        "C[i, j] += A[i, k] * B[k, j]",
        "C[i, j] -= A[k, i] * B[j, k]",
        "C[i, k] = A[i, j]",
    ):
        for order in ("ijk", "kij", "jki"):
            loops = "".join(
                f"{'    ' * depth}for {v} in range(A.shape[0]):\n" for depth, v in enumerate(order)
            )
            yield "nests", (2, 2, 2), f"{loops}            {line}", ()
    yield (
        "nests",
        (2,),
        (
            "for k in range(A.shape[0]):\n    for i in range(k + 1, A.shape[0]):\n"
            "        for j in range(k + 1, A.shape[0]):\n            A[i, j] -= A[i, k] * A[k, j]"
        ),
        (),
    )


def _counting() -> Iterator[Body]:
    for bounds in (
        "A.shape[0] - 1, -1, -1",
        "0, A.shape[0], 2",
        "1, A.shape[0], 3",
        "A.shape[0] - 1, -1, -2",
        "A.shape[0] - 1, 0, -3",
        "A.shape[0] - 1, -1, -4",
        "0, A.shape[0] // 2",
        "A.shape[0], 0",
        "3, A.shape[0], 5",
        "0, A.shape[0], s",
    ):
        scalars = (2,) if "s" in bounds.replace("shape", "") else ()
        yield "counting", (1, 1), _loop("B[i] = A[i] + i", bounds), scalars
        if not scalars:
            yield "counting", (1,), _loop("A[i] += 1", bounds) + "\nA[0] += 2", ()
    yield "counting", (1,), _loop("A[i] += 1") + "\nA[0] = i", ()
    yield "counting", (1,), _loop("A[i] += 1\n    i = i + 2\n    A[0] += i"), ()
    yield "counting", (1,), "n = A.shape[0]\n" + _loop("A[i] += n\n    n = n - 1", "n"), ()
    yield (
        "counting",
        (1,),
        "for i in range(A.shape[0]):\n    for i in range(2):\n        A[0] += i",
        (),
    )
    for word in ("break", "continue"):
        text = f"if A[i] > 2:\n        {word}\n    B[i] = A[i]"
        yield "counting", (1, 1), _loop(text), ()
        yield (
            "counting",
            (1, 1),
            (
                "for i in range(3):\n    for j in range(A.shape[0]):\n        if A[j] > 2:\n"
                f"            {word}\n        B[j] += A[j] + i"
            ),
            (),
        )
        yield (
            "counting",
            (2, 1),
            (
                "for i in range(A.shape[0]):\n    for j in range(A.shape[0]):\n        if A[i, j] < -3:\n"
                f"            {word}\n        B[i] += A[i, j]\n    B[i] -= 1"
            ),
            (),
        )
    for kernel in ("x, y = y, x + y", "x, y = x + y, x - y", "x, y = y, x"):
        text = f"x = A[0]\ny = B[0]\nfor i in range(5):\n    {kernel}\nA[0] = x\nB[0] = y"
        yield "assignments", (1, 1), text, ()
    yield "assignments", (1,), "A[0], A[-1] = A[-1], A[0]", ()
    yield "assignments", (1, 1), _loop("A[i], B[i] = B[i], A[i]"), ()
    yield "assignments", (1,), "x = y = A[0]\nx += 1\nA[0] = x * 2 - y", ()
    yield "assignments", (1,), "n = A.shape[0]\nm = n\nn = n - 1\nA[0] = m * 10 + n", ()
    yield "assignments", (1,), "x = 1\nA[0] = x\nx = 2.5\nA[-1] = x", ()


def _whiles() -> Iterator[Body]:
    for body in (
        "i = 0\nwhile i < A.shape[0]:\n    A[i] += i\n    i += 1",
        "i = A.shape[0] - 1\nwhile i >= 0:\n    A[i] -= i\n    i -= 2",
        "i = 0\nwhile True:\n    if i >= A.shape[0]:\n        break\n    A[i] += 1\n    i += 1",
        "i = 0\nwhile i < A.shape[0]:\n    i += 1\n    if i == 3:\n        continue\n    A[i - 1] += i",
        "n = 27\nc = 0\nwhile n != 1:\n    if n % 2 == 0:\n        n = n // 2\n    else:\n"
        "        n = 3 * n + 1\n    c += 1\nA[0] = c",
        "x = 1.0\nc = 0\nwhile x > 0.01:\n    x = x / 2\n    c += 1\nA[0] = c",
        "a = 48\nb = 18\nwhile b != 0:\n    a, b = b, a % b\nA[0] = a",
        "i = 1\nwhile i < A.shape[0]:\n    x = A[i]\n    j = i - 1\n"
        "    while j >= 0 and A[j] > x:\n        A[j + 1] = A[j]\n        j -= 1\n    A[j + 1] = x\n"
        "    i += 1",
        "lo = 0\nhi = A.shape[0]\nwhile lo < hi:\n    mid = (lo + hi) // 2\n    if A[mid] < 1:\n"
        "        lo = mid + 1\n    else:\n        hi = mid\nA[0] = lo",
        "for i in range(A.shape[0]):\n    j = 0\n    while j < i:\n        A[i] += j\n        j += 1",
    ):
        yield "while", (1,), body, ()


def _scalars() -> Iterator[Body]:
    for value in (3, -2, 0.5, 2.25):
        for line in ("A[i] = s * A[i] + B[i]", "B[i] = s", "A[i] -= s * i"):
            yield "scalars", (1, 1), _loop(line), (value,)
        yield "scalars", (1,), "s = s * 2\n" + _loop("A[i] += s"), (value,)
    yield "scalars", (1,), "s = s + 1\n" + _loop("A[i] += s // 2"), (-4,)
    yield "scalars", (1,), "s = s * 0.5\n" + _loop("A[i] += s"), (3,)
    yield "scalars", (1,), _loop("if i < s:\n        A[i] = t"), (3, 1.5)
    yield "scalars", (1,), _loop("A[i] += LIMIT * i + SHARE"), ()
    yield "scalars", (1,), _loop("A[i] = square(A[i]) - square(i)"), ()
    yield "scalars", (1,), _loop("A[i] = sign(A[i]) * 2"), ()
    yield "scalars", (1,), _loop("A[i] = above(A[i])"), ()


def _results() -> Iterator[Body]:
    for text in (
        "return A[0]",
        "return A[0] + 1, A[-1]",
        "return 0.5",
        "s = 0.0\n" + _loop("s += A[i]") + "\nreturn s",
        "c = 0\n" + _loop("if A[i] > 0:\n        c += 1") + "\nreturn c",
        _loop("if A[i] < 0:\n        return A[i]") + "\nreturn 99.0",
        _loop("if A[i] < 0:\n        return i") + "\nreturn -1",
        "if A[0] > 0:\n    return 0\nreturn 0.5",
        "if A[0] > 0:\n    return 1",
        "A[0] = 1\nreturn A",
        "return A * 2",
        "return A + 1, A - 1",
        "return A[1:]",
        "B = A * 2\nA[0] = 7\nreturn B",
        "B = np.zeros(A.shape[0])\n" + _loop("B[i] = A[i] + i") + "\nreturn B",
        "B = A.copy()\nB[0] = 5\nreturn B",
        "B = A\nB[0] = 5",
        "A = A + 1\nreturn A",
        "return",
    ):
        yield "results", (1,), text, ()


def _arrays() -> Iterator[Body]:
    for expression in (
        "A + B",
        "A * B - 2",
        "A * 0.5 + B",
        "-A",
        "A / 4",
        "A / (B * B + 1)",
        "A ** 2",
        "np.abs(A)",
        "np.maximum(A, B)",
        "np.minimum(A, 1)",
        "np.exp(A * 0.25)",
        "np.sqrt(A * A + 1)",
        "np.where(A > 0, A, B)",
        "np.clip(A, -2, 2)",
        "A[::-1] + B",
        "np.flip(A) * 2",
        "A // 2",
        "A % 3",
        "A > B",
        "(A > 0) & (B > 0)",
    ):
        yield "array expressions", (1, 1), f"return {expression}", ()
        yield "array expressions", (1, 1, 1), f"C[:] = {expression}", ()
    for expression in (
        "A + B",
        "A * 0.5 - B",
        "A + B[0]",
        "A.T + B",
        "A * B[:, 0]",
        "np.abs(A - B)",
    ):
        yield "array expressions", (2, 2), f"return {expression}", ()
    for function in ("sum", "max", "min", "mean", "std"):
        yield "array reductions", (1,), f"return np.{function}(A)", ()
        for axis in (0, 1):
            yield "array reductions", (2,), f"return np.{function}(A, axis={axis})", ()
    yield "array reductions", (2,), "return A - np.mean(A, axis=0)", ()
    yield "array reductions", (2,), "return A / (np.sum(A * A) + 1)", ()
    for low, high in (("1", ""), ("", "-1"), ("1", "-1"), ("", "-2"), ("2", "")):
        yield "slices", (1, 1), f"return A[{low}:{high}] + B[{low}:{high}]", ()
        yield "slices", (1, 1), f"B[{low}:{high}] = A[{low}:{high}] * 2", ()
        yield "slices", (2, 2), f"B[{low}:{high}, :] = A[{low}:{high}, :] + 1", ()
    for text in (
        "h = A[:-1] + A[1:]\nreturn h[:-1] + h[1:]",
        "h = A[:, :-1] + A[:, 1:]\nreturn h[:-1, :] + h[1:, :]",
        "h = A[1:, 1:] * 2\nreturn h[:, :-1] - 1",
        "h = A * 2\nreturn h[:-1, :] + h[1:, :]",
    ):
        yield "slices", (2 if "," in text.split("\n")[1] else 1,), text, ()
    for text in ("A[1:-1] = A[:-2] + A[2:]", "A[1:] = A[:-1]", "A[:-1] = A[1:]", "A[::2] = 1"):
        yield "slices", (1,), text, ()
    for text in ("A[0] = A[-1]", "A[:, 0] = A[:, -1]", "A[:] = A.T", "A[0, :] = 0", "A[:, 0] += 1"):
        yield "slices", (2,), text, ()
    yield "slices", (2, 1), "A[0:2, :] = B", ()
    yield "slices", (2, 1), "A[:, :] = B", ()
    yield "slices", (2,), "for i in range(1, A.shape[0]):\n    A[i] = A[i] + A[i - 1]", ()
    yield "slices", (2,), "for i in range(A.shape[0]):\n    A[i, i:] = A[i, i:] * 2", ()
    yield "slices", (2,), "for i in range(A.shape[0]):\n    A[i, 0] = np.sum(A[i, :i])", ()


def _products() -> Iterator[Body]:
    for left in ("A", "A.T"):
        for right in ("B", "B.T"):
            yield "products", (2, 2), f"return {left} @ {right}", ()
            yield "products", (2, 2, 2), f"C[:] = {left} @ {right}", ()
    for text in (
        "C[:] = A @ B + C",
        "C += A @ B",
        "C[:] = A @ B + A",
        "C[:] = 2 * A @ B",
        "C[:] = C - A @ B",
        "h = A @ B\nC[:] = h + A",
        "h = np.maximum(A @ B, 0)\nreturn h @ C + A",
        "A[:] = A @ B",
        "return np.dot(A, B) * 2",
        "return A[1:, :] @ B",
    ):
        yield "products", (2, 2, 2), text, ()
    for text in (
        "return A @ B",
        "return B @ A",
        "B[:] = A @ B",
        "return (A @ B) @ A",
        "B += A @ B",
    ):
        yield "products", (2, 1), text, ()
    for text in ("return A @ B", "return np.dot(A, B) + 1", "s = 1.0\ns += A @ B\nreturn s"):
        yield "products", (1, 1), text, ()
    yield "products", (1, 1), "return np.outer(A, B)", ()


def _in_place() -> Iterator[Body]:
    for line in (
        "A[i] += B[i]",
        "A[i] *= 2",
        "A[i] = A[i] - A[i] * B[i]",
        "A[i] = B[A.shape[0] - 1 - i]",
        "A[i] = A[A.shape[0] - 1 - i]",
        "A[i] = A[0] + 1",
        "A[0] += A[i]",
        "A[i] = A[i // 2]",
        "B[i] = A[i]\n    A[i] = B[0]",
        "A[i] = B[i]\n    B[i] = A[i] + 1",
    ):
        yield "in place", (1, 1), _loop(line), ()
    for operator in ("+", "-", "*"):
        yield "in place", (1, 1), f"A {operator}= B", ()
    yield "in place", (1, 1), "A += B\nB += A", ()
    yield "in place", (2, 2), "A += A.T", ()
    yield "in place", (2, 2), "for i in range(A.shape[0]):\n    A[i] += B[0]", ()
