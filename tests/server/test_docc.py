"""docc's protocol, spoken by requests and by the unmodified client itself."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import numpy as np
import pytest
from client_kit import chain, product, product_in_rounds, product_renamed, stencil
from sdfg_kit import as_docc_sends
from server_kit import SECONDS, Served, message, put_back, revoke, sent, serving, token
from untrusted_kit import ATTACKS, attacked
from wait_kit import wait_until

from loopbook.sdfg import frontend, passes, program
from loopbook.sdfg.transformed import transform
from loopbook.toolchain import compiler
from loopbook.toolchain.sandbox import run_limited

pytest_plugins = ["server_fixtures"]

DEADLINE_S = 1.0
"""Of the server whose worker hangs."""


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
    own = transform(json.dumps(message(chain)["sdfg"]), "sequential", {}).sdfg
    assert _last_loop(served.to_cpp()) == _last_loop(own.to_cpp())


def _last_loop(code: str) -> str:
    """The code of a program's last nest."""
    return code[code.rindex("for") :]


def test_nests_in_a_loop_that_ends_on_a_condition_get_recipes(reader):
    square = np.ones((30, 30))
    arguments = [square, square.copy(), square.copy(), 3.0]
    asked = json.loads(as_docc_sends(product_in_rounds, arguments))
    answer = reader.post("/docc/transfertune_sdfg", json={"sdfg": asked, "target": "sequential"})
    (nest,) = answer.json()["results"]
    assert nest["tier"] in ("exact", "near")
    assert "tile L0 32" in nest["recipe"]
    done = program.parse(json.dumps(answer.json()["sdfg_result"]["sdfg"]))
    assert len(program.nests(done)[0].loops) > 3


def test_an_unknown_program_is_left_to_docc(reader, store):
    answer = reader.post("/docc/transfertune_sdfg", content=sent(stencil))
    assert answer.status_code == 200
    assert answer.json() == {"error": "No match found"}


def test_a_program_that_docc_misunderstood_is_left_alone_and_logged(server, reader):
    def over_its_operand(a, x):
        x[:] = a @ x

    asked = json.loads(as_docc_sends(over_its_operand, [np.ones((5, 5)), np.ones(5)]))
    for route in ("docc/transfertune_sdfg", "docc/transfertune"):
        answer = reader.post(f"/{route}", json={"sdfg": asked, "target": "sequential"})
        words = "docc's front end has misunderstood this program: a product is written over its"
        assert answer.status_code == 200
        assert answer.json() == {"error": f"No match found: {words} operand 'x'"}
    said = f"over_its_operand_sdfg is left alone: {words} operand 'x'"
    assert wait_until(lambda: server.log.count(said) == 2)
    assert f"WARNING program: {said}" in server.log


def test_a_target_that_we_have_nothing_for_is_left_to_docc(reader):
    for target in ("cuda", "none", ""):
        answer = reader.post("/docc/transfertune_sdfg", content=sent(product, target=target))
        assert answer.json() == {"error": "No match found"}


def products(A, B, C, D, E):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(B.shape[0]):
                C[i, j] += A[i, k] * B[k, j]
    for i in range(E.shape[0]):
        for j in range(E.shape[1]):
            for k in range(D.shape[0]):
                E[i, j] += A[i, k] * D[k, j]


