"""A message as a document: five regions of plain bytes, of which features are made.

head    the header lines, encoded words decoded
body    the text of all parts: plain, and that of HTML
links   where HTML points to
files   types and names of attachments
start   the first bytes of the message, as they came

Whatever a message holds, this takes bounded time and memory: no more than `MOST_BYTES` of it are
looked at, and each region has a limit of its own. Line ends count as newlines, and what mail
programs and this filter write into the header for themselves is left out, so that a message has
the same document wherever it is stored.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from rosenblatt.errors import optional_module

MOST_BYTES = 1 << 18
MOST_READ = 2 * MOST_BYTES  # line ends may have two bytes
MOST_HEAD, MOST_BODY, MOST_LINKS, MOST_FILES, START = 1 << 16, 50_000, 10_000, 4_000, 3_000
# The fast parser takes the square of the length of a header, and the cube of its encoded words.
MOST_OF_MIME, MOST_ENCODED = 4_000, 300
DEEPEST = 250
MOST_HTML, MOST_TAGS = 2 * MOST_BODY, 5_000  # a tag costs as much as tags are open around it

OWN = [b"x-rosenblatt:", b"status:", b"x-status:", b"x-uid:", b"x-keywords:", b"x-imap:"]
OWN += [b"x-imapbase:", b"x-mozilla-", b"content-length:", b"lines:"]
NAMES_OF_PROGRAMS = [b"\n" + name for name in OWN]
HEADERS_OF_PROGRAMS = re.compile(b"(?im)^(?:" + b"|".join(OWN) + rb")[^\n]*\n?(?:[ \t][^\n]*\n?)*")
HEADERS_OF_MIME = re.compile(rb"(?im)^(?:content-|mime-)[^\n]*\n(?:[ \t][^\n]*\n)*")
ENVELOPE = re.compile(rb"(?:>?From [^\n]*\n)+")
ENCODED_WORD = re.compile(rb"=\?([\w-]{1,40})(?:\*[\w-]*)?\?([bBqQ])\?([^?\n]*)\?=(?:\s+(?==\?))?")
LONGEST_HEADER = 200  # letters that are shown of one
LINK = re.compile(r"""//[^\s"'<>]{4,300}""")


class Document(NamedTuple):
    """The regions of a message."""

    head: bytes
    body: bytes
    links: bytes
    files: bytes
    start: bytes


class Parts(NamedTuple):
    """What MIME holds: texts, pages of HTML, and types and names of attachments."""

    plain: Sequence[str]
    html: Sequence[str]
    files: Sequence[str]


def documents(messages: Iterable[bytes]) -> list[Document]:
    """Give the documents of messages."""
    parser = optional_module("fast_mail_parser", "mail")
    cut = [canonical(message).partition(b"\n\n") for message in messages]
    enough = [_mime(head) + b"\n" + _harmless(rest) for head, _, rest in cut]
    parsed = parser.parse_many(
        [*enough], mode="lazy", threads=1
    )  # the caller has threads of its own
    return [_document(*each) for each in zip(cut, enough, parsed, strict=True)]


def _mime(head: bytes) -> bytes:
    """Give the header lines that a parser needs."""
    lower = head.lower()
    places = [at for name in (b"content-", b"mime-") if (at := lower.find(name)) >= 0]
    return b"".join(HEADERS_OF_MIME.findall(head + b"\n", min(places)) if places else [])[
        :MOST_OF_MIME
    ]


def canonical(message: bytes) -> bytes:
    """Cut a message, and leave out what depends on where it is stored."""
    message = message[:MOST_READ]
    if b"\r" in message:
        message = message.replace(b"\r\n", b"\n")
    message = message[:MOST_BYTES]
    if message.startswith((b"From ", b">From ")):
        message = message[ENVELOPE.match(message).end() :]  # type: ignore[union-attr]
    stop = message.find(b"\n\n") % (len(message) + 1) + 1  # behind the head
    lower = b"\n" + message[:stop].lower()
    if any(name in lower for name in NAMES_OF_PROGRAMS):  # in a tenth of the time of the pattern
        return HEADERS_OF_PROGRAMS.sub(b"", message[:stop]) + message[stop:]
    return message


