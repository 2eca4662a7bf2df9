"""Graphs taken apart around products and around what docc-ai refuses."""

from __future__ import annotations

from types import ModuleType

import pytest

from loopbook.errors import SdfgError

pytestmark = pytest.mark.heavy


@pytest.fixture
def trace(torch):
    """From a function or module to a graph."""
    return torch.fx.symbolic_trace


@pytest.fixture
def form(torch) -> ModuleType:
    from loopbook.torch import form

    return form


@pytest.fixture
def split(torch):
    from loopbook.torch.split import split

    return split


def test_products_stay_and_what_lies_between_becomes_parts(torch, trace, form, split):
    def chain(a, b):
        d = (torch.relu(a) * 2) @ b
        return torch.tanh(d) + 1, torch.sort(d)[0]

    inputs = [torch.randn(3, 4), torch.randn(4, 5)]
    made, names = split(form.functional(trace(chain), inputs), frozenset({"aten.sort"}))
    assert len(names) == 2
    left = {str(node.target) for node in made.graph.nodes if node.op == "call_function"}
    assert "aten.mm.default" in left
    assert "aten.sort.default" in left
    for got, want in zip(made(*inputs), chain(*inputs), strict=True):
        assert torch.equal(got, want)


def test_a_graph_without_products_is_not_taken_apart(torch, trace, form, split):
    traced = form.functional(trace(lambda a: torch.relu(a) + 1), [torch.ones(3)])
    assert split(traced)[1] == []


def test_changes_in_place_become_new_tensors(torch, trace, form):
    a = torch.tensor([-1.0, 2.0])
    made = form.functional(trace(lambda a: torch.relu_(a * 2).add_(1)), [a])
    assert not any(
        str(node.target).split(".")[1].endswith("_")
        for node in made.graph.nodes
        if node.op == "call_function"
    )
    assert torch.equal(made(a), torch.tensor([1.0, 5.0]))


def test_a_layer_normalisation_is_written_out_in_its_own_type(torch, trace, form):
    model = torch.nn.LayerNorm(6)
    x = torch.randn(4, 6)
    with torch.no_grad():
        graph = trace(lambda x, w, b: torch.layer_norm(x, (6,), w, b))
        made = form.rewritten(graph, [x, model.weight, model.bias])
        assert torch.allclose(made(x, model.weight, model.bias), model(x), atol=1e-6)
    assert not any("layer_norm" in str(node.target) for node in made.graph.nodes)


def test_tensors_that_a_graph_holds_become_inputs_and_outputs_differ(torch, trace, form):
    class Holding(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("held", torch.ones(3))

        def forward(self, a):
            b = a + self.held
            return b, b * 2, b

    graph = form.TensorGraph.of(trace(Holding()))
    a = torch.zeros(3)
    assert len(graph.constants) == 1
    assert graph.places == (0, 1, 0)
    assert len(graph.module(*graph.given([a]))) == 2
    one, two, again = graph.bound(graph.module)(a)
    assert torch.equal(one, torch.ones(3))
    assert torch.equal(two, 2 * torch.ones(3))
    assert again is one


def test_a_graph_that_returns_its_input_has_no_such_form(trace, form):
    with pytest.raises(SdfgError, match="returns what it is given"):
        form.TensorGraph.of(trace(lambda a: (a, a + 1)))
