"""The service when things go wrong: killed, twice on one folder, without room, sealed, attacked."""

import json
import os
import random
import resource
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the service needs the extra `serve`")
import rosenblatt as rb
from amount import LONG, amount
from rosenblatt.errors import InputError
from rosenblatt.serve import guard, protocol
from rosenblatt.serve.routes import OPTIONS
from rosenblatt.serve.server import Settings, make_server
from rosenblatt.store.store import Store
from serving import serving
from test_serve import TOKEN, examples

TESTS = Path(__file__).parent


def test_nothing_acknowledged_is_lost_or_applied_twice_when_servers_are_killed(tmp_path):
    rounds, folder = amount(3, 200), tmp_path / "learners"
    words = [sys.executable, TESTS / "servers.py", folder, str(rounds), "5"]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert told.count('["round"]') == rounds
    assert check_promises(folder / "load", told) > 20 * rounds


def check_promises(folder, told):
    """Hold a store to what clients were told; give how often they were told something."""
    known, open_ones, acknowledged = {}, {}, 0
    for line in filter(None, told.splitlines()):
        kind, *rest = json.loads(line)
        if kind == "round":
            continue
        name, label = rest[1]["id"], rest[1].get("label")  # None for one that is undone
        if kind == "asked":  # until it is answered, either may be stored
            open_ones[name] = known.get(name), label
        else:
            acknowledged += 1
            known[name] = label
            del open_ones[name]
    store = Store(folder)
    entries = list(store.journal.entries())
    stored = {entry[1]: json.loads(entry[2]) for entry in entries}
    assert len(stored) == len(entries)
    for name, label in known.items():
        assert stored.get(name) in open_ones.get(name, (label,)), name
    learner = rb.OnlineSVM(**OPTIONS)
    for lesson in store.journal.after(0):
        learner.learn_one(lesson.row, lesson.label)
    assert store.learner().coef_.tobytes() == learner.coef_.tobytes()
    return acknowledged


def test_a_second_server_of_a_folder_is_refused(tmp_path):
    with serving(tmp_path) as client:
        with pytest.raises(InputError, match=r"another server serves .* already; stop it"):
            make_server(Settings(tmp_path, port=0), print)
        client.post("/teach", examples(1)[0])
    with serving(tmp_path) as client:  # nothing of the lock stays behind
        assert client.get("/stats")["corrections"] == 1


def test_corrections_of_another_program_are_learned_in_their_order(tmp_path):
    taught = examples(9, 3)
    with serving(tmp_path) as client:
        client.post("/teach", {"items": taught[:4]})
        from rosenblatt.store.journal import Correction

        beside = [Correction(e["id"], e["features"], e["label"]) for e in taught[4:8]]
        Store(tmp_path / "default").learn(beside)
        client.post("/teach", taught[8])
        assert client.get("/stats")["corrections"] == 9
        weights = client.get("/model")["weights"]
    learner = rb.OnlineSVM(**OPTIONS)
    for each in taught:
        learner.learn_one(each["features"], each["label"])
    assert [weights[name] for name in learner.feature_names_in_] == learner.coef_[0].tolist()


def test_a_full_disk_is_said_and_nothing_is_acknowledged(tmp_path):
    with serving(tmp_path) as client:
        client.post("/teach", {"items": examples(20)})
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        largest = max(path.stat().st_size for path in (tmp_path / "default").iterdir())
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest + 20_000, before[1]))
        try:
            refused, acknowledged = None, 0
            for each in examples(200, 1):
                status, refused, _ = client.ask("POST", "/teach", each)
                if status != 200:
                    break
                acknowledged += 1
            assert status == 503
            assert "make room" in refused["error"]
            answer = client.post("/predict", {"features": {"f1": 1.0}})  # is given all the same
            failed = client.service.commits.failed
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert failed == 1
        assert client.get("/stats")["corrections"] == 20 + acknowledged
        assert client.post("/predict", {"features": {"f1": 1.0}}) == answer
        client.post("/teach", each)  # there is room again
        assert client.get("/stats")["corrections"] == 21 + acknowledged
    assert len(list(Store(tmp_path / "default").journal.after(0))) == 21 + acknowledged


def test_a_folder_that_cannot_be_written_to_still_answers(tmp_path, monkeypatch):
    with serving(tmp_path) as client:
        client.post("/teach", {"items": examples(20)})
        answer = client.post("/predict", {"features": {"f1": 1.0}})
    monkeypatch.setattr("rosenblatt.store.store.os.access", lambda *asked: False)  # root may all
    with serving(tmp_path) as client:
        assert client.post("/predict", {"features": {"f1": 1.0}}) == answer
        for path, body in (("/teach", examples(1, 1)[0]), ("/undo", {})):
            assert "cannot be written to" in client.post(path, body, 503)["error"]
        assert client.get("/stats")["corrections"] == 20


