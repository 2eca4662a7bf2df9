"""Programs that docc has simplified are prepared without it, and come out as with it."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from docc.sdfg import TargetOptions

from benchmarks.unseen import unseen
from loopbook.program.load import load_json
from loopbook.program.read import read
from loopbook.program.rename import with_own_variables
from loopbook.program.tree import Loop
from loopbook.program.walk import preorder
from loopbook.sdfg import frontend, marks, normalised, program
from loopbook.sdfg.simple import simple

N = 12


def sent(kernel, *args):
    """What docc's client sends of a kernel."""
    sdfg = program.parse(frontend.trace(kernel, args))
    sdfg.expand(TargetOptions("sequential", "server"))
    sdfg.simplify()
    return sdfg.to_json()


def squares(count):
    return [np.zeros((N, N)) for _ in range(count)]


def told(text):
    """What is known of a prepared program."""
    document, tree, nests = program.prepare_tree(text)
    loops = [node for node in preorder(tree.body) if isinstance(node, Loop)]
    metadata = document["metadata"]
    noted = {key: metadata.get(key) is not None for key in (marks.ORDERED, marks.MISORDERED)}
    return [nest.fingerprint for nest in nests], [loop.kind for loop in loops], noted


@pytest.mark.parametrize("seed", range(12))
def test_prepared_as_with_docc(seed, tmp_path, monkeypatch):
    file = tmp_path / "kernel.py"
    file.write_text(unseen(4, Random(seed)))
    space: dict = {}
    exec(compile(file.read_text(), file, "exec"), space)
    text = sent(space["kernel"], *squares(6))
    here = told(text)
    monkeypatch.setattr(normalised, "simple", lambda tree: None)
    assert here == told(text)


def product(a, b, c):
    for i in range(c.shape[0]):
        for k in range(a.shape[1]):
            for j in range(c.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    for i in range(a.shape[0] - 2):
        for j in range(a.shape[1]):
            a[i + 2, j] = 0.5 * a[i, j] + b[j, i]


def kinds(kernel, args):
    found = simple(with_own_variables(read(load_json(sent(kernel, *args)))))
    if found is None:
        return None
    return [node.kind for node in preorder(found.body) if isinstance(node, Loop)]


def test_kinds_of_loops():
    assert kinds(product, squares(3)) == ["map", "for", "map", "for", "map"]


def two_of_one_shape(a, b, c):  # docc makes one nest of them
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = 2.0 * a[i, j]
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            c[i, j] = b[i, j] + a[j, i]


def overwritten_later(a, b, c):  # docc takes its loop over i for parallel
    for i in range(a.shape[0] - 1):
        for j in range(a.shape[1]):
            a[i, j] = a[i + 1, j] + b[i, j] * c[j, i]


def in_two_statements(a, b, c):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = b[i, j] * c[i, j]
            c[j, i] = a[i, j]


def by_a_branch(a, b, c):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if b[i, j] > 0.0:
                a[i, j] = c[i, j]


@pytest.mark.parametrize(
    "kernel", [two_of_one_shape, overwritten_later, in_two_statements, by_a_branch]
)
def test_docc_is_asked(kernel):
    assert kinds(kernel, squares(3)) is None


def inner_products(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[j, k]


def test_sums_stay_what_docc_calls_them():
    assert kinds(inner_products, squares(3)) == ["map", "map", "reduce"]


def test_what_nobody_has_simplified():
    text = frontend.trace(by_a_branch, squares(3))
    assert simple(with_own_variables(read(load_json(text)))) is None


def test_damaged_documents_are_docc_s_to_refuse():
    document = load_json(sent(product, *squares(3)))
    document["externals"] = True
    assert simple(with_own_variables(read(document))) is None
