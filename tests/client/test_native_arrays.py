"""Functions of array expressions as ``@loopbook.native`` runs them: NumPy's numbers, compiled."""

from __future__ import annotations

import time
import warnings
import weakref
from typing import Any

import numpy as np
import pytest
from client_kit import blas_is, plan_of

import loopbook
from loopbook.client.variants import dispatch
from loopbook.client.variants import rival as rival_module
from loopbook.client.variants.looped import Looped
from loopbook.client.variants.rival import ROUNDS, Rival
from loopbook.errors import InterpretedWarning, SdfgError

pytestmark = pytest.mark.usefixtures("no_book")

SCALE = 3.0


def data(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.5, 2.0, shape)


def agree(program: Any, *args: Any, compiled: bool = True) -> None:
    """A call gives what Python gives, in results and arguments, and is compiled or is not."""
    own = [a.copy(order="K") if isinstance(a, np.ndarray) else a for a in args]
    for place, value in enumerate(args):  # what was one array stays one
        own[place] = next(o for a, o in zip(args, own, strict=True) if a is value)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        got = program(*own)
    want = program.func(*args)
    for one, other in zip([got, *own], [want, *args], strict=True):
        if isinstance(other, tuple):
            assert len(one) == len(other)
        assert type(one) is type(other)
        if not isinstance(other, type):
            np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-9)
    told = [str(w.message) for w in caught if w.category is InterpretedWarning]
    assert bool(told) is not compiled, told


