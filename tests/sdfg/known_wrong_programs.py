"""Small programs: what docc gets wrong and we mend, what is refused, and what has to stay."""

from __future__ import annotations

import math

import numpy as np

MENDED: dict = {}
LATER: list[str] = []
REFUSED: dict = {}
KEPT: dict = {}

SIZE = 3
limit = 2.5


def floats(n=6):
    return np.array([1.5, -2.25, 3.0, -0.5, 7.125, 2.0, 0.25, -9.0])[:n].copy()


def whole(n=6):
    return np.array([5, -7, 3, -2, 9, -12, 0, 4])[:n].copy()


def zeros(shape: int | tuple[int, ...] = 6):
    return np.zeros(shape)


def counts(n=6):
    return np.zeros(n, np.int64)


def narrow_zeros(n=6):
    return np.zeros(n, np.int32)


def matrix(n=5, m=5):
    return (np.arange(n * m, dtype=float).reshape(n, m) * 1.37) % 3.1


def mended(*makers):
    def enter(func):
        MENDED[func.__name__] = (func, lambda: [_made(maker) for maker in makers])
        return func

    return enter


def mended_later(*makers):
    """What only shows in what docc makes of it."""

    def enter(func):
        LATER.append(func.__name__)
        return mended(*makers)(func)

    return enter


def refused(words, *makers):
    def enter(func):
        REFUSED[func.__name__] = (func, lambda: [_made(maker) for maker in makers], words)
        return func

    return enter


def kept(*makers):
    def enter(func):
        KEPT[func.__name__] = (func, lambda: [_made(maker) for maker in makers])
        return func

    return enter


def _made(maker):
    return maker() if callable(maker) else maker


# -- names ---------------------------------------------------------------------------------------


@mended(floats, zeros)
def argument_called_out(a, out):
    for i in range(a.shape[0]):
        out[i] = a[i]


@mended(floats, zeros)
def loop_called_e(a, res):
    for e in range(a.shape[0]):
        res[e] = a[e] + e


@mended(floats, zeros)
def words_of_cpp(new, res):
    double = 0.5
    exp = 0.0
    for int64_t in range(new.shape[0]):
        max = new[int64_t]
        exp = math.exp(-max * max) + exp * double
        res[int64_t] = exp


# -- whole numbers --------------------------------------------------------------------------------


@mended(whole, counts)
def floor_division(a, res):
    for i in range(a.shape[0]):
        res[i] = a[i] // 3


@mended(whole, lambda: np.array([2, -2, 0, 3, -5, 1]), counts)
def division_by_zero(a, b, res):
    for i in range(a.shape[0]):
        res[i] = a[i] // b[i] + 10 * (a[i] % b[i])


@mended(
    lambda: np.array([-(2**63), -(2**63), 7, 2**62, -(2**63) + 5]),
    lambda: np.array([-1, 3, -1, 0, 1]),
    lambda: counts(5),
    lambda: counts(5),
)
def least_number_divided(a, b, quotients, rests):
    for i in range(a.shape[0]):
        if b[i] < 2:
            quotients[i] = a[i] // b[i]
        rests[i] = a[i] % b[i]


@kept(whole, lambda: np.array([2, -2, 5, 3, -5, 1]), counts)
def quotients_rounded_by_themselves(a, b, res):
    for i in range(a.shape[0]):
        x = a[i]
        y = b[i]
        res[i] = (x ^ x >> 63) // 7 ^ x >> 63
        if y != 0:
            q = x // y
            r = x - q * y
            s = q + (((r | 0 - r) & (r ^ y)) >> 63)
            res[i] += s + (x - x % y) // y + x % y


@mended(whole, counts)
def floor_division_in_place(a, res):
    for i in range(a.shape[0]):
        res[i] = a[i]
        res[i] //= 4


