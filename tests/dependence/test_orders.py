"""What isl says of orders and accesses is never wrong for loops that are run through one by one."""

from __future__ import annotations

import itertools
import os
import threading
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopbook import dependence
from loopbook.dependence import engine
from loopbook.dependence.body import LoopNode, read_loop
from loopbook.dependence.model import statements
from loopbook.errors import DependenceError
from loopbook.program import dataflow, tree
from loopbook.program.dataflow import AccessNode, Memlet, Tasklet
from loopbook.program.expr import Expr
from loopbook.program.types import Pointer, Scalar

from .kit import SIZES, Access, Loop, Statement, conflicts, nests, orders, run, value

forms = st.dictionaries(st.sampled_from(["x", "y", "z", ""]), st.integers(-3, 3), max_size=4)


def new_order(nest: Loop) -> list[Loop]:
    return [Loop("t", [], [], 1, [Loop("u", [], [], 1, [nest])])]


def kept(nest: Loop, moved) -> bool:
    try:
        dependence.check_order([nest], new_order(nest), moved, [])
    except DependenceError:
        return False
    return True


def really_kept(nest: Loop, moved, size: int) -> bool:
    def place(instance):
        values = moved[instance.statement]
        return *(value(values[new], instance.values) for new in "tu"), instance.time

    instances = run([nest], {"N": size})
    return all(place(a) < place(b) for a, _, b, _ in conflicts(instances, atomic=True))


@settings(max_examples=30)
@given(st.data())
def test_an_order_that_is_allowed_keeps_all_dependences(data):
    nest = data.draw(nests())
    moved = data.draw(orders(nest))
    if kept(nest, moved):
        assert all(really_kept(nest, moved, size) for size in SIZES)


def left(instances) -> dict[tuple[str, int], int]:
    """What is in memory after instances that write something that follows from what they read."""
    memory: dict[tuple[str, int], int] = {}
    for instance in instances:
        uses = [
            ((access.container, access.address(instance.values)), access.write)
            for access in instance.statement.touches
        ]
        read = tuple(memory.get(place, 0) for place, write in uses if not write)
        made = hash((id(instance.statement), tuple(instance.values.items()), read))
        memory |= {place: made for place, write in uses if write}
    return memory


def without_updates(nest: Loop) -> Loop:
    for statement, _ in statements(nest):
        own = (access for access in statement.touches if isinstance(access, Access))
        statement.touches = [replace(access, update="") for access in own]
    return nest


def same_values(nest: Loop, moved, size: int) -> bool:
    instances = run([nest], {"N": size})

    def place(instance):
        values = moved[instance.statement]
        return *(value(values[new], instance.values) for new in "tu"), instance.time

    return left(instances) == left(sorted(instances, key=place))


@settings(max_examples=60)
@given(st.data())
def test_an_order_that_keeps_the_last_writes_leaves_the_same_values(data):
    nest = without_updates(data.draw(nests()))
    moved = data.draw(orders(nest))
    try:
        dependence.check_order([nest], new_order(nest), moved, [], anew=())
    except DependenceError:
        return
    assert all(same_values(nest, moved, size) for size in SIZES)


@settings(max_examples=60)
@given(st.data())
def test_iterations_that_write_first_what_they_read_may_change_places(data):
    nest = without_updates(data.draw(nests()))
    inner = nest.children[0]
    if len(nest.children) > 1 or not isinstance(inner, Loop):
        return
    anew = {
        name for name in "ABCs" if dependence.written_first(inner.children, [nest, inner], name)
    }
    moved = {statement: {"t": {"j": 1}, "u": {"i": 1}} for statement, _ in statements(nest)}
    try:
        dependence.check_order([nest], new_order(nest), moved, [], anew)
    except DependenceError:
        return
    assert all(same_values(nest, moved, size) for size in SIZES)


def storing(nest: Loop, name: str, every: int) -> Loop:
    """The nest with some of the accesses to an array as writes."""
    uses = itertools.count()
    for statement, _ in statements(nest):
        own = (access for access in statement.touches if isinstance(access, Access))
        statement.touches = [
            replace(access, write=True)
            if access.container == name and next(uses) % every == 0
            else access
            for access in own
        ]
    return nest


@settings(max_examples=150)
@given(nests(), st.lists(nests(), min_size=1, max_size=3), st.sampled_from("ABC"))
def test_what_is_said_to_be_stored_anew_is_stored_before_it_is_read(first, behind, name):
    first = storing(first, name, every=1)
    behind = [storing(nest, name, every=2) for nest in behind]
    if not dependence.stored_anew([first, *behind], [], name):
        return
    for size in SIZES:
        stored, anew = (
            [(access, one) for one in run(trees, {"N": size}) for access in one.statement.touches]
            for trees in ([first], behind)
        )
        done = set()
        for access, one in sorted(anew, key=lambda use: (use[1].time, use[0].write)):
            if access.container == name and access.write:
                done.add(access.address(one.values))
            elif access.container == name:
                assert access.address(one.values) in done
        assert done >= {
            access.address(one.values) for access, one in stored if access.container == name
        }
        assert all(access.write for access, _ in stored if access.container == name)