@loopbook.native
def softmax(x):
    shifted = np.exp(x - x.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


@loopbook.native
def stencil(A, B):
    A[1:-1, :] = B[2:, :] + SCALE * B[:-2, :]
    return A


def test_products_and_softmax_are_compiled():
    agree(softmax, data(5, 7))
    first = softmax.last
    agree(softmax, data(9, 4))
    assert softmax.last is first  # one translation for all sizes
    assert isinstance(first, Looped)
    assert "softmax" in first.lowered.source
    agree(softmax, data(1, 4))
    assert softmax.last is not first


def test_layouts_and_arrays_that_are_passed_twice():
    A, B = data(8, 6), data(8, 6, seed=1)
    for args in ((A, B), (A, A), (np.asfortranarray(A), B), (A[::-1], B), (A[:, ::2], B[:, 1::2])):
        agree(stencil, *args)
    agree(stencil, data(0, 3), data(0, 3), compiled=False)
    ours, theirs = data(12, 6), data(12, 6)
    stencil.func(theirs[:8], theirs[3:11])
    with pytest.warns(InterpretedWarning, match="A and B overlap in part"):
        loopbook.native(stencil.func)(ours[:8], ours[3:11])
    np.testing.assert_allclose(ours, theirs)


def test_copies_of_arrays_overlap_where_these_do():
    """The loops get a transposed complex array in C order: they cannot see what it shares."""

    @loopbook.native
    def shifted(z, w):
        z[1:] += w[:-1] * 1j
        return z

    z = (data(6, 8) + 1j * data(8, 6).T).T
    agree(shifted, z[:4], z[4:])
    whole = [array.copy(order="F") for array in (z, z)]
    with pytest.warns(InterpretedWarning, match="z and w overlap in part"):
        shifted(whole[0][:4], whole[0][1:5])
    shifted.func(whole[1][:4], whole[1][1:5])
    np.testing.assert_array_equal(whole[0], whole[1])
    agree(shifted, z[:4], z[4:])


def test_arguments_that_docc_has_no_types_for():
    @loopbook.native
    def energy(z, w):
        return np.abs(z * np.conj(w)) + z.real

    @loopbook.native
    def filled(x, dtype, value=None):
        y = np.zeros(x.shape, dtype)
        if value is not None:
            y += value
        return y + x

    z = data(6) + 1j * data(6, seed=1)
    agree(energy, z, z[::-1].copy())
    agree(energy, z, z)
    agree(filled, data(3, 4), np.float64)
    agree(filled, data(3, 4), np.float64, 2.5)


def test_a_number_that_shapes_depend_on_is_translated_again():
    @loopbook.native(strict=True)
    def shortened(x, n):
        return np.cumsum(x[:n]) + x[-n:]

    for n in (3, 4, 1, 3):
        agree(shortened, data(9), n)


def test_globals_are_looked_at_again(monkeypatch):
    agree(stencil, data(4, 3), data(4, 3))
    monkeypatch.setitem(stencil.func.__globals__, "SCALE", -0.5)
    agree(stencil, data(4, 3), data(4, 3))


def spectrum(x):
    return np.fft.fft(x)


def test_what_cannot_be_lowered_runs_as_python_or_raises():
    agree(loopbook.native(spectrum), data(4), compiled=False)
    with pytest.raises(SdfgError, match=r"test_native_arrays\.py:\d+: .*fft"):
        loopbook.native(spectrum, strict=True)(data(4))


def test_loops_that_give_other_numbers_are_not_compiled(monkeypatch):
    from loopbook.errors import LoweringError
    from loopbook.frontend import translated

    def differ(func, lowered, args):
        raise LoweringError("f() as loops gives other numbers")

    monkeypatch.setitem(translated.__globals__, "check", differ)
    program = loopbook.native(softmax.func)
    with pytest.warns(InterpretedWarning, match="other numbers"):
        program(data(3, 4))
    assert program.last is None


def test_a_fault_of_the_front_end_does_not_reach_the_caller(monkeypatch):
    from loopbook.frontend import translated

    monkeypatch.setitem(translated.__globals__, "lower", lambda *args, **named: 1 // 0)
    program = loopbook.native(softmax.func)
    with pytest.warns(InterpretedWarning, match="ZeroDivisionError"):
        np.testing.assert_allclose(program(data(3, 4)).sum(), 3.0)


def test_compiled_into_a_folder(tmp_path):
    program = loopbook.native(softmax.func)
    compiled = program.compile(data(5, 7), output_folder=tmp_path / "here")
    assert str(tmp_path) in compiled.lib_path
    np.testing.assert_allclose(compiled(data(8, 3)), softmax.func(data(8, 3)))
    with pytest.raises(SdfgError):
        compiled(data(1, 3))


def test_the_first_call_is_compared_with_python():
    program = loopbook.native(softmax.func, check=True)
    agree(program, data(5, 7))
    assert program.last is not None
    assert program.last.verified


def slowly(x):
    time.sleep(0.02)
    return x + 1


def test_python_is_called_where_it_is_faster():
    told: list[str] = []
    rival = Rival(lambda x: x + 1, told.append)
    x = data(4)
    settled = [rival.call(slowly, [x])[1] for _ in range(ROUNDS)]
    assert settled == [None] * (ROUNDS - 1) + [True]
    rival.instead(lambda: None)
    assert told
    assert told[0].startswith("it is faster here: ")


def test_both_are_timed_anew_where_a_number_makes_python_slow(monkeypatch):
    monkeypatch.setattr(rival_module, "FASTER", np.inf)
    monkeypatch.setattr(rival_module, "PATIENCE", 1e6)

    def steps(x, n):
        y = x.copy()
        for _ in range(n):
            y = 0.5 * (y + x * x)
        return y

    program, x = loopbook.native(steps), data(5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(ROUNDS + 2):
            program(x, 1)
        monkeypatch.setattr(rival_module, "FASTER", 0.95)
        for _ in range(ROUNDS + 2):
            np.testing.assert_allclose(program(x, 20_000), steps(x, 20_000))
    begun = time.perf_counter()
    program(x, 20_000)
    ours = time.perf_counter() - begun
    steps(x, 20_000)
    assert ours < (time.perf_counter() - begun - ours) / 2


def test_python_is_stopped_where_it_is_slower():
    def endless(x):
        x += 1
        while True:
            pass

    x = data(4)
    answer, settled = Rival(endless, print).call(slowly, [x])
    assert settled is False
    np.testing.assert_allclose(answer, data(4) + 1)
    np.testing.assert_allclose(x, data(4))  # Python had a copy


def test_a_function_says_once_that_python_is_faster(monkeypatch):
    monkeypatch.setattr(rival_module, "FASTER", np.inf)
    monkeypatch.setattr(rival_module, "PATIENCE", 1e6)
    program = loopbook.native(func := softmax.func)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(ROUNDS + 3):
            np.testing.assert_allclose(program(data(5, 7)), func(data(5, 7)))
    assert ["it is faster here" in str(w.message) for w in caught] == [True]


def test_strict_never_runs_python(monkeypatch):
    monkeypatch.setattr(rival_module, "FASTER", np.inf)
    program = loopbook.native(softmax.func, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", InterpretedWarning)
        for _ in range(ROUNDS + 3):
            program(data(5, 7))


def test_what_the_loops_only_read_is_not_copied_for_python():
    x, y = data(6, 4), data(6, 4, seed=1)
    variant = loopbook.native(stencil.func).compile(x, y)
    assert variant.read_only == {1}
    assert loopbook.native(stencil.func).compile(x, x).read_only == frozenset()

    seen: list[np.ndarray] = []
    rival = Rival(lambda *args: seen.extend(args), print, frozenset({1}))
    rival.call(lambda x, y: slowly(x), [x, y])
    assert seen[0] is not x
    assert seen[1] is y


def test_an_array_that_docc_knows_by_another_name_is_copied_for_python():
    def count(x, out):
        last = -1
        for i in range(x.shape[0]):
            _, last = x[i], i
        out[0] += last

    given = np.zeros(25), np.zeros(1, np.int64)
    assert 1 not in loopbook.native(count).compile(*given).read_only


def test_a_function_that_runs_as_python_keeps_nothing_of_a_call():
    program = loopbook.native(spectrum)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InterpretedWarning)
        for _ in range(3):
            x = data(1000)
            seen = weakref.ref(x)
            np.testing.assert_allclose(program(x), spectrum(x))
            del x
            assert seen() is None


def test_products_are_calls_of_blas_as_arrays_and_as_loops(monkeypatch):
    blas_is(monkeypatch)

    @loopbook.native
    def attention(q, k, v):
        return np.tanh(q @ k.transpose(0, 2, 1)) @ v[:, 1:, :]

    agree(attention, data(3, 12, 9), data(3, 14, 9, seed=1), data(3, 15, 8, seed=2))
    assert [nest.tier for nest in plan_of(attention).nests].count("library") == 2

    @loopbook.native
    def loops(A, B, C):
        for i in range(A.shape[0]):
            for j in range(B.shape[0]):
                for k in range(A.shape[1]):
                    C[i, j] += A[i, k] * B[j, k]

    A, B, C = data(12, 9), data(14, 9, seed=1), data(12, 14, seed=2)
    expected = C + A @ B.T
    loops(A, B, C)
    np.testing.assert_allclose(C, expected, rtol=1e-12)
    assert [nest.tier for nest in plan_of(loops).nests] == ["library"]


def test_small_products_are_no_calls_nor_any_without_a_fast_library(monkeypatch):
    blas_is(monkeypatch)

    def matmul(A, B):
        return A @ B

    product = loopbook.native(matmul)
    agree(product, data(3, 4), data(4, 5))
    assert "library" not in [nest.tier for nest in plan_of(product).nests]
    blas_is(monkeypatch, tuned=False)
    product = loopbook.native(matmul)
    agree(product, data(20, 21), data(21, 22))
    assert "library" not in [nest.tier for nest in plan_of(product).nests]


def folded(x, rows):
    return x.reshape(rows, -1).sum(axis=0)


def test_what_runs_at_no_small_size_is_compared_in_its_first_call(monkeypatch):
    compared = []

    def check(*args: Any) -> tuple[Any, str]:
        compared.append(args)
        return (np.zeros(4), "made up") if len(compared) > 1 else first(*args)

    first = dispatch.check
    monkeypatch.setattr(dispatch, "check", check)
    program = loopbook.native(folded)
    x = data(100)
    for _ in range(2):  # 100 elements in 25 rows; no small size is 25 times another one
        agree(program, x, 25)
    assert len(compared) == 1

    program = loopbook.native(folded)  # were it wrong
    with pytest.warns(InterpretedWarning, match="other numbers: made up"):
        program(x, 25)
    agree(program, x, 25)
    assert len(compared) == 2
    agree(loopbook.native(softmax.func), data(5, 7))
    assert len(compared) == 2


def test_tanh_is_numpys_wherever_it_is_asked_for():
    def activated(x):
        return np.tanh(x)

    program = loopbook.native(activated, strict=True)
    spread = np.concatenate([np.linspace(-30, 30, 4001), np.logspace(-300, 2, 500)])
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 0.625, -0.6249999, 1e300]
    for dtype, precision in ((np.float64, 1e-15), (np.float32, 5e-7)):
        with np.errstate(all="ignore"):
            x = np.concatenate([spread, special]).astype(dtype)
            got, want = program(x), activated(x)
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=precision, atol=float(np.finfo(dtype).tiny))
        zero = len(spread) + 1
        assert np.signbit(got[zero])


def test_hypot_and_the_size_of_complex_numbers_are_numpys_wherever_they_are_asked_for():
    def sizes(x, y, z):
        return np.hypot(x, y), np.abs(z)

    program: Any = loopbook.native(sizes, strict=True)
    rng = np.random.default_rng(3)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, 5e-324, 1.7e308, -3e-200, 4e200]
    first, second = (a.ravel() for a in np.meshgrid(special, special))
    wide = np.exp(rng.uniform(-700, 700, (2, 300))), np.exp(rng.uniform(-3, 3, (2, 300)))
    whole = rng.integers(-3000, 3000, (2, 300)).astype(float)
    x, y = (np.concatenate(a) for a in zip((first, second), *wide, whole, strict=True))
    z = np.empty(len(x), complex)
    z.real, z.imag = x, y
    with np.errstate(all="ignore"):
        for got, want in zip(program(x, y, z), sizes(x, y, z), strict=True):
            np.testing.assert_array_max_ulp(got, want, 2)
    triples = np.array([[3.0, 5, 8, 20, 119], [4, 12, 15, 21, 120]])
    got, _ = program(*triples, triples[0] + 1j * triples[1])
    assert got.tolist() == [5, 13, 17, 29, 169], "what is compared with a radius"