@mended_later(floats, matrix, zeros)
def first_value_beside_a_loop_that_counts(c, A, res):
    t = 1.0
    k = 0
    for i in range(0, res.shape[0], 2):  # noqa: B007
        k += 1  # noqa: SIM113
    for i in range(1, 5):
        res[i] = t + A[i, i]
        c[i] = A[i, i] if c[i] > 0.25 else 0.5
        t *= 0.5


@mended_later(whole, counts)
def shift_right(a, res):
    half = -a.shape[0] >> 1
    for i in range(a.shape[0]):
        t = a[i] >> 2
        res[i] = t + (t >> i) + 100 * half


@mended(floats, zeros)
def float_remainder(a, res):
    for i in range(a.shape[0]):
        res[i] = a[i] % 1.25 - 1e-20 % 1.0


@refused("does not round a quotient of floats", floats, zeros)
def float_floor_division(a, res):
    for i in range(a.shape[0]):
        res[i] = a[i] // 1.25


@refused("rounds a remainder", floats, floats, zeros)
def float_remainder_of_data(a, b, res):
    for i in range(a.shape[0]):
        res[i] = a[i] % b[i]


@mended(lambda: whole(1), lambda: counts(1))
def bits_of_a_single_count(a, res):
    for i in range(a.shape[0]):
        res[i] = a[i] ^ i


@mended(lambda: whole(1), lambda: counts(1))
def bits_of_what_a_single_count_gives(a, res):
    n = a.shape[0] + 3
    for i in range(3, n):
        j = i * 2
        for k in range(i - 1, i):
            res[i - 3] = res[i - 3] + (a[k - 2] ^ (j + k))


@mended(lambda: np.ones((1, 5)), lambda: zeros(5))
def float_of_a_single_count(a, res):
    for i in range(a.shape[0]):
        k = i
        for j in range(a.shape[1]):
            res[j] += a[i, j] + 0.5 * i - k


@mended(lambda: np.ones((1, 1)), lambda: zeros(1))
def extent_of_one_row(a, res):
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            res[j] += a[i, n - 1 - j]


@kept(lambda: whole(1), lambda: counts(1))
def a_single_count_compared(a, res):
    for i in range(a.shape[0]):
        if (i < 1) | (a[i] > 2):
            res[i] = 1


@kept(lambda: whole(1), lambda: counts(1))
def bits_beside_a_single_count(a, res):
    for i in range(a.shape[0]):
        res[i] = a[i] + i
    for k in range(res.shape[0] + 5):
        res[0] = res[0] ^ k


@kept(whole, counts)
def bits_of_counts(a, res):
    for i in range(a.shape[0]):
        res[i] = a[i] ^ i


# -- truth ----------------------------------------------------------------------------------------


@mended(lambda: np.array([0, 1, 2, 3]), lambda: zeros(4))
def not_of_a_number(a, res):
    for i in range(a.shape[0]):
        if not a[i]:
            res[i] = 1.0
        else:
            res[i] = 2.0


@mended(lambda: zeros(8))
def chained_comparison(res):
    for i in range(8):
        if 1 < i <= 5:
            res[i] = 1.0


@refused("makes a truth value of 'or'", whole, counts)
def or_of_numbers(a, res):
    for i in range(a.shape[0]):
        res[i] = a[i] or 5


@refused("adds truth values", floats, counts)
def sum_of_comparisons(a, res):
    for i in range(a.shape[0]):
        res[i] = (a[i] > 0.0) + (a[i] > 1.0)


@refused("equal to itself", floats, zeros)
def test_for_nan(a, res):
    for i in range(a.shape[0]):
        x = a[i]
        if x != x:
            res[i] = 1.0


test_for_nan.__test__ = False


@refused("compares the NaN", lambda: np.array([1.0, np.nan]), lambda: zeros(2))
def minimum_with_nan(a, res):
    for i in range(a.shape[0]):
        res[i] = min(a[i], 0.5)


@mended(whole, zeros)
def chosen_by_a_whole_number(a, res):
    for i in range(a.shape[0]):
        res[i] = (0.5 if a[i] > 0 else 1.5) + (i if a[i] > 4 else 0.25)


