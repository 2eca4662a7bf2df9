"""What ``@loopbook.native`` does with arguments and functions that compiled code cannot take."""

from __future__ import annotations

import functools
import math
import os
import signal
import threading
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopbook
from loopbook import alarm
from loopbook.alarm import limited
from loopbook.client import native as native_module
from loopbook.client.variants import cases, translations
from loopbook.errors import CompilerError, InterpretedWarning, SdfgError, WrongResultError

pytestmark = pytest.mark.usefixtures("no_book")

FACTOR = 2.0


@loopbook.native
def scaled(a, n=2):
    total = 0.0
    for i in range(a.shape[0]):
        a[i] = a[i] * n
        total += a[i]
    return total


def line() -> np.ndarray:
    return np.arange(1.0, 6.0)


def quietly(program: Any, *args: Any, **named: Any) -> Any:
    """A call that must not run as Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", InterpretedWarning)
        return program(*args, **named)


def test_defaults_and_names():
    for args, named in (((), {}), ((3,), {}), ((), {"n": 4}), ((), {"n": 2.5})):
        mine, theirs = line(), line()
        got, want = quietly(scaled, mine, *args, **named), scaled.func(theirs, *args, **named)
        np.testing.assert_allclose(mine, theirs)
        np.testing.assert_allclose(got, want)
        assert type(got) is type(want)
    array = line()
    assert quietly(scaled, n=3, a=array) == 45.0


def test_the_wrong_number_of_arguments_is_python_s_own_error():
    called: Any = scaled  # what a type checker would not let pass
    for args, named in (((), {}), ((line(), 1, 2), {}), ((line(),), {"m": 1})):
        with pytest.raises(TypeError) as ours:
            called(*args, **named)
        with pytest.raises(TypeError) as theirs:
            scaled.func(*args, **named)
        assert str(ours.value) == str(theirs.value)


ODD = {
    "a list": lambda: ([1.0, 2.0], 3),
    "a matrix": lambda: (np.matrix([[1.0, 2.0]]), 3),
    "a masked array": lambda: (np.ma.masked_less(line(), 3.0), 3),
    "other byte order": lambda: (line().astype(">f8"), 3),
    "half precision": lambda: (line().astype(np.float16), 3),
    "complex": lambda: (line().astype(complex), 3),
    "objects": lambda: (line().astype(object), 3),
    "small integers": lambda: (np.arange(5, dtype=np.int8), 3),
    "no dimensions": lambda: (np.array(1.0), 3),
    "unaligned": lambda: (np.frombuffer(bytearray(41), np.float64, 5, 1), 3),
    "read-only": lambda: (np.broadcast_to(1.0, (3,)), 3),
    "empty": lambda: (line()[:0], 3),
    "None": lambda: (None, 3),
    "a large integer": lambda: (line().astype(object), 2**70),
    "a complex number": lambda: (line(), 1j),
}


@pytest.mark.parametrize("make", ODD.values(), ids=ODD)
def test_odd_arguments_are_python_s(make):
    (mine, n), (theirs, _) = make(), make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got, want = outcome(scaled, mine, n), outcome(scaled.func, theirs, n)
    assert repr(got) == repr(want)
    assert repr(mine) == repr(theirs)


def outcome(function: Any, *args: Any) -> Any:
    try:
        return function(*args)
    except Exception as error:
        return error


@pytest.mark.filterwarnings("ignore::loopbook.errors.InterpretedWarning")
def test_types_are_told_apart():
    called: Any = scaled
    for n in (3, 3.5, np.float32(3.5), np.int64(3), True):  # docc refuses True
        mine, theirs = line(), line()
        got, want = called(mine, n), called.func(theirs, n)
        np.testing.assert_allclose(mine, theirs)
        assert got == want
    whole = np.arange(5)
    assert quietly(scaled, whole, 3) == 30
    np.testing.assert_array_equal(whole, np.arange(5) * 3)


def test_the_short_way_looks_at_values_too():
    """Only types and shapes are remembered; what they do not say is asked each time."""
    quietly(scaled, line(), 3)
    with pytest.warns(InterpretedWarning, match="more than 64 bits"):
        assert scaled(line(), 2**70) == 15.0 * 2**70


@loopbook.native
def pair(a, b):
    return a * 2.0 + b, np.sum(a)


def test_what_is_returned_is_what_numpy_returns():
    for shape in ((3, 4), (5,)):
        a, b = np.random.default_rng(0).random((2, *shape))
        got, want = quietly(pair, a, b), pair.func(a, b)
        assert type(got) is tuple
        for one, other in zip(got, want, strict=True):
            np.testing.assert_allclose(one, other)
            assert (type(one), one.dtype, one.shape) == (type(other), other.dtype, other.shape)


def test_one_warning_for_each_reason():
    program = loopbook.native(scaled.func)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(3):
            program(line()[:0])
            program(line().astype(np.float16))
    assert ["empty" in str(w.message) for w in said] == [True, False]
    assert {w.category for w in said} == {InterpretedWarning}
    assert {w.filename for w in said} == {__file__}


def test_strict_raises_instead():
    program = loopbook.native(scaled.func, strict=True)
    with pytest.raises(SdfgError, match="scaled would run as Python: a is empty"):
        program(line()[:0])
    with pytest.raises(SdfgError, match="the attribute tobytes of an array"):
        loopbook.native(unread, strict=True)(line())


def unread(a):
    return a.tobytes()


def test_what_docc_cannot_parse_runs_as_python():
    with pytest.warns(InterpretedWarning, match="the attribute tobytes of an array"):
        assert loopbook.native(unread)(line()) == line().tobytes()


def test_one_case_that_does_not_compile_leaves_the_others_alone(monkeypatch):
    program = loopbook.native(scaled.func)

    def failing(*args: Any) -> None:
        raise CompilerError("made to fail")

    with monkeypatch.context() as patch:
        patch.setattr(native_module, "compile_text", failing)
        with pytest.warns(InterpretedWarning, match="made to fail"):
            assert program(line()) == 30.0
    assert quietly(program, line(), 2.5) == 37.5
    assert program(line()) == 30.0


# -- values from outside --------------------------------------------------------------------------


@loopbook.native
def by_factor(a):
    for i in range(a.shape[0]):
        a[i] = a[i] * FACTOR


def test_a_global_that_changes(monkeypatch):
    for factor in (2.0, 3.0, 2.0, 4):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        mine = line()
        quietly(by_factor, mine)
        np.testing.assert_allclose(mine, line() * factor)


def test_a_closure_that_changes():
    step = 1.0

    @loopbook.native
    def raised(a):
        for i in range(a.shape[0]):
            a[i] = a[i] + step

    for step in (1.0, 5.0):
        mine = line()
        quietly(raised, mine)
        np.testing.assert_allclose(mine, line() + step)


def test_an_array_from_outside_is_read_as_it_is_at_each_call():
    table = line()

    @loopbook.native
    def added(a):
        for i in range(a.shape[0]):
            a[i] = a[i] + table[i]

    quietly(added, mine := line())
    np.testing.assert_allclose(mine, 2 * line())
    quietly(added, mine)
    table[:] = 1.0
    quietly(added, mine)
    np.testing.assert_allclose(mine, 3 * line() + 1.0)
    with pytest.warns(InterpretedWarning, match="an array that it reads from outside as well"):
        added(table)
    np.testing.assert_allclose(table, 2.0)


def test_a_large_array_from_outside_is_python_s():
    table = np.ones(5000)

    @loopbook.native
    def added(a):
        for i in range(a.shape[0]):
            a[i] = a[i] + table[i]

    with pytest.warns(InterpretedWarning, match="reads the array table from outside"):
        added(mine := line())
    np.testing.assert_allclose(mine, line() + 1.0)


# -- check ----------------------------------------------------------------------------------------


def halves(a):
    for i in range(a.shape[0]):
        a[i] = a[i] / 2.0


def test_check_gives_python_s_numbers_and_says_who_is_wrong(monkeypatch):
    """A library built of another text halves where it should not."""
    program = loopbook.native(halves, check=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", InterpretedWarning)
        program(right := line())
        program(right)
    np.testing.assert_allclose(right, line() / 4)
    compile_text = native_module.compile_text

    def other(text: str, *args: Any) -> Any:
        assert '"data":"2.0"' in text.replace(" ", "")
        return compile_text(text.replace('"2.0"', '"8.0"'), *args)

    monkeypatch.setattr(native_module, "compile_text", other)
    single = np.full(5, 4.0, np.float32)
    with pytest.warns(InterpretedWarning, match="so this is a mistake of its or our schedule"):
        program(single)
    program(single)
    np.testing.assert_allclose(single, np.ones(5))
    strict = loopbook.native(halves, check=True, strict=True)
    with pytest.raises(WrongResultError, match="other numbers"):
        strict(np.full(5, 4.0, np.float32))


def test_check_says_where_docc_is_wrong(monkeypatch):
    """It does not count indices from the end that data have negative, where it is given a function
    as it is."""
    monkeypatch.setattr(translations, "translated", lambda *_, **__: None)

    @loopbook.native(check=True)
    def from_the_end(a, places, b):
        for i in range(b.shape[0]):
            b[i] = a[places[i]]

    around, places = np.arange(20.0), np.array([-3, -2, -1, 0])
    with pytest.warns(InterpretedWarning, match="docc is wrong here"):
        from_the_end(around[8:12], places, out := np.zeros(4))
    np.testing.assert_allclose(out, [9.0, 10.0, 11.0, 8.0])


# -- processes and threads ------------------------------------------------------------------------


def test_threads_that_call_it_for_the_first_time():
    program = loopbook.native(scaled.func)
    arrays = [line() for _ in range(6)]
    threads = [threading.Thread(target=program, args=(a,)) for a in arrays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for array in arrays:
        np.testing.assert_allclose(array, 2 * line())


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    program = loopbook.native(scaled.func)
    quietly(program, line())
    assert not list(tmp_path.glob(f"loopbook-of-{os.getpid()}-*"))
    assert program.last is not None
    assert not Path(program.last.lib_path).exists()
    kept = program.compile(line(), 3, output_folder=tmp_path / "kept")
    assert Path(kept.lib_path).is_relative_to(tmp_path / "kept")
    assert kept(line(), 3) == 45.0
    with pytest.raises(SdfgError, match="compiled for arguments of other types"):
        kept(line(), 3.0)


# -- the function itself --------------------------------------------------------------------------


def test_an_argument_that_is_returned_is_that_argument():
    @loopbook.native
    def both(a, b):
        for i in range(a.shape[0]):
            b[i] = 2.0 * a[i]
        return b, a[0]

    for out in (np.zeros(5), np.zeros(10)[::2]):
        same, first = quietly(both, line(), out)
        assert same is out
        assert first == 1.0


def test_a_decorator_between_is_not_skipped():
    @functools.wraps(halves)
    def twice(a):
        halves(a)
        halves(a)

    with pytest.warns(InterpretedWarning, match="a decorator is between"):
        loopbook.native(twice)(mine := line())
    np.testing.assert_allclose(mine, line() / 4)


def test_source_that_has_changed_is_not_compiled(tmp_path):
    path = tmp_path / "changing.py"
    text = "def kernel(a):\n    for i in range(a.shape[0]):\n        a[i] = a[i] * 2.0\n"
    path.write_text(text)
    scope: dict[str, Any] = {}
    exec(compile(text, str(path), "exec"), scope)
    path.write_text(text.replace("2.0", "7.0"))
    with pytest.warns(InterpretedWarning, match="its source is not what runs"):
        loopbook.native(scope["kernel"])(mine := line())
    np.testing.assert_allclose(mine, line() * 2)


def test_a_forked_child_compiles_while_another_thread_did(tmp_path):
    """What that thread held is not held in the child."""
    program = loopbook.native(scaled.func)
    with cases.compiling():
        child = os.fork()
        if not child:
            thread = threading.Thread(target=lambda: program(line()))
            thread.start()
            thread.join(600)
            os._exit(0 if not thread.is_alive() and program.last is not None else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_function_that_calls_itself():
    @loopbook.native
    def factorial(n):
        if n < 2:
            return 1
        return n * factorial(n - 1)

    assert quietly(factorial, 5) == 120  # written out
    with pytest.warns(InterpretedWarning):
        assert factorial(25) == math.factorial(25)


def test_nothing_is_compiled_while_python_is_timed():
    program = loopbook.native(scaled.func)
    with limited(60.0):
        assert program(line(), 2.5) == 37.5
    assert program.last is None


def test_an_alarm_is_none_where_its_block_ends():
    code = compile("signal.raise_signal(signal.SIGALRM)", alarm.__file__, "exec")
    with limited(60.0):
        exec(code, {"signal": signal})  # as if it went off there
        with pytest.raises(alarm.TooLong):
            signal.raise_signal(signal.SIGALRM)
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL


def test_somebody_elses_alarm_goes_off_when_it_was_to():
    """Those who limit a test's time set one, and are no reason to compare nothing."""
    rung = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(time.monotonic()))
    try:
        due = time.monotonic() + 2.0
        signal.setitimer(signal.ITIMER_REAL, 2.0)
        with limited(0.05) as can, pytest.raises(alarm.TooLong):
            time.sleep(1.0)
        assert can
        with limited(60.0) as can:
            assert not can
        assert not rung
        while not rung:
            signal.pause()
        assert due - 0.01 < rung[0] < due + 0.5
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_an_alarm_that_was_lost_comes_again(monkeypatch):
    monkeypatch.setattr(alarm, "AGAIN", 0.01)

    def waits_on():
        with suppress(alarm.TooLong):
            time.sleep(60.0)
        time.sleep(60.0)

    with limited(0.01), pytest.raises(alarm.TooLong):
        waits_on()


def test_the_number_of_cases_is_limited(monkeypatch):
    for module in (cases, translations):
        monkeypatch.setattr(module, "MAX_VARIANTS", 1)
    program = loopbook.native(scaled.func)
    quietly(program, line())
    with pytest.warns(InterpretedWarning, match="more than 1 kinds of arguments"):
        assert program(line(), 2.5) == 37.5
    quietly(program, line())


def test_a_function_that_it_calls_and_what_that_reads(monkeypatch):
    @loopbook.native
    def through_helper(a):
        for i in range(a.shape[0]):
            a[i] = factor_times(a[i])

    for factor in (2.0, 5.0):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        mine = line()
        through_helper(mine)
        np.testing.assert_allclose(mine, line() * factor)


def factor_times(x):
    return x * FACTOR
