"""What programs tell of how recipes did: nothing, unless they are to; and never to their harm."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cli_kit import PRODUCT, make_shell
from client_kit import ARGUMENTS, blocked, fill, layered, matrices, nests_of, product, record
from docc.benchmarks.rtl import validate
from server_kit import Served, token

import loopbook
from loopbook.client import field
from loopbook.client.decision import Choice, Plan
from loopbook.client.field import sole_record, tell
from loopbook.client.hardware import local_profile
from loopbook.client.remote import calls
from loopbook.errors import InputError, RemoteError
from loopbook.recipes import Book, Recipe
from loopbook.recipes.reports import LOST, Report, Voice
from loopbook.recipes.standing import VOICES
from loopbook.toolchain.trace_file import Region, read

pytest_plugins = ["server_fixtures"]

KEY = local_profile(1, measured=False).key
NOWHERE = "http://127.0.0.1:19"


def doubled(A, B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] = 2.0 * A[i, j] + B[i, j]


def wide(n: int = 1500):
    return np.ones((n, n)), np.ones((n, n))


ARGUMENTS[doubled] = wide
LOSER = "interchange L0 L1\n"
"""Strides through both arrays."""


@pytest.fixture(autouse=True)
def alone(no_book, monkeypatch, tmp_path):
    """No book and no server but those of the test."""
    monkeypatch.setenv("LOOPBOOK_LIBRARIES", "0")  # products are what the server is asked about
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in (field.VARIABLE, "LOOPBOOK_SERVER", "LOOPBOOK_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(field, "_silent", False)


@pytest.fixture
def asked(server: Served, store: str, monkeypatch) -> Served:
    """The server that programs ask."""
    monkeypatch.setenv("LOOPBOOK_SERVER", server.url)
    monkeypatch.setenv("LOOPBOOK_TOKEN", token(store))
    return server


def run(**options) -> None:
    program = loopbook.native(product, **options)
    left, right, out = matrices(120)
    program(left, right, out)
    np.testing.assert_allclose(out, left @ right, rtol=1e-10)
    assert program.plan is not None
    assert program.plan.nests[0].tier == "exact"


def told(server: Served) -> float:
    return server.figure("loopbook_reported_total")


def requests(server: Served) -> float:
    with server.client() as client:
        lines = client.get("/metrics").text.splitlines()
    found = (one for one in lines if "requests_total" in one and "/v1/reports" in one)
    return sum(float(one.rpartition(" ")[2]) for one in found)


def test_nothing_is_told_unless_it_is_wanted(asked, monkeypatch, tmp_path, capfd):
    run()
    run(check=True)
    monkeypatch.setenv(field.VARIABLE, "1")
    run(report=False)
    monkeypatch.setenv(field.VARIABLE, "0")
    shell = make_shell(tmp_path, monkeypatch, capfd)
    monkeypatch.setenv("LOOPBOOK_SERVER", asked.url)
    (tmp_path / "product.py").write_text(PRODUCT)
    shell("bench", tmp_path / "product.py", "--seconds", "0.1")
    assert (requests(asked), told(asked)) == (0, 0)


def test_what_is_wanted_is_told(asked, monkeypatch):
    before = told(asked)
    run(report=True)
    assert told(asked) == before + 1 == requests(asked)
    monkeypatch.setenv(field.VARIABLE, "1")
    run()
    assert told(asked) == before + 2


def test_a_server_that_is_away_disturbs_nobody(tmp_path, monkeypatch, capfd):
    fill(tmp_path / "own.db", [record(product, blocked())])
    monkeypatch.setenv("LOOPBOOK_BOOK", str(tmp_path / "own.db"))
    monkeypatch.setenv("LOOPBOOK_SERVER", NOWHERE)
    for _ in range(2):
        run(report=True)
    lines = [one for one in capfd.readouterr().err.splitlines() if "not reported" in one]
    assert len(lines) == 1
    assert lines[0].startswith(f"loopbook: the server {NOWHERE} cannot be reached")


def test_a_book_of_ones_own_learns_what_loses_here(tmp_path):
    bad = record(doubled, LOSER, 1.5)
    path = fill(tmp_path / "own.db", [bad])
    for _ in range(VOICES):
        program = loopbook.native(doubled, book=path, report=True)
        first, second = wide()
        program(first, second)
        assert (second == 3.0).all()
        assert program.plan is not None
        assert program.plan.nests[0].record == bad.id
        assert program.plan.nests[0].recipe
    with Book.open(path, readonly=True) as book:
        ((said,),) = book.reports.opinions(bad.id).values()
        assert (said.count, said.trusted) == (VOICES, True)
        assert book.shifts(KEY) == {bad.id: LOST}
    program = loopbook.native(doubled, book=path)
    program(*wide())
    assert program.plan is not None
    assert not program.plan.nests[0].recipe


def test_bench_tells_of_what_it_does_not_keep(tmp_path, monkeypatch, capfd):
    bad = record(doubled, LOSER, 1.5)
    path = fill(tmp_path / "own.db", [bad])
    source = "import numpy as np\nPARAMETERS = {'S': {'N': 1500}}\n\n\n"
    source += "def initialize(N):\n    return {'A': np.ones((N, N)), 'B': np.ones((N, N))}\n\n\n"
    source += "def kernel(A, B):\n    for i in range(B.shape[0]):\n"
    source += "        for j in range(B.shape[1]):\n            B[i, j] = 2.0 * A[i, j] + B[i, j]\n"
    (tmp_path / "doubled.py").write_text(source)
    shell = make_shell(tmp_path, monkeypatch, capfd)
    words = ("bench", tmp_path / "doubled.py", "--book", path, "--seconds", "0.1", "--json")
    answer = shell(*words, "--report")
    assert answer.code == 0
    with Book.open(path, readonly=True) as book:
        ((said,),) = book.reports.opinions(bad.id).values()
    assert said.mean < 0.0


def test_reports_change_the_order_of_recipes_and_what_is_found(tmp_path):
    first, second = record(product, blocked(), 3.0), record(product, "vectorize L1\n", 2.0)
    (nest,) = nests_of(product)
    with layered(tmp_path, first, second) as books:
        own = books.books[0]

        def order() -> list[str]:
            return [one.id for one in books.records_of(nest, "sequential")]

        def found() -> set[str]:
            near = {one.record.id for one in books.nearest(nest, 5)}
            assert near == {one.id for one in books.exact(nest.fingerprint, "sequential")}
            return near

        assert order() == [first.id, second.id]
        for voice in "abc":
            own.reports.take(Report(first.id, KEY, 1.3, 1.0), first, Voice(voice))
        assert order() == [second.id, first.id]
        assert found() == {first.id, second.id}
        for voice in "abc":
            own.reports.take(Report(second.id, KEY, 0.5, 1.0), second, Voice(voice))
        assert order() == [first.id]
        assert found() == {first.id}


def choice(one, tier: str = "exact", dropped: int = 0) -> Choice:
    return Choice(tier, one, 0.0, Recipe.parse("vectorize L0\n"), dropped, 2.0)


def test_only_a_record_that_did_it_alone_is_told_of():
    one, other = record(product, blocked()), record(product, "vectorize L1\n")
    bare = record(product, "", 1.1)
    for choices, found in (
        ({0: (choice(one),)}, one),
        ({0: (choice(one), choice(other))}, one),
        ({0: (choice(one),), 1: (choice(one),)}, one),
        ({0: (choice(one),), 1: (choice(other),)}, None),
        ({0: (choice(one, "near"),)}, None),
        ({0: (choice(one, dropped=1),)}, None),
        ({0: (choice(one),), 1: (choice(None, "library"),)}, None),
        ({0: (choice(bare),)}, None),
        ({}, None),
    ):
        assert sole_record(Plan("sequential", (), choices)) == found


def test_no_book_is_made_to_tell_it(tmp_path):
    one = record(product, blocked())
    tell(Report(one.id, KEY, 1.0, 1.0), one, None)
    assert not (tmp_path / "none.db").exists()


def test_clients_tell_many_at_once_and_what_became_of_each(server, store):
    many = [Report(f"{number:032x}", KEY, 1.0, 1.0) for number in range(40)]
    secret = token(store)
    with loopbook.Client(server.url, secret) as client:
        assert client.report(many) == ["unknown"] * 40
        assert client.report([]) == []

    async def ask() -> list[str]:
        async with loopbook.AsyncClient(server.url, secret) as client:
            return await client.report(many[:3])

    assert asyncio.run(ask()) == ["unknown"] * 3
    answers = {"reports": [{"record": many[0].record, "status": "counted"}]}
    with pytest.raises(RemoteError):
        calls.statuses_of(answers, many, server.url)


def test_a_program_that_ends_at_once_has_told(asked, tmp_path):
    """Nothing is left to a thread that may not live to see it."""
    before = told(asked)
    code = "import sys\nfrom client_kit import matrices, product\nimport loopbook\n"
    code += "loopbook.native(product, report=True)(*matrices(120))\n"
    kits = Path(__file__).parent.parent / "kits"
    program = f"import sys\nsys.path.insert(0, {str(kits)!r})\n{code}"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=600)
    assert told(asked) == before + 1


# Traces of docc's runtime


def event(element: int, microseconds: float, *, aggregated: bool = True) -> dict:
    info = dict.fromkeys(("num_loops", "num_maps", "num_fors", "num_whiles", "max_depth"), 1)
    info |= dict.fromkeys(("is_perfectly_nested", "is_perfectly_parallel"), True)
    info |= {"is_elementwise": False, "has_side_effects": False, "loopnest_index": 0}
    files = ("sdfg_file", "arg_capture_path", "features_file", "opt_report_file")
    about = {
        "function": "f",
        "module": "m",
        "source_ranges": [],
        "target_type": "sequential",
        "docc": dict.fromkeys(files, "")
        | {"sdfg_name": "p", "element_id": element, "element_type": "for"}
        | {"loopnest_index": 0, "loop_info": info},
    }
    shared = {"ph": "X", "name": "r", "pid": 1, "tid": 1, "ts": 0.0, "dur": microseconds}
    if not aggregated:
        return shared | {"cat": "region,daisy", "args": about | {"metrics": {}}}
    runtime = {"mean": microseconds * 1.5, "variance": 1.0, "count": 3}
    runtime |= {"min": microseconds, "max": microseconds * 2}
    return shared | {
        "cat": "aggregated_region,daisy",
        "args": about | {"metrics": {"runtime": runtime}},
    }


def trace(path: Path, *events: dict) -> Path:
    document = {"traceEvents": list(events)}
    assert validate(document) == []
    path.write_text(json.dumps(document))
    return path


def test_traces_of_both_kinds_are_read(tmp_path):
    whole = trace(tmp_path / "a.json", event(3, 50.0), event(9, 20.0))
    assert read(whole) == {Region("p", 3): pytest.approx(5e-5), Region("p", 9): pytest.approx(2e-5)}
    single = [event(3, one, aggregated=False) for one in (60.0, 40.0, 70.0)]
    assert read(trace(tmp_path / "b.json", *single)) == {Region("p", 3): pytest.approx(4e-5)}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"traceEvents": 7}',
        '{"traceEvents": []}',
        '{"traceEvents": [7]}',
        '{"traceEvents": [{"cat": "region,daisy", "args": {}}]}',
        "[" * 100_000,
        json.dumps({"traceEvents": [event(1, float("nan"))]}),
        json.dumps({"traceEvents": [event(1, -1.0)]}),
        json.dumps({"traceEvents": [event(1, 1.0) | {"cat": "other"}]}),
    ],
)
def test_what_is_no_trace_is_refused(tmp_path, text):
    (tmp_path / "t.json").write_text(text)
    with pytest.raises(InputError):
        read(tmp_path / "t.json")


def test_traces_are_sent(server, store, tmp_path, monkeypatch, capfd):
    shell = make_shell(tmp_path, monkeypatch, capfd)
    monkeypatch.setenv("LOOPBOOK_TOKEN", token(store))
    with Book.open(store, readonly=True) as book:
        known = next(one for one in book.records() if one.recipe.steps)
    assert shell("field", "forget", known.id, "--store", store).code == 0
    after = trace(tmp_path / "after.json", event(3, 50.0), event(9, 50.0))
    before = trace(tmp_path / "before.json", event(4, 300.0))
    words = ("field", "send-trace", after, "--reference", before, "--server", server.url, "--json")
    said = shell(*words, "--record", known.id).document
    assert said["status"] == "counted"
    assert (said["reference_s"], said["time_s"]) == (pytest.approx(3e-4), pytest.approx(1e-4))
    said = shell(*words, "--record", known.id, "--element", "9").document
    assert said["time_s"] == pytest.approx(5e-5)
    assert shell(*words, "--record", known.id, "--element", "7").code == 2
    said = shell(*words, "--record", "0" * 32).document
    assert said["status"] == "unknown"
    (shown,) = shell("field", "show", known.id, "--store", store, "--json").document
    assert (shown["voices"], shown["hardware_key"]) == (1, KEY)
    assert shell("field", "forget", known.id, "--store", store).code == 0
    assert shell("field", "show", known.id, "--store", store, "--json").document == []