@settings(max_examples=30)
@given(nests())
def test_a_loop_that_carries_nothing_has_independent_iterations(nest):
    if dependence.carries_nothing(nest, []):
        for size in SIZES:
            for a, _, b, _ in conflicts(run([nest], {"N": size}), atomic=False):
                assert a.values["i"] == b.values["i"]


@settings(max_examples=30)
@given(nests(), st.data())
def test_accesses_that_are_kept_apart_never_meet(nest, data):
    accesses = [a for statement, _ in statements(nest) for a in statement.touches if a.terms]
    if not accesses:
        return
    one, two = (data.draw(st.sampled_from(accesses)) for _ in range(2))
    found = [run([nest], {"N": size}) for size in SIZES]

    def addresses(instances, place):
        return {
            a.address(i.values)
            for i in instances
            for a in i.statement.touches
            if a.container == one.container and a.place == place
        }

    if dependence.keep_apart(nest, [], one.container, one.place, two.place):
        for instances in found:
            assert addresses(instances, one.place).isdisjoint(addresses(instances, two.place))
    if dependence.read_before_written(nest, [], one.container, one.place):
        for instances in found:
            written = set()
            for instance in instances:
                held = [a for a in instance.statement.touches if a.container == one.container]
                written |= {a.address(instance.values) for a in held if a.write}
                read = {
                    a.address(instance.values) for a in held if a.place == one.place and not a.write
                }
                assert read.isdisjoint(written)


@settings(max_examples=30)
@given(nests(), nests(), st.data())
def test_what_is_covered_is_touched_by_others_too(nest, other, data):
    def uses(tree):
        return [(path, a) for s, path in statements(tree) for a in s.touches if a.terms]

    found = uses(nest)
    if not found:
        return
    one = data.draw(st.sampled_from(found))
    rest = [use for use in (*found, *uses(other)) if use[1].container == one[1].container]
    others = data.draw(st.lists(st.sampled_from(rest), max_size=4))

    def touched(use, size):
        path, access = use
        bare = Statement([access])
        tree = bare
        for loop in reversed(path):
            tree = Loop(loop.variable, loop.lows, loop.highs, loop.step, [tree])
        return {access.address(i.values) for i in run([tree], {"N": size})}

    if dependence.covered([one], others):
        for size in SIZES:
            assert touched(one, size) <= set().union(*(touched(use, size) for use in others))


def test_the_same_elements_counted_otherwise_are_covered():
    """``A[i*N + j]`` for all j > i, and with both loops counted from the other end."""
    n, i, j = ("N",), ("i",), ("j",)
    one = Access("A", (((*i, *n), 1), (j, 1)), True)
    up = Loop("i", [{}], [{"N": 1}], 1, []), Loop("j", [{"i": 1, "": 1}], [{"N": 1}], 1, [])
    # i -> N - 1 - i, j -> N - 1 - j
    down = Loop("i", [{}], [{"N": 1}], 1, []), Loop("j", [{}], [{"i": 1}], 1, [])
    other = Access("A", (((*n, *n), 1), ((*i, *n), -1), ((), -1), (j, -1)), True)
    assert dependence.covered([(up, one)], [(down, other)])
    assert dependence.covered([(down, other)], [(up, one)])
    wider = down[0], Loop("j", [{}], [{"i": 1, "": 1}], 1, [])
    assert not dependence.covered([(wider, other)], [(up, one)])


@settings(max_examples=30)
@given(nests(), st.data())
def test_a_distance_is_the_same_everywhere(nest, data):
    found = [(s, a) for s, _ in statements(nest) for a in s.touches]
    (one, x), (two, y) = (data.draw(st.sampled_from(found)) for _ in range(2))
    if x.container != y.container:
        return
    paths = dict(statements(nest))
    names = [data.draw(st.sampled_from(paths[s])).variable for s in (one, two)]
    gap = dependence.Distances([nest], []).between((one, x, names[0]), (two, y, names[1]))
    for size in SIZES:
        instances = run([nest], {"N": size})
        for a in (i for i in instances if i.statement is one):
            for b in (i for i in instances if i.statement is two):
                if x.address(a.values) == y.address(b.values):
                    assert gap is dependence.Meeting.ANY or (
                        gap == b.values[names[1]] - a.values[names[0]]
                    )


@settings(max_examples=100)
@given(st.lists(forms, max_size=2), st.lists(forms, max_size=4))
def test_a_system_called_empty_has_no_solution(equations, inequalities):
    solvable = any(
        all(value(f, point) == 0 for f in equations)
        and all(value(f, point) >= 0 for f in inequalities)
        for numbers in product(range(-4, 5), repeat=3)
        for point in [dict(zip("xyz", numbers, strict=True))]
    )
    assert not (solvable and dependence.empty(equations, inequalities))