# -- assignments ----------------------------------------------------------------------------------


@mended(floats, zeros)
def fibonacci(a, res):
    x = a[0]
    y = a[1]
    for i in range(res.shape[0]):
        res[i] = x
        x, y = y, x + y


@mended(floats)
def swapped_elements(a):
    a[0], a[1] = a[1], a[0]


@mended(floats, zeros)
def sum_from_whole_zero(a, res):
    s = 0
    for i in range(a.shape[0]):
        s += a[i]
    res[0] = s


@mended(floats, zeros)
def types_of_two_branches(a, res):
    for i in range(a.shape[0]):
        if a[i] > 0:
            x = 1
            res[0] += a[i]
        else:
            x = 0.5
        res[i] += x


@mended(floats)
def types_of_two_results(a):
    if a[0] > 100.0:
        return 0
    return a[0]


@mended(floats)
def annotated(a: np.ndarray) -> int:
    s: float = 0.5
    for i in range(a.shape[0]):
        s += a[i]
    return s  # pyright: ignore[reportReturnType]


@refused("keeps the first type", whole, counts)
def whole_then_float(a, res):
    last = a.shape[0] - 1
    res[last] = a[last]
    last = 0.5


@refused("keeps the first type", floats, 7)
def argument_made_a_float(a, n):
    n = n * 0.5
    a[0] = n


@refused("tuple of arrays", floats, floats)
def swapped_arrays(a, b):
    a, b = b, a
    a[0] = 1.0


@refused("returns something", floats)
def sometimes_no_result(a):
    if a[0] > 0.0:
        return 1.0
    a[0] = 2.0
    return None


# -- loops ----------------------------------------------------------------------------------------


@mended(zeros)
def loop_variable_afterwards(res):
    for i in range(4):
        res[i] = 1.0
    res[5] = i


@mended(zeros)
def loop_variable_changed(res):
    for i in range(5):
        res[i] += 1.0
        i = i + 1
        res[i] += 2.0


@mended(zeros)
def one_variable_for_two_loops(res):
    for i in range(3):
        for i in range(2):
            res[i] += 1.0


@mended(zeros)
def step_down_that_does_not_divide(res):
    for i in range(res.shape[0] - 1, 0, -3):
        res[i] = i


@mended(zeros)
def step_up_between_numbers(res):
    for i in range(0, 6, 4):
        res[i] = i + 1


@mended(floats, zeros)
def break_in_an_inner_loop(a, res):
    for i in range(3):
        for j in range(6):
            if a[j] > 2.0:
                break
            res[j] += a[j] * i


@mended(floats, zeros)
def break_in_front_of_another_loop(a, res):
    for i in range(a.shape[0]):
        if a[i] < -1.0:
            break
        a[i] += 1.0
    for j in range(a.shape[0]):
        res[j] = 2.0 * a[j]


@mended(whole(1), whole)
def break_in_a_loop_that_runs_once(a, res):
    for i in range(a.shape[0]):
        if a[i] > 7:
            break
        res[i] += 2


@mended(floats, zeros)
def break_behind_another_loop(a, res):
    for j in range(a.shape[0]):
        res[j] = 2.0 * a[j]
    for i in range(a.shape[0]):
        if a[i] < -1.0:
            break
        a[i] += 1.0


@mended(floats, zeros)
def continue_in_front_of_another_loop(a, res):
    for i in range(a.shape[0]):
        if a[i] < 1.0:
            if a[i] < 0.0:
                continue
            res[i] = 3.0
        a[i] += 3.0
    for j in range(a.shape[0]):
        res[j] += 2.0 * a[j]


@mended(floats, zeros)
def break_in_a_loop_that_counts_down(a, res):
    for i in range(a.shape[0]):
        res[i] = 1.0
    for j in range(a.shape[0] - 1, -1, -1):
        if a[j] > 5.0:
            break
        res[j] += a[j]


