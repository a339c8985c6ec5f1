"""The service: what it answers is what its learners know, and what it acknowledges is stored."""

import json
import random
import re
import threading
import time
from pathlib import Path

import pytest

import rosenblatt as rb

pytest.importorskip("fastapi", reason="the service needs the extra `serve`")
from rosenblatt.serve.routes import OPTIONS
from rosenblatt.serve.service import LIMITS
from rosenblatt.store.store import Store
from serving import serving

ROOT = Path(__file__).parents[1]
TOKEN = "a-token-of-thirty-two-characters"
GOOD = b"From: boss@example.org\nSubject: the meeting\n\nminutes of the meeting\n"
BAD = b"From: shop@example.com\nSubject: free offer\n\nclick here for a free cruise\n"


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("learners")) as client:
        yield client


def examples(count, seed=0):
    """Corrections of two labels, most of which one plane separates."""
    source = random.Random(seed)
    made = []
    for k in range(count):
        names = source.sample(range(40), 5)
        features = {f"f{name}": source.choice((0.5, 1.0, -2.0)) for name in names}
        label = "yes" if sum(features[f"f{name}"] * (-1) ** name for name in names) > 0 else "no"
        made.append({"id": f"{seed}-{k}", "features": features, "label": label})
    return made


def twin(taught):
    """What rosenblatt itself learns from corrections, one by one."""
    learner = rb.OnlineSVM(**OPTIONS)
    for each in taught:
        learner.learn_one(each["features"], each["label"])
    return learner


# Teaching and asking -----------------------------------------------------------------------------


def test_answers_are_those_of_the_learner_to_the_bit(client):
    taught = examples(60, 1)
    for each in taught[:20]:
        assert client.post("/teach?learner=twin", each)["new"]
    client.post("/teach", {"learner": "twin", "items": taught[20:]})
    learner, asked = twin(taught), examples(30, 2)
    items = [{"features": each["features"]} for each in asked]
    answers = client.post("/predict", {"learner": "twin", "items": items})["answers"]
    for each, answer in zip(asked, answers, strict=True):
        label, lead = learner.answer_one(each["features"])
        assert (answer["label"], abs(answer["score"])) == (label, lead)
        assert (answer["score"] > 0) == (label == "yes")
        assert answer == client.post("/predict", {"learner": "twin", "features": each["features"]})
    stats = client.get("/stats?learner=twin")
    assert (stats["corrections"], stats["mistakes"]) == (60, learner.run_.mistakes)
    assert sum(day["mistakes"] for day in stats["days"]) == stats["mistakes"]
    assert stats["curve"][-1][:2] == [60, learner.run_.mistakes]


def test_the_same_correction_counts_once_and_another_label_replaces_it(client):
    first, second, *others = examples(8, 3)
    for each in (first, second, first):
        client.post("/teach?learner=once", each)
    assert client.post("/teach?learner=once", first) == {"id": "3-0", "seq": 1, "new": False}
    other = "no" if first["label"] == "yes" else "yes"
    assert client.post("/teach?learner=once", first | {"label": other})["seq"] == 3
    client.post("/teach", {"learner": "once", "items": others})
    learner = twin([second, first | {"label": other}, *others])
    weights = client.get("/model?learner=once")["weights"]
    names = learner.feature_names_in_.tolist()
    assert weights == dict(zip(names, learner.coef_[0].tolist(), strict=True))


def test_an_undone_correction_leaves_no_trace(client):
    taught = examples(12, 4)
    for each in taught:
        client.post("/teach?learner=undone", each)
    before = client.get("/model?learner=undone")["weights"]
    extra = examples(1, 5)[0]
    client.post("/teach?learner=undone", extra)
    assert client.post("/undo?learner=undone", {"id": extra["id"]}) == {"seq": 13}
    assert client.get("/model?learner=undone")["weights"] == before
    assert client.post("/undo", {"learner": "undone"}) == {"seq": 12}  # the latest
    assert client.get("/stats?learner=undone")["corrections"] == 11
    assert "no such correction" in client.post("/undo?learner=undone", {"id": "x"}, 404)["error"]


