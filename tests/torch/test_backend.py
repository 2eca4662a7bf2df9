"""PyTorch's graphs, compiled or eager, with eager's numbers either way."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

import pytest

from loopbook.errors import EagerWarning, InputError
from loopbook.sdfg import from_torch

if TYPE_CHECKING:  # what imports torch is imported where it is used
    from loopbook.torch.decision import Decision

pytestmark = pytest.mark.heavy

UNTIMED: dict[str, Any] = {"measure": False, "split": False}
"""Whatever is right is taken, so that no stopwatch decides."""


@pytest.fixture
def no_torch_mlir(monkeypatch) -> Iterator[None]:
    """As if it were not installed."""
    monkeypatch.setitem(sys.modules, "torch_mlir", None)
    from_torch.missing.cache_clear()
    yield
    from_torch.missing.cache_clear()


@pytest.fixture(autouse=True)
def _fresh(torch) -> Iterator[None]:
    torch.manual_seed(0)
    torch._dynamo.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", EagerWarning)
        yield


def compiled(function: Any, options: dict[str, Any] | None = None) -> Any:
    import torch

    return torch.compile(function, backend="loopbook", options=options or UNTIMED)


def last() -> Decision:
    from loopbook.torch import decisions

    return decisions()[-1]


def same(got, want) -> bool:
    import torch

    return torch.allclose(got, want, rtol=1e-4, atol=1e-5)


def test_pytorch_knows_the_backend_where_loopbook_is_installed(torch):
    from loopbook.torch import backend

    (entry,) = entry_points(group="torch_dynamo_backends", name="loopbook")
    assert entry.load() is backend
    assert "loopbook" in torch._dynamo.list_backends()


def test_an_unknown_option_is_refused_with_those_there_are(torch):
    with pytest.raises(Exception, match="no option 'targt'; there are target, book") as caught:
        compiled(torch.relu, {"targt": "openmp"})(torch.ones(3))
    assert InputError.__name__ in str(caught.value)


@pytest.mark.usefixtures("docc_ai")
def test_a_model_that_is_right_is_compiled(torch):
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
    fast = compiled(model)
    with torch.no_grad():
        for rows in (torch.randn(3, 8), torch.randn(3, 8), -torch.ones(3, 8)):
            assert same(fast(rows), model(rows))
    assert last().runs == "compiled"
    assert last().plan is not None


@pytest.mark.usefixtures("docc_ai")
def test_weights_may_change_between_calls(torch):
    model = torch.nn.Linear(8, 4)
    fast, x = compiled(model), torch.randn(3, 8)
    with torch.no_grad():
        fast(x)
        model.weight.mul_(2.0)
        model.bias = torch.nn.Parameter(torch.ones(4))
        assert same(fast(x), model(x))
    assert last().runs == "compiled"


@pytest.mark.usefixtures("docc_ai")
def test_inputs_and_outputs_may_lie_otherwise_than_in_c_order(torch):
    fast = compiled(lambda a, b: (torch.tanh(a) + b).t())
    a, b = torch.randn(5, 7).t(), torch.randn(7, 10)[:, ::2]
    with torch.no_grad():
        want = (torch.tanh(a) + b).t()
        for _ in range(2):
            got = fast(a, b)
            assert same(got, want)
            assert got.stride() == want.stride()
    assert last().runs == "compiled"


@pytest.mark.usefixtures("docc_ai")
def test_open_sizes_are_compiled_size_by_size(torch):
    from loopbook.torch import decisions

    fast = torch.compile(
        lambda a: torch.tanh(a) * a.shape[0], backend="loopbook", dynamic=True, options=UNTIMED
    )
    with torch.no_grad():
        for size in (4, 6, 4):
            a = torch.randn(size, 3)
            assert same(fast(a), torch.tanh(a) * size)
    assert [one.runs for one in decisions()[-2:]] == ["compiled"] * 2


@pytest.mark.usefixtures("docc_ai")
def test_what_docc_ai_cannot_translate_is_left_out_of_the_parts(torch):
    def ranked(a):
        return torch.relu(torch.sort(a * 2 - 1)[0]) * 3 + 1

    fast = compiled(ranked, {"measure": False})
    a = torch.randn(4, 9)
    with torch.no_grad():
        assert same(fast(a), ranked(a))
        assert same(fast(-a), ranked(-a))
    assert last().runs == "in parts"


def eager_for(reason: str, function, *inputs, options=None):
    """Call a function twice; both times it gives eager's answer, and says once why."""
    fast = compiled(function, options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", EagerWarning)
        answers = [fast(*inputs), fast(*inputs)]
    told = [str(one.message) for one in caught if one.category is EagerWarning]
    assert len(told) == 1
    assert reason in told[0]
    assert caught[-1].filename == __file__
    assert last().runs == "eager"
    return answers


def test_gradients_are_left_to_eager(torch):
    model = torch.nn.Linear(4, 2)
    x = torch.randn(3, 4)
    (got, _) = eager_for("gradients are wanted", model, x)
    got.sum().backward()
    assert model.weight.grad is not None
    assert torch.equal(model.weight.grad, x.sum(0).expand(2, 4))


@pytest.mark.usefixtures("docc_ai")
def test_what_changes_its_inputs_is_left_to_eager(torch):
    a = torch.zeros(4)
    eager_for("changes what it is given", lambda a: a.add_(1) * 2, a)
    assert torch.equal(a, torch.full((4,), 2.0))


@pytest.mark.usefixtures("docc_ai")
def test_random_numbers_are_left_to_eager(torch):
    one, other = eager_for("random numbers", lambda a: torch.dropout(a, 0.5, True), torch.ones(99))
    assert not torch.equal(one, other)


@pytest.mark.usefixtures("docc_ai")
def test_views_are_left_to_eager(torch):
    a = torch.arange(6.0)
    with torch.no_grad():
        got, _ = eager_for("views", lambda a: (a.view(2, 3), a + 1), a)
    a[0] = 9.0
    assert got[0][0, 0] == 9.0


@pytest.mark.usefixtures("no_torch_mlir")
def test_without_torch_mlir_models_run_as_eager(torch):
    with torch.no_grad():
        got, _ = eager_for("pip install 'loopbook[torch]'", torch.relu, torch.tensor([-1.0, 2.0]))
    assert torch.equal(got, torch.tensor([0.0, 2.0]))
