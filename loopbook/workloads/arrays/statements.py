"""The statements that generated programs are made of; each returns its lines, or None if what is
at hand does not serve."""

from __future__ import annotations

from collections.abc import Callable

from loopbook.workloads.arrays.scope import Scope

Statement = Callable[[Scope], "list[str] | None"]


def arithmetic(scope: Scope) -> list[str] | None:
    name = scope.any()
    if name is None:
        return None
    shape = scope.names[name]
    first, second = scope.same(shape), scope.same(shape)
    form = scope.rng.choice(
        (
            "{a} + {b} * {c}",
            "({a} - {b}) * {c}",
            "{a} * {a} - {b}",
            "-{a} + {c}",
            "{a} + 2 * {b} - {c}",
        )
    )
    return [f"{scope.new(shape)} = {form.format(a=name, b=first, c=second)}"]


def extremes(scope: Scope) -> list[str] | None:
    name = scope.any()
    shape = scope.names[name]
    form = scope.rng.choice(("np.maximum({a}, {b})", "np.minimum({a}, 0)", "np.clip({a}, -1, 1)",
                             "np.where({a} > {b}, {a}, {b})", "abs({a})"))  # fmt: skip
    other = scope.same(shape)
    return [f"{scope.new(shape)} = {form.format(a=name, b=other)}"]


def maths(scope: Scope) -> list[str] | None:
    name = scope.any()
    form = scope.rng.choice(("np.exp(-abs({a}))", "np.tanh({a})", "np.sqrt({a} * {a} + 1)",
                             "np.sin({a}) + np.cos({a})", "1 / (1 + {a} ** 2)"))  # fmt: skip
    return [f"{scope.new(scope.names[name])} = {form.format(a=name)}"]


def product(scope: Scope) -> list[str] | None:
    left = scope.any(rank=2)
    rows, columns = scope.names[left]
    right = scope.pick((columns, "n"), (columns, "m"), (columns,))
    if right is None:
        return None
    shape = (rows, *scope.names[right][1:])
    factor = scope.rng.choice(("", "s * "))
    return [f"{scope.new(shape)} = {factor}{left} @ {right}"]


def turned_product(scope: Scope) -> list[str] | None:
    left = scope.any(rank=2)
    rows, columns = scope.names[left]
    right = scope.pick(("n", columns), ("m", columns))
    if right is None:
        return None
    return [f"{scope.new((rows, scope.names[right][0]))} = {left} @ {right}.T"]


def added_product(scope: Scope) -> list[str] | None:
    return ["C[:] = s * A @ B + 2 * C"] if scope.rng.random() < 0.5 else ["x += A @ y"]


def outer(scope: Scope) -> list[str] | None:
    first, second = scope.any(rank=1), scope.any(rank=1)
    shape = (*scope.names[first], *scope.names[second])
    form = scope.rng.choice(("np.outer({a}, {b})", "np.add.outer({a}, {b})", "{a}[:, None] * {b}"))
    return [f"{scope.new(shape)} = {form.format(a=first, b=second)}"]


def reduction(scope: Scope) -> list[str] | None:
    name = scope.any(rank=2)
    axis = scope.rng.choice((0, 1))
    form = scope.rng.choice(("np.sum({a}, axis={k})", "{a}.sum(axis={k})"))
    shape = (scope.names[name][1 - axis],)
    return [f"{scope.new(shape)} = {form.format(a=name, k=axis)}"]


def total(scope: Scope) -> list[str] | None:
    name = scope.any()
    return [f"{scope.new(())} = {name}.sum()"]


def normalised(scope: Scope) -> list[str] | None:
    name = scope.any(rank=2)
    shape = scope.names[name]
    return [
        f"{scope.new(shape)} = {name} - {name}.mean(axis={scope.rng.choice((0, 1))}, keepdims=True)"
    ]


def stencil(scope: Scope) -> list[str] | None:
    name = scope.any(rank=1)
    result = scope.new(scope.names[name])
    return [
        f"{result} = np.zeros_like({name})",
        f"{result}[1:-1] = {name}[:-2] + {name}[1:-1] * 2 + {name}[2:]",
    ]