def test_examples_in_the_inbox_are_corrected_by_their_id(client):
    client.post("/teach", {"learner": "inbox", "items": examples(6, 6)})
    asked = client.post("/predict?learner=inbox", {"features": {"f1": 1.0, "f2": 1.0}})
    shown = client.get("/learners/inbox/inbox")["items"][0]
    assert shown["id"] == asked["id"]
    assert shown["correction"] is None
    assert shown["score"] == asked["score"]
    intercept = shown["score"] - sum(reason["weight"] for reason in shown["reasons"])
    assert abs(intercept) <= 1 + 1e-12  # which is no feature
    client.post("/teach?learner=inbox", {"id": asked["id"], "label": "yes"})
    shown = client.get("/learners/inbox/inbox?limit=1")["items"]
    assert [each["correction"] for each in shown] == ["yes"]
    client.post("/undo?learner=inbox", {"id": asked["id"]})
    assert client.get("/learners/inbox/inbox?limit=1")["items"][0]["correction"] is None
    missing = client.post("/teach?learner=inbox", {"id": "stranger", "label": "yes"}, 404)
    assert "no example of this id" in missing["error"]


def test_mail_is_marked_learned_and_explained(client):
    assert client.mail("/predict", GOOD)["unsure"]
    client.mail("/teach?label=important", GOOD)
    client.mail("/teach?label=ordinary", BAD)
    found = client.mail("/predict", BAD)
    assert (found["label"], found["unsure"]) == ("ordinary", False)
    assert client.post("/predict", {"message": BAD.decode()}) == found
    item = client.get("/learners/mail/inbox")["items"][0]
    assert (item["subject"], item["sender"]) == ("free offer", "shop@example.com")
    assert item["reasons"][0]["weight"] < 0
    assert "ordinary or" not in client.mail("/teach?label=spam", BAD, 400)["error"]
    checked = client.mail("/checkv2", BAD)
    assert checked["action"] == "add header"
    assert checked["score"] == -10 * found["score"]
    assert checked["milter"]["add_headers"]["X-Rosenblatt"]["value"].startswith("ordinary;")
    assert client.mail("/checkv2", GOOD)["action"] == "no action"
    asked = client.post("/predict", {"message": ""})["id"]  # which has no features at all
    items = client.get("/learners/mail/inbox")["items"]
    assert [each["reasons"] for each in items if each["id"] == asked] == [[]]


def test_more_than_two_labels_are_told_apart(client):
    taught = [{"features": {name: 1.0}, "label": k} for k, name in enumerate("abc")] * 2
    made = {"name": "three", "learner": "Perceptron", "options": {"fit_intercept": False}}
    assert client.post("/learners", made, 201)["labels"] == []
    for k, each in enumerate(taught):
        client.post("/teach?learner=three", each | {"id": str(k)})
    found = client.post("/predict?learner=three", {"features": {"b": 2.0, "c": 0.5, "d": 1.0}})
    assert found["label"] == 1
    item = client.get("/learners/three/inbox?limit=1")["items"][0]
    reasons = {reason["name"]: reason["weight"] for reason in item["reasons"]}
    assert sum(reasons.values()) == pytest.approx(found["score"], abs=1e-12)  # it is a sum of two
    assert reasons["b"] > 0 > reasons["c"]
    assert client.get("/model?learner=three")["weights"] is None


def test_a_learner_that_cannot_learn_is_named_and_not_served(client, monkeypatch):
    client.post("/teach?learner=stuck", examples(1, 1)[0])
    learner = client.service.learners["stuck"].held.learner
    monkeypatch.setattr(type(learner), "learn_one", lambda *given: 1 / 0)
    refused = client.post("/teach?learner=stuck", examples(2, 1)[1], 503)
    assert "stuck cannot learn" in refused["error"]
    assert "stuck cannot learn" in client.get("/stats?learner=stuck", 503)["error"]
    del client.service.broken["stuck"]


