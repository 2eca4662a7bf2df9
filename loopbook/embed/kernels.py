"""Synthetic kernels to train on, written as Python functions.

Each `Kernel` belongs to a *class*: kernels of one class do the same work with the same memory
layouts, and differ by loop order, the order of operands and statements, element type and way of
writing it. Classes with related work form a *family*. Loop variables and arrays have the same names
throughout a family where they play the same part, which is how training knows what corresponds.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

_SIZES = {"b": 7, "i": 11, "j": 13, "k": 17, "l": 19, "m": 5}
_LOOPS_3D = ("i", "j", "k")


@dataclass(frozen=True)
class Kernel:
    """One function to trace.

    Attributes:
        family: what kind of work, such as "contraction ik,kj->ij".
        label: the class within the family.
        source: text of a Python function called ``kernel``.
        arguments: shape of each argument, ``()`` for a scalar, in order.
        dtype: element type of all arguments, "float64" or "float32".
    """

    family: str
    label: str
    source: str
    arguments: tuple[tuple[int, ...], ...]
    dtype: str = "float64"


def kernels(seed: int, classes: int, variants: int) -> Iterator[Kernel]:
    """About `classes` classes with up to `variants` different kernels each.

    The families take turns, so that a small number of classes has all of them.
    """
    rng = random.Random(seed)
    turns = itertools.cycle(_FAMILIES)
    done: dict[str, set[str]] = {}
    for _ in range(20 * classes):
        if len(done) >= classes:
            return
        write = next(turns)(rng)
        label = write(random.Random(0)).label
        if label in done:
            continue
        done[label] = set()
        for _ in range(2 * variants):
            kernel = write(rng)
            if kernel.source not in done[label] and len(done[label]) < variants:
                done[label].add(kernel.source)
                yield kernel


Writer = Callable[[random.Random], Kernel]
"""Writes one class in one of its variants."""


@dataclass
class _Text:
    """A function under construction."""

    parameters: list[str]
    lines: list[str] = field(default_factory=list)
    depth: int = 1

    def add(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def loop(self, variable: str, bounds: str) -> None:
        self.add(f"for {variable} in range({bounds}):")
        self.depth += 1

    def __str__(self) -> str:
        head = f"def kernel({', '.join(self.parameters)}):"
        return "\n".join([head, *self.lines]) + "\n"


def _element(array: str, indices: Sequence[str]) -> str:
    return f"{array}[{', '.join(indices)}]"


def _extent(index: str, arrays: dict[str, Sequence[str]], rng: random.Random) -> str:
    """Source text for the extent of `index`, from any array that has it."""
    places = [
        f"{array}.shape[{axis}]"
        for array, indices in arrays.items()
        for axis, other in enumerate(indices)
        if other == index
    ]
    return rng.choice(places)


def _shuffled(items: Sequence[str], rng: random.Random) -> list[str]:
    mixed = list(items)
    rng.shuffle(mixed)
    return mixed


def _finish(
    family: str,
    label: str,
    text: _Text,
    arrays: dict[str, Sequence[str]],
    rng: random.Random,
) -> Kernel:
    sizes = {index: _SIZES[index] for indices in arrays.values() for index in indices}
    if rng.random() < 0.3:
        sizes = dict.fromkeys(sizes, 11)
    shapes = tuple(
        tuple(sizes[index] for index in arrays[name]) if name in arrays else ()
        for name in text.parameters
    )
    dtype = "float64" if rng.random() < 0.7 else "float32"
    return Kernel(family, label, str(text), shapes, dtype)


# -- contractions -------------------------------------------------------------------------------

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


def _contraction(rng: random.Random) -> Writer:
    operands, output = rng.choice(_CONTRACTIONS)
    layouts = tuple("".join(_shuffled(o, rng)) for o in operands)
    style = rng.choice(("update", "update", "clear", "scalar", "beta"))
    family = f"contraction {','.join(operands)}->{output}"
    label = f"contraction {','.join(layouts)}->{output} {style}"
    names = ("A", "B", "D")[: len(operands)]
    arrays: dict[str, Sequence[str]] = {**dict(zip(names, layouts, strict=True)), "C": output}
    reduced = sorted({i for o in operands for i in o} - set(output))

    def write(rng: random.Random) -> Kernel:
        scaled = style == "beta" or (style == "update" and rng.random() < 0.4)
        text = _Text([*_shuffled(list(arrays), rng), *(["alpha"] if scaled else [])])
        factors = [_element(n, arrays[n]) for n in _shuffled(names, rng)]
        if scaled:
            factors.insert(0, "alpha")
        product, target = " * ".join(factors), _element("C", output)
        outer = _shuffled(output, rng)
        if style == "update":
            for index in _shuffled([*output, *reduced], rng):
                text.loop(index, _extent(index, arrays, rng))
            _add_to(text, target, product, rng)
            return _finish(family, label, text, arrays, rng)
        for index in outer:
            text.loop(index, _extent(index, arrays, rng))
        if style == "beta":
            text.add(f"{target} *= alpha")
        elif style == "clear" or not reduced:
            text.add(f"{target} = 0.0")
        else:
            text.add("total = 0.0")
            target = "total"
        depth = text.depth
        for index in _shuffled(reduced, rng):
            text.loop(index, _extent(index, arrays, rng))
        _add_to(text, target, product, rng)
        text.depth = depth
        if target == "total":
            text.add(f"{_element('C', output)} = total")
        return _finish(family, label, text, arrays, rng)

    return write


def _add_to(text: _Text, target: str, value: str, rng: random.Random) -> None:
    forms = [f"{target} = {target} + {value}", f"{target} += {value}"]
    if value.startswith("np."):
        forms.pop()  # docc 0.8 misreads "C[i, j] += np.sqrt(…)"
    text.add(rng.choice(forms))


# -- triangular contractions and factorisations -------------------------------------------------

_TRIANGULAR = {
    "syrk": ("C[i, j] += A[i, k] * A[j, k]", ("i", "j<=i", "k")),
    "syrk transposed": ("C[i, j] += A[k, i] * A[k, j]", ("i", "j<=i", "k")),
    "syr2k": ("C[i, j] += A[j, k] * B[i, k] + B[j, k] * A[i, k]", ("i", "j<=i", "k")),
    "trmm": ("C[i, j] += A[k, i] * B[k, j]", ("i", "j", "k>i")),
    "trmm lower": ("C[i, j] += A[i, k] * B[k, j]", ("i", "j", "k<i")),
    "symmetric upper": ("C[i, j] += A[i, k] * A[j, k]", ("i", "j>=i", "k")),
    "elimination": ("A[i, j] -= A[i, k] * A[k, j]", ("k", "i>k", "j>k")),
    "outer elimination": ("A[i, j] -= A[i, k] * A[j, k]", ("k", "i>k", "j<=i")),
    "triangular copy": ("C[i, j] = A[i, j]", ("i", "j<=i")),
    "mirror": ("A[j, i] = A[i, j]", ("i", "j<i")),
    "triangular vector": ("x[i] += A[i, j] * y[j]", ("i", "j<=i")),
    "solve": ("x[i] -= A[i, j] * x[j]", ("i", "j<i")),
    "solve transposed": ("x[i] -= A[j, i] * x[j]", ("i", "j<i")),
    "covariance": ("C[i, j] += A[k, i] * A[k, j]", ("i", "j>=i", "k")),
}


def _triangular(rng: random.Random) -> Writer:
    name = rng.choice(list(_TRIANGULAR))
    statement, loops = _TRIANGULAR[name]
    style = rng.choice(("plain", "plain", "scaled", "divided"))
    divided = style == "divided" and loops[-1] not in ("k",)

    def write(rng: random.Random) -> Kernel:
        arrays = {a: ("i", "i") for a in "ABC" if f"{a}[" in statement}
        vectors = {a: ("i",) for a in "xy" if f"{a}[" in statement}
        text = _Text(_shuffled([*arrays, *vectors], rng))
        size = f"{next(iter(arrays))}.shape[0]"
        order = list(loops)
        if rng.random() < 0.5 and order[-1] == "k":
            order = [order[0], "k", *order[1:-1]]
        for loop in order:
            index, relation, other = loop[0], loop[1:-1], loop[-1]
            bounds = {
                "": size,
                "<": other,
                "<=": f"{other} + 1",
                ">": f"{other} + 1, {size}",
                ">=": f"{other}, {size}",
            }[relation if len(loop) > 1 else ""]
            text.loop(index, bounds)
        line = statement
        if style == "scaled":
            line = line.replace("= ", "= 1.5 * ", 1).replace("1.5 * A[j, k] * B", "A[j, k] * B")
        text.add(_swapped(line, rng))
        if divided:
            text.depth -= 1
            index = loops[-2][0]
            target = "x[i]" if "x[i]" in statement else f"{next(iter(arrays))}[{index}, {index}]"
            text.add(f"{target} = {target} / 3.0")
        return _finish("triangular " + name, label, text, {**arrays, **vectors}, rng)

    label = f"triangular {name} {'divided' if divided else style}"
    return write


def _swapped(statement: str, rng: random.Random) -> str:
    """`statement` with its product's two operands exchanged now and then."""
    target, equals, value = statement.partition("= ")
    factors = value.split(" * ")
    if len(factors) == 2 and rng.random() < 0.5:
        factors.reverse()
    return target + equals + " * ".join(factors)


