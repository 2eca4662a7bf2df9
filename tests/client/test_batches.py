"""Products of a batch are handed to a library by their own size, not the batch's."""

from __future__ import annotations

import numpy as np
import pytest
from client_kit import blas_is

from loopbook.client.libraries import product_calls
from loopbook.program.trips import trip_counts
from loopbook.sdfg import frontend
from loopbook.sdfg.program import prepare_document


def batch(A, B, C):
    for b in range(A.shape[0]):
        for i in range(A.shape[1]):
            for j in range(B.shape[2]):
                for k in range(B.shape[1]):
                    C[b, i, j] += A[b, i, k] * B[b, k, j]


@pytest.mark.parametrize(("size", "called"), [(4, False), (7, False), (20, True)])
def test_what_a_batch_calls(size, called, monkeypatch):
    blas_is(monkeypatch)
    arguments = [np.ones((500, size, size)) for _ in range(3)]
    _, nests = prepare_document(frontend.trace(batch, arguments))
    sizes = frontend.size_symbols(batch, arguments)
    (nest,) = [nest for nest in nests if len(nest.loops) == 4]
    trips = trip_counts(nest, sizes)
    assert bool([*product_calls(nest, "sequential", trips)]) is called