def _harmless(rest: bytes) -> bytes:
    """Take the encoded words out of parts that have very many of them."""
    return rest.replace(b"=?", b"= ") if rest.count(b"=?") > MOST_ENCODED else rest


def _document(message: tuple[bytes, bytes, bytes], enough: bytes, mail: Any) -> Document:
    head, _, rest = message
    parts = _parts(mail) if hasattr(mail, "text_plain") else _parts_by_standard_library(enough)
    if parts is None:  # no MIME at all
        parts = Parts([rest.decode("utf-8", "replace")], [], [])
    pages = [_cut(page) for page in parts.html]
    texts = [text[:MOST_BODY] for text in parts.plain] + [_text_of(page) for page in pages]
    links = [link for page in pages for link in LINK.findall(page)]
    return Document(
        _decoded(head[:MOST_HEAD]),
        _joined(texts, MOST_BODY),
        _joined(links, MOST_LINKS),
        _joined(parts.files, MOST_FILES),
        b"".join((head[:START], *message[1:]))[:START],
    )


def _joined(texts: Sequence[str], most: int) -> bytes:
    return "\n".join(texts)[:most].encode("utf-8", "replace") if texts else b""


def _parts(mail: Any) -> Parts:
    files = [f"{file.mimetype} {file.filename}" for file in mail.attachments]
    return Parts(mail.text_plain, mail.text_html, files)


def _parts_by_standard_library(message: bytes) -> Parts | None:
    """Read MIME that the fast parser refuses; None if nobody can."""
    from email import message_from_bytes

    parts = Parts([], [], [])
    if message.count(b"boundary") > DEEPEST:  # half a second for parts in parts in parts
        return None
    try:
        for part in message_from_bytes(message).walk():
            kind = part.get_content_type()
            if part.is_multipart() or kind.startswith("multipart/"):
                continue
            if kind not in ("text/plain", "text/html") or part.get_filename():
                parts.files.append(f"{kind} {part.get_filename('')}")  # type: ignore[attr-defined]
                continue
            content: Any = part.get_payload(decode=True) or b""
            texts: Any = parts.html if kind == "text/html" else parts.plain
            texts.append(_as_text(content[:MOST_HTML], part.get_content_charset() or "utf-8"))
    except Exception:  # broken mail finds new ways to break that library; its text is still there
        return None
    return parts


def _as_text(content: bytes, charset: str) -> str:
    try:
        return content.decode(charset, "replace")
    except (LookupError, ValueError):  # no such charset, or no charset at all
        return content.decode("latin-1")


def _cut(page: str) -> str:
    page = page[:MOST_HTML]
    return "<".join(page.split("<", MOST_TAGS)[:MOST_TAGS]) if page.count("<") > MOST_TAGS else page


def _text_of(page: str) -> str:
    lexbor = optional_module("selectolax.lexbor", "mail")
    text: str = lexbor.LexborHTMLParser(page).text(separator=" ")
    return text[:MOST_BODY]


def subject_of(message: bytes) -> str:
    """Give the subject of a message, for people."""
    return header_of(message, b"subject")


def header_of(message: bytes, name: bytes) -> str:
    """Give a header line of a message, for people."""
    head = message[:MOST_HEAD].partition(b"\n\n")[0]
    found = re.search(rb"(?im)^" + name + rb":([^\n]*(?:\n[ \t][^\n]*)*)", head)
    line = _decoded(found[1]) if found else b""
    return " ".join(line.decode("utf-8", "replace").split())[:LONGEST_HEADER]


def _decoded(head: bytes) -> bytes:
    """Decode encoded words (RFC 2047); what is none stays as it is."""
    return ENCODED_WORD.sub(_word, head) if b"=?" in head else head


def _word(found: re.Match[bytes]) -> bytes:
    charset, encoding, word = found.groups()
    try:
        if encoding in b"bB":
            content = binascii.a2b_base64(word + b"=" * (-len(word) % 4))
        else:
            content = binascii.a2b_qp(word, header=True)
    except binascii.Error:
        return found[0]
    text = _as_text(content, charset.decode("ascii")).encode("utf-8", "replace")
    return text.replace(b"\n", b" ")
