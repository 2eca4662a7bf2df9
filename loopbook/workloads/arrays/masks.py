"""Statements with masks, which outlive what they were made of and serve more than one store."""

from __future__ import annotations

from loopbook.workloads.arrays.scope import Scope


def mask(scope: Scope) -> list[str] | None:
    """A mask under a name, which later statements may use or make others of."""
    name = scope.any()
    shape = scope.names[name]
    other, old = scope.same(shape), scope.mask(shape)
    form = scope.rng.choice((
        "{a} > {b}", "{a} != 0", "({a} > 0) & ({a} < {b})", "({a} < {b}) | ({a} > s)",
        "~({a} > 0)", "{m} ^ ({a} > {b})", "{m} & ({a} < 2)", "np.logical_not({m})",
    ))  # fmt: skip
    return [f"{scope.new_mask(shape)} = {form.format(a=name, b=other, m=old)}"]


def masked_store(scope: Scope) -> list[str] | None:
    """A store into some elements, by a mask that may have a name."""
    name = scope.any()
    shape = scope.names[name]
    other = scope.pick(shape)
    form = scope.rng.choice((
        "{a}[{m}] = 0", "{a}[~{m}] -= 1", "{a}[{m}] *= 2", "{a}[{m}] = {b}[{m}]", "{a}[{m}] = s",
        "{a}[~{m}] = {b}[~{m}] * 2", "{a}[{m}] += {b}[{m}]", "{a}[{m} & ({a} > 0)] = 3",
        "{a}[{b} < 0] = 1", "{a}[{a} > 0] = {b}[{a} > 0]", "np.putmask({a}, {m}, {b})",
        "np.copyto({a}, {b}, where={m})", "{a}[{m}] = np.maximum({a}[{m}], {b}[{m}])",
    ))  # fmt: skip
    return [form.format(a=name, b=other, m=scope.mask(shape))]


def twice_masked(scope: Scope) -> list[str] | None:
    """One array stored into by a mask and by what the mask leaves out, or changed as a whole."""
    name = scope.any()
    shape = scope.names[name]
    made, other = scope.new_mask(shape), scope.same(shape)
    first = scope.rng.choice(("{a}[{m}] = 0", "{a}[{m}] *= 2", "{a}[{m}] = s", "{a}[{m}] += 1"))
    second = scope.rng.choice((
        "{a}[~{m}] -= 1", "{a} *= 2", "{a}[{m}] += 1", "{a}[~{m}] = 2", "{a} += {b}",
        "{a}[{a} < 0] *= 2",
    ))  # fmt: skip
    lines = [f"{{m}} = {{a}} {scope.rng.choice('<>')} {scope.rng.choice('01s')}", first, second]
    return [line.format(a=name, m=made, b=other) for line in lines]


def masked_rows(scope: Scope) -> list[str] | None:
    """Whole rows or columns by a mask."""
    name = scope.any(rank=2)
    rows, columns = scope.names[name]
    form = scope.rng.choice((
        "{a}[{r}] = 0", "{a}[{r}] *= 2", "{a}[:, {c}] -= 1", "{a}[{r}, 0] = 1",
        "{a}[~{r}] = {a}[~{r}] * 2", "{a}[np.outer({r}, {c})] = s",
    ))  # fmt: skip
    return [form.format(a=name, r=scope.mask((rows,)), c=scope.mask((columns,)))]


def choice(scope: Scope) -> list[str] | None:
    """One of several values, element by element."""
    name = scope.any()
    shape = scope.names[name]
    form = scope.rng.choice((
        "np.where({m}, {a}, {b})", "np.where({a} > 0, np.where({b} > 0, {a}, 1), {c})",
        "np.where({m}, np.where({a} < s, {b}, {a}), {c})", "np.where(~{m}, 0, {a})",
        "np.select([{m}, {a} > 0], [{a}, {a} * 2], 1)", "{m} * {a} + ~{m} * {b}",
    ))  # fmt: skip
    text = form.format(a=name, b=scope.same(shape), c=scope.same(shape), m=scope.mask(shape))
    return [f"{scope.new(shape)} = {text}"]


def counted(scope: Scope) -> list[str] | None:
    """How many elements a mask lets through, or their sum."""
    name = scope.any()
    shape = scope.names[name]
    made = scope.mask(shape)
    if len(shape) == 2 and scope.rng.random() < 0.4:
        axis = scope.rng.choice((0, 1))
        return [f"{scope.new(shape[1 - axis : 2 - axis])} = ({made}).sum(axis={axis}) * s"]
    form = scope.rng.choice(("np.count_nonzero({m})", "({m}).sum()", "{a}[{m}].sum()"))
    return [f"{scope.new(())} = {form.format(a=name, m=made)}"]


def changed(scope: Scope) -> list[str] | None:
    """A whole array changed, or its name given to another one."""
    name = scope.any()
    shape = scope.names[name]
    form = scope.rng.choice((
        "{a} *= 2", "{a} += {b}", "{a} -= {b}", "{a}[...] = {b}", "{a} = {a} - {b}",
        "{a} = np.clip({a}, -1, 1)", "{a}[:] = np.maximum({a}, {b})", "{a} = {a} + {a}[::-1]",
        "{a} = np.where({m}, {a}, {b})",
    ))  # fmt: skip
    return [form.format(a=name, b=scope.same(shape), m=scope.mask(shape))]


ALL = (
    mask, mask, masked_store, masked_store, masked_store, twice_masked, twice_masked, masked_rows,
    choice, counted, changed, changed,
)  # fmt: skip