@mended(floats, counts)
def update_that_both_branches_end_in(a, seen):
    i = 0
    while i < a.shape[0]:
        if a[i] < 0.0:
            seen[i] = 1
            i += 1
        elif a[i] > 2.0:
            seen[i] = 2
            i += 1
        else:
            i += 1
    seen[0] += i


@refused("counts upwards", zeros, 2)
def step_from_an_argument(res, step):
    for i in range(0, 6, step):
        res[i] = 1.0


@refused("asks for 'n' again", zeros, 5)
def bound_changed_inside(res, n):
    for i in range(n):
        n = n - 1
        res[i] += 1.0


@mended_later(matrix, lambda: floats(5), lambda: zeros(5))
def sum_after_another_update(a, x, y):
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            y[j] += a[i, j] * x[i]
            s += a[i, j] * x[j]
        y[i] += s


@mended_later(floats, zeros)
def two_sums_by_way_of_others(a, res):
    s = 1.5
    t = 1
    for i in range(a.shape[0]):
        p = s + a[i]
        q = t + 2
        s = p
        t = q
    res[0] = s
    res[1] = t


@mended_later(floats, zeros)
def first_value_in_some_places(a, res):
    p = 0.5
    q = 0.25
    for i in range(1, a.shape[0]):
        v = a[i - 1]
        p = p + 0.1 * (v * (1.0 - p))
        q = q + 0.1 * (v * (1.0 - q))
        a[i] = v + p * p * p * q
    res[0] = a[5]


@mended(floats, zeros)
def element_copied_before_a_loop_changes_it(a, res):
    res[0] = a[0]
    for i in range(a.shape[0]):
        a[i] = a[i] + 1.5
    res[1] = res[0] * 2.0


@mended(floats, zeros)
def count_that_starts_again(a, res):
    count = 0
    longest = 0
    for i in range(a.shape[0]):
        if a[i] < 0.0:
            count = 0
        count = count + 1
        if count > longest:
            longest = count
    res[0] = longest
    res[1] = count


@mended(floats, zeros)
def value_read_in_the_other_branch(a, res):
    s = 1.0
    for i in range(a.shape[0]):
        if a[i] > 0.0:
            s = s * 2.0
        else:
            res[0] = res[0] - s
    res[1] = s


@mended(floats, zeros)
def value_read_before_a_branch_sets_it(a, res):
    t = 0.25
    s = t
    for i in range(a.shape[0]):
        res[0] = res[0] + s
        if a[i] > 0.0:
            s = a[i]


@mended(floats, zeros)
def value_read_before_an_inner_loop_sets_it(a, res):
    t = 0.5
    for i in range(a.shape[0]):
        for j in range(i, a.shape[0]):
            res[j] = t
        for j in range(3):
            t = 0.5 * t + a[j]


@mended(floats, zeros)
def value_read_twice_to_change_it(a, res):
    s = 1.0 / 3.0
    for i in range(a.shape[0]):
        if a[i] > 100.0:
            s += max(s + a[i], 0.0)
        else:
            s += max(s, 0.5)
    res[0] = s


@mended(floats, zeros)
def bisection(a, res):
    low = 0.0
    high = 2.0
    for _ in range(20):
        middle = 0.5 * (low + high)
        if middle * middle > 1.5 + a[0]:
            high = middle
        else:
            low = middle
    res[0] = low


@mended(0.75, 1.5)
def bisection_of_numbers_alone(x, y):
    low = 0.0
    high = x + y
    for _ in range(20):
        middle = 0.5 * (low + high)
        if middle * middle > x:
            high = middle
        else:
            low = middle
    return low


@mended(floats, zeros)
def value_that_one_branch_sets(a, res):
    last = 0.5
    found = False
    for i in range(a.shape[0]):
        if a[i] > 2.5:
            last = a[i]
            found = True
        elif a[i] > 1.75:
            last = 9.0
        res[i] = last
        last = last + 1.0
        if found:
            a[i] = 7.0


