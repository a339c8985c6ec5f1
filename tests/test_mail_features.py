"""Messages as documents and as rows."""

import random
import resource
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_mail
from amount import LONG, amount
from letters import MULTIPART, damaged, hostile, letters, nested, with_body
from rosenblatt.mail.documents import MOST_BYTES, Document, canonical, documents, subject_of
from rosenblatt.mail.features import features_of, one_row, rows
from rosenblatt.mail.messages import MessagePlace

PIECES = [
    b"a",
    b"Ab",
    b" ",
    b"\n",
    b"\n ",
    b"\t",
    b":",
    b"\0",
    b"-",
    b"\xe4",
    b"$9",
    b"x" * 9,
    b".",
]
TEXT = st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join)
DOCUMENTS = st.lists(st.builds(Document, TEXT, TEXT, TEXT, TEXT, TEXT), min_size=1, max_size=4)


def document(message):
    return documents([message])[0]


@pytest.mark.twin_of("mail.loops.hash_documents")
@settings(deadline=None)
@given(DOCUMENTS)
def test_rows_follow_the_rules_literally(some):
    for each, (columns, values) in zip(some, rows(some), strict=True):
        assert columns.tolist() == naive_mail.columns(each)
        alone = one_row(each)
        assert np.array_equal(alone[0], columns)
        assert np.array_equal(alone[1], values)
        assert values @ values == pytest.approx(min(columns.size, 1))
        assert len(features_of(each).names) == features_of(each).hashes.size


def test_real_messages_follow_them_as_well():
    some = documents([message for message, _ in letters(20)] + [MULTIPART])
    for each, (columns, _) in zip(some, rows(some), strict=True):
        assert columns.tolist() == naive_mail.columns(each)


def test_a_document_holds_what_a_reader_sees():
    found = document(MULTIPART)
    assert "Jürgen" in found.head.decode()
    assert "Grüße aus Köln" in found.head.decode()
    assert "привет" in found.body.decode()
    assert "Win big" in " ".join(found.body.decode().split())
    assert b"//casino.example/x?id=7" in found.links
    assert found.files == b"application/pdf bill.pdf"
    assert found.start == MULTIPART[:3000]
    assert subject_of(MULTIPART) == "Grüße aus Köln"


def test_words_know_where_they_stand():
    names = features_of(document(b"Subject: free lunch\nTo: me\n\nfree\n")).names
    assert {"header subject", "headers subject, to", "subject: free", "free"} <= set(names)
    assert "subject: free lunch" in names


def test_a_message_is_the_same_wherever_it_lies():
    message = letters(1)[0][0]
    stored = b"From me Mon Jan  1 00:00:00 2020\nX-Rosenblatt: ordinary; score=-1\n y\nStatus: RO\n"
    for other in (message.replace(b"\n", b"\r\n"), stored + message):
        assert canonical(other) == canonical(message)


def test_a_large_message_is_cut_alike_with_either_line_end():
    message = b"Subject: x\n\n" + b"word\n" * MOST_BYTES
    assert canonical(message.replace(b"\n", b"\r\n")) == canonical(message)


def test_what_the_fast_parser_refuses_is_read_by_the_standard_library():
    found = document(with_body(b"text/plain", b"aGVsbG8gd29ybGQ=\n%%%%\n!", b"base64"))
    assert b"hello world" in found.body
    parts = MULTIPART.replace(b"JVBERi0xLjQK", b"J!").replace(b"text/html", b"text/html;charset=x")
    assert document(parts).files == b"application/pdf bill.pdf"
    assert b"Win" in document(parts).body


@pytest.mark.parametrize("name", hostile())
def test_a_hostile_message_is_read_in_less_than_a_second(name):
    message = hostile()[name]
    begin = time.process_time()
    found = document(message)
    columns, _ = one_row(found)
    assert time.process_time() - begin < 1.0
    assert np.array_equal(columns, rows([found])[0][0])


def test_a_large_attachment_takes_little_time_and_memory(tmp_path):
    path = tmp_path / "large"
    path.write_bytes(with_body(b"application/zip", b"QUJD" * 12_500_000, b"base64"))
    document(b"Subject: warm\n\nup")
    begin = time.process_time()
    found = document(MessagePlace(str(path)).read())
    assert time.process_time() - begin < 1.0
    assert found.files.startswith(b"application/zip")


def test_damaged_messages_break_nothing_and_leave_no_memory_behind():
    source = random.Random(4)
    seeds = [MULTIPART, nested(20), *(message for message, _ in letters(5))]
    seeds += [message for message in hostile().values() if len(message) < 5000]
    peak = 0
    for k in range(amount(600, 10_000)):
        message = damaged(source, seeds)
        begin = time.process_time()
        found = document(message)
        assert np.array_equal(one_row(found)[0], rows([found])[0][0])
        assert time.process_time() - begin < 1.0, message
        if k == 200:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak
    assert grown < (64 if LONG else 32) * 1024  # KiB