@pytest.mark.parametrize(
    ("equations", "inequalities", "wanted"),
    [
        ([{"i": 2, "j": -2, "": 1}], [], True),  # an even number is not odd
        ([], [{"i": 1, "j": -1, "": -1}, {"j": 1, "i": -1}], True),
        ([], [{"i": 3, "": -1}, {"i": -3, "": 2}], True),  # no whole number between 1/3 and 2/3
        ([{"i": 1, "j": -1}], [{"i": 1}], False),
        (  # Pugh's example (Supercomputing 1991): 27 <= 11x + 13y <= 45, -10 <= 7x - 9y <= 4
            [],
            [
                {"x": 11, "y": 13, "": -27},
                {"x": -11, "y": -13, "": 45},
                {"x": 7, "y": -9, "": 10},
                {"x": -7, "y": 9, "": 4},
            ],
            True,
        ),
    ],
)
def test_systems_are_decided_over_whole_numbers(equations, inequalities, wanted):
    assert dependence.empty(equations, inequalities) is wanted


def sweep(step: int, back: int) -> Loop:
    """``for i in 0 … N by step: C[i] = C[i - back]``."""
    read = Access("C", ((("i",), 1), ((), -back)), False)
    write = Access("C", ((("i",), 1),), True)
    return Loop("i", [{}], [{"N": 1}], step, [Statement([read, write])])


def test_iterations_of_a_loop_with_a_step_meet_only_in_its_steps():
    assert dependence.carries_nothing(sweep(4, 2), [])
    assert dependence.carries_nothing(sweep(4, 6), [])
    assert not dependence.carries_nothing(sweep(4, 4), [])
    assert not dependence.carries_nothing(sweep(2, 4), [])


def test_a_loop_with_a_step_may_begin_anywhere_if_that_is_not_known():
    loop = sweep(4, 4)
    loop.lows = []
    assert not dependence.carries_nothing(loop, [])
    loop.lows = [{"C": 1}]  # the loop itself writes what it begins at
    assert not dependence.carries_nothing(loop, [])


def test_a_question_that_grows_too_large_is_answered_no(monkeypatch):
    answers = []

    def ask(operations: int) -> None:
        monkeypatch.setattr(engine, "MAX_OPERATIONS", operations)
        answers.append(dependence.carries_nothing(sweep(4, 2), []))
        answers.append(dependence.carries_nothing(sweep(4, 2), []))

    for operations in (10, 200_000):  # a thread has a limit of its own
        thread = threading.Thread(target=ask, args=(operations,))
        thread.start()
        thread.join()
    assert answers == [False, False, True, True]


def test_threads_and_children_ask_for_themselves():
    wanted = [dependence.carries_nothing(sweep(step, 4), []) for step in range(1, 9)]
    answers = []

    def ask() -> None:
        answers.append([dependence.carries_nothing(sweep(step, 4), []) for step in range(1, 9)])

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    child = os.fork()
    if not child:
        ask()
        os._exit(0 if answers[-1] == wanted else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert answers == [wanted] * 4


def scattered() -> tuple[LoopNode, LoopNode]:
    """``for i: s = i; A[s + 1] = B[i]`` and ``for i: s = i; C[i] = A[s]``; s is private."""
    double = Scalar("double")
    containers = {name: Pointer(double) for name in "ABC"} | {n: Scalar("int64") for n in "si"}

    def loop(source: tuple[str, str], target: tuple[str, str]) -> LoopNode:
        nodes = AccessNode(source[0]), Tasklet("assign", ("_in",), "_out"), AccessNode(target[0])
        into = Memlet(0, 1, "void", "_in", (Expr(source[1]),), Pointer(double))
        out = Memlet(1, 2, "_out", "void", (Expr(target[1]),), Pointer(double))
        setting = tree.Assignments((tree.Assignment("s", Expr("i")),))
        body = tree.Sequence((setting, dataflow.block(nodes, (into, out))))
        counted = tree.Loop("i", Expr("0"), Expr("i < n"), Expr("1 + i"), body)
        return read_loop(counted, (), frozenset("s"), containers)

    return loop(("B", "i"), ("A", "1 + s")), loop(("A", "s"), ("C", "i"))


def test_scalars_that_each_iteration_sets_say_nothing_of_where_others_are():
    first, second = scattered()
    both = replace(first, children=[*first.children, *second.children])
    with pytest.raises(DependenceError, match=r"^A carries"):
        dependence.check_order([first, second], [both], {}, [])


@pytest.mark.parametrize(
    ("stride", "other", "independent"), [("_s1", 3, True), ("M", 3, False), ("_s1", 0, False)]
)
def test_one_column_of_rows_is_met_once_a_row(stride: str, other: int, independent: bool):
    """Unless the stride, which is no extent of an array, may be 0, or there are two columns."""
    places = [(((stride, "i"), 1), ((), column)) for column in (3, other) if column]
    places += [] if other else [(((stride, "i"), 1),)]
    touches = [Access("C", tuple(place), True) for place in places]
    loop = Loop("i", [{}], [{"N": 1}], 1, [Statement(touches)])
    assert dependence.carries_nothing(loop, []) == independent
