"""The filter: where messages lie, what it learns, its evaluation and its commands."""

import io
import json
import mailbox
import resource
import subprocess
import sys

import numpy as np
import pytest

import rosenblatt as rb
from letters import MULTIPART, letter, letters
from rosenblatt.errors import InputError
from rosenblatt.mail import filter as filtering
from rosenblatt.mail.documents import documents
from rosenblatt.mail.evaluation import evaluate, roca
from rosenblatt.mail.features import one_row
from rosenblatt.mail.filter import Filter, Marking, marked
from rosenblatt.mail.messages import Marked, by_date, date_of, find, find_in_index
from rosenblatt.store.store import SNAPSHOT

MANY = letters(150)


@pytest.fixture
def captured(capfdbinary):
    return Decoded(capfdbinary)


class Decoded:
    """What was printed, as text; messages are bytes."""

    def __init__(self, captured):
        self.captured = captured

    def readouterr(self):
        out, err = self.captured.readouterr()
        return type("Shown", (), {"out": out.decode("latin-1"), "err": err.decode()})


@pytest.fixture
def corpus(folder):
    """Two folders of messages."""
    for k, (message, important) in enumerate(MANY):
        place = folder / ("good" if important else "bad")
        place.mkdir(exist_ok=True)
        (place / f"{k:04d}.eml").write_bytes(message)
    (folder / "good" / "index.json").write_text('{"a": 1}')
    return folder


@pytest.fixture
def piped(monkeypatch, shell):
    """Run a command with a message on standard input."""

    def call(message, *words):
        stream = io.TextIOWrapper(io.BytesIO(message))
        monkeypatch.setattr(sys, "stdin", stream)
        return shell(*words)

    return call


def read(places):
    return [place.read() for place in places]


# ---- where messages lie


def test_messages_are_found_in_folders_mboxes_and_maildirs(tmp_path):
    messages = [message for message, _ in MANY[:4]]
    box = mailbox.mbox(tmp_path / "box")
    maildir = mailbox.Maildir(tmp_path / "maildir")
    for message in messages:
        box.add(message)
        maildir.add(message)
    box.close()
    (tmp_path / "one").write_bytes(messages[0])
    assert read(find(tmp_path / "one")) == messages[:1]
    found = [each.partition(b"\n")[2].strip() for each in read(find(tmp_path / "box"))]
    assert found == [message.strip() for message in messages]
    assert sorted(read(find(tmp_path / "maildir"))) == sorted(messages)


def test_a_line_that_begins_with_from_does_not_cut_a_message(tmp_path):
    path = tmp_path / "m"
    path.write_bytes(b"From me Mon Jan  1 00:00:00 2020\nSubject: x\n\ny\n\nFrom here on, z\n")
    assert len(find(path)) == 1


def test_files_that_are_no_messages_are_left_out_of_a_folder(corpus):
    assert len(find(corpus / "good")) == sum(important for _, important in MANY)
    (corpus / "empty").mkdir()
    with pytest.raises(InputError, match="holds no message"):
        find(corpus / "empty")
    with pytest.raises(InputError, match=r"cannot read .*nowhere: No such file"):
        find(corpus / "nowhere")


def test_a_trec_index_names_messages_beside_it(corpus):
    (corpus / "full").mkdir()
    (corpus / "full" / "index").write_text("spam ../bad/0001.eml\nHAM ../good/0000.eml\n\n")
    found = find_in_index(corpus / "full" / "index")
    assert [each.important for each in found] == [False, True]
    assert read(each.place for each in found) == [MANY[1][0], MANY[0][0]]
    (corpus / "index").write_text("spam a\nmaybe b\n")
    with pytest.raises(InputError, match="index:2: expected `spam PATH`"):
        find_in_index(corpus / "index")


def test_dates_order_messages_and_strange_ones_come_first(tmp_path):
    dates = [b"Tue, 2 Jun 2020 00:00:00 +0000", b"", b"1 Jun 2020 23:00 -0500", b"99 Foo 99999"]
    for k, date in enumerate(dates):
        (tmp_path / f"{k}").write_bytes(b"Subject: x\nDate: " + date + b"\n\nDate: 1 Jan 2000\n")
    found = by_date(Marked(place, True) for place in find(tmp_path))
    assert [each.place.path[-1] for each in found] == list("1302")
    assert date_of(b"dAtE:\n Mon, 01 Jan 2001 00:00:00 GMT\n\n") == 978307200


