"""The canonical form of a nest: what it does, whoever wrote it. Vectors are made of it.

The same work can be written with sums kept in scalars or in arrays, with temporaries or without,
with its loops and operands in another order. `canonical_form` takes that away:

* values reach their users directly, not by way of scalars (`reading`);
* a sum that is kept in a scalar and stored afterwards is kept where it is stored;
* copies, and factors that stay the same in the whole nest, are left out;
* an array that is filled only to be copied is the one that it is copied to (`rewriting`);
* chains of additions, or of multiplications, are one operation;
* only the innermost statements remain: what runs less often could have loops of its own;
* directly nested loops are in an order that depends on their accesses alone (`writing`).

Normalising nests before recipes are looked up is the idea of L. Trümper et al., A Priori Loop Nest
Normalization: Automatic Loop Scheduling in Complex Applications (CGO 2025). Here only what is
embedded is normalised; the program stays as it is.
"""

from __future__ import annotations

from loopbook.program.canonical_form.reading import Reader
from loopbook.program.canonical_form.rewriting import chained, innermost, without_copies
from loopbook.program.canonical_form.writing import Writer
from loopbook.program.nest import Nest


def canonical_form(nest: Nest) -> Nest:
    """The nest without what depends on who wrote it: smaller, and numbered anew.

    It describes, and cannot be run: it has no `canonical` text, and its `loop` is that of `nest`.
    """
    steps = without_copies(nest, Reader(nest).steps())
    steps = innermost(nest, chained(nest, steps))
    return Writer(nest, steps).nest() if steps else nest
