"""What was compiled is compared with eager where it can do no harm."""

from __future__ import annotations

import ctypes

import pytest

from loopbook.errors import KernelError, WrongResultError

pytestmark = pytest.mark.heavy


@pytest.fixture
def check(torch):
    from loopbook.torch import check

    return check


def test_right_numbers_pass(torch, check):
    x = torch.randn(5)
    check.check_numbers(lambda a: [a * (1 + 1e-6)], lambda a: [a], [[x]])


def test_wrong_numbers_are_told(torch, check):
    with pytest.raises(WrongResultError, match="output 0 is off by"):
        check.check_numbers(lambda a: [a + 1], lambda a: [a], [[torch.ones(5)]])


def test_a_kernel_that_is_wrong_for_negative_numbers_only_is_found(torch, check):
    calls = check.variants([torch.ones(5), torch.ones(2)], frozenset({1}))
    with pytest.raises(WrongResultError, match="output 0"):
        check.check_numbers(lambda a, b: [a.abs()], lambda a, b: [a], calls)
    assert [float(call[1][0]) for call in calls] == [1.0, 1.0, 1.0]


def test_a_crash_ends_the_child_only(torch, check):
    with pytest.raises(KernelError, match="crashed"):
        check.check_numbers(lambda a: ctypes.string_at(0), lambda a: [a], [[torch.ones(5)]])


def test_inputs_must_stay_as_they_are(torch, check):
    def careless(a):
        result = [a * 2]
        a.zero_()
        return result

    x = torch.ones(3)
    with pytest.raises(WrongResultError, match="input 0"):
        check.check_numbers(careless, lambda a: [a * 2], [[x]])
    assert torch.equal(x, torch.ones(3))


@pytest.mark.parametrize("value", [float("inf"), float("nan"), -float("inf")])
def test_what_is_not_finite_must_stand_in_its_place(torch, check, value):
    there, elsewhere = torch.tensor([value, 1.0]), torch.tensor([1.0, value])
    check.compare(there, there.clone(), "it")
    with pytest.raises(WrongResultError, match="finite"):
        check.compare(there, elsewhere, "it")
    infinite = torch.tensor([-1.0, 1.0]) * float("inf")
    with pytest.raises(WrongResultError):
        check.compare(infinite, torch.tensor([1.0, 1.0]) / 0, "it")


def test_whole_numbers_must_be_equal(torch, check):
    with pytest.raises(WrongResultError, match="differs"):
        check.compare(torch.tensor([1, 2]), torch.tensor([1, 3]), "it")
    with pytest.raises(WrongResultError, match="float32"):
        check.compare(torch.tensor([1.0]), torch.tensor([1]), "it")