# ---- learning


def test_a_filter_learns_what_it_is_told_and_a_change_of_mind_counts(tmp_path):
    filter = Filter.create(tmp_path / "store")
    assert filter.answer(MANY[0][0]) == Marking("unsure", 0.0)
    list(filter.learn(MANY))
    right = [
        filter.answer(letter(seed, kind)).mark == filter.marks[not kind]
        for seed in range(1000, 1030)
        for kind in (True, False)
    ]
    assert sum(right) >= 57
    message = letter(5000, True)
    assert [r.new for r in filter.learn([(message, False), (message, False)])] == [True, False]
    doubted = filter.answer(message).score
    list(filter.learn([(message.replace(b"\n", b"\r\n"), True)]))
    assert doubted < filter.answer(message).score
    assert filter.undo(message)
    again = Filter.create(tmp_path / "again")
    list(again.learn(MANY))
    assert np.array_equal(filter.store.learner().coef_, again.store.learner().coef_)


def test_a_snapshot_answers_as_the_learner_does(tmp_path):
    filter = Filter.create(tmp_path / "store")
    list(filter.learn(MANY[:60]))
    slow = filter.answer(MANY[100][0])  # writes a snapshot
    assert filter.store.plane() is not None
    assert Filter(tmp_path / "store").answer(MANY[100][0]).score == pytest.approx(slow.score)


def test_mail_is_marked_even_if_the_disk_is_full(tmp_path):
    filter = Filter.create(tmp_path / "store")
    list(filter.learn(MANY[:60]))
    wanted = filter.answer(MANY[100][0])
    (tmp_path / "store" / SNAPSHOT).unlink()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, before[1]))
    try:
        assert Filter(tmp_path / "store").answer(MANY[100][0]) == wanted
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not (tmp_path / "store" / SNAPSHOT).exists()


def test_the_first_corrections_of_one_kind_teach_that_kind(tmp_path):
    for kind, mark in ((True, "important"), (False, "ordinary")):
        filter = Filter.create(tmp_path / mark)
        list(filter.learn([(letter(1, kind), kind), (letter(2, kind), kind)]))
        assert filter.answer(letter(3, kind)).mark == mark


def test_why_names_words_of_both_kinds_and_adds_up(tmp_path):
    filter = Filter.create(tmp_path / "store")
    list(filter.learn(MANY))
    message = b"Subject: budget casino\n\nagenda pills\n"
    answer, reasons = filter.why(message, top=1000)
    assert sum(reason.weight for reason in reasons) == pytest.approx(answer.score)
    weights = {reason.name: reason.weight for reason in reasons}
    assert weights["agenda"] > 0 > weights["pills"]
    assert [abs(r.weight) for r in reasons] == sorted(
        (abs(r.weight) for r in reasons), reverse=True
    )


@pytest.mark.parametrize(
    "message",
    [
        MULTIPART,
        b"",
        b"\nbody",
        b"Subject: x",
        b"From a b\nSubject: x\n\ny",
        b"A: b\r\n\r\nc\r\n",
        b"A: b\n\nX-Rosenblatt: body\n",
        b"\xff\xfe\0\n\n",
    ],
)
def test_a_header_is_added_and_all_else_stays_as_it_is(message):
    after = marked(message, Marking("important", 0.5))
    end = b"\r\n" if b"A: b\r\n" in message else b"\n"
    line = b"X-Rosenblatt: important; score=0.5000" + end
    assert after.count(line) == 1
    assert after.replace(line, b"", 1) == message
    assert marked(after, Marking("unsure", 0.0)).count(b"X-Rosenblatt: un") == 1
    assert len(marked(after, Marking("important", 0.5))) == len(after)


# ---- evaluation


