"""Compressed streams: found by their first bytes, undone piece by piece.

Compression is found by content, not by name: gzip, zstandard, bzip2 and xz, each with any number of
streams in a row. What follows the last one must be another stream; zeros that fill up a block of a
tape are skipped. Compressed bytes are taken `PIECE` at a time, so that even a file made to explode
gives at most about 128 MiB at once.
"""

from __future__ import annotations

import bz2
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from rosenblatt.errors import InputError, MissingExtraError, optional_module

# What the names of compressed files end in.
SUFFIXES = (".gz", ".zst", ".bz2", ".xz")
# The longest magic, that of bzip2's first block.
MAGIC_BYTES = 10
# Zstandard packs up to 128 KiB into 4 bytes; a piece of this size gives 128 MiB at the very most.
PIECE = 1 << 12


class Compression(NamedTuple):
    """A kind of compressed stream: its name, how it begins and what undoes it."""

    name: str
    magic: re.Pattern[bytes]
    decompressor: Callable[[], Any]
    padded: bool  # whether zeros may follow a stream


def _zstandard() -> Any:
    return optional_module("zstandard", "files").ZstdDecompressor().decompressobj()


COMPRESSIONS = (
    Compression("gzip", re.compile(rb"\x1f\x8b"), lambda: zlib.decompressobj(wbits=31), True),
    # A frame, or one to be skipped, with which some writers begin.
    Compression("zstandard", re.compile(rb"\(\xb5/\xfd|[\x50-\x5f]\*M\x18"), _zstandard, False),
    # The digits of pi begin a block, and those of its square root end an empty stream.
    Compression("bzip2", re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"), bz2.BZ2Decompressor, False),
    Compression(
        "xz", re.compile(rb"\xfd7zXZ\0"), lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ), True
    ),
)


def compression_of(head: bytes) -> Compression | None:
    """Give the compression that bytes begin with, if any."""
    return next((kind for kind in COMPRESSIONS if kind.magic.match(head)), None)


def decompressed(
    kind: Compression, head: bytes, raw: Iterator[bytes], name: str, size: int
) -> Iterator[bytes]:
    """Decompress one stream after the other, gathering what comes out up to `size`.

    The name is the one that messages give to the file, of which `head` has been read already.
    """
    machine = kind.decompressor()
    gathered: list[bytes] = []
    held = 0
    for piece in _small_pieces(head, raw):
        rest = piece
        while rest:
            if machine.eof:
                rest = rest.lstrip(b"\0") if kind.padded else rest
                if not rest:
                    break
                machine = kind.decompressor()
            out = _step(kind, machine, rest, name)
            rest = machine.unused_data if machine.eof else b""
            gathered.append(out)
            held += len(out)
            if held >= size:
                yield b"".join(gathered)
                gathered, held = [], 0
    if not machine.eof:
        raise InputError(
            f"{name} ends in the middle of its {kind.name} stream; "
            "it is truncated, so fetch it again"
        )
    if held:
        yield b"".join(gathered)


def _small_pieces(head: bytes, raw: Iterator[bytes]) -> Iterator[bytes]:
    block: bytes | None = head
    while block is not None:
        for start in range(0, len(block), PIECE):
            yield block[start : start + PIECE]
        block = next(raw, None)


def _step(kind: Compression, machine: Any, piece: bytes, name: str) -> bytes:
    try:
        out: bytes = machine.decompress(piece)
        return out
    except MissingExtraError:
        raise
    except Exception as error:  # each library has its own: zlib.error, LZMAError, ZstdError, ...
        raise InputError(
            f"{name} is a damaged {kind.name} file ({error}); fetch it again"
        ) from error
