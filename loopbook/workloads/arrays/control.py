"""Statements that run on a condition, some times, or end the function; and second names."""

from __future__ import annotations

from loopbook.workloads.arrays.scope import Scope


def branched(scope: Scope) -> list[str] | None:
    """One of two statements."""
    name, judged = scope.any(), scope.any()
    test = scope.rng.choice(
        ("{c}.sum() > 0", "s > 1", "{c}.max() > {c}.shape[0]", "{a}.shape[0] > 7")
    )
    first, second = scope.rng.sample(
        ("{a} *= 2", "{a}[...] = 1", "{a}[{a} > 0] = 0", "{a} = {a} + 1", "{a} = np.sign({a})"), 2
    )  # fmt: skip
    lines = [f"if {test}:", f"    {first}"]
    if scope.rng.random() < 0.6:
        lines += ["else:", f"    {second}"]
    return [line.format(a=name, c=judged) for line in lines]


def returned(scope: Scope) -> list[str] | None:
    """A return before the end, of what has the shape of the other results."""
    name, judged = scope.pick(*scope.returned), scope.pick()
    assert name is not None
    scope.returned = [scope.names[name]]
    test = scope.rng.choice((f"{judged}.sum() > 50", f"{judged}.shape[0] == 1", "s > 5"))
    return [f"if {test}:", f"    return {name}"]


def repeated(scope: Scope) -> list[str] | None:
    """A ``while`` loop over statements."""
    name = scope.any()
    count = scope.new_count()
    body = scope.rng.choice(
        ("{a} += {k}", "{a}[{a} > {k}] -= 1", "{a} = {a} * 2 - {k}", "{a}[{k}:] *= 2")
    )
    head = scope.rng.choice((f"while {count} < 3:", f"while {count} < 4 and s < 5:"))
    return [f"{count} = 0", head, f"    {body.format(a=name, k=count)}", f"    {count} += 1"]


def walked(scope: Scope) -> list[str] | None:
    """Loops with choices, skipped and ended iterations in them."""
    form = scope.rng.choice((
        ("for i in range(A.shape[0]):", "    if x[i] > 0:", "        A[i, :] *= 2"),
        ("for i in range(C.shape[0]):", "    for j in range(i):", "        C[i, j] = C[j, i]"),
        ("for i in range(x.shape[0]):", "    if x[i] < 0:", "        continue", "    x[i] -= 1"),
        ("for i in range(y.shape[0]):", "    if y[i] > 1:", "        break", "    y[i] += 2"),
        ("for i in range(A.shape[0]):", "    A[i, A[i] < 0] = x[i]"),
        ("for i in range(1, A.shape[0]):", "    A[i] = np.maximum(A[i], A[i - 1]) - y"),
        ("for i in range(x.shape[0] - 1, 0, -1):", "    x[i] -= x[i - 1]", "    C[i, i] = x[i]"),
        ("for i in range(A.shape[0]):", "    k = np.argmax(A[i])", "    A[i, k] = 0"),
    ))  # fmt: skip
    return list(form)


def viewed(scope: Scope) -> list[str] | None:
    """A second name for an array, or for a part of it, and a store through one of the two."""
    name = scope.any(rank=2)
    shape = scope.names[name]
    form, made = scope.rng.choice((
        ("{a}.T", shape[::-1]), ("{a}[::-1]", shape), ("{a}", shape), ("{a}[:, 0]", shape[:1]),
        ("{a}[0]", shape[1:]),
    ))  # fmt: skip
    view = scope.new(made)
    store = scope.rng.choice(
        ("{v} *= 2", "{a} += 1", "{v}[{v} < 0] = 0", "{a}[1:] = {a}[:-1]", "{v}[0] = 1")
    )
    kept = scope.new(made)
    lines = ["{v} = " + form, store, f"{kept} = {{v}} + 1"]
    return [line.format(a=name, v=view) for line in lines]


ALL = (branched, returned, repeated, walked, walked, viewed)