# -- stencils -----------------------------------------------------------------------------------


def _neighbours(dimensions: int, shape: str) -> list[tuple[int, ...]]:
    if shape == "box":
        return list(itertools.product((-1, 0, 1), repeat=dimensions))
    reach = {"star": (-1, 1), "wide": (-2, -1, 1, 2), "forward": (1,), "backward": (-1,)}[shape]
    centre = (0,) * dimensions
    found: list[tuple[int, ...]] = [centre]
    for axis in range(dimensions):
        for step in reach:
            found.append((*centre[:axis], step, *centre[axis + 1 :]))
    return found


def _stencil(rng: random.Random) -> Writer:
    dimensions = rng.choice((1, 2, 2, 2, 3, 3))
    shape = rng.choice(("star", "star", "box", "wide", "forward", "backward"))
    where = rng.choice(("out", "out", "in place", "swap", "coefficients"))
    timed = where == "swap" or rng.random() < 0.4
    family = f"stencil {dimensions}d {'in place' if where == 'in place' else 'out'}"
    label = f"stencil {dimensions}d {shape} {where} {'timed' if timed else ''}"
    indices = _LOOPS_3D[:dimensions]
    points = _neighbours(dimensions, shape)
    reach = max(abs(step) for point in points for step in point)

    def write(rng: random.Random) -> Kernel:
        names = ["A"] if where == "in place" else ["A", "B"]
        if where == "coefficients":
            names.append("W")
        arrays: dict[str, Sequence[str]] = dict.fromkeys(names, indices)
        text = _Text(_shuffled(names, rng))
        shift = rng.choice((0, reach))
        if timed:
            text.loop("t", "20")
        depth = text.depth

        def sweep(source: str, target: str, order: Sequence[str]) -> None:
            text.depth = depth
            for index in order:
                axis = indices.index(index)
                extent = f"{source}.shape[{axis}]"
                low, high = (reach, f"{extent} - {reach}") if shift else (0, f"{extent} - {reach}")
                if not shift:
                    high = f"{extent} - {2 * reach}"
                text.loop(index, f"{low}, {high}")
            base = 0 if shift else reach

            def at(array: str, point: Sequence[int]) -> str:
                places = [_plus(i, base + p) for i, p in zip(indices, point, strict=True)]
                return _element(array, places)

            terms = [at(source, point) for point in points]
            rng.shuffle(terms)
            weight = rng.choice(("0.125 * ({})", "({}) * 0.2", "({}) * 0.333"))
            value = weight.format(" + ".join(terms))
            if where == "coefficients":
                value = f"{at('W', (0,) * dimensions)} * ({' + '.join(terms)})"
            text.add(f"{at(target, (0,) * dimensions)} = {value}")

        order = _shuffled(indices, rng) if where != "in place" else list(indices)
        sweep("A", "A" if where == "in place" else "B", order)
        if where == "swap":
            sweep("B", "A", order)
        return _finish(family, label, text, arrays, rng)

    return write


