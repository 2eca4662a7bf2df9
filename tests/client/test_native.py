"""``@loopbook.native`` and docc's ``@native(target="loopbook")``."""

from __future__ import annotations

import faulthandler
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from client_kit import (
    blocked,
    fill,
    layered,
    matrices,
    plan_of,
    product,
    product_in_rounds,
    product_permuted,
    record,
    stencil,
)
from docc.python import native as docc_native

import loopbook
from loopbook.client import native as native_module
from loopbook.errors import BookError, CompilerError, InputError, SdfgError
from loopbook.sdfg import program as docc_program
from loopbook.toolchain.compiler import activate


@pytest.fixture(scope="module")
def book(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("book")
    parallel = f"{blocked()}parallel L0.tile\n"
    return fill(
        folder / "book.db",
        [record(product, blocked()), record(product, parallel, target="openmp")],
    )


@pytest.fixture(autouse=True)
def own_book(book, monkeypatch, tmp_path):
    monkeypatch.setenv("LOOPBOOK_BOOK", str(book))
    monkeypatch.setenv("LOOPBOOK_STARTER", "")  # it may have better ones for this very machine
    monkeypatch.setenv("DOCC_TMP", str(tmp_path))
    monkeypatch.setenv("LOOPBOOK_LIBRARIES", "0")  # products are what the book is asked about


def check_product(program, n: int = 43) -> None:
    left, right, out = matrices(n)
    program(left, right, out)
    np.testing.assert_allclose(out, left @ right, rtol=1e-10)


def test_what_iterates_until_it_converges_gets_recipes():
    program = loopbook.native(product_in_rounds)
    left, right, out = matrices(43)
    program(left, right, out, 2.5 * (left @ right)[0, 0])
    np.testing.assert_allclose(out, 2 * (left @ right), rtol=1e-10)
    assert program.plan is not None
    assert any(len(choice.recipe) for (choice, *_) in program.plan.choices.values())


def test_the_decorator_without_arguments():
    program = loopbook.native(product_permuted)
    check_product(program)
    assert program.plan is not None
    assert plan_of(program).nests[0].neighbour == "product:0"
    assert program.__name__ == "product_permuted"
    check_product(program, 29)


def test_the_decorator_with_arguments(tmp_path):
    books = layered(tmp_path, record(product, "", 1.0, target="openmp"))
    program = loopbook.native(target="openmp", book=books, exclude=["nobody"])(product_permuted)
    check_product(program)
    plan = plan_of(program)
    assert plan.target == "openmp"
    assert plan.nests[0].recipe == "stage L2 A2 out\nparallel L0\nsingle\n"


def test_a_library_that_docc_has_loaded_is_not_taken_for_ours():
    """docc builds all programs of one function and target in one folder."""
    activate()  # docc itself only knows one compiler's name
    own, ours = (
        docc_native(product_permuted, target="sequential"),
        loopbook.native(product_permuted),
    )
    for program in (own, ours):
        check_product(program)
    again = loopbook.native(product_permuted, exclude=["product"])
    check_product(again)
    assert plan_of(ours).active
    assert not plan_of(again).active
    args = matrices(43)
    handles = {program.compile(*args).lib._handle for program in (own, ours, again)}
    assert len(handles) == 3


def test_openmp_runs_its_own_recipe():
    program = loopbook.native(product, target="openmp")
    check_product(program)
    assert plan_of(program).nests[0].recipe.endswith("parallel L0.tile\n")


def test_a_program_that_the_book_knows_nothing_for():
    program = loopbook.native(stencil)
    field, other = matrices()[0], matrices()[0]
    expected, expected_other = field.copy(), other.copy()
    stencil(3, expected, expected_other)
    program(3, field, other)
    np.testing.assert_allclose(field, expected, rtol=1e-12)
    np.testing.assert_allclose(other, expected_other, rtol=1e-12)
    assert not plan_of(program).active


def test_a_recipe_that_does_not_compile_is_left_out(monkeypatch):
    build = native_module.build_plan

    def failing(text, plan, folder):
        if plan.choices:
            raise CompilerError("made to fail")
        return build(text, plan, folder)

    monkeypatch.setattr(native_module, "build_plan", failing)
    program = loopbook.native(product_permuted)
    check_product(program)
    assert not plan_of(program).active
    assert plan_of(program).nests[0].reason == "made to fail"


def test_where_docc_crashes_while_preparing_its_own_compile_is_tried(monkeypatch):
    def crash(text):
        faulthandler.disable()  # pytest's would print the child's stack
        os.abort()

    monkeypatch.setattr(docc_program, "prepare_document", crash)
    program = loopbook.native(product)
    check_product(program)
    assert not plan_of(program).active


def test_mistakes_are_named_at_once():
    with pytest.raises(InputError, match="no target 'cuda'"):
        loopbook.native(product, target="cuda")
    with pytest.raises(BookError, match="no book at"):
        loopbook.native(product, book="/nowhere/book.db")(*matrices())


@pytest.mark.parametrize("target", ["loopbook", "loopbook-openmp"])
def test_docc_s_decorator_with_our_target(target):
    program = docc_native(target=target)(product_permuted)
    check_product(program)
    assert len(docc_program.nests(program.last_sdfg)[0].loops) > 3, "it is what was compiled"
    check_product(program, 29)


@pytest.mark.parametrize(
    "watched", [{"instrumentation_mode": "ols"}, {"capture_args": True}, {"debug_dump": True}]
)
def test_who_watches_a_program_is_told_of_what_is_compiled(watched, tmp_path):
    program = docc_native(target="loopbook", **watched)(product_permuted)
    program.compile(*matrices(43), output_folder=str(tmp_path / "out"))
    (told,) = tmp_path.rglob("*.post_sched.json")
    (nest,) = docc_program.nests(docc_program.parse(told.read_text()))
    assert len(nest.loops) > 3
    (source,) = tmp_path.rglob("*.cpp")
    named = {int(found) for found in re.findall(r"element_id = (\d+);", source.read_text())}
    assert named == ({nest.element_id} if "instrumentation_mode" in watched else set())
    assert ("__daisy_capture" in source.read_text()) == ("capture_args" in watched)


def ahead(a):
    for i in range(a.shape[0] - 2):
        a[i] = a[i] + a[i + 1] + a[i + 2]


def test_a_program_that_is_watched_is_guarded_like_any_other(tmp_path):
    """docc's own schedule gives that loop to threads, which would race."""
    wanted = {"instrumentation_mode": "ols"}
    docc_native(target="loopbook-openmp", **wanted)(ahead).compile(np.ones(50))
    (source,) = tmp_path.rglob("*.cpp")
    assert "parallel for" not in source.read_text()


def test_what_docc_has_built_for_our_target_is_used_again():
    wanted = {"instrumentation_mode": "ols", "reuse_binaries": True}
    built = docc_native(target="loopbook", **wanted)(product_permuted).compile(*matrices(43))
    again = docc_native(target="loopbook", **wanted)(product_permuted).compile(*matrices(43))
    assert again.lib_path == built.lib_path
    assert again.sdfg.arguments == built.sdfg.arguments


def test_docc_s_decorator_with_our_target_and_nothing_found():
    program = docc_native(target="loopbook")(stencil)
    field, other = matrices()[0], matrices()[0]
    expected, expected_other = field.copy(), other.copy()
    stencil(3, expected, expected_other)
    program(3, field, other)
    np.testing.assert_allclose(field, expected, rtol=1e-12)


ORDERS = {
    "loopbook first": "import loopbook\nfrom docc.compiler import target_registry",
    "docc first": "from docc.compiler import target_registry\nimport loopbook",
    "twice": "import loopbook\nfrom docc.compiler import target_registry\n"
    "from loopbook.client.hook import install\ninstall()",
}


@pytest.mark.parametrize("imports", ORDERS.values(), ids=ORDERS)
def test_the_targets_are_there_whoever_comes_first(imports):
    code = (
        f"{imports}\n"
        "for name in ('loopbook', 'loopbook-openmp'):\n"
        "    assert target_registry.get_target_schedule_fn(name) is not None\n"
        "    assert target_registry.get_target_compile_fn(name) is not None\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)


def scaled(a, factor=2.0):
    for i in range(a.shape[0]):
        a[i] = a[i] * factor


def test_arguments_that_have_defaults_may_be_left_out_of_what_is_compiled():
    program = loopbook.native(scaled, strict=True)
    values = np.ones(3)
    program.compile(values)(values, 3.0)
    np.testing.assert_array_equal(values, 3.0)
    with pytest.raises(SdfgError, match="missing a required argument"):
        program.compile()