@pytest.mark.twin_of("mail.loops.answer_and_learn")
def test_an_evaluation_tests_before_it_learns(corpus):
    messages = by_date(
        [
            *(Marked(p, True) for p in find(corpus / "good")),
            *(Marked(p, False) for p in find(corpus / "bad")),
        ]
    )
    found = evaluate(messages)
    learner, wrong = rb.OnlineSVM(**filtering.OPTIONS), []
    for place, important in messages:
        row = one_row(documents([place.read()])[0])
        wrong.append(learner.learn_one(row, 1 if important else -1))
    assert found.wrong.tolist() == wrong
    assert (found.messages, found.errors) == (len(MANY), sum(wrong))
    assert found.errors <= found.bound
    assert found.wrong[10:].mean() <= 0.25
    assert found.roca < 5.0


def test_roca_counts_pairs_in_the_wrong_order():
    rng = np.random.default_rng(0)
    scores, labels = rng.integers(0, 6, 60).astype(float), rng.choice([-1, 1], 60)
    high, low = scores[labels > 0], scores[labels < 0]
    pairs = [(a < b) + 0.5 * (a == b) for a in high for b in low]
    assert roca(scores, labels) == pytest.approx(100 * np.mean(pairs))
    assert np.isnan(roca(scores, np.ones(60)))


# ---- commands


def test_commands_teach_mark_explain_and_take_back(corpus, facts, piped, shell, refused):
    store = ("--store", corpus / "store")
    status, out, _ = piped(MANY[0][0], "mail", "classify", *store)
    assert (status, out.split("\n")[0]) == (0, "X-Rosenblatt: unsure; score=0.0000")
    taught = facts("mail", "train", "--important", "good", "--ordinary", "bad", *store)
    assert taught["learned"] == len(MANY)
    new = letter(7000, False)
    status, out, _ = piped(new, "mail", "classify", "--exit-code", *store)
    assert status == 1
    score = float(out.split("score=")[1].split()[0])
    assert out.encode("latin-1").endswith(new)
    piped(new, "mail", "learn", "--important", *store)
    assert json.loads(piped(new, "mail", "classify", "--json", *store)[1])["score"] > score
    other = letter(7001, True)
    assert piped(other, "mail", "classify", "--exit-code", *store)[0] == 0
    (corpus / "new").write_bytes(new)
    assert facts("mail", "undo", "new", *store)["correction"] == len(MANY) + 1
    assert facts("mail", "why", "new", *store)["mark"] == "ordinary"
    assert "no correction to undo of this" in refused("mail", "undo", "new", *store)
    assert shell("mail", "why", "new", *store)[1].startswith("mark   ordinary")


def test_a_filter_can_be_moved_and_compacted(corpus, facts, refused):
    store = ("--store", corpus / "store")
    facts("mail", "learn", "--as", "no", "--marks", "yes,no", "bad", *store)
    facts("mail", "learn", "--as", "yes", "good", *store)
    why = facts("mail", "why", "good/0000.eml", *store)
    assert facts("mail", "export", "all.jsonl", *store)["corrections"] == len(MANY)
    assert facts("mail", "compact", *store)["compacted"] == len(MANY)
    facts("mail", "import", "all.jsonl", "--store", "other")
    assert facts("mail", "why", "good/0000.eml", *store) == why
    assert facts("mail", "why", "good/0000.eml", "--store", "other") == why
    assert "holds corrections" in refused("mail", "import", "all.jsonl", "--store", "other")
    assert "can no longer be undone" in refused("mail", "undo", "--last", *store)
    assert "--as takes yes or no" in refused("mail", "learn", "--as", "x", "bad", *store)
    wanted = refused("mail", "learn", "--important", "--marks", "a,b", "bad", *store)
    assert "has the marks yes and no already" in wanted
    assert "give one of --important" in refused("mail", "learn", "bad", *store)
    assert "there is no store" in refused("mail", "why", "new", "--store", "nowhere")


def test_evaluate_says_what_the_contract_names(corpus, facts, shell, refused):
    words = ("mail", "evaluate", "--important", "good", "--ordinary", "bad")
    found = facts(*words)
    assert list(found) == ["messages", "errors", "unsure", "roca", "bound", "seconds"]
    assert found["messages"] == len(MANY)
    assert "messages per second" in shell(*words, "--order", "given")[1]
    lines = [
        f"{'ham' if k % 3 == 0 else 'spam'} {'good' if k % 3 == 0 else 'bad'}/{k:04d}.eml"
        for k in range(20)
    ]
    (corpus / "index").write_text("\n".join(lines))
    assert facts("mail", "evaluate", "--trec", "index")["messages"] == 20
    assert facts(*words[:4], "good", "--ordinary", "bad", "bad")["messages"] > len(MANY)
    assert "give messages" in refused("mail", "evaluate")