def _plus(index: str, shift: int) -> str:
    if shift == 0:
        return index
    return f"{index} {'+' if shift > 0 else '-'} {abs(shift)}"


# -- reductions, element-wise work, copies ------------------------------------------------------

_REDUCED_VALUES = {
    "sum": "{}",
    "squares": "{0} * {0}",
    "scaled": "{} * 0.5",
    "root": "np.sqrt({})",
    "difference": "{} - 1.0",
}


def _reduction(rng: random.Random) -> Writer:
    dimensions = rng.choice((1, 2, 2, 3, 3))
    indices = _LOOPS_3D[:dimensions]
    kept = sorted(rng.sample(indices, rng.randrange(1 if dimensions > 1 else 0, dimensions)))
    value = rng.choice(list(_REDUCED_VALUES))
    style = rng.choice(("update", "clear", "mean"))
    layout = _shuffled(indices, rng)
    family = f"reduction {dimensions}d to {len(kept)}d"
    label = f"{family} {''.join(layout)}->{''.join(kept)} {value} {style}"

    def write(rng: random.Random) -> Kernel:
        arrays: dict[str, Sequence[str]] = {"A": layout, "s": kept or ("m",)}
        text = _Text(_shuffled(["A", "s"], rng))
        target = _element("s", kept or ("0",))
        inner = [i for i in indices if i not in kept]
        order = _shuffled(kept, rng)
        if style == "update":
            order = _shuffled(indices, rng)
            inner = []
        for index in order:
            text.loop(index, _extent(index, arrays, rng))
        depth = text.depth
        if style != "update":
            text.add(f"{target} = 0.0")
        for index in _shuffled(inner, rng):
            text.loop(index, _extent(index, arrays, rng))
        _add_to(text, target, _REDUCED_VALUES[value].format(_element("A", layout)), rng)
        if style == "mean":
            text.depth = depth
            text.add(rng.choice((f"{target} = {target} / 9.0", f"{target} /= 9.0")))
        return _finish(family, label, text, arrays, rng)

    return write