def test_arctan2_is_numpys_wherever_it_is_asked_for():
    def angles(y, x):
        return np.arctan2(y, x)

    program = loopbook.native(angles, strict=True)
    rng = np.random.default_rng(4)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 5e-324, -1.7e308, 3e-200]
    first, second = (a.ravel() for a in np.meshgrid(special, special))
    wide = np.exp(rng.uniform(-300, 300, (2, 300)))
    near = rng.uniform(-3, 3, (2, 3000))
    y, x = (np.concatenate(a) for a in zip((first, second), wide, near, strict=True))
    with np.errstate(all="ignore"):
        got, want = program(y, x), angles(y, x)
    np.testing.assert_array_max_ulp(got, want, 3)
    assert (np.signbit(got) == np.signbit(want))[~np.isnan(want)].all()


def test_sums_in_a_loop_over_time_go_along_memory():
    """docc would read the columns of ``A``, one after the other."""

    def descend(A, B, b, x, steps):
        for _ in range(steps):
            x = x - 0.01 * (A.T @ (B @ x - b))
        return x

    program = loopbook.native(descend, strict=True)
    agree(program, data(40, 30), data(40, 30), data(40), data(30), 3)
    assert program.plan is not None
    (found,) = [nest for nest in plan_of(program).nests if len(nest.loops) > 2]
    assert (found.tier, found.recipe[:11]) == ("order", "interchange")