def test_many_clients_at_once_share_flushes_and_lose_nothing(client):
    taught, receipts = examples(80, 7), []

    def teach(some):
        receipts.extend(client.post("/teach?learner=many", each) for each in some)

    before = client.service.commits.count
    threads = [threading.Thread(target=teach, args=(taught[k::8],)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(each["seq"] for each in receipts) == list(range(1, 81))
    assert client.service.commits.count - before < 80
    order = sorted(receipts, key=lambda each: each["seq"])
    by_id = {each["id"]: each for each in taught}
    learner = twin([by_id[each["id"]] for each in order])
    weights = client.get("/model?learner=many")["weights"]
    assert [weights[name] for name in learner.feature_names_in_] == learner.coef_[0].tolist()


def test_a_restarted_server_knows_all_that_was_taught(tmp_path):
    taught = examples(25, 8)
    with serving(tmp_path) as client:
        client.post("/teach", {"items": taught})
        client.post("/undo", {"id": "8-3"})
        before = client.get("/model"), client.get("/stats")["days"]
    assert Store(tmp_path / "default").plane() is not None  # a snapshot was left
    with serving(tmp_path) as client:
        assert (client.get("/model"), client.get("/stats")["days"]) == before
        shown = client.get("/learners/default/inbox")["items"]
        assert [each["id"] for each in shown[:2]] == ["8-24", "8-23"]
        assert shown[0]["correction"] == taught[24]["label"]
        client.post("/teach", {"features": {"a": 1}, "label": 3}, 400)  # its labels are text


# Proofs, events, operations ----------------------------------------------------------------------


def test_verdicts_come_with_certificates_that_verify(client):
    rows, labels = [[0, 0], [1, 1], [0, 1], [1, 0]], ["a", "a", "b", "b"]
    found = client.post("/separate", {"rows": rows, "labels": labels})
    assert found["verdict"] == "inseparable"
    claim = {"certificate": found["certificate"], "rows": rows}
    assert client.post("/verify", claim | {"labels": labels})["ok"]
    refused = client.post("/verify", claim | {"labels": ["a", "b", "b", "b"]})
    assert not refused["ok"]
    named = client.post(
        "/separate", {"rows": [{"x": 0.1}, {"y": 0.3}], "labels": [1, 2], "fit_intercept": False}
    )
    assert (named["verdict"], named["columns"]) == ("separable", ["x", "y"])
    assert named["coef"][0] < 0 < named["coef"][1]


def test_totals_are_sent_as_they_change_and_the_bound_follows(client):
    import http.client

    client.post("/teach", {"learner": "told", "items": examples(8, 9)})
    connection = http.client.HTTPConnection(*client.address, timeout=30)
    connection.request("GET", "/events?learner=told")
    stream = connection.getresponse()
    assert stream.headers["content-type"].startswith("text/event-stream")
    told = _told(stream, lambda totals: totals["bound_at"] == 8)
    assert told["corrections"] == 8
    assert told["mistakes"] <= told["bound"]
    client.post("/teach?learner=told", examples(1, 10)[0])
    assert _told(stream, lambda totals: totals["corrections"] == 9)["mistakes"] >= told["mistakes"]
    connection.close()


def _told(stream, wanted):
    """Read events until one is wanted."""
    while line := stream.readline():
        if line.startswith(b"data: ") and wanted(json.loads(line[6:])):
            return json.loads(line[6:])
    raise AssertionError("the stream ended")


def test_metrics_health_and_documents_are_there(client):
    client.post("/teach?learner=counted", examples(1, 1)[0])
    assert client.get("/health") == {"status": "ok"}
    lines = client.get("/metrics").decode().splitlines()
    assert any(line.startswith('rosenblatt_requests_total{path="/teach"') for line in lines)
    assert 'rosenblatt_learner_corrections{learner="counted"} 1' in lines
    page = client.get("/docs").decode()
    assert "POST /teach" in page
    assert "http" not in page.replace("http-equiv", "")  # it needs no network
    document = client.get("/openapi.json")
    bodies = document["paths"]["/teach"]["post"]["requestBody"]["content"]
    assert set(bodies) == {"application/json", "message/rfc822"}


# Refusals ----------------------------------------------------------------------------------------

REFUSED = [
    ("POST", "/predict", b"{", 422, "JSON"),
    ("POST", "/predict", b"\xff", 422, "JSON"),
    ("POST", "/predict", {"features": {"a": "b"}}, 422, "features.a"),
    ("POST", "/predict", {"features": {"a": 1e13}}, 422, "features.a"),
    ("POST", "/predict", b'{"features": {"a": NaN}}', 422, "features.a"),
    (
        "POST",
        "/predict",
        {"items": [{"features": {"a": 1}, "x": 1}]},
        422,
        "0.x: there is no",
    ),
    ("POST", "/predict?leaner=twin", {"features": {"a": 1}}, 422, "no parameter 'leaner' here"),
    ("POST", "/predict", {"features": {"a": 1}, "message": "b"}, 400, "nothing else"),
    ("POST", "/predict?learner=nobody", {"features": {}}, 404, "no learner nobody"),
    ("POST", "/teach", {"features": {"a": 1}}, 422, "label"),
    ("POST", "/teach", {"features": {"a": 1}, "label": True}, 422, "label: Input"),
    ("POST", "/teach?learner=..%2Fx", {"features": {"a": 1}, "label": "b"}, 422, "64 letters"),
    ("POST", "/teach?learner=twin", {"features": {"a": 1}, "label": 1}, 400, "are text"),
    ("POST", "/teach?learner=twin", {"message": "a", "label": "b"}, 400, "takes features"),
    ("POST", "/undo?learner=nobody", {}, 404, "no learner"),
    ("POST", "/learners", {"name": "twin"}, 409, "already"),
    ("POST", "/learners", {"name": "x", "kind": "mail", "labels": ["a", "a"]}, 400, "two names"),
    ("POST", "/learners", {"name": "x", "options": {"C": -1}}, 400, "C must"),
    ("POST", "/learners", {"name": "x", "options": {"D": 1}}, 400, "option"),
    ("POST", "/separate", {"rows": [[1]], "labels": ["a", "b"]}, 400, "1 rows and 2 labels"),
    ("POST", "/separate", {"rows": [[1], [1, 2]], "labels": ["a", "b"]}, 400, "row 1 has 2"),
    ("POST", "/separate", {"rows": [[1], [2]], "labels": ["a", "a"]}, 400, "two classes"),
    ("POST", "/verify", {"rows": [[1]], "labels": ["a"], "certificate": 1}, 422, "certificate"),
    ("GET", "/stats", None, 404, "name a learner"),
    ("GET", "/stats?name=twin", None, 422, "there are: learner"),
    ("GET", "/learners/twin/inbox?limit=0", None, 422, "limit"),
    ("GET", "/nowhere", None, 404, "nothing here"),
    ("GET", "/../pyproject.toml", None, 404, "nothing here"),
    ("GET", "/%2e%2e/%2e%2e/app.py", None, 404, "nothing here"),
    ("GET", "/play/..%2f..%2fapp.py", None, 404, "nothing here"),
    ("DELETE", "/predict", None, 405, "other methods"),
]


@pytest.mark.parametrize(("method", "path", "body", "status", "words"), REFUSED)
def test_what_cannot_be_used_is_refused_in_a_sentence(client, method, path, body, status, words):
    client.service.learners.get("twin") or client.post("/teach?learner=twin", examples(1, 1)[0])
    found, content, headers = client.ask(method, path, body)
    assert (found, set(content)) == (status, {"error"}), content
    assert words in content["error"]
    assert "\n" not in content["error"]
    assert headers["content-security-policy"].startswith("default-src 'self'")


def test_limits_hold(tmp_path):
    limits = LIMITS._replace(learners=2, features=5, body=2000)
    with serving(tmp_path, limits=limits) as client:
        assert "2000 bytes" in client.post("/predict", b" " * 2001, 413)["error"]
        chunked = b"POST /predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        assert b" 413 " in client.send(chunked + b"7d0\r\n" + b" " * 2000 + b"\r\n" + b"1\r\n \r\n")
        many = {f"f{k}": 1.0 for k in range(6)}
        assert "5 features" in client.post("/teach", {"features": many, "label": "a"}, 400)["error"]
        client.post("/teach?learner=one", {"features": {"a": 1}, "label": "a"})
        refused = client.post("/teach?learner=two", {"features": {"a": 1}, "label": "a"}, 400)
        assert "2 learners" in refused["error"]


def test_nobody_comes_in_without_the_token(tmp_path):
    with serving(tmp_path, token=TOKEN) as client:
        wrong = [
            {},
            {"authorization": "Bearer"},
            {"authorization": f"Bearer {TOKEN[:-1]}"},
            {"authorization": f"Bearer {TOKEN}x"},
            {"authorization": f"Basic {TOKEN}"},
            {"authorization": f"Bearer {TOKEN.upper()}"},
            {"cookie": f"rosenblatt={TOKEN[:-1]}"},
            {"cookie": f"other={TOKEN}"},
            {"password": "é"},
        ]
        paths = ["/predict", "/learners", "//learners", "/./learners", "/health/../learners"]
        paths += ["/%2e/learners", "/learners?token=" + TOKEN, "/play/", "/openapi.json", "/docs"]
        for headers in wrong:
            for path in paths if not headers else paths[:2]:
                status, content, _ = client.ask("GET", path, None, headers)
                assert (status, set(content)) == (401, {"error"}), path
        assert client.get("/health") == {"status": "ok"}
        assert client.get("/learners", authorization=f"Bearer {TOKEN}") == {"learners": []}
        assert client.get("/learners", cookie=f"a=b; rosenblatt={TOKEN}") == {"learners": []}
        status, _, headers = client.ask("GET", f"/?token={TOKEN}")
        assert (status, headers["location"]) == (303, "/")
        assert headers["set-cookie"] == f"rosenblatt={TOKEN}; HttpOnly; SameSite=Strict; Path=/"
        assert client.ask("GET", f"/?token={TOKEN}x")[0] == 401
        for path, place in ((f"/?token={TOKEN}x", "/#wrong"), ("/play/", "/")):  # people
            status, _, headers = client.ask("GET", path, None, {"accept": "text/html"})
            assert (status, headers["location"]) == (303, place)


def test_pages_of_other_sites_may_not_teach(client):
    for headers in ({"host": "evil.example"}, {"host": "localhost.evil.example"}, {"host": "["}):
        assert client.ask("GET", "/learners", None, headers)[0] == 421
    body = {"features": {"a": 1}, "label": "b"}
    for origin in ("https://evil.example", "null", "http://127.0.0.1"):
        assert client.ask("POST", "/teach", body, {"origin": origin})[0] == 403
    own = {"origin": client.url}
    assert client.ask("POST", "/teach?learner=own", body, own)[0] == 200


def test_a_rate_holds_for_other_machines():
    from rosenblatt.serve.guard import Guard, Traffic
    from rosenblatt.serve.refusals import RefusalError

    guard = Guard(None, LIMITS._replace(rate=5.0), Traffic(set()), None, "none")
    far, near = {"client": ("192.0.2.1", 1)}, {"client": ("127.0.0.1", 1)}
    for _ in range(5):
        guard._check_rate(far)
    guard._buckets["192.0.2.1"] = 0.5, time.monotonic()
    with pytest.raises(RefusalError, match="5 requests a second"):
        guard._check_rate(far)
    for _ in range(20):
        guard._check_rate(near)
    guard._check_rate({"client": ("192.0.2.2", 1)})


def test_logs_tell_nothing_of_what_was_sent(tmp_path, capfd):
    with serving(tmp_path, log="requests") as client:
        client.mail("/teach?label=important", GOOD)
        client.post("/predict?learner=secret", {"features": {"secret": 1}}, 404)
        client.post("/predict", {"secret": "secret"}, 422)
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    assert [line["event"] for line in lines] == ["start", *["request"] * 3, "stop"]
    assert [line.get("status") for line in lines[1:4]] == [200, 404, 422]
    assert "secret" not in json.dumps(lines)
    assert "meeting" not in json.dumps(lines)


def test_serving_beyond_this_machine_needs_a_token(shell):
    status, _, said = shell("serve", "learners", "--host", "0.0.0.0")
    assert (status, "give --token-file FILE" in said) == (2, True)
    with open("token", "w") as file:
        file.write("short\n")
    status, _, said = shell("serve", "learners", "--token-file", "token")
    assert (status, "openssl rand" in said) == (2, True)
    status, _, said = shell("serve", "learners", "--token-file", "nowhere")
    assert (status, "cannot read the token" in said) == (2, True)


def test_units_and_images_give_options_that_there_are():
    from rosenblatt.cli.serving import serve

    known = {name for option in serve.params for name in option.opts}
    texts = [path.read_text() for path in (ROOT / "deploy").iterdir()]
    texts.append((ROOT / "docs" / "serve.md").read_text())
    given = {
        option
        for text in texts
        for line in re.findall(r"\bserve\b(?! *as)[^\n]*", text)
        for option in re.findall(r"--[a-z-]+", line)
    }
    assert {"--host", "--token-file"} <= given
    assert given <= known
