"""Statements along an axis: scans, sorting, places of extremes, products, other shapes."""

from __future__ import annotations

from loopbook.workloads.arrays.scope import Scope


def scanned(scope: Scope) -> list[str] | None:
    """Each element with those before it."""
    name = scope.any(rank=2)
    form = scope.rng.choice((
        "np.cumsum({a}, axis={k})", "np.cumprod(np.clip({a}, -1, 1), axis={k})",
        "np.maximum.accumulate({a}, axis={k})", "np.cumsum({a}[::-1], axis={k})[::-1]",
    ))  # fmt: skip
    return _of(scope, name, form)


def ordered(scope: Scope) -> list[str] | None:
    """In order, turned, or moved along an axis."""
    name = scope.any(rank=2)
    form = scope.rng.choice((
        "np.sort({a}, axis={k})", "np.take_along_axis({a}, np.argsort({a}, axis={k}), axis={k})",
        "np.roll({a}, 2, axis={k})", "np.flip({a}, axis={k})", "np.roll({a}, -1)",
        "{a}[np.argsort({a}[:, 0])]",
    ))  # fmt: skip
    return _of(scope, name, form)


WHOLE_OF_LINES = (
    "{a}.max(axis={k})", "{a}.min(axis={k})", "np.argmax({a}, axis={k}) * s",
    "(np.argmin({a}, axis={k}) + 1) * s", "np.ptp({a}, axis={k})",
    "({a} > 0).any(axis={k}) * s",
)  # fmt: skip
OF_LINES = (
    *WHOLE_OF_LINES, "{a}.prod(axis={k})", "np.median({a}, axis={k})", "{a}.std(axis={k})",
    "np.linalg.norm({a}, axis={k})",
)  # fmt: skip


def line_extremes(scope: Scope) -> list[str] | None:
    """One number of each line."""
    return _of_lines(scope, OF_LINES)


def whole_extremes(scope: Scope) -> list[str] | None:
    """One number of each line, which is whole if its elements are."""
    return _of_lines(scope, WHOLE_OF_LINES)


def scaled_lines(scope: Scope) -> list[str] | None:
    """Lines made less by what one reduction gives of each."""
    name = scope.any(rank=2)
    form = scope.rng.choice((
        "{a} - {a}.max(axis={k}, keepdims=True)", "{a} + abs({a}.min(axis={k}, keepdims=True))",
        "{a} - {a}.min()", "{a} * ({a}.max() - {a})",
    ))  # fmt: skip
    return _of(scope, name, form)


def lettered(scope: Scope) -> list[str] | None:
    """Products as Einstein writes them."""
    left = scope.any(rank=2)
    rows, columns = scope.names[left]
    right, line = scope.pick((columns, "n"), (columns, "m")), scope.pick((columns,))
    forms = [
        ("np.einsum('ij->ji', {a})", (columns, rows)),
        ("np.einsum('ij,ij->i', {a}, {a})", (rows,)),
    ]
    if right is not None:
        shape = (rows, scope.names[right][1])
        forms += [
            ("np.einsum('ij,jk->ik', {a}, {b})", shape),
            ("np.tensordot({a}, {b}, axes=1)", shape),
        ]
    if line is not None:
        forms += [
            ("np.einsum('ij,j->i', {a}, {c})", (rows,)),
            ("np.einsum('ij,j->ij', {a}, {c})", (rows, columns)),
        ]
    form, shape = scope.rng.choice(forms)
    return [f"{scope.new(shape)} = {form.format(a=left, b=right, c=line)}"]