def test_nests_that_are_asked_about_one_by_one_can_be_put_back(reader, tmp_path):
    numbers = np.random.default_rng(1)
    shapes = ((37, 41), (41, 46), (37, 46), (41, 29), (37, 29))
    args = [numbers.random(shape) for shape in shapes]
    whole = program.prepare(frontend.trace(products, args))
    document = json.loads(whole.to_json())
    before = set(document["containers"])
    for nest in program.nests(whole):
        asked = {"sdfg": json.loads(program.cut(whole, nest)), "target": "sequential"}
        answer = reader.post("/docc/transfertune", json={**asked, "loop_info": {}}).json()
        assert answer["metadata"]["speedup"] == pytest.approx(20.0)
        new = set(answer["sdfg_result"]["sdfg"]["containers"]) - before
        assert new
        assert new.isdisjoint(document["containers"]), "they may be of other sizes there"
        put_back(document, nest.element_id, answer)
    done = program.parse(json.dumps(document))
    assert done.to_cpp().count("for(") > 2 * 6
    compiler.activate()
    library = run_limited(passes.build, done, tmp_path, "sequential")
    A, B, C, D, E = (array.copy() for array in args)
    frontend.bind(products, args, library)(*args)
    for found, expected in zip(args, (A, B, C + A @ B, D, E + A @ D), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("route", ["docc/transfertune_sdfg", "docc/transfertune", "v1/nearest"])
def test_what_could_run_or_grow_is_refused(reader, route):
    """Names, constants and connectors that are code; powers that held a worker to the deadline."""
    document = message(product)
    evil = [attacked(json.dumps(document["sdfg"]), attack, "true") for attack in ATTACKS]
    text = json.dumps(document["sdfg"])
    assert '"init": "0"' in text
    for power in ("(_s0+_s1+_s2+1)**60", "10**1000000000"):
        evil.append(text.replace('"init": "0"', f'"init": "{power}"', 1))
    for one in evil:
        asked = {"sdfg": json.loads(one), "target": "sequential"}
        answer = reader.post(f"/{route}", json=asked)
        assert answer.status_code == 422
        assert answer.json()["error"].startswith("this SDFG is not accepted: in ")


def test_the_answer_is_in_the_clients_own_names(reader):
    document = message(product)["sdfg"]
    odd = json.dumps(document).replace('"A"', '"größe"')
    for text in (json.dumps(document), odd):
        asked = json.loads(text) | {"metadata": {"output_dir": "/tmp/of the client"}}
        body = {"sdfg": asked, "target": "sequential"}
        answer = reader.post("/docc/transfertune_sdfg", json=body).json()
        given = answer["sdfg_result"]["sdfg"]
        assert given["name"] == asked["name"]
        assert given["arguments"] == asked["arguments"]
        assert set(asked["arguments"]) <= set(given["containers"])
        assert given["metadata"]["output_dir"] == "/tmp/of the client"
        assert answer["results"][0]["loops"] == ["i", "j", "k"]


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
        assert wait_until(lambda: client.get("/v1/info").status_code == 401)


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
from loopbook.toolchain import compiler
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
    root = Path(__file__).parents[2]
    paths = [str(root / "tests" / "kits"), str(root), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-c", CLIENT.format(kernel=kernel)],
        capture_output=True,
        text=True,
        timeout=600,
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


class Asked(threading.Thread):
    """A question that is asked beside the test; `answer` is there once it is joined."""

    answer: httpx.Response

    def __init__(self, server: Served, secret: str, body: bytes) -> None:
        super().__init__()
        self._client, self._body = server.client(secret), body
        self.start()

    def run(self) -> None:
        with self._client as client:
            self.answer = client.post("/docc/transfertune_sdfg", content=self._body)


def stopped(server: Served) -> int:
    """The worker, which from now on does nothing. It has started: it has answered."""
    with server.client(token(server.store)) as client:
        client.post("/docc/transfertune_sdfg", content=sent(product, new=time.monotonic_ns()))
    assert wait_until(lambda: len(server.workers()) == 1)
    (worker,) = server.workers()
    os.kill(worker, signal.SIGSTOP)
    return worker


def test_a_worker_that_is_killed_costs_no_request(reader, server, store):
    for body in (sent(product, new=1), sent(product, new=2)):
        before = server.figure("loopbook_workers_replaced_total")
        worker = stopped(server)
        asked = Asked(server, token(store), body)
        assert wait_until(lambda: server.figure("loopbook_busy") == 1)
        os.kill(worker, signal.SIGKILL)
        asked.join()
        assert "sdfg_result" in asked.answer.json()
        assert server.figure("loopbook_workers_replaced_total") == before + 1
    (worker,) = server.workers()
    os.kill(worker, signal.SIGKILL)  # one that has nothing to do
    answers = [reader.post("/docc/transfertune_sdfg", content=sent(product, new=n)) for n in (3, 4)]
    assert all("sdfg_result" in answer.json() for answer in answers)
    assert server.workers() != [worker]


def test_a_request_that_loses_two_workers_is_not_tried_again(server, store):
    def answer_of(number: int) -> httpx.Response:
        """To a request whose second worker is killed too, if it is not quicker than that."""
        worker = stopped(server)
        asked = Asked(server, token(store), sent(product, new=f"fatal{number}"))
        assert wait_until(lambda: server.figure("loopbook_busy") == 1)
        os.kill(worker, signal.SIGKILL)
        assert wait_until(lambda: server.figure("loopbook_busy") == 0)
        assert wait_until(lambda: server.figure("loopbook_busy") == 1 or not asked.is_alive())
        for second in server.workers():
            os.kill(second, signal.SIGKILL)
        asked.join()
        return asked.answer

    numbers = itertools.count()
    answer = wait_until(lambda: "error" in (a := answer_of(next(numbers))).json() and a)
    assert answer.status_code == 200
    assert answer.json() == {"error": "docc crashed on this request"}


def test_the_same_question_at_the_same_time_is_worked_on_once(server, store):
    before = server.figure("loopbook_requests_merged_total")
    worker = stopped(server)
    secret = token(store)
    bodies = [sent(product, new="once", session_id=str(n)) for n in range(4)]
    asked = [Asked(server, secret, body) for body in bodies]
    assert wait_until(lambda: server.figure("loopbook_requests_merged_total") == before + 3)
    assert server.figure("loopbook_waiting") + server.figure("loopbook_busy") == 1
    os.kill(worker, signal.SIGCONT)
    for one in asked:
        one.join()
    assert len({one.answer.content for one in asked}) == 1
    assert "sdfg_result" in asked[0].answer.json()


def test_a_question_is_worked_on_again_only_if_the_program_or_its_target_differ(reader, server):
    def ask(body: bytes) -> tuple[bytes, bool]:
        before = server.figure("loopbook_answers_repeated_total")
        answer = reader.post("/docc/transfertune_sdfg", content=body).content
        return answer, server.figure("loopbook_answers_repeated_total") > before

    first, _ = ask(sent(product, new="same"))
    assert ask(sent(product, new="same")) == (first, True)
    assert ask(sent(product, new="same", session_id="x", category="y")) == (first, True)
    for other in (
        sent(product, new="other"),
        sent(product, new="same", target="openmp"),
        sent(product, new="same", sizes={"_s0": 3}),
    ):
        assert not ask(other)[1]


def test_a_worker_that_hangs_is_replaced_and_the_answer_is_an_error_in_time(store):
    with (
        serving(store, "--workers", 1, "--deadline", DEADLINE_S) as server,
        server.client(token(store)) as reader,
    ):
        (worker,) = server.workers()
        os.kill(worker, signal.SIGSTOP)
        begun = time.monotonic()
        answer = reader.post("/docc/transfertune_sdfg", content=sent(product))
        assert answer.json() == {"error": "the look-up took too long"}
        assert time.monotonic() - begun > DEADLINE_S / 2
        assert wait_until(lambda: server.workers() not in ([], [worker]))


def test_overload_is_refused_at_once_and_what_is_held_finished_on_sigterm(store):
    with serving(store, "--workers", 1, "--waiting", 1, "--deadline", 600) as server:
        secret = token(store)
        worker = stopped(server)
        asked = [Asked(server, secret, sent(product, new=number)) for number in range(6)]
        assert wait_until(lambda: sum(one.is_alive() for one in asked) == 2)
        refused = [one for one in asked if not one.is_alive()]
        os.kill(worker, signal.SIGCONT)
        for one in asked:
            one.join()
        assert [one.answer.status_code for one in refused] == [503] * 4
        assert all(one.answer.headers["Retry-After"] == "1" for one in refused)
        assert all("results" in one.answer.json() for one in asked if one not in refused)

        assert stopped(server) == worker
        last = Asked(server, token(store), sent(product, new="last"))
        assert wait_until(lambda: server.figure("loopbook_busy") == 1)
        server.process.send_signal(signal.SIGTERM)
        assert wait_until(lambda: not server.listens())
        os.kill(worker, signal.SIGCONT)
        last.join()
        assert "results" in last.answer.json()
        assert server.process.wait(SECONDS) == 0
    assert server.workers() == []
