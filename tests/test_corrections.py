"""Stores: nothing acknowledged is lost, and the weights are those of the journal, to the bit."""

import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import rosenblatt as rb
from amount import amount
from rosenblatt.errors import InputError, StoreError
from rosenblatt.store import journal as journals
from rosenblatt.store.journal import Correction, packed, unpacked
from rosenblatt.store.store import EARLIER, JOURNAL, SNAPSHOT, Store

TESTS = Path(__file__).parent
OPTIONS = {"C": 2.0, "window": 7}


def corrections(count, start=0, seed=0):
    """Rows of norm 1 with labels that a plane nearly explains."""
    rng = np.random.default_rng([seed, start])
    found = []
    for k in range(start, start + count):
        columns = np.unique(rng.integers(0, 60, 9))
        label = "yes" if columns.min() < 4 else "no"
        found.append(Correction(f"m{k}", (columns, rng.normal(size=columns.size)), label, f"n{k}"))
    return found


def replayed(taught):
    """The slow, obvious twin: a learner that is shown the corrections, without any store."""
    learner = rb.OnlineSVM(**OPTIONS)
    for each in taught:
        learner.learn_one(each.row, each.label)
    return learner


def same(store, taught):
    learner, twin = store.learner(), replayed(taught)
    assert learner.classes_.tolist() == twin.classes_.tolist()
    assert learner.coef_.tobytes() == twin.coef_.tobytes()
    assert learner.intercept_.tobytes() == twin.intercept_.tobytes()
    return True


@pytest.fixture
def store(tmp_path):
    return Store.create(tmp_path / "store", "OnlineSVM", OPTIONS, about="tests")


# ---- learning and undoing


def test_a_store_learns_as_a_learner_does_with_snapshots_and_without(store):
    taught = corrections(60)
    for k in range(0, 60, 7):
        store.learn(taught[k : k + 7])
        if k % 21 == 0:
            store.snapshot()
            assert same(Store(store.folder), taught[: k + 7])
    assert same(store, taught)
    (store.folder / SNAPSHOT).write_bytes(b"damaged")
    assert same(Store(store.folder), taught)


def test_what_is_undone_was_never_there(store):
    taught = corrections(40)
    store.learn(taught)
    store.snapshot()
    assert store.undo("m17") == 18
    assert same(store, [*taught[:17], *taught[18:]])
    assert store.undo() == 40
    assert same(Store(store.folder), [*taught[:17], *taught[18:39]])
    with pytest.raises(InputError, match="no correction to undo of this"):
        store.undo("m17")
    store.learn([taught[17]])  # and it can come back, at the end
    assert same(store, [*taught[:17], *taught[18:39], taught[17]])


def test_an_id_counts_once_and_as_it_was_labelled_last(store):
    taught = corrections(10)
    assert [receipt.new for receipt in store.learn([*taught, taught[3]])] == [True] * 10 + [False]
    assert same(store, taught)
    other = taught[3]._replace(label="perhaps")
    assert store.learn([other])[0].new
    assert same(store, [*taught[:3], *taught[4:], other])


def test_an_earlier_snapshot_spares_the_way_from_the_start(store, monkeypatch):
    monkeypatch.setattr("rosenblatt.store.store.STEP", 20)
    taught = corrections(50)
    for k in range(0, 50, 10):
        store.learn(taught[k : k + 10])
        store.snapshot()
    assert (store.folder / EARLIER).exists()
    store.undo("m49")
    shown = []
    monkeypatch.setattr(
        journals.Journal,
        "after",
        lambda journal, seq, after=journals.Journal.after: (
            shown.append(each) or each for each in after(journal, seq)
        ),
    )
    assert same(Store(store.folder), taught[:49])
    assert 0 < len(shown) <= 20


def test_rows_are_stored_as_they_are():
    rng = np.random.default_rng(1)
    columns, values = np.array([5, 2, 2**31 - 2, 0]), rng.normal(size=4)
    back = unpacked(packed((columns, values)))
    assert back[0].tolist() == columns.tolist()
    assert back[1].tobytes() == values.tobytes()
    assert unpacked(packed({"ä": 0.1, "b": -1e300})) == {"ä": 0.1, "b": -1e300}
    assert unpacked(packed((columns[:0], values[:0])))[0].size == 0


def test_a_store_holds_any_learner_from_corrections(tmp_path):
    store = Store.create(tmp_path / "p", "Perceptron", {})
    store.learn([Correction("1", {"a": 1.0}, 3), Correction("2", {"b": 1.0}, 5)])
    store.learn([Correction("3", {"c": 1.0}, 7)])
    assert store.learner().predict_one({"c": 2.0}) == 7
    for name, options, said in (
        ("SoftMarginSVM", {}, "needs a learner from corrections"),
        ("Nobody", {}, "needs a learner from corrections"),
        ("OnlineSVM", {"C": -1.0}, "C must be"),
    ):
        with pytest.raises(InputError, match=said):
            Store.create(tmp_path / name, name, options)
        assert not (tmp_path / name).exists()