def test_columns_are_gone_along_as_they_lie_in_memory():
    """The statements of a loop along the last axis have loops of their own over the others."""

    def solved(a, c, d, x):
        for k in range(1, d.shape[2]):
            d[:, :, k] = (d[:, :, k] - a[:, :, k] * d[:, :, k - 1]) / (2.0 + c[:, :, k - 1])
            c[:, :, k] = c[:, :, k] / (2.0 + a[:, :, k] * c[:, :, k - 1])
        for k in range(1, d.shape[2]):
            x[k, :, :] = x[k - 1, :, :] + d[:, :, 0]
            d[:, :, 0] = 0.5 * x[k, :, :]
        return d.sum()

    program = loopbook.native(solved, strict=True)
    agree(program, *(data(9, 18, 7) for _ in range(3)), data(7, 9, 18))
    columns, planes, *_ = plan_of(program).nests
    assert columns.tier == "order"
    steps = "fuse L1 L3;fuse L2 L4;tile L2 16;interchange L0 L1;interchange L0 L2.tile"
    assert columns.recipe.splitlines() == steps.split(";")
    assert planes.tier != "order"


def test_places_in_columns_are_looked_for_row_by_row():
    """What is loaded and stored again for each column is one line, not two."""

    def best(A, B, P, steps):
        for t in range(1, steps):
            s = B[t - 1][:, None] + A
            P[t] = np.argmax(s, axis=0)
            B[t] = np.max(s, axis=0)

    program = loopbook.native(best, strict=True)
    own, python = ([data(20, 20), data(9, 20), np.zeros((9, 20), np.int64), 9] for _ in range(2))
    program(*own)
    best(*python)
    np.testing.assert_array_equal(own[2], python[2])
    np.testing.assert_allclose(own[1], python[1])
    report = max(plan_of(program).nests, key=lambda one: len(one.loops))
    assert (report.tier, report.recipe.count("interchange")) == ("order", 2)


