"""Sums of products over two to four indices, batched ones too, in all memory layouts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from loopbook.workloads.synthetic.family import Choice, Family, orders
from loopbook.workloads.synthetic.program import Code, Program, element, extent

FORMS = (
    "ik_kj_ij", "ik_kj_ij", "ik_k_i", "i_j_ij", "k_k_", "ij_ij_i",
    "bik_bkj_bij", "bik_kj_bij", "bik_bk_bi", "bi_bj_bij", "bij_bj_i",
    "ikl_klj_ij", "ikl_kj_il", "ijk_kl_ijl", "ijkl_kl_ij", "ijk_ijk_i", "kij_k_ij",
    "ik_kj_k_ij", "ij_i_j_ij", "ikl_kj_lj_ij", "ik_k_kj_ij",
)  # fmt: skip
"""Indices of the operands and of the result, as for `numpy.einsum`."""

BATCH = 6
NAMES = "ABD"


def _layouts(choice: Choice) -> tuple[str, ...]:
    """The form with the axes of every array in every order.

    Results of three axes and more keep theirs: what would come out is the same form with other
    operands.
    """
    *operands, output = choice["form"].split("_")
    outputs = orders(output) if len(output) == 2 and len(operands) == 2 else (output,)
    return tuple("_".join(each) for each in product(*map(orders, operands), outputs))


def _orders(choice: Choice) -> tuple[str, ...]:
    """Orders of all loops; where the sum is not updated in place, its loops come last."""
    *_, output = choice["form"].split("_")
    if choice["style"] == "update":
        return orders(_indices(choice["form"]))
    return tuple(a + b for a, b in product(orders(output), orders(_summed(choice["form"]))))


def _styles(choice: Choice) -> tuple[str, ...]:
    """How the result comes about: added to, cleared or scaled first, or summed up in a scalar."""
    if not _summed(choice["form"]):
        return ("update", "scaled", "assign")
    return ("update", "update", "scaled", "clear", "scalar", "beta")


def _indices(form: str) -> str:
    return "".join(sorted(set(form) - {"_"}))


def _summed(form: str) -> str:
    return "".join(sorted(set(form.rpartition("_")[0]) - set(form.rpartition("_")[2]) - {"_"}))


def write(choice: Choice) -> Program:
    *operands, output = choice["layout"].split("_")
    names = NAMES[: len(operands)]
    arrays: dict[str, Sequence[str]] = dict(zip(names, operands, strict=True))
    arrays["C"] = output or ("1",)
    style = choice["style"]
    factors = [element(name, arrays[name]) for name in names]
    if choice["operands"] == "swapped":
        factors.reverse()
    if style in ("scaled", "beta"):
        factors.insert(0, "alpha")
    value = " * ".join(factors)
    target = element("C", output or ("0",))
    summed = _summed(choice["form"])
    outside = len(output) if style not in ("update", "scaled") else len(choice["order"])
    code = Code()
    for place, index in enumerate(choice["order"]):
        if place == outside:
            _begin(code, style, target)
        code.loop(index, extent(index, arrays))
    if style == "assign":
        code.add(f"{target} = {value}")
    else:
        code.add(f"{'total' if style == 'scalar' else target} += {value}")
    if style == "scalar":
        code.depth = outside
        code.add(f"{target} = total")
    return Program(
        arrays=arrays,
        body=code.lines,
        loops=_indices(choice["form"]),
        reference=_reference(choice, operands, output),
        fixed={"b": BATCH} if "b" in choice["form"] else {},
        scalars={"alpha": 1.5} if style in ("scaled", "beta") else {},
        cost=1.0 + 0.5 * len(summed) * (len(operands) > 2),
    )


def _begin(code: Code, style: str, target: str) -> None:
    """What comes before the loops of the sum."""
    if style == "beta":
        code.add(f"{target} *= alpha")
    elif style == "clear":
        code.add(f"{target} = 0.0")
    elif style == "scalar":
        code.add("total = 0.0")


def _reference(choice: Choice, operands: Sequence[str], output: str) -> list[str]:
    """The same with `numpy.einsum`."""
    subscripts = f"{','.join(operands)}->{output}"
    value = f'np.einsum("{subscripts}", {", ".join(NAMES[: len(operands)])}, optimize=True)'
    style = choice["style"]
    if style in ("scaled", "beta"):
        value = f"alpha * {value}"
    if style == "beta":
        return [f"C[...] = alpha * C + {value}"]
    return [f"C[...] {'=' if style in ('clear', 'scalar', 'assign') else '+='} {value}"]


FAMILY = Family(
    name="contraction",
    about="a sum of products",
    work={"form": FORMS, "layout": _layouts, "style": _styles},
    writing={"order": _orders, "operands": ("given", "swapped")},
    write=write,
)