# ---- compacting, moving


def test_compacting_keeps_the_weights_and_the_stream_goes_on(store):
    taught = corrections(30)
    store.learn(taught[:20])
    assert store.compact() == 20
    assert store.compact() == 0
    assert same(Store(store.folder), taught[:20])
    store.learn(taught[20:])
    store.undo("m25")
    assert same(Store(store.folder), [*taught[:25], *taught[26:]])
    store.compact()
    assert len(list(store.folder.glob("base-*"))) == 1
    with pytest.raises(InputError, match="can no longer be undone"):
        store.undo()


def test_an_exported_store_comes_back_the_same(store, tmp_path):
    taught = corrections(30)
    store.learn(taught[:12])
    store.compact()
    store.learn(taught[12:])
    store.undo("m20")
    assert store.export(tmp_path / "all.jsonl") == 17
    other = Store.restore(tmp_path / "all.jsonl", tmp_path / "other")
    assert other.facts() == store.facts()
    assert same(other, [*taught[:20], *taught[21:]])
    with pytest.raises(InputError, match="holds corrections; import into a new store"):
        Store.restore(tmp_path / "all.jsonl", store.folder)
    lines = (tmp_path / "all.jsonl").read_text().splitlines()
    (tmp_path / "newer").write_text(lines[0].replace("rosenblatt store 1", "rosenblatt store 2"))
    with pytest.raises(InputError, match="it says 'rosenblatt store 2'"):
        Store.restore(tmp_path / "newer", tmp_path / "x")
    (tmp_path / "cut").write_text("\n".join(lines)[:-30])
    with pytest.raises(InputError, match="cut off"):
        Store.restore(tmp_path / "cut", tmp_path / "y")


# ---- several at once, and crashes


def test_several_processes_teach_one_store(store):
    """Threads with connections of their own are as much apart for SQLite as processes."""

    def teach(k):
        mine = Store(store.folder)
        for each in corrections(15, 100 * k):
            assert mine.learn([each])[0].new
            mine.learner()
        mine.close()

    threads = [threading.Thread(target=teach, args=(k,)) for k in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    by_name = {each.id: each for k in range(4) for each in corrections(15, 100 * k)}
    names = [entry[1] for entry in store.journal.entries()]
    assert sorted(names) == sorted(by_name)
    assert same(store, [by_name[name] for name in names])


def test_nothing_acknowledged_is_lost_when_teachers_are_killed(tmp_path):
    rounds, folder = amount(5, 200), tmp_path / "store"
    words = [sys.executable, TESTS / "teachers.py", folder, str(rounds), "7"]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    live, gone, checked = {"first", "second"}, set(), 0
    for line in told.splitlines():
        sign, _, name = line.strip().partition(" ")
        if sign == "+":
            live.add(name)
        elif sign == "-":
            gone.add(name)
        elif sign == "round":
            checked += 1
    assert checked == rounds
    store = Store(folder)
    stored = [entry[1] for entry in store.journal.entries()]
    assert len(stored) == len(set(stored))
    assert live - gone - set(stored) <= undone(store)  # taken back, but killed before it was told
    assert not gone & set(stored)
    assert len(stored) > 10 * rounds
    twin = rb.OnlineSVM(window=5)
    for lesson in store.journal.after(0):
        twin.learn_one(lesson.row, lesson.label)
    assert store.learner().coef_.tobytes() == twin.coef_.tobytes()


def undone(store):
    """Ids that were taken back; each teacher may be killed between that and telling so."""
    base = sqlite3.connect(store.folder / JOURNAL)
    found = {name for (name,) in base.execute("SELECT id FROM corrections WHERE undone > 0")}
    base.close()
    return found


@pytest.mark.parametrize("moment", ["rosenblatt.data.files.os.replace", "forget", "unlink"])
def test_a_crash_while_compacting_changes_nothing(store, monkeypatch, moment):
    taught = corrections(20)
    store.learn(taught[:10])
    store.compact()
    store.learn(taught[10:])
    if moment == "forget":
        monkeypatch.setattr(journals.Journal, "forget", crash)
    elif moment == "unlink":
        monkeypatch.setattr(Path, "unlink", crash)
    else:
        monkeypatch.setattr(moment, crash)
    with pytest.raises(KeyError):
        store.compact()
    monkeypatch.undo()
    assert same(Store(store.folder), taught)


def crash(*given, **options):
    raise KeyError("crash")


# ---- faults


def test_a_full_disk_is_said_and_nothing_is_acknowledged(store):
    taught = corrections(400)
    store.learn(taught[:5])
    store.snapshot()
    largest = max((store.folder / name).stat().st_size for name in os.listdir(store.folder))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    stored = 5
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest + 20_000, before[1]))
    try:
        with pytest.raises(StoreError, match=r"does not answer: .*make room"):  # noqa: PT012
            for each in taught[5:]:
                store.learn([each])
                stored += 1
        assert same(store, taught[:stored])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert same(Store(store.folder), taught[:stored])
    store.learn(taught[stored:])
    assert same(Store(store.folder), taught)