def padded(scope: Scope) -> list[str] | None:
    """Laid out otherwise, and back."""
    if scope.rng.random() < 0.5:
        name = scope.any(rank=1)
        form = scope.rng.choice((
            "np.pad({a}, 1)[2:]", "np.pad({a}, (1, 0), mode='edge')[:-1]", "np.repeat({a}, 2)[::2]",
            "np.tile({a}, 2)[: {a}.shape[0]]", "np.stack(({a}, {a} * 2)).sum(axis=0)",
            "np.convolve({a}, np.ones(3, {a}.dtype))[1:-1]", "np.hstack(({a}, {a}))[1::2]",
            "np.diff({a}, axis=0)[np.arange({a}.shape[0]) // 2]",
        ))  # fmt: skip
    else:
        name = scope.any(rank=2)
        form = scope.rng.choice((
            "np.pad({a}, 1)[2:, 1:-1]", "np.pad({a}, 1, mode='edge')[:-2, 2:]", "np.triu({a})",
            "{a}.reshape(-1)[::-1].reshape({a}.shape)", "np.tril({a}, -1) + 1",
            "np.vstack(({a}, {a}))[::2]", "np.repeat({a}, 2, axis=1)[:, 1::2]",
            "np.concatenate(({a}[:, 1:], {a}[:, :1]), axis=1)",
        ))  # fmt: skip
    return _of(scope, name, form)


def binned(scope: Scope) -> list[str] | None:
    """How many elements fall into each of some bins."""
    name = scope.any()
    return [f"{scope.new(('3',))} = np.histogram({name}, bins=3, range=(-2.7, 3.1))[0] * s"]


def meshed(scope: Scope) -> list[str] | None:
    """All pairs of two lines' elements."""
    first, second = scope.any(rank=1), scope.any(rank=1)
    shape = (*scope.names[second], *scope.names[first])
    left, right = scope.new(shape), scope.new(shape)
    return [f"{left}, {right} = np.meshgrid({first}, {second})"]


def scattered(scope: Scope) -> list[str] | None:
    """Stores at places that are computed."""
    name = scope.rng.choice(("x", "y"))
    form = scope.rng.choice((
        "np.add.at({a}, np.arange({a}.shape[0]) // 2, 1)", "{a}[np.argsort({a})] = {a}.copy()",
        "{a}[np.arange({a}.shape[0]) // 2] += 1", "{a}[np.argmax({a})] = 0",
        "{a}[np.arange(0, {a}.shape[0], 2)] *= 2", "{a}.sort()",
    ))  # fmt: skip
    return [form.format(a=name)]


def squared(scope: Scope) -> list[str] | None:
    """Stores into parts of an array with two axes that read other parts of it."""
    name = scope.any(rank=2)
    form = scope.rng.choice((
        "{a}[1:] = {a}[:-1]", "{a}[:, 1:] -= {a}[:, :-1]", "{a}[::2] *= 2",
        "{a}[:, -1] = {a}[:, 0]",
        "C[:] = C.T", "C += C.T", "np.fill_diagonal(C, s)", "{a}[0] += {a}[-1]", "A[:, 0] = x",
        "{a}[::-1] = {a} * 2", "x[:] = A[:, 0] - x", "C[0], C[-1] = C[-1].copy(), C[0].copy()",
    ))  # fmt: skip
    return [form.format(a=name)]


def complex_parts(scope: Scope) -> list[str] | None:
    """Numbers of what two arrays make as complex ones."""
    name = scope.any()
    other = scope.pick(scope.names[name])
    form = scope.rng.choice((
        "np.abs({a} + 1j * {b})", "(({a} + 1j * {b}) * ({a} - 2j)).imag",
        "(np.conj({a} - 1j * {b}) * 1j).real", "np.exp(1j * {a}).real * {b}",
    ))  # fmt: skip
    return [f"{scope.new(scope.names[name])} = {form.format(a=name, b=other)}"]


def _of_lines(scope: Scope, forms: tuple[str, ...]) -> list[str]:
    """A new array with one element for each row or column of another."""
    name, axis, form = scope.any(rank=2), scope.rng.choice((0, 1)), scope.rng.choice(forms)
    shape = (scope.names[name][1 - axis],)
    return [f"{scope.new(shape)} = {form.format(a=name, k=axis)}"]


def _of(scope: Scope, name: str, form: str) -> list[str]:
    """A new array of the shape of another."""
    text = form.format(a=name, k=scope.rng.choice((0, 1)))
    return [f"{scope.new(scope.names[name])} = {text}"]


WHOLE = (
    scanned, ordered, whole_extremes, scaled_lines, lettered, padded, binned, meshed, scattered,
    squared, squared,
)  # fmt: skip
ALL = (
    scanned, ordered, line_extremes, scaled_lines, lettered, padded, binned, meshed, scattered,
    squared, squared, complex_parts,
)  # fmt: skip
