"""Chains of operations on whole arrays, with broadcasting."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

from loopbook.workloads.synthetic.family import Choice, Family, orders
from loopbook.workloads.synthetic.program import Code, Program, element, extent

BINARY = {"a": "{0} + {1}", "s": "{0} - {1}", "m": "{0} * {1}", "d": "{0} / {1}"}
UNARY = {
    "q": "np.sqrt(np.abs({0}))",
    "e": "np.exp(-{0})",
    "b": "np.abs({0})",
    "t": "np.tanh({0})",
    "c": "0.5 * {0}",
    "p": "{0} + 0.25",
}
NAMES = "ABDE"


def _chains() -> tuple[str, ...]:
    """One letter for each operation: up to three arrays are combined, with functions in between."""
    short = [*UNARY, *BINARY]
    two = ["".join(pair) for pair in product(BINARY, UNARY)]
    more = ["".join(each) for each in product(BINARY, UNARY, BINARY)]
    long = ["".join(each) for each in product(BINARY, repeat=3)]
    return (*short, *two, *more, *long)


def _ranks(choice: Choice) -> tuple[str, ...]:
    """Which axes each array has; the first one has all."""
    indices = "ijk"[: int(choice["dims"])]
    count = 1 + sum(letter in BINARY for letter in choice["chain"])
    parts = ["".join(c) for n in range(1, len(indices) + 1) for c in combinations(indices, n)]
    # All axes are as likely as fewer ones.
    likely = parts + [indices] * (len(parts) - 1)
    return tuple("_".join((indices, *rest)) for rest in product(likely, repeat=count - 1))


def value(chain: str, terms: Sequence[str]) -> str:
    """Source text of the chain over these operands."""
    rest = list(terms)
    done = rest.pop(0)
    for letter in chain:
        if letter in BINARY:
            done = f"({BINARY[letter].format(done, rest.pop(0))})"
        else:
            done = f"({UNARY[letter].format(done)})"
    return done


def write(choice: Choice) -> Program:
    indices = "ijk"[: int(choice["dims"])]
    axes = choice["ranks"].split("_")
    names = NAMES[: len(axes)]
    arrays: dict[str, Sequence[str]] = dict(zip(names, axes, strict=True))
    result = "A" if choice["target"] == "own" else "C"
    arrays[result] = indices
    target = element(result, indices)
    chain = value(choice["chain"], [element(name, arrays[name]) for name in names])
    whole = value(choice["chain"], [_broadcast(name, arrays[name], indices) for name in names])
    if choice["target"] == "added":
        chain, whole = f"{target} + {chain}", f"C + {whole}"
    code = Code()
    for index in choice["order"]:
        code.loop(index, extent(index, arrays))
    if choice["text"] == "steps":
        code.add(f"step = {chain}")
        code.add(f"{target} = step")
    else:
        code.add(f"{target} = {chain}")
    heavy = sum(letter in "qetd" for letter in choice["chain"])
    return Program(
        arrays=arrays,
        body=code.lines,
        loops=indices,
        cost=1.0 + 4.0 * heavy,
        reference=[f"{result}[...] = {whole}"],
    )


def _broadcast(name: str, axes: Sequence[str], indices: str) -> str:
    if list(axes) == list(indices):
        return name
    return f"{name}[{', '.join(':' if index in axes else 'None' for index in indices)}]"


FAMILY = Family(
    name="elementwise",
    about="a chain of element-wise operations",
    work={
        "dims": ("1", "2", "2", "3"),
        "chain": _chains(),
        "ranks": _ranks,
        "target": ("other", "other", "own", "added"),
    },
    writing={
        "order": lambda choice: orders("ijk"[: int(choice["dims"])]),
        "text": ("line", "steps"),
    },
    write=write,
)