@pytest.fixture
def mounted(store, tmp_path):
    """The store in a folder that cannot be written to, not even by root."""
    store.learn(corrections(10))
    store.snapshot()
    store.close()
    place = tmp_path / "sealed"
    place.mkdir()
    if os.geteuid():
        shutil.copytree(store.folder, place, dirs_exist_ok=True)
        for path in (*place.iterdir(), place):
            path.chmod(0o555 if path.is_dir() else 0o444)
        yield place
        place.chmod(0o755)
        return
    for words in (["--bind", store.folder, place], ["-o", "remount,bind,ro", place]):
        if subprocess.run(["mount", *words], capture_output=True).returncode:
            pytest.skip("no folder can be mounted read-only here")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


def test_a_store_that_cannot_be_written_to_still_answers(mounted):
    sealed = Store(mounted)
    assert sealed.plane() is not None
    assert same(sealed, corrections(10))
    sealed.snapshot()  # which is not needed, and not possible
    for write in (lambda: sealed.learn(corrections(1, 50)), sealed.undo, sealed.compact):
        with pytest.raises(StoreError, match="cannot be written to; nothing was stored"):
            write()


def test_a_lost_end_of_the_journal_is_noticed_and_the_rest_is_readable(store, tmp_path):
    taught = corrections(30)
    store.learn(taught[:20])
    store.close()  # which ends the log, so that the next corrections lie in a new one
    other = Store(store.folder)
    other.learn(taught[20:])
    other.snapshot()
    log = store.folder / f"{JOURNAL}-wal"
    copy = tmp_path / "copy"
    shutil.copytree(store.folder, copy)
    content = bytearray((copy / log.name).read_bytes())
    content[100] ^= 1
    (copy / log.name).write_bytes(content)
    (copy / f"{JOURNAL}-shm").unlink()
    damaged = Store(copy)
    for ask in (damaged.learner, damaged.plane):
        with pytest.raises(StoreError, match="ends at correction 20, but 30 were stored"):
            ask()
    assert damaged.export(tmp_path / "rest.jsonl", readable=True) == 20
    assert same(Store.restore(tmp_path / "rest.jsonl", tmp_path / "rest"), taught[:20])


def test_a_damaged_correction_is_named_and_the_others_are_readable(store, tmp_path):
    taught = corrections(200)
    store.learn(taught)
    store.close()
    path = store.folder / JOURNAL
    content = bytearray(path.read_bytes())
    at = content.rindex(packed(taught[100].row))
    content[at + 20] ^= 255
    path.write_bytes(content)
    damaged = Store(store.folder)
    with pytest.raises(StoreError, match=r"correction 101 of .* is damaged; `export --readable`"):
        damaged.learner()
    with pytest.raises(StoreError, match="correction 101"):
        damaged.export(tmp_path / "none.jsonl")
    assert not (tmp_path / "none.jsonl").exists()
    assert damaged.export(tmp_path / "rest.jsonl", readable=True) == 199
    rest = Store.restore(tmp_path / "rest.jsonl", tmp_path / "rest")
    assert same(rest, [*taught[:100], *taught[101:]])
    damaged.close()
    content[4096 * 5 : 4096 * 9] = b"\xff" * 4 * 4096  # whole pages
    path.write_bytes(content)
    broken = Store(store.folder)
    with pytest.raises(StoreError, match="damaged"):
        broken.learner()
    assert 50 < broken.export(tmp_path / "some.jsonl", readable=True) < 199


def test_a_clock_that_is_set_back_changes_nothing(store, monkeypatch):
    taught = corrections(20)
    times = iter(range(1000, 0, -1))
    monkeypatch.setattr("rosenblatt.store.journal.time.time", lambda: float(next(times)))
    for each in taught:
        store.learn([each])
    store.undo()
    assert same(Store(store.folder), taught[:19])


def test_a_newer_store_and_a_foreign_file_are_refused(store, tmp_path):
    store.close()
    base = sqlite3.connect(store.folder / JOURNAL)
    base.execute("PRAGMA user_version = 2")
    base.close()
    with pytest.raises(
        rb.StoreError, match=r"has version 2, .* reads version 1; update rosenblatt"
    ):
        Store(store.folder)
    (tmp_path / JOURNAL).write_bytes(b"hello" * 1000)
    with pytest.raises(StoreError, match="damaged, or no journal at all"):
        Store(tmp_path)
    with pytest.raises(InputError, match="there is no store in"):
        Store(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot make the store"):
        Store.create(tmp_path / "file" / "store", "OnlineSVM", {})
