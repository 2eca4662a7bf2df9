"""docc's protocol, spoken by requests and by the unmodified client itself."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest
from client_kit import chain, nests_of, product, product_renamed, stencil, text_of
from server_kit import Served, message, revoke, sent, serving, token
from wait_kit import wait_until

from loopbook.sdfg import build, program

pytest_plugins = ["server_fixtures"]


def test_a_program_comes_back_with_recipes_applied(reader):
    answer = reader.post("/docc/transfertune_sdfg", content=sent(product_renamed)).json()
    done = program.parse(json.dumps(answer["sdfg_result"]["sdfg"]))
    assert len(program.nests(done)[0].loops) > 3  # tiled
    (nest,) = answer["results"]
    assert nest["tier"] == "exact"
    assert "tile L0 4" in nest["recipe"]
    assert nest["metadata"]["speedup"] == pytest.approx(20.0)
    assert nest["metadata"]["vector_distance"] == 0
    assert isinstance(nest["element_id"], int)


def test_nests_without_a_neighbour_get_doccs_own_schedule(reader):
    answer = reader.post("/docc/transfertune_sdfg", content=sent(chain)).json()
    tiers = [nest["tier"] for nest in answer["results"]]
    assert tiers == ["exact", "none"]
    served = program.parse(json.dumps(answer["sdfg_result"]["sdfg"]))
    own = build.transform(json.dumps(message(chain)["sdfg"]), "sequential", {})[0]
    assert _last_loop(served.to_cpp()) == _last_loop(own.to_cpp())


def _last_loop(code: str) -> str:
    """The code of a program's last nest."""
    return code[code.rindex("for") :]


def test_an_unknown_program_is_left_to_docc(reader, store):
    answer = reader.post("/docc/transfertune_sdfg", content=sent(stencil))
    assert answer.status_code == 200
    assert answer.json() == {"error": "No match found"}


def test_a_target_that_we_have_nothing_for_is_left_to_docc(reader):
    for target in ("cuda", "none", ""):
        answer = reader.post("/docc/transfertune_sdfg", content=sent(product, target=target))
        assert answer.json() == {"error": "No match found"}


def test_one_nest_is_answered_with_steps_to_replay(reader):
    from docc.sdfg import AnalysisManager, Replayer, StructuredSDFGBuilder

    nest = program.cut(program.prepare(text_of(product)), nests_of(product)[0])
    body = json.dumps({"sdfg": json.loads(nest), "target": "sequential", "loop_info": {}})
    answer = reader.post("/docc/transfertune", content=body).json()
    assert answer["metadata"]["speedup"] == pytest.approx(20.0)
    ours = program.parse(nest)
    builder = StructuredSDFGBuilder(ours)
    sequence = json.dumps(answer["local_replay"]["sequence"])
    Replayer().apply(builder, AnalysisManager(builder), sequence)
    finished = program.parse(json.dumps(answer["sdfg_result"]["sdfg"]))
    replayed = program.finish(ours, "sequential").to_cpp().splitlines()
    # docc declares variables in any order.
    assert sorted(replayed) == sorted(finished.to_cpp().splitlines())


def test_sessions_have_names_of_their_own(reader):
    names = {reader.post("/docc/transfertune_session", json={}).json()["session_id"] for _ in "ab"}
    assert len(names) == 2


def test_both_of_doccs_schemes_are_taken(server, store):
    secret = token(store)
    for scheme in ("Token", "Job"):
        with server.client(secret, scheme) as client:
            assert client.post("/docc/transfertune_session", json={}).status_code == 200


def test_without_a_good_token_nothing_is_told(server, store):
    gone = token(store, name="gone")
    old = token(store, days=1e-9)
    revoke(store, "gone")
    for secret in (None, "wrong", "lb_wrong", gone, old, "x" * 10_000):
        with server.client(secret) as client:
            answer = client.post("/docc/transfertune_sdfg", content=sent(product))
            assert answer.status_code == 401
            assert set(answer.json()) == {"error"}


def test_a_token_is_refused_soon_after_it_is_revoked(server, store):
    secret = token(store, name="soon")
    with server.client(secret) as client:
        assert client.get("/v1/info").status_code == 200
        revoke(store, "soon")
        assert wait_until(lambda: client.get("/v1/info").status_code == 401, seconds=10)


def test_no_token_is_kept_or_logged(server, store):
    secret = token(store, "lookup", name="secretive")
    with server.client(secret) as client:
        client.get("/v1/info")
        client.get(f"/v1/records/{secret}")
        client.post("/docc/transfertune_sdfg", content=b"{")
    files = [path for path in Path(store).parent.iterdir() if path.is_file()]
    assert files
    for path in files:
        assert secret.encode() not in path.read_bytes()
    assert secret not in server.log