@mended(floats, zeros)
def value_that_a_branch_in_a_branch_sets(a, res):
    last = -1
    for i in range(a.shape[0]):
        if a[i] > 2.5:
            last = i
        else:
            if a[i] > 1.75:
                last = 7
            res[i] = last


@mended(floats, zeros)
def value_that_both_branches_may_set(a, res):
    for i in range(a.shape[0]):
        k = 7
        if a[i] < 1.0:
            k = 0
        elif a[i] > 2.5:
            k = 4
        res[i] = k


@mended(floats, zeros)
def value_that_both_branches_may_set_once(a, res):
    k = 7.0
    if a[0] > 1.0:
        for j in range(a.shape[0] - 9):
            k = a[j]
    else:
        if a[1] < -1.0:
            k = 4.0
    res[0] = k


@mended(floats, zeros)
def value_that_a_short_loop_sets(a, res):
    last = 1
    for i in range(a.shape[0]):
        for j in range(i - 2):
            last = j
        last = last + 1
        res[i] = last


@mended(floats, zeros)
def negative_first_value(a, res):
    k = -1
    s = -1.5
    for i in range(a.shape[0]):
        s = s + a[i]
        if a[i] > 2.0:
            k = i
    res[0] = k + s


@mended(counts, lambda: zeros((5, 5)))
def element_that_is_a_count(n, res):
    for i in range(5):
        n[i] = i
    for i in range(5):
        for j in range(5):
            res[i, j] = float(n[j]) + 10.0 * float(n[i])


@mended(zeros, lambda: zeros(5))
def element_computed_of_a_count(x, res):
    for i in range(6):
        x[i] = 0.25 * i + 1.0
    for i in range(5):
        res[i] = x[i + 1] - x[i]


@mended(lambda: counts(5) - 2**60, lambda: counts(5), lambda: zeros((5, 5)))
def larger_of_numbers_from_data(a, n, res):
    for i in range(5):
        t = a[i] // 2
        n[i] = max(t, a[i] - 2)
    for i in range(5):
        for j in range(5):
            res[i, j] = float(n[j]) + 10.0 * float(n[i])


@kept(lambda: counts(5) - 2**60, lambda: np.zeros(5, dtype=np.int64), lambda: zeros((5, 5)))
def numbers_from_data_read_in_two_places(a, n, res):
    for i in range(5):
        t = a[i] - 1
        s = t * 2
        n[i] = s
    for i in range(5):
        for j in range(5):
            res[i, j] = float(n[j]) + 10.0 * float(n[i])


@kept(counts, lambda: zeros((5, 5)))
def count_read_in_one_place(n, res):
    for i in range(5):
        n[i] = i
    for i in range(5):
        for j in range(5):
            res[i, j] = float(n[j])


@kept(matrix, lambda: floats(5), lambda: zeros(5))
def sum_of_its_own(a, x, y):
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j] * x[j]
        y[i] += s


@mended(floats, lambda: floats() + 2.0)
def element_copied_before_it_changes(a, b):
    for i in range(a.shape[0]):
        a[i] = b[i]
        b[i] = a[i] + 1.0


@mended(lambda: floats() > 0, lambda: floats() < 2, zeros)
def flag_copied_before_it_changes(seen, wall, out):
    count = 0.0
    for i in range(seen.shape[0]):
        was = seen[i]
        seen[i] = True
        free = wall[i]
        wall[i] = seen[i] and not was
        if was or free:
            count = count + 1.0
        out[i] = count


@mended(lambda: matrix(9, 2) - 1.5, lambda: matrix(9, 2))
def variables_copied_before_they_change(z, c):
    for _ in range(3):
        for i in range(z.shape[0]):
            x = z[i, 0]
            y = z[i, 1]
            re = x * x - y * y + c[i, 0]
            im = x * y + y * x + c[i, 1]
            z[i, 0] = re
            z[i, 1] = im


@mended(floats, zeros)
def float_copied_before_it_changes(a, res):
    x = 0.5
    y = 0.25
    for i in range(a.shape[0]):
        p = y * 0.9 + a[i]
        old = x
        q = old * 0.5 + p
        r = old - p
        x = q
        y = r
        res[i] = x - y