def test_a_damaged_learner_is_named_and_the_others_answer(tmp_path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "journal.sqlite").write_bytes(b"no journal" * 100)
    with serving(tmp_path) as client:
        assert client.get("/health") == {"status": "ok", "broken": "broken"}
        assert "damaged" in client.get("/stats?learner=broken", 503)["error"]
        client.post("/teach", examples(1)[0])


# Attacks -----------------------------------------------------------------------------------------


def test_random_bytes_get_an_answer_of_http_and_leave_the_server_well(tmp_path, monkeypatch):
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.1)
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.1)
    source, counts = random.Random(1), {}
    with serving(tmp_path) as client:
        client.post("/teach", {"items": examples(20)})
        before = None
        for k in range(amount(300, 10_000)):
            answer = client.send(attack(source))
            status = answer[9:12].decode() if answer else "none"
            counts[status] = counts.get(status, 0) + 1
            assert status == "none" or answer.startswith(b"HTTP/1.1 "), answer[:100]
            if k == 200:
                before = resident()
        assert not {status for status in counts if status.startswith("5")}, counts
        assert set(counts) >= {"200", "400", "404", "422"}, counts
        assert client.get("/health") == {"status": "ok"}
        if LONG:
            assert resident() - before < 30 << 20
        assert len(client.server.server_state.connections) <= 1


PATHS = ["/", "/predict", "/teach", "/undo", "/separate", "/verify", "/checkv2", "/stats", "/model"]
PATHS += ["/learners", "/learners/default/inbox", "/events2", "/..//", "/%00", "/\xff", "/a" * 200]


def attack(source):
    """Bytes, from no HTTP at all to a request with a strange body."""
    noise = source.randbytes(source.randrange(1, 400))
    kind = source.randrange(4)
    if kind == 0:
        return noise
    path, method = source.choice(PATHS), source.choice(["GET", "POST", "POST", "PUT", "X"])
    headers = ["Host: localhost", "Connection: close"]
    if kind == 1:
        headers.append(f"{source.choice(['Origin', 'Cookie', 'Content-Type'])}: {noise.hex()}")
        headers.append(source.choice(["Content-Length: 5", "Content-Length: x", "Expect: y"]))
    if kind == 2:
        words = ['"features"', '"items"', '"label"', '"id"', '"message"', "null", "true", "1e999"]
        noise = "".join(source.choices([*'{}[]":,', *words], k=30)).encode()
    headers.append(f"Content-Length: {len(noise)}")
    head = f"{method} {path} HTTP/1.1\r\n" + "\r\n".join(headers) + "\r\n\r\n"
    return head.encode("latin-1") + noise


def resident():
    """The memory of this process, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_slow_and_endless_clients_are_let_go(tmp_path, monkeypatch):
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.3)
    with serving(tmp_path, token=TOKEN) as client:
        entering = f"POST /predict HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {TOKEN}\r\n"
        beginnings = {
            b"": b"",
            b"GET / HT": b"",
            b"GET / HTTP/1.1\r\nA: b\r\n": b"",
            entering.encode() + b"Content-Length: 9\r\n\r\n{": b"HTTP/1.1 408",
            entering.encode() + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n": b"HTTP/1.1 408",
            b"GET / HTTP/1.1\r\nA: " + b"b" * (1 << 17): b"HTTP/1.1 431",
        }
        waiting = {}
        for beginning in beginnings:
            waiting[beginning] = socket.create_connection(client.address, timeout=20)
            waiting[beginning].sendall(beginning)
        for beginning, answer in beginnings.items():
            with waiting[beginning] as connection:
                found = b""
                try:
                    while piece := connection.recv(1 << 16):
                        found += piece
                except ConnectionResetError:
                    assert answer == b"HTTP/1.1 431"  # what it still sent is not read
                assert found.startswith(answer) or answer == b"HTTP/1.1 431", (beginning, found)


def test_the_server_stops_while_clients_listen_and_teach(tmp_path):
    acknowledged = []
    with serving(tmp_path) as client:
        client.post("/teach", examples(1)[0])
        listening = socket.create_connection(client.address, timeout=30)
        listening.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert listening.recv(100)

        def teach():
            for each in examples(10_000, 1):
                try:
                    acknowledged.append(client.post("/teach", each)["id"])
                except (OSError, AssertionError):
                    return

        teaching = threading.Thread(target=teach)
        teaching.start()
        time.sleep(0.2)
        begin = time.monotonic()
    assert time.monotonic() - begin < 9
    teaching.join()
    listening.close()
    stored = {entry[1] for entry in Store(tmp_path / "default").journal.entries()}
    assert set(acknowledged) <= stored