def halves(A, B, C):
    t = np.empty(C.shape[1])
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[:i, j] += B[i, j] * A[i, :i]
            t[j] = B[:i, j] @ A[i, :i]
        C[i, :] += 2.0 * t
    return C.sum()


def test_sums_of_columns_are_made_row_by_row():
    """Each of them is a scalar, and the loops around hold more."""
    program = loopbook.native(halves, strict=True)
    agree(program, data(20, 20), data(20, 18), data(20, 18))
    first, *_ = plan_of(program).nests
    assert first.tier == "order"
    steps = "interchange L1 L2;expand L3;distribute L3;interchange L3.part1 L4"
    assert first.recipe.splitlines() == steps.split(";")


def test_both_halves_of_a_symmetric_product_are_called(monkeypatch):
    """One of them is gathered in a row."""
    blas_is(monkeypatch)
    program = loopbook.native(halves, strict=True)
    agree(program, data(90, 90), data(90, 130), data(90, 130))
    first, *_ = plan_of(program).nests
    assert first.tier == "library"
    assert first.recipe.count("library") == 2


def test_what_is_not_called_goes_along_memory_beside_a_call(monkeypatch):
    """The row is not set from end to end, so each row cannot have one of its own."""

    def most(A, B, C):
        t = np.zeros(C.shape[1])
        for i in range(C.shape[0]):
            for j in range(1, C.shape[1]):
                C[:i, j] += B[i, j] * A[i, :i]
                t[j] = B[:i, j] @ A[i, :i]
            C[i, :] += 2.0 * t
        return C.sum()

    blas_is(monkeypatch)
    program = loopbook.native(most, strict=True)
    agree(program, data(90, 90), data(90, 130), data(90, 130))
    first = next(one for one in plan_of(program).nests if len(one.loops) > 2)
    assert first.tier == "library"
    ordered = "library L0;expand L3;distribute L3;interchange L3.part1 L4"
    assert first.recipe.splitlines()[-4:] == ordered.split(";")


def test_calls_are_not_given_up_for_another_order(monkeypatch):
    blas_is(monkeypatch)

    def below(A, B):
        for i in range(B.shape[0]):
            for j in range(B.shape[1]):
                B[i, j] += A[i + 1 :, i] @ B[i + 1 :, j]
        return B.sum()

    program = loopbook.native(below, strict=True)
    agree(program, data(200, 200), data(200, 240))
    first, *_ = plan_of(program).nests
    assert first.tier == "library"
    assert "library" in first.recipe


def test_a_product_with_a_computed_matrix_is_a_call(monkeypatch):
    blas_is(monkeypatch)

    @loopbook.native(strict=True)
    def gated(x, gate, w):
        return (x * gate) @ w

    agree(gated, data(12, 20), data(12, 20), data(20, 16))
    assert gated.plan is not None
    assert "library" in [nest.tier for nest in plan_of(gated).nests]
