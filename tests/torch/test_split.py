"""Graphs taken apart around products and around what docc-ai refuses."""

from __future__ import annotations

import pytest
import torch
from torch.fx import symbolic_trace

from loopbook.errors import SdfgError
from loopbook.torch.form import TensorGraph, functional, rewritten
from loopbook.torch.split import split

pytestmark = pytest.mark.heavy


def chain(a, b):
    c = torch.relu(a) * 2
    d = c @ b
    return torch.tanh(d) + 1, torch.sort(d)[0]


def test_products_stay_and_what_lies_between_becomes_parts():
    inputs = [torch.randn(3, 4), torch.randn(4, 5)]
    made, names = split(functional(symbolic_trace(chain), inputs), frozenset({"aten.sort"}))
    assert len(names) == 2
    left = {str(node.target) for node in made.graph.nodes if node.op == "call_function"}
    assert "aten.mm.default" in left
    assert "aten.sort.default" in left
    for got, want in zip(made(*inputs), chain(*inputs), strict=True):
        assert torch.equal(got, want)


def test_a_graph_without_products_is_not_taken_apart():
    traced = functional(symbolic_trace(lambda a: torch.relu(a) + 1), [torch.ones(3)])
    assert split(traced)[1] == []


def test_changes_in_place_become_new_tensors():
    a = torch.tensor([-1.0, 2.0])
    made = functional(symbolic_trace(lambda a: torch.relu_(a * 2).add_(1)), [a])
    assert not any(
        str(node.target).split(".")[1].endswith("_")
        for node in made.graph.nodes
        if node.op == "call_function"
    )
    assert torch.equal(made(a), torch.tensor([1.0, 5.0]))


def test_a_layer_normalisation_is_written_out_in_its_own_type():
    model = torch.nn.LayerNorm(6)
    x = torch.randn(4, 6)
    with torch.no_grad():
        graph = symbolic_trace(lambda x, w, b: torch.layer_norm(x, (6,), w, b))
        made = rewritten(graph, [x, model.weight, model.bias])
        assert torch.allclose(made(x, model.weight, model.bias), model(x), atol=1e-6)
    assert not any("layer_norm" in str(node.target) for node in made.graph.nodes)


def test_tensors_that_a_graph_holds_become_inputs_and_outputs_differ():
    class Holding(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("held", torch.ones(3))

        def forward(self, a):
            b = a + self.held
            return b, b * 2, b

    form = TensorGraph.of(symbolic_trace(Holding()))
    a = torch.zeros(3)
    assert len(form.constants) == 1
    assert form.places == (0, 1, 0)
    assert len(form.module(*form.given([a]))) == 2
    one, two, again = form.bound(form.module)(a)
    assert torch.equal(one, torch.ones(3))
    assert torch.equal(two, 2 * torch.ones(3))
    assert again is one


def test_a_graph_that_returns_its_input_has_no_such_form():
    with pytest.raises(SdfgError, match="returns what it is given"):
        TensorGraph.of(symbolic_trace(lambda a: (a, a + 1)))