@mended(floats)
def swapped_by_a_variable(a):
    for i in range(a.shape[0] - 1):
        x = a[i]
        a[i] = a[i + 1]
        a[i + 1] = x


@mended(floats, zeros, lambda: np.arange(6) / 4 - 1, lambda: np.arange(6) / 2 + 1)
def element_stored_twice(a, b, c, d):
    for i in range(1, a.shape[0]):
        b[i] = d[i] - a[i]
        b[i] = c[i - 1]
        a[i] = (c[i] - b[i]) * a[i]


@mended(floats, zeros, lambda: np.arange(6) / 4 - 1, lambda: np.arange(6) / 2 + 1)
def element_stored_twice_and_changed(a, b, c, d):
    for i in range(1, a.shape[0] - 1):
        d[i] = a[i] * c[i]
        d[i] = b[i - 1] + c[i - 1]
        d[i] = c[i - 1]
        d[i] += d[i] * a[i] + 1.0


@refused("converts arrays to the type of 'n', int64", floats, lambda: np.int64(3), zeros)
def numpys_whole_number(a, n, res):
    for i in range(a.shape[0]):
        res[i] = a[i] * n


@mended(zeros)
def greatest_common_divisor(res):
    x = 48
    y = 18
    while y != 0:
        x, y = y, x % y
    res[0] = x


@mended(zeros)
def handed_on_from_a_branch(res):
    for i in range(res.shape[0]):
        x = 48
        y = 18 + i
        while y != 0:
            t = x % y
            x = y
            y = t
        res[i] = x


@mended(floats, zeros)
def changed_by_what_numpy_gives(a, res):
    for i in range(a.shape[0]):
        p = 1.0 / (1.0 + np.exp(-a[i]))
        for j in range(res.shape[0]):
            res[j] += p * a[i]
            res[j] -= np.sqrt(a[j] * a[j])


# -- indices --------------------------------------------------------------------------------------


@mended(floats, zeros)
def index_before_the_first(a, res):
    for i in range(a.shape[0]):
        res[i] = a[i - 1] + a[i - 2]


@mended(lambda: whole().astype(np.int32), lambda: counts().astype(np.int32))
def negative_of_a_narrow_number(a, res):
    for i in range(a.shape[0]):
        res[i] = -a[i] * 2 - -i


@refused("adds up in 64 bits", lambda: whole().astype(np.int32) << 28, narrow_zeros)
def sum_of_narrow_numbers(a, res):
    s = 0
    for i in range(a.shape[0]):
        s += a[i] * 3
        res[i] = s >> 15


@mended(floats, zeros)
def index_with_a_minus(a, res):
    for i in range(1, a.shape[0]):
        res[-i] = a[-i] * 2.0


@mended(floats, zeros)
def index_that_is_nought_with_a_minus(a, res):
    for i in range(a.shape[0]):
        res[i] = a[i] + a[-0]


@mended(lambda: np.full(1, 0.5), lambda: zeros(1))
def single_count_with_a_minus(a, res):
    for i in range(a.shape[0]):
        k = i * 2
        res[-i] = a[i] + k


# -- what is left res -----------------------------------------------------------------------------


@refused("leaves out 'raise'", floats)
def raising(a):
    if a[0] > 1.0:
        raise ValueError("too large")


@refused("leaves out 'assert'", floats)
def asserting(a):
    assert a[0] > 100.0
    a[0] = 1.0


@refused("leaves out 'try'", floats)
def trying(a):
    try:
        a[0] = 1.0
    except ValueError:
        a[0] = 2.0


def first_above(x):
    for k in range(6):
        if k > x:
            return k
    return -1


@refused("goes on with the loop in 'first_above'", floats, zeros)
def return_in_a_called_loop(a, res):
    for i in range(a.shape[0]):
        res[i] = first_above(a[i])