CLIENT = """
import sys, numpy
from loopbook.sdfg import compiler
compiler.activate()
from docc.python import native
from client_kit import {kernel} as kernel, ARGUMENTS
sides = []
for remote in (False, True):
    args = ARGUMENTS[kernel]()
    program = native(target="sequential", remote_tuning=remote)(kernel)
    program(*args)
    sides.append((args, program.last_sdfg))
(one, own), (two, tuned) = sides
arrays = [(a, b) for a, b in zip(one, two) if isinstance(a, numpy.ndarray)]
assert all(numpy.allclose(a, b) for a, b in arrays), "wrong numbers"
print("same" if own.to_cpp() == tuned.to_cpp() else "other")
"""


def compiled_remotely(kernel: str, url: str, secret: str) -> tuple[str, str]:
    """Run the unmodified docc client with and without remote tuning: whether its code is the same,
    and what it complained about."""
    here = Path(__file__).parent
    paths = [str(here), str(here.parent), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-c", CLIENT.format(kernel=kernel)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={
            **os.environ,
            "RPC_SERVER": f"{url}/docc",
            "DOCC_ACCESS_TOKEN": secret,
            "PYTHONPATH": os.pathsep.join(paths),
        },
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[-1], done.stderr


@pytest.mark.parametrize("kernel", ["product_renamed", "chain"])
def test_the_unmodified_client_gets_a_faster_program_with_right_numbers(server, store, kernel):
    assert compiled_remotely(kernel, server.url, token(store)) == ("other", "")


def test_the_unmodified_client_compiles_what_is_unknown_as_ever(server, store):
    assert compiled_remotely("stencil", server.url, token(store)) == ("same", "")


def test_the_unmodified_client_survives_a_wrong_token(server):
    code, words = compiled_remotely("product", server.url, "wrong")
    assert code == "same"
    assert "401" in words


def test_a_killed_worker_is_replaced_and_costs_its_own_request_only(reader, server):
    (worker,) = server.workers()
    answers: list[httpx.Response] = []
    os.kill(worker, signal.SIGSTOP)
    thread = threading.Thread(
        target=lambda: answers.append(reader.post("/docc/transfertune_sdfg", content=sent(product)))
    )
    thread.start()
    time.sleep(0.5)
    os.kill(worker, signal.SIGKILL)
    thread.join()
    assert answers[0].json() == {"error": "docc crashed on this request"}
    answers = [reader.post("/docc/transfertune_sdfg", content=sent(product, n=n)) for n in range(3)]
    assert all("sdfg_result" in answer.json() for answer in answers)
    (worker,) = server.workers()
    os.kill(worker, signal.SIGKILL)  # one that has nothing to do costs no request at all
    time.sleep(0.3)
    answers = [reader.post("/docc/transfertune_sdfg", content=sent(product, n=-n)) for n in (1, 2)]
    assert all("sdfg_result" in answer.json() for answer in answers)
    assert server.workers() != [worker]
    assert 'loopbook_workers_replaced_total{cause="crash"}' in reader.get("/metrics").text


def test_a_worker_that_hangs_is_replaced_and_the_answer_is_an_error_in_time(store):
    with (
        serving(store, "--workers", 1, "--deadline", 3) as server,
        server.client(token(store)) as reader,
    ):
        (worker,) = server.workers()
        os.kill(worker, signal.SIGSTOP)
        begun = time.monotonic()
        answer = reader.post("/docc/transfertune_sdfg", content=sent(product))
        assert answer.json() == {"error": "the look-up took too long"}
        assert 2.5 < time.monotonic() - begun < 10
        assert wait_until(lambda: server.workers() not in ([], [worker]))


def test_overload_is_refused_at_once(store):
    with serving(store, "--workers", 1, "--waiting", 1, "--deadline", 60) as server:
        secret = token(store)
        (worker,) = server.workers()
        os.kill(worker, signal.SIGSTOP)
        answers: list[httpx.Response] = []

        def ask(number: int) -> None:
            with server.client(secret) as client:
                body = sent(product, number=number)
                answers.append(client.post("/docc/transfertune_sdfg", content=body))

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        wait_until(lambda: len(answers) >= 4)
        refused = list(answers)
        os.kill(worker, signal.SIGCONT)
        for thread in threads:
            thread.join()
        assert [answer.status_code for answer in refused] == [503] * 4
        assert all(answer.headers["Retry-After"] == "1" for answer in refused)
        assert all("results" in answer.json() for answer in answers[4:])


def test_on_sigterm_it_finishes_what_it_holds(store):
    server = Served(store, "--workers", 1, "--deadline", 60)
    secret = token(store)
    (worker,) = server.workers()
    os.kill(worker, signal.SIGSTOP)
    answers: list[httpx.Response] = []

    def ask() -> None:
        with server.client(secret) as client:
            answers.append(client.post("/docc/transfertune_sdfg", content=sent(product)))

    thread = threading.Thread(target=ask)
    thread.start()
    assert wait_until(lambda: server.figure("loopbook_busy") == 1)
    server.process.send_signal(signal.SIGTERM)
    assert wait_until(lambda: not server.listens())
    os.kill(worker, signal.SIGCONT)
    thread.join()
    assert "results" in answers[0].json()
    assert server.stop() == 0
    assert server.workers() == []
