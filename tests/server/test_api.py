"""Our own API, access to it, contributions, and the figures of operation."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
from dataclasses import replace
from time import sleep

import pytest
from client_kit import SIMPLE, encoder, nests_of, product, product_permuted, record, stencil
from server_kit import message, sent, serving, token
from untrusted_kit import ATTACKS, attacked
from wait_kit import wait_until

from loopbook.program.nests import read_nests
from loopbook.recipes import Book, Measurement, Recipe
from loopbook.recipes.exchange import read_lines
from loopbook.recipes.tasks import CONFIRM
from loopbook.server.run import listen
from loopbook.server.tables import open_tables
from loopbook.server.tokens import Tokens

pytest_plugins = ["server_fixtures"]


def test_nearest_of_a_program_and_of_a_vector_agree(reader):
    question = {"sdfg": message(product_permuted)["sdfg"], "k": 2}
    (nest,) = reader.post("/v1/nearest", json=question).json()["nests"]
    vector = [float(x) for x in encoder().encode(nests_of(product_permuted)[0]).nest]
    told = reader.post("/v1/nearest", json={"vector": vector, "k": 2, "whole": True}).json()
    assert told["encoder"] == encoder().version
    near = told["neighbours"]
    assert [one["record"] for one in near] == [one["record"] for one in nest["neighbours"]]
    assert near[0]["nest"] == "product:0"
    assert near[0]["content"]["id"] == near[0]["record"]
    assert near[0]["distance"] == pytest.approx(nest["neighbours"][0]["distance"], abs=1e-4)


def test_records_by_id_and_by_nest(reader, store):
    with Book.open(store, readonly=True) as book:
        known = list(book.records())
    for one in known:
        assert reader.get(f"/v1/records/{one.id}").json() == one.to_json()
        question = {"fingerprint": one.fingerprint, "target": one.target}
        assert reader.get("/v1/records", params=question).json() == {"records": [one.to_json()]}
    assert reader.get(f"/v1/records/{'0' * 32}").status_code == 404
    assert reader.get("/v1/records", params={"fingerprint": "none"}).json() == {"records": []}


def test_the_export_is_a_stream_that_can_be_taken_up_again(reader, tmp_path, store):
    whole = reader.get("/v1/export").content
    path = tmp_path / "export.json"
    path.write_bytes(whole)
    items = list(read_lines(path))
    with Book.open(store, readonly=True) as book:
        assert [one for one, _ in items] == list(book.records())
    assert items[0][1][0].encoder == encoder().version
    rest = reader.get("/v1/export", params={"after": items[0][0].id}).content
    lines = whole.splitlines()
    assert rest.splitlines() == [lines[0], *lines[2:]]


def test_info_hardware_and_misses(server, reader, ruler, store):
    assert reader.get("/v1/info").json()["records"] >= 2
    (profile,) = reader.get("/v1/hardware").json()["hardware"]
    assert profile["key"] == record(product, SIMPLE).hardware.key
    for _ in range(2):  # an answer that is given again was missed again
        reader.post("/docc/transfertune_sdfg", content=sent(stencil, target="openmp"))
    found: list[dict[str, object]] = []

    def both_written_down() -> bool:
        found[:] = ruler.get("/v1/misses").json()["misses"]
        return bool(found) and found[0]["count"] == 2

    assert wait_until(both_written_down)
    assert found[0]["fingerprint"] == nests_of(stencil)[0].fingerprint
    assert found[0]["target"] == "openmp"
    with Book.open(store, readonly=True) as book:  # its nest came with it, so that it can be tuned
        (task,), _ = book.queue.all()
        _, document = book.queue.show(task.id)
    (nest,) = read_nests(json.loads(document))
    assert nest.fingerprint == task.fingerprint == found[0]["fingerprint"]
    assert (task.kind, task.target, task.asked) == ("tune", "openmp", 2)
    assert task.cost_s > 0
    assert set(task.sizes[0]) == set(nest.symbols)


def test_scopes_are_kept_apart(server, store):
    contributor = token(store, "contribute")
    looker = token(store, "lookup")
    for secret, method, path, status in (
        (looker, "GET", "/v1/info", 200),
        (looker, "POST", "/v1/records", 403),
        (looker, "GET", "/v1/misses", 403),
        (looker, "GET", "/v1/quarantine", 403),
        (looker, "DELETE", f"/v1/records/{'0' * 32}", 403),
        (contributor, "GET", "/v1/info", 403),
        (contributor, "GET", "/v1/misses", 200),
        (contributor, "POST", f"/v1/quarantine/{'0' * 32}/promote", 403),
        (contributor, "POST", "/docc/transfertune_session", 403),
        (None, "GET", "/v1/info", 401),
        (None, "POST", "/v1/records", 401),
    ):
        with server.client(secret) as client:
            body = {"record": {}} if method == "POST" else None
            assert client.request(method, path, json=body).status_code == status, (method, path)


def gaining(seconds: float, **changes):
    """A contribution about the permuted product."""
    return replace(
        record(product_permuted, "vectorize L0\n"),
        measurements=(Measurement(seconds, 1.0, 0.01, 5, {}),),
        **changes,
    )


def test_a_contribution_waits_until_it_is_promoted(server, reader, ruler, store):
    one = gaining(3.0)
    with server.client(token(store, "contribute")) as giver:
        answer = giver.post("/v1/records", json={"record": one.to_json()})
        assert (answer.status_code, answer.json()) == (201, {"id": one.id, "status": "quarantine"})
        again = giver.post("/v1/records", json={"record": one.to_json()})
        assert (again.status_code, again.json()["status"]) == (200, "known")
    assert reader.get(f"/v1/records/{one.id}").status_code == 404
    waiting = ruler.get("/v1/quarantine").json()["records"]
    assert one.id in [each["id"] for each in waiting]
    with Book.open(store, readonly=True) as book:
        tasks, _ = book.queue.all(kinds=[CONFIRM])
    assert (one.id, one.hardware.key) in [(task.subject, task.hardware_key) for task in tasks]
    assert ruler.post(f"/v1/quarantine/{one.id}/promote").json()["status"] == "promoted"
    assert reader.get(f"/v1/records/{one.id}").json() == one.to_json()
    body = sent(product_permuted)

    def served() -> bool:
        results = reader.post("/docc/transfertune_sdfg", content=body).json().get("results", [])
        return [nest["metadata"]["region_id"] for nest in results] == [one.id]

    assert wait_until(served)
    assert ruler.delete(f"/v1/records/{one.id}").status_code == 200
    assert reader.get(f"/v1/records/{one.id}").status_code == 404


def test_no_number_of_contributors_promotes(server, reader, ruler, store):
    """Two tokens of one person had a useless recipe served; only a measurement does."""
    claims = [gaining(9000.0 + n) for n in range(3)]
    for n, one in enumerate(claims):
        with server.client(token(store, "contribute", name=f"n{n}")) as giver:
            answer = giver.post("/v1/records", json={"record": one.to_json()})
            assert answer.json()["status"] == "quarantine"
            assert giver.post(f"/v1/records/{one.id}/judgement", json={}).status_code == 403
    assert all(reader.get(f"/v1/records/{one.id}").status_code == 404 for one in claims)
    with server.client(token(store, "measure")) as machine:
        waiting = machine.get("/v1/quarantine").json()["records"]
        told = {one["id"]: one["confirmations"] for one in waiting}
        assert [told[one.id] for one in claims] == [3, 3, 3]
        given = machine.get(f"/v1/quarantine/{claims[0].id}").json()
        assert given == claims[0].to_json()
        judgement = {
            "status": "ok",
            "hardware": claims[0].hardware.to_json(),
            "measurement": Measurement(3.0, 2.0, 0.01, 7, {}, {"L0": 9}).to_json(),
        }
        path = f"/v1/records/{claims[0].id}/judgement"
        assert machine.post(path, json=judgement | {"status": "wrong"}).status_code == 422
        promoted = machine.post(path, json=judgement).json()
        assert promoted["status"] == "promoted"
        served = reader.get(f"/v1/records/{promoted['id']}").json()
        assert [one["baseline_s"] for one in served["measurements"]] == [3.0]
        assert machine.get("/v1/quarantine").json()["records"] == []
        path = f"/v1/records/{promoted['id']}/judgement"
        lost = {**judgement, "status": "wrong", "measurement": None, "message": "\x1b[2J off"}
        assert machine.post(path, json=lost).json()["status"] == "quarantine"
        assert reader.get(f"/v1/records/{promoted['id']}").status_code == 404
        (again,) = machine.get("/v1/quarantine").json()["records"]
        assert again["id"] == promoted["id"]
        assert again["why"].startswith("wrong on ")
        assert again["why"].isprintable()
    assert ruler.delete(f"/v1/quarantine/{promoted['id']}").status_code == 200


def test_what_is_contributed_is_checked(server, store):
    good = gaining(2.0)
    illegal = replace(good, recipe=Recipe.parse("unroll L0\n"))
    unknown = replace(good, recipe=Recipe.parse("vectorize L7\n"))
    elsewhere = replace(good, fingerprint="0" * 64)
    nothing = replace(good, nest_json="{}")
    bare = replace(good, measurements=())
    useless = gaining(1.0)
    wonder = replace(good, measurements=(Measurement(1.0, 1e-9, 0.0, 5, {}),))
    evil = [replace(good, nest_json=attacked(good.nest_json, attack, "true")) for attack in ATTACKS]
    changed = good.to_json() | {"nest": "another"}
    with server.client(token(store, "contribute")) as giver:
        for bad in (illegal, unknown, elsewhere, nothing, bare, useless, wonder, *evil):
            answer = giver.post("/v1/records", json={"record": bad.to_json()})
            assert answer.status_code == 422, bad
            assert set(answer.json()) == {"error"}
        for text in ({"record": changed}, {"record": []}, {}, {"record": {}, "more": 1}):
            assert giver.post("/v1/records", json=text).status_code == 422
    database = open_tables(store)
    assert good.id not in [token.id for token in Tokens(database).all()]
    database.close()


def test_anonymous_look_ups_where_they_are_allowed_and_tls_by_files(store, tmp_path):
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    words = "req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate]
    subprocess.run(["openssl", *words.split(), *map(str, names)], check=True, capture_output=True)
    verify = ssl.create_default_context(cafile=str(certificate))
    words = ("--anonymous", "--rate", 0.5, "--burst", 8, "--certificate", certificate, "--key", key)
    with serving(store, "--workers", 1, *words) as server:
        assert server.url.startswith("https://")
        with server.client(verify=verify) as nobody:
            assert nobody.get("/healthz").status_code == 200
            assert nobody.post("/docc/transfertune_sdfg", content=sent(product)).json()["results"]
            assert nobody.post("/v1/records", json={"record": {}}).status_code == 401
        with server.client("wrong", verify=verify) as stranger:
            assert stranger.get("/v1/info").status_code == 401
        with server.client(token(store), verify=verify) as client:
            answers = [client.get("/v1/info") for _ in range(8)]
            assert [answer.status_code for answer in answers] == [200] * 8
            # However slow the machine is, it asks more often than once in two seconds.
            late = wait_until(lambda: (a := client.get("/v1/info")).status_code == 429 and a)
            assert late
            sleep(int(late.headers["Retry-After"]))
            assert client.get("/v1/info").status_code == 200


def test_health_and_figures(server, reader):
    assert reader.get("/v1/info").status_code == 200
    with server.client() as nobody:
        assert nobody.get("/healthz").json() == {"status": "ok"}
        assert nobody.get("/readyz").json() == {"status": "ok"}
        text = nobody.get("/metrics").text
    assert "loopbook_workers 1.0" in text
    assert 'loopbook_requests_total{path="/v1/info",status="200"}' in text
    assert reader.get("/v1/openapi.json").json()["info"]["title"] == "loopbook"


def test_two_servers_on_one_postgresql_share_records(postgres):
    url = postgres.database()
    with Book.open(url) as book:
        book.add(record(stencil, "", 1.0), encoder().encode(nests_of(stencil)[0]))
    secret = token(url, "admin")
    with serving(url, "--workers", 1) as one, serving(url, "--workers", 1) as other:
        body = sent(product)
        with one.client(secret) as here, other.client(secret) as there:
            assert "error" in there.post("/docc/transfertune_sdfg", content=body).json()
            new = record(product, SIMPLE)
            assert here.post("/v1/records", json={"record": new.to_json()}).status_code == 201
            assert here.post(f"/v1/quarantine/{new.id}/promote").status_code == 200
            found = wait_until(
                lambda: there.post("/docc/transfertune_sdfg", content=body).json().get("results")
            )
            assert found[0]["metadata"]["region_id"] == new.id


def test_answers_do_not_wait_between_head_and_body():
    """Nagle's algorithm and delayed confirmation would take 40 ms of small answers."""
    with listen("127.0.0.1", 0) as listener:
        listener.listen()
        with socket.create_connection(listener.getsockname()), listener.accept()[0] as accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