def _elementwise(rng: random.Random) -> Writer:
    dimensions = rng.choice((1, 2, 2, 3))
    indices = _LOOPS_3D[:dimensions]
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
        text = _Text(_shuffled(list(arrays), rng))
        for index in _shuffled(indices, rng):
            text.loop(index, _extent(index, arrays, rng))
        terms = [_element(name, i) for name, i in inputs.items()]
        value = terms[0]
        for operator, term in zip(chain, terms[1:], strict=True):
            pair = [value, term]
            if operator in "+*":
                rng.shuffle(pair)
            value = f"({pair[0]} {operator} {pair[1]})"
        if function:
            value = f"{function}({value})"
        if value == _element(target, indices):
            value += " * 1.5"
        if updated:
            _add_to(text, _element(target, indices), value, rng)
        else:
            text.add(f"{_element(target, indices)} = {value}")
        return _finish(family, label, text, arrays, rng)

    return write


def _transpose(rng: random.Random) -> Writer:
    dimensions = rng.choice((2, 3, 3, 4))
    indices = ("i", "j", "k", "l")[:dimensions]
    layout = _shuffled(indices, rng)
    kind = rng.choice(("copy", "add", "scale"))
    family = f"transpose {dimensions}d"
    label = f"{family} {''.join(layout)} {kind}"

    def write(rng: random.Random) -> Kernel:
        arrays: dict[str, Sequence[str]] = {"A": layout, "C": indices}
        text = _Text(_shuffled(["A", "C"], rng))
        for index in _shuffled(indices, rng):
            text.loop(index, _extent(index, arrays, rng))
        source, target = _element("A", layout), _element("C", indices)
        if kind == "add":
            _add_to(text, target, source, rng)
        else:
            text.add(f"{target} = {source}" + (" * 2.0" if kind == "scale" else ""))
        return _finish(family, label, text, arrays, rng)

    return write


# -- recurrences and imperfect nests ------------------------------------------------------------


def _recurrence(rng: random.Random) -> Writer:
    dimensions = rng.choice((1, 2, 2, 3))
    indices = _LOOPS_3D[:dimensions]
    along = rng.choice(indices)
    order = rng.choice((1, 1, 2))
    source = rng.choice(("none", "A", "W"))
    family = f"recurrence {dimensions}d"
    label = f"{family} along {along} order {order} with {source}"

    def write(rng: random.Random) -> Kernel:
        arrays: dict[str, Sequence[str]] = {"x": indices}
        if source == "A":
            arrays["A"] = indices
        if source == "W":
            arrays["W"] = (along,)
        text = _Text(_shuffled(list(arrays), rng))
        for index in _shuffled(indices, rng):
            extent = f"x.shape[{indices.index(index)}]"
            text.loop(index, f"{order}, {extent}" if index == along else extent)
        terms = [
            _element("x", [_plus(i, -step) if i == along else i for i in indices])
            for step in range(1, order + 1)
        ]
        value = f"0.5 * {terms[0]}" + "".join(f" + 0.25 * {term}" for term in terms[1:])
        if source != "none":
            pair = [value, _element(source, arrays[source])]
            rng.shuffle(pair)
            value = " + ".join(pair)
        text.add(f"{_element('x', indices)} = {value}")
        return _finish(family, label, text, arrays, rng)

    return write