def clipped(x):
    limit = 1.0
    return min(x, limit)


@refused("mixes up 'limit'", floats, zeros)
def global_of_the_same_name(a, res):
    for i in range(a.shape[0]):
        res[i] = clipped(a[i]) + limit


TABLE = np.zeros(6)


@refused("writes to a copy of the global array", floats)
def global_array_written(a):
    for i in range(a.shape[0]):
        TABLE[i] = a[i]


# -- arrays ---------------------------------------------------------------------------------------


@refused("loses the transpose", matrix, matrix)
def transposed_left(a, b):
    return a.T @ b


@refused("loses the transpose", matrix, matrix)
def transposed_right(q, k):
    s = q @ k.T
    return s * 0.5


@refused("loses the transpose", lambda: np.asfortranarray(matrix()), matrix)
def product_of_columns(a, b):
    return a @ b


@refused("leaves out what is added", matrix, matrix, matrix)
def sum_with_a_product(h, w, x):
    h[:] = np.maximum(h, 0.0)
    x[:] = h @ w + x * x


@refused("over its own operand", matrix, lambda: floats(5))
def product_over_its_operand(a, x):
    x[:] = a @ x


@refused("over its own operand", matrix, matrix)
def product_added_to_its_operand(a, b):
    b += a @ b


@refused("over the array", matrix, matrix)
def product_over_an_argument(a, b):
    b = a @ b
    b[0, 0] = 1.0
    return b


@refused("in the wrong place", lambda: matrix(9, 11))
def slices_of_slices(image):
    h = image[:, :-4] + 4.0 * image[:, 4:]
    return h[:-4, :] + h[4:, :]


@refused("over itself", floats)
def overlapping_slices(a):
    a[1:] = a[:-1]


@refused("over itself", matrix)
def transposed_in_place(a):
    a[:] = a.T


@refused("slice with a step", floats)
def every_other_element(a):
    a[::2] = 1.0


@refused("fills the whole array", lambda: matrix(4, 5), lambda: floats(5))
def row_into_some_rows(a, v):
    a[1:3, :] = v


@refused("cuts a float", whole)
def whole_array_times_a_float(a):
    return a * 1.5


@refused("keeps a quotient", whole)
def whole_array_divided(a):
    return a / 4


@refused("in 'outer'", matrix)
def outer_of_rows(a):
    return np.outer(a[0], a[1])


# -- what has to stay -----------------------------------------------------------------------------


@kept(floats, zeros, 2)
def division_of_what_is_not_negative(a, res, n):
    half = a.shape[0] // 2
    for i in range(half):
        for j in range(i // 2, min(half, i % 2 + 3)):
            res[i] += a[2 * i // SIZE] * j


@kept(floats, zeros)
def loops_as_polybench_has_them(a, res):
    n = a.shape[0]
    s = 0.0
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            s += a[j] * a[i]
        if i > 0:
            res[i] = a[i - 1] + s
    for i in range(0, n, 2):
        res[i] += math.sqrt(abs(n))


@kept(floats, zeros)
def slices_of_arguments(a, res):
    res[1:-1] = 0.5 * (a[:-2] + a[2:])
    a[:] = res


@kept(matrix, matrix, matrix)
def plain_products(a, b, c):
    c[:] = a @ b
    c += 1.5 * a @ b
    d = np.maximum(a @ b - 2.0, 0.0)
    e = d @ b + a
    c[0, :] = e[1, :]
    c[-1, :] = c[-2, :]


@kept(lambda: whole().astype(np.int32), narrow_zeros, floats)
def sum_of_narrow_numbers_alone(a, res, x):
    s = 0
    for i in range(a.shape[0]):
        s += a[i] * a[i]
        res[i] = s - 7
        if a[i] + a[0] > 5:
            x[i] = 0.5 * a[i]
    return s


@kept(floats, zeros)
def one_break(a, res):
    for i in range(a.shape[0]):
        if a[i] > 5.0:
            break
        res[i] = a[i]