def test_to_mark_a_message_loads_no_compiler(corpus, facts):
    facts("mail", "train", "--important", "good", "--ordinary", "bad", "--store", "store")
    code = (
        "import sys, runpy; sys.argv = ['rosenblatt', 'mail', 'classify', '--store', 'store']\n"
        "from rosenblatt.cli.main import run\n"
        "try: run()\nexcept SystemExit: pass\n"
        "print(sorted({'numba', 'scipy', 'sklearn', 'polars'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], input=MULTIPART, capture_output=True)
    assert done.stderr.decode().strip() == "[]"
    assert done.stdout.endswith(MULTIPART)


def processor_time(words):
    """Give the processor time of a command that gets a message."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, input=MULTIPART, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_marking_takes_little_processor_time(corpus, facts):
    facts("mail", "train", "--important", "good", "--ordinary", "bad", "--store", "store")
    mark = [sys.executable, "-m", "rosenblatt", "mail", "classify", "--store", "store"]
    load = [sys.executable, "-c", "import numpy"]  # which tells how fast the machine is
    times = [(processor_time(mark), processor_time(load)) for _ in range(3)]
    marking, loading = map(min, zip(*times, strict=True))
    assert marking < 3 * loading


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["undo", "--last", "message"], "not both"),
        (["why", "--top", "0", "message"], "--top"),
    ],
)
def test_options_that_mean_nothing_are_refused(shell, words, said):
    status, shown, complaint = shell("mail", *words)
    assert (status, shown) == (2, "")
    assert said in complaint


def test_one_mark_alone_has_no_roc_curve(shell, folder):
    (folder / "only").mkdir()
    for k in range(3):
        (folder / "only" / str(k)).write_bytes(b"Subject: budget %d\n\nagenda\n" % k)
    status, shown, complaint = shell("mail", "evaluate", "--important", "only", "--json")
    assert status == 0, complaint
    assert '"roca": null' in shown


@pytest.mark.parametrize("words", [["learn", "--important"], ["undo"], ["why"]])
def test_empty_input_is_no_message(piped, shell, folder, words):
    Filter.create(folder / "store").close()
    status, shown, complaint = piped(b"", "mail", *words, "--store", "store")
    assert (status, shown) == (2, "")
    assert "standard input is empty" in complaint


def test_a_score_that_rounds_to_zero_has_no_sign():
    assert b"score=0.0000" in marked(b"Subject: x\n\n", Marking("unsure", -1e-9))


def test_an_mbox_is_undone_as_one(corpus, facts, shell, refused):
    box = mailbox.mbox(corpus / "box")
    for message, _ in MANY[:4]:
        box.add(message)
    box.close()
    facts("mail", "learn", "--important", "good", "--store", "s")
    before = facts("mail", "learn", "--ordinary", "box", "--store", "s")
    assert before["learned"] == 4
    assert facts("mail", "undo", "box", "--store", "s")["undone"] == 4
    assert "no correction to undo" in refused("mail", "undo", "box", "--store", "s")


def test_nothing_is_made_without_what_reads_messages(corpus, refused, monkeypatch):
    monkeypatch.setitem(sys.modules, "fast_mail_parser", None)
    said = refused("mail", "learn", "--important", "good", "--store", "s")
    assert "pip install 'rosenblatt[mail]'" in said
    assert not (corpus / "s").exists()


def test_a_file_for_classify_is_told_where_it_belongs(corpus, refused):
    assert "rosenblatt mail classify < good/a" in refused("mail", "classify", "good/a")


def test_a_folder_has_one_mark(corpus, refused):
    words = ["--important", "good", "--ordinary", "bad", "./good", "--store", "s"]
    assert "good is given as important and as ordinary" in refused("mail", "train", *words)