_IMPERFECT = {
    "matvec and transpose": (
        ("i", "tmp = 0.0"),
        ("ij", "tmp += A[i, j] * x[j]"),
        ("ij", "y[j] += A[i, j] * tmp"),
    ),
    "two matvecs": (
        ("i", "y[i] = 0.0"),
        ("ij", "y[i] += A[i, j] * x[j]"),
        ("ij", "z[i] += B[i, j] * x[j]"),
    ),
    "bicg": (("ij", "z[j] += y[i] * A[i, j]"), ("ij", "w[i] += A[i, j] * x[j]")),
    "normalise rows": (
        ("i", "tmp = 0.0"),
        ("ij", "tmp += A[i, j] * A[i, j]"),
        ("ij", "A[i, j] = A[i, j] / tmp"),
    ),
    "centre columns": (
        ("j", "tmp = 0.0"),
        ("ji", "tmp += A[i, j]"),
        ("ji", "A[i, j] = A[i, j] - tmp"),
    ),
    "project": (
        ("k", "x[k] = 0.0"),
        ("ki", "x[k] += A[i, k] * A[i, k]"),
        ("ki", "B[i, k] = A[i, k] / x[k]"),
        ("kij", "A[i, j] -= B[i, k] * x[j]"),
    ),
    "row products": (
        ("ij", "y[j] = 0.0"),
        ("ijk", "y[j] += A[i, k] * B[k, j]"),
        ("ij", "A[i, j] = y[j]"),
    ),
    "shortest paths": (("kij", "A[i, j] = min(A[i, j], A[i, k] + A[k, j])"),),
    "factor": (
        ("ki", "A[i, k] = A[i, k] / A[k, k]"),
        ("kij", "A[i, j] -= A[i, k] * A[k, j]"),
    ),
    "scale then product": (
        ("ij", "C[i, j] *= 1.5"),
        ("ikj", "C[i, j] += A[i, k] * B[k, j]"),
    ),
    "rotate": (
        ("ij", "B[i, j] = A[i, j] + y[j]"),
        ("ij", "A[i, j] = B[i, j] * x[i]"),
    ),
}


def _imperfect(rng: random.Random) -> Writer:
    name = rng.choice(list(_IMPERFECT))
    statements = _IMPERFECT[name]
    renamed = rng.choice(("", " transposed"))

    def write(rng: random.Random) -> Kernel:
        body = "".join(f"{line}\n" for _, line in statements)
        arrays: dict[str, Sequence[str]] = {a: ("i", "i") for a in "ABC" if f"{a}[" in body}
        arrays |= {a: ("i",) for a in "xyzw" if f"{a}[" in body}
        text = _Text(_shuffled(list(arrays), rng))
        size = f"{next(iter(arrays))}.shape[0]"
        shared = statements[0][0][0]
        text.loop(shared, size)
        for loops, line in statements:
            text.depth = 2
            for index in loops[1:]:
                text.loop(index, size)
            text.add(_transposed(line) if renamed else _swapped(line, rng))
        return _finish("imperfect " + name, label, text, arrays, rng)

    label = f"imperfect {name}{renamed}"
    return write


def _transposed(line: str) -> str:
    """`line` with the matrix A stored the other way round."""
    for row, column in itertools.permutations("ijk", 2):
        line = line.replace(f"A[{row}, {column}]", f"A<{column}, {row}]")
    return line.replace("A<", "A[")


_FAMILIES: tuple[Callable[[random.Random], Writer], ...] = (
    _contraction,
    _stencil,
    _elementwise,
    _contraction,
    _triangular,
    _reduction,
    _stencil,
    _contraction,
    _transpose,
    _recurrence,
    _imperfect,
)
