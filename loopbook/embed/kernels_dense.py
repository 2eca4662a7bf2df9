"""Synthetic kernels whose loops may run in any order: products, reductions, element-wise work."""

from __future__ import annotations

import random
from collections.abc import Sequence

from loopbook.embed.kernel_text import (
    LOOPS,
    Kernel,
    Text,
    Writer,
    add_to,
    element,
    extent,
    finish,
    shuffled,
)

_CONTRACTIONS = (
    (("ik", "kj"), "ij"),
    (("ik", "kj"), "ij"),
    (("ik", "kj"), "ij"),
    (("ik", "k"), "i"),
    (("i", "j"), "ij"),
    (("bik", "bkj"), "bij"),
    (("bik", "kj"), "bij"),
    (("bik", "bk"), "bi"),
    (("ikl", "klj"), "ij"),
    (("ikl", "kj", "lj"), "ij"),
    (("ik", "kj", "k"), "ij"),
    (("ij", "i", "j"), "ij"),
    (("kij", "k"), "ij"),
    (("ijk", "ijk"), "i"),
)


def contraction(rng: random.Random) -> Writer:
    """Sums of products of two or three arrays in any layout."""
    operands, output = rng.choice(_CONTRACTIONS)
    layouts = tuple("".join(shuffled(o, rng)) for o in operands)
    style = rng.choice(("update", "update", "clear", "scalar", "beta"))
    family = f"contraction {','.join(operands)}->{output}"
    label = f"contraction {','.join(layouts)}->{output} {style}"
    names = ("A", "B", "D")[: len(operands)]
    arrays: dict[str, Sequence[str]] = {**dict(zip(names, layouts, strict=True)), "C": output}
    reduced = sorted({i for o in operands for i in o} - set(output))

    def write(rng: random.Random) -> Kernel:
        scaled = style == "beta" or (style == "update" and rng.random() < 0.4)
        text = Text([*shuffled(list(arrays), rng), *(["alpha"] if scaled else [])])
        factors = [element(n, arrays[n]) for n in shuffled(names, rng)]
        if scaled:
            factors.insert(0, "alpha")
        product, target = " * ".join(factors), element("C", output)
        outer = shuffled(output, rng)
        if style == "update":
            for index in shuffled([*output, *reduced], rng):
                text.loop(index, extent(index, arrays, rng))
            add_to(text, target, product, rng)
            return finish(family, label, text, arrays, rng)
        for index in outer:
            text.loop(index, extent(index, arrays, rng))
        if style == "beta":
            text.add(f"{target} *= alpha")
        elif style == "clear" or not reduced:
            text.add(f"{target} = 0.0")
        else:
            text.add("total = 0.0")
            target = "total"
        depth = text.depth
        for index in shuffled(reduced, rng):
            text.loop(index, extent(index, arrays, rng))
        add_to(text, target, product, rng)
        text.depth = depth
        if target == "total":
            text.add(f"{element('C', output)} = total")
        return finish(family, label, text, arrays, rng)

    return write


_REDUCED_VALUES = {
    "sum": "{}",
    "squares": "{0} * {0}",
    "scaled": "{} * 0.5",
    "root": "np.sqrt({})",
    "difference": "{} - 1.0",
}


def reduction(rng: random.Random) -> Writer:
    """Sums along some axes of an array."""
    dimensions = rng.choice((1, 2, 2, 3, 3))
    indices = LOOPS[:dimensions]
    kept = sorted(rng.sample(indices, rng.randrange(1 if dimensions > 1 else 0, dimensions)))
    value = rng.choice(list(_REDUCED_VALUES))
    style = rng.choice(("update", "clear", "mean"))
    layout = shuffled(indices, rng)
    family = f"reduction {dimensions}d to {len(kept)}d"
    label = f"{family} {''.join(layout)}->{''.join(kept)} {value} {style}"

    def write(rng: random.Random) -> Kernel:
        arrays: dict[str, Sequence[str]] = {"A": layout, "s": kept or ("m",)}
        text = Text(shuffled(["A", "s"], rng))
        target = element("s", kept or ("0",))
        inner = [i for i in indices if i not in kept]
        order = shuffled(kept, rng)
        if style == "update":
            order = shuffled(indices, rng)
            inner = []
        for index in order:
            text.loop(index, extent(index, arrays, rng))
        depth = text.depth
        if style != "update":
            text.add(f"{target} = 0.0")
        for index in shuffled(inner, rng):
            text.loop(index, extent(index, arrays, rng))
        add_to(text, target, _REDUCED_VALUES[value].format(element("A", layout)), rng)
        if style == "mean":
            text.depth = depth
            text.add(rng.choice((f"{target} = {target} / 9.0", f"{target} /= 9.0")))
        return finish(family, label, text, arrays, rng)

    return write


def elementwise(rng: random.Random) -> Writer:
    """One statement over all elements, with broadcasting."""
    dimensions = rng.choice((1, 2, 2, 3))
    indices = LOOPS[:dimensions]
    count = rng.choice((1, 2, 2, 3))
    inputs: dict[str, Sequence[str]] = {}
    for name in ("A", "B", "D")[:count]:
        whole = name == "A" or rng.random() < 0.6
        rank = dimensions if whole else rng.randrange(1, dimensions + 1)
        inputs[name] = sorted(rng.sample(indices, rank))
    chain = [rng.choice(("+", "*", "-", "/")) for _ in range(count - 1)]
    function = rng.choice(("", "", "np.sqrt", "np.exp", "np.abs"))
    target = rng.choice(("C", "C", "A"))
    updated = target == "C" and rng.random() < 0.3
    family = f"elementwise {dimensions}d"
    parts = [f"{name}{''.join(i)}" for name, i in inputs.items()]
    label = f"{family} {' '.join([*parts, *chain])} {function} {target} {updated}"

    def write(rng: random.Random) -> Kernel:
        arrays: dict[str, Sequence[str]] = {**inputs, target: indices}
        text = Text(shuffled(list(arrays), rng))
        for index in shuffled(indices, rng):
            text.loop(index, extent(index, arrays, rng))
        terms = [element(name, i) for name, i in inputs.items()]
        value = terms[0]
        for operator, term in zip(chain, terms[1:], strict=True):
            pair = [value, term]
            if operator in "+*":
                rng.shuffle(pair)
            value = f"({pair[0]} {operator} {pair[1]})"
        if function:
            value = f"{function}({value})"
        if value == element(target, indices):
            value += " * 1.5"
        if updated:
            add_to(text, element(target, indices), value, rng)
        else:
            text.add(f"{element(target, indices)} = {value}")
        return finish(family, label, text, arrays, rng)

    return write


def transpose(rng: random.Random) -> Writer:
    """Copies between layouts."""
    dimensions = rng.choice((2, 3, 3, 4))
    indices = ("i", "j", "k", "l")[:dimensions]
    layout = shuffled(indices, rng)
    kind = rng.choice(("copy", "add", "scale"))
    family = f"transpose {dimensions}d"
    label = f"{family} {''.join(layout)} {kind}"

    def write(rng: random.Random) -> Kernel:
        arrays: dict[str, Sequence[str]] = {"A": layout, "C": indices}
        text = Text(shuffled(["A", "C"], rng))
        for index in shuffled(indices, rng):
            text.loop(index, extent(index, arrays, rng))
        source, target = element("A", layout), element("C", indices)
        if kind == "add":
            add_to(text, target, source, rng)
        else:
            text.add(f"{target} = {source}" + (" * 2.0" if kind == "scale" else ""))
        return finish(family, label, text, arrays, rng)

    return write
