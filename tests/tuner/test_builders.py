"""Candidates that are built behind a door, in another jail, or here if nobody is there."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cli_kit import PRODUCT
from tuner_kit import task

from loopbook.errors import IllegalStepError, InputError, LoopbookError
from loopbook.sdfg.transformed import Recipes
from loopbook.toolchain import compiler
from loopbook.toolchain.jail import doors
from loopbook.toolchain.jail.doors import Door
from loopbook.toolchain.march import portable
from loopbook.toolchain.runner import Runner
from loopbook.toolchain.times import Schedule
from loopbook.tuner.builder_pool import BuilderPool, Ticket
from loopbook.tuner.builders import Away, built_elsewhere
from loopbook.tuner.session import Session

QUICK = Schedule(repeats=5, seconds=0.1, at_least=2)
SEVERAL: list[Recipes] = [{0: (("tile", ("L1", size)), ("vectorize", ("L0",)))} for size in (2, 4)]


@pytest.fixture(scope="module")
def session(tmp_path_factory) -> Iterator[Session]:
    with Session(task(tmp_path_factory.mktemp("away"), text=PRODUCT), "M", "sequential") as opened:
        yield opened


@pytest.fixture(scope="module")
def march() -> str:
    return portable()


@contextmanager
def pool(
    session: Session, folder: Path, march: str, serve: Callable[[bytes], bytes | None]
) -> Iterator[BuilderPool]:
    """One builder here, one behind a door."""
    runner = Runner(session._binding, session.plain, session.expected)
    with doors.opened(1, serve) as (descriptor,):
        away = Away(Door(os.dup(descriptor)), march)
        with BuilderPool(
            session.text,
            session.target,
            runner,
            folder,
            schedule=QUICK,
            seconds=30.0,
            builders=1,
            away=[away],
        ) as opened:
            yield opened


def done(pool: BuilderPool, plans: list[Recipes], **options: bool) -> list[Ticket]:
    for plan in plans:
        pool.submit(plan, **options)
    return sorted((pool.finished() for _ in plans), key=lambda ticket: ticket.number)


def build(request: bytes) -> bytes:
    return built_elsewhere(request, seconds=120.0)


def test_a_library_from_elsewhere_is_measured_like_one_from_here(session, tmp_path, march):
    with pool(session, tmp_path, march, build) as both:
        here, away = done(both, SEVERAL)
        again = done(both, [SEVERAL[1]])[0]  # by whoever is here
    assert here.built
    assert away.built
    assert here.built.library.name != "away.so" == away.built.library.name
    assert here.times
    assert away.times
    assert away.built.owners
    assert away.built.recipes[0] == SEVERAL[1][0]
    assert again.twin is away, "another code than here"


def test_steps_that_do_not_fit_keep_their_kind_on_the_way(session, tmp_path, march):
    wrong: Recipes = {0: (("tile", ("L7", 4)),)}
    with pool(session, tmp_path, march, build) as both:
        _, away = done(both, [SEVERAL[0], wrong], lenient=False)
    assert isinstance(away.error, IllegalStepError)


def test_where_a_builder_dies_its_candidate_is_built_here(session, tmp_path, march):
    asked = []

    def dies(request: bytes) -> None:
        asked.append(request)

    with pool(session, tmp_path, march, dies) as both:
        tickets = done(both, [*SEVERAL, {0: (("tile", ("L1", 8)),)}])
        assert both.places == 3, "it is counted no more"
    assert len(asked) == 1
    assert all(ticket.times for ticket in tickets)
    assert [ticket.again for ticket in tickets] == [False, True, False]


NO_LIBRARY = {"code": "0" * 32, "owners": {}, "recipes": {"0": []}, "seconds": [0.1, 0.1]}


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"\xff\x00", InputError),
        (b"[" * 100_000, InputError),
        (b'{"kind": "BookError", "error": "x"}', LoopbookError),
        (b'{"kind": [], "error": {}}', LoopbookError),
        (json.dumps(NO_LIBRARY | {"library": "&&"}).encode(), InputError),
        (json.dumps(NO_LIBRARY | {"library": "YWJj", "code": "../x"}).encode(), InputError),
        (json.dumps(NO_LIBRARY | {"library": "YWJj", "owners": {"a": 1}}).encode(), InputError),
        (json.dumps(NO_LIBRARY | {"library": "YWJj"}).encode(), LoopbookError),
    ],
)
def test_rubbish_costs_its_candidate_and_no_more(session, tmp_path, march, answer, error):
    with pool(session, tmp_path, march, lambda _: answer) as both:
        here, away = done(both, SEVERAL)
    assert here.times
    assert isinstance(away.error, error)


@pytest.mark.parametrize("request_", [b"", b"{}", b"[" * 100_000])
def test_what_is_no_candidate_is_refused_in_the_builders_jail(request_):
    told = json.loads(built_elsewhere(request_, seconds=60.0))
    assert told["kind"] in ("InputError", "KernelError")


def test_the_words_for_this_machine_make_the_code_that_native_makes(tmp_path, march):
    source = tmp_path / "x.cpp"
    source.write_text(
        "void f(double *a, double *b) { for (int i = 0; i < 999; i++) a[i] += b[i]; }"
    )

    def code(march: str) -> str:
        words = [compiler.command(march), "-march=native", "-mtune=native", "-O3", "-ffast-math"]
        told = subprocess.run([*words, "-S", source, "-o", "-"], capture_output=True, check=True)
        return told.stdout.decode()

    assert march
    assert code(march) == code("native") != code("x86-64")


def test_words_say_what_there_is_besides_the_name_and_what_is_not():
    def macros(march: str) -> set[str]:
        words = [compiler.command(march), "-march=native", "-x", "c++", "-dM", "-E", "/dev/null"]
        told = subprocess.run(words, capture_output=True, check=True).stdout.decode()
        return {line.split()[1] for line in told.splitlines()}

    plain, other = macros("x86-64-v3"), macros("x86-64-v3,+shstk,-avx2")
    assert other - plain == {"__SHSTK__"}
    assert "__AVX2__" in plain - other