def stencil2(scope: Scope) -> list[str] | None:
    name = scope.any(rank=2)
    result = scope.new(scope.names[name])
    return [
        f"{result} = {name}.copy()",
        f"{result}[1:-1, 1:-1] = {name}[:-2, 1:-1] + {name}[2:, 1:-1] - {name}[1:-1, :-2]",
    ]


def in_place(scope: Scope) -> list[str] | None:
    name = scope.rng.choice(("x", "y"))
    form = scope.rng.choice((
        "{a}[1:] = {a}[:-1]", "{a}[::-1] += {a}", "{a}[1:] += {a}[:-1] * s", "{a}[::2] = 1",
        "{a} *= 2", "{a}[:-1] -= {a}[1:]", "{a}[-1:] = 0",
    ))  # fmt: skip
    return [form.format(a=name)]


def masked(scope: Scope) -> list[str] | None:
    name = scope.rng.choice(("A", "B", "x", "y"))
    form = scope.rng.choice(("{a}[{a} > 0] = 1", "{a}[{a} < 0] *= 2", "{a}[{a} > s] = s"))
    return [form.format(a=name)]


def joined(scope: Scope) -> list[str] | None:
    name = scope.any(rank=1)
    form = scope.rng.choice((
        "np.concatenate(({a}[1:], {a}[:1]))", "np.roll({a}, 1)", "np.flip({a})", "{a}[::-1] * 2",
    ))  # fmt: skip
    return [f"{scope.new(scope.names[name])} = {form.format(a=name)}"]


def turned(scope: Scope) -> list[str] | None:
    name = scope.any(rank=2)
    shape = scope.names[name][::-1]
    form = scope.rng.choice(("{a}.T + 1", "np.transpose({a}).copy()", "{a}.T[::-1] * 2"))
    return [f"{scope.new(shape)} = {form.format(a=name)}"]


def scan(scope: Scope) -> list[str] | None:
    name = scope.any(rank=1)
    return [f"{scope.new(scope.names[name])} = np.cumsum({name})"]


def swept(scope: Scope) -> list[str] | None:
    first = scope.rng.choice((
        ("for i in range(1, x.shape[0]):", "    x[i] = x[i - 1] * s + x[i]"),
        ("for i in range(A.shape[0]):", "    A[i, :] += x[i]"),
        ("for j in range(C.shape[0]):", "    C[j, :j] = C[j, :j] - x[:j]"),
        ("for k in range(2):", "    x[1:-1] = x[:-2] + x[2:]"),
    ))  # fmt: skip
    return list(first)


def gathered(scope: Scope) -> list[str] | None:
    name = scope.any(rank=1)
    result = scope.new(scope.names[name])
    return [f"{result} = {name}[np.arange({name}.shape[0] - 1, -1, -1)]"]


def divided(scope: Scope) -> list[str] | None:
    name = scope.any()
    symbol = scope.rng.choice(("//", "%"))
    return [f"{scope.new(scope.names[name])} = {name} {symbol} {scope.rng.choice((2, 3, 5))}"]


def bits(scope: Scope) -> list[str] | None:
    name = scope.any()
    form = scope.rng.choice(("{a} >> 1", "{a} & 6", "({a} | 1) ^ 2", "~{a}"))
    return [f"{scope.new(scope.names[name])} = {form.format(a=name)}"]


ALL: tuple[Statement, ...] = (
    arithmetic, arithmetic, extremes, maths, product, turned_product, added_product, outer,
    reduction, total, normalised, stencil, stencil2, in_place, in_place, masked, joined, turned,
    scan, swept, gathered,
)  # fmt: skip
WHOLE: tuple[Statement, ...] = (
    arithmetic, extremes, product, turned_product, reduction, total, stencil, stencil2, in_place,
    masked, joined, turned, scan, swept, gathered, divided, bits, outer,
)  # fmt: skip
