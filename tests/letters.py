"""Made-up mail: messages of two kinds, damaged ones and hostile ones."""

import base64
import random
from functools import cache

WORK = ["minutes", "budget", "review", "deploy", "patch", "meeting", "agenda", "draft", "lunch"]
DEALS = ["prize", "winner", "cheap", "pills", "casino", "offer", "click", "free", "bonus"]
COMMON = ["the", "a", "to", "and", "of", "in", "for", "you", "we", "is", "on", "that", "this"]
TOPICS = {True: (WORK, "work"), False: (DEALS, "deals")}


def letter(seed, important):
    """Give a message; its mark shows in some of its words, seldom in its sender."""
    source = random.Random(f"{seed} {important}")
    own, domain = TOPICS[important]
    other = TOPICS[not important][0]
    words = [source.choice(source.choice((own, COMMON, COMMON, COMMON))) for _ in range(60)]
    words += [source.choice(other) for _ in range(3)]
    source.shuffle(words)
    subject = " ".join(source.sample([*own, *COMMON], 4))
    day, hour = source.randint(1, 28), source.randint(0, 23)
    return (
        f"Received: from mx{source.randint(1, 9)}.example ([10.0.0.{source.randint(1, 250)}])\n"
        f"From: Person {source.randint(1, 40)} <p{seed}@{domain}.example>\n"
        f"Subject: {subject}\n"
        f"Date: Mon, {day:02d} Jun 2020 {hour:02d}:00:00 +0000\n"
        f"Message-ID: <{seed}.{source.random()}@{domain}.example>\n\n{' '.join(words)}\n"
    ).encode()


def letters(count):
    """Give messages of both kinds, and whether they are important."""
    return [(letter(seed, seed % 3 == 0), seed % 3 == 0) for seed in range(count)]


HTML = b"<html><body><p>Win <b>big</b></p><a href='http://casino.example/x?id=7'>here</a></body></html>"
MULTIPART = (
    b"From: =?utf-8?B?" + base64.b64encode("Jürgen".encode()) + b"?= <j@example.org>\n"
    b"Subject: =?iso-8859-1?Q?Gr=FC=DFe?= =?utf-8?q?_aus_K=C3=B6ln?=\nMIME-Version: 1.0\n"
    b"List-Id: <club.example.org>\nContent-Type: multipart/mixed; boundary=cut\n\n"
    b"--cut\nContent-Type: text/plain; charset=koi8-r\nContent-Transfer-Encoding: base64\n\n"
    + base64.encodebytes("привет".encode("koi8-r"))
    + b"--cut\nContent-Type: text/html\n\n"
    + HTML
    + b"\n--cut\nContent-Type: application/pdf; name=bill.pdf\n"
    b"Content-Disposition: attachment; filename=bill.pdf\nContent-Transfer-Encoding: base64\n\n"
    b"JVBERi0xLjQK\n--cut--\n"
)


def nested(depth):
    """Give a message of parts in parts."""
    head = b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (k, k) for k in range(depth)
    )
    return b"Subject: deep\nMIME-Version: 1.0\n" + head + b"Content-Type: text/plain\n\nhi\n"


def with_body(kind, body, encoding=b"8bit"):
    """Give a message of one part."""
    head = b"Subject: s\nMIME-Version: 1.0\nContent-Type: %s\nContent-Transfer-Encoding: %s\n\n"
    return head % (kind, encoding) + body


@cache
def hostile():
    """Give messages that were made to break programs, by name."""
    bomb = base64.b64encode(b"<div>" * 400_000)
    return {
        "nothing": b"",
        "no head": b"\n\nhello",
        "no body": b"Subject: x",
        "nulls": b"\0" * 100_000,
        "one line": b"a" * 3_000_000,
        "colons": b":" * 200_000 + b"\n\n",
        "names": b"".join(b"h%d:\n" % k for k in range(50_000)) + b"\n",
        "one header": b"Subject: " + b"a b " * 500_000 + b"\n\nx",
        "folded": b"Subject: x\n" + b" y\n" * 500_000 + b"\nx",
        "deep": nested(300),
        "deeper": nested(20_000),
        "open tags": with_body(b"text/html", b"<div>" * 400_000),
        "base64 bomb": with_body(b"text/html", bomb, b"base64"),
        "bad base64": with_body(b"text/plain", b"%%%=A=" * 100_000, b"base64"),
        "attributes": with_body(b"text/html", b"<p " + b"a=1 " * 400_000 + b">x"),
        "links": with_body(b"text/html", b"//aaaa " * 300_000),
        "charset": with_body(b"text/plain; charset=no-such-thing", b"\xff\xfe\xe4"),
        "charset of codecs": with_body(b"text/plain; charset=zlib_codec", b"\xff\xfe\xe4"),
        "utf-7": with_body(b"text/plain; charset=utf-7", b"+2AA-x" * 1000),
        "encoded words": b"Subject: " + b"=?utf-8?B?////?= " * 50_000 + b"\n\nx",
        "half a word": b"Subject: =?utf-8?Q?=4" * 20_000 + b"\n\nx",
        "words in a part": with_body(
            b"multipart/mixed; boundary=x",
            b'--x\nContent-Type: a/b; name="' + b"=?utf-8?B?////?= " * 50_000 + b'"\n\ny\n--x--\n',
        ),
        "half words in a part": with_body(
            b"multipart/mixed; boundary=x",
            b'--x\nContent-Type: a/b; name="' + b"ab: =?utf-8?Q?=4" * 50_000 + b'"\n\ny\n--x--\n',
        ),
        "boundaries": b"Content-Type: multipart/mixed; boundary=x\n\n" + b"--x\n" * 200_000,
        "message in message": b"Content-Type: message/rfc822\n\n" * 5_000,
        "quoted": with_body(b"text/plain", b"=" * 1_000_000, b"quoted-printable"),
        "surrogates": with_body(b"text/plain; charset=utf-16", b"\xd8\x00" * 10_000),
    }


def damaged(source, messages):
    """Give a message with random damage."""
    text = bytearray(source.choice(messages))
    for _ in range(source.choice((1, 2, 3, 8))):
        at, other = source.randint(0, len(text)), source.choice(messages)
        kind = source.randint(0, 4)
        if kind == 0 and at < len(text):
            text[at] = source.randint(0, 255)
        elif kind == 1:
            text[at:at] = source.choice((b"\n", b"\n\n", b"--cut\n", b"\0", b"=?", b"<!--", b":"))
        elif kind == 2:
            del text[at : at + source.randint(1, 200)]
        elif kind == 3:
            start = source.randint(0, len(other))
            text[at:at] = other[start : start + 300]
        else:
            text[at : at + 50] = source.randbytes(50)
    return bytes(text)
