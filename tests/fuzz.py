"""Throw bytes at the package's own parsers: ``python tests/fuzz.py svmlight --inputs 1000000``.

Inputs are valid texts with random damage: bytes changed, inserted, cut out, doubled, and pieces of
one text put into another. A parser may read an input or refuse it with an `InputError`; any other
exception, and an input that takes long, ends the run and is printed. A crash ends the process, and
the last seed printed tells where to look.
"""

import argparse
import random
import time
from collections.abc import Callable

import rosenblatt as rb
from rosenblatt.data.lp import parse_lp
from rosenblatt.data.mps import parse_mps
from rosenblatt.data.reading import Reading
from rosenblatt.data.svmlight import parse_svmlight, svmlight_blocks
from rosenblatt.data.text_lines import label_text_lines
from rosenblatt.data.vowpal import parse_vowpal

SEEDS = {
    "svmlight": [
        b"+1 1:0.5 3:2e-3 # note\n-1 qid:7 2:1 2:-3\r\nspam 5:.5 4:1.\n",
        b"1 2147483647:1 1:1e308\n0 1:4.9e-324 2:123456789012345678901234567890\n\n#\n",
        b"\xef\xbb\xbf1 1:1\n-1 1:-1",
    ],
    "vowpal": [
        b"1 2.0 'tag|a:0.5 x:1 y |b z\n-1 | 3:2 7\n",
        b"| lonely 3 4:0.25\n|a:2 b c:1e-3\r\n",
        b"0.5 | a\n",
    ],
    "mps": [
        b"NAME\nROWS\n N c\n G r\n E s\nCOLUMNS\n x c 1 r 0.5\n x s 1D2\n y r -1e-3\nRHS\n b r 3\n"
        b"RANGES\n b s -2.5\nBOUNDS\n UP b x 4\n FR b y\nENDATA\n"
    ],
    "lp": [
        b"\\ note\nmin\n o: x + 2 y\nst\n c: x - 0.5 y >= 1\n -1 <= x + y <= 4\nbounds\n x free\n"
        b" 0 <= y <= 1e30\ngeneral\n x\nend\n"
    ],
    "text": ["spam\tBuy now! ÄÖÜ İstanbul 中文 \U0001f600\nham\tsee you\r\n".encode()],
}
TOKENS = [b"\n", b"\t", b" ", b":", b"|", b"#", b"\0", b"\xff", b"-", b"e", b".", b"0", b"9" * 25]
TOKENS += [b"nan", b"inf", b"1e999", b"qid:", b"\r", b"\xc3", b"\xe4\xb8", b"2147483648", b"'"]
SLOW_SECONDS = 2.0


def damaged(source: random.Random, seeds: list[bytes]) -> bytes:
    """Make an input."""
    text = bytearray(source.choice(seeds) * source.choice((1, 1, 1, 7)))
    for _ in range(source.choice((0, 1, 1, 1, 2, 3, 6))):
        place = source.randint(0, len(text))
        kind = source.randint(0, 3)
        if kind == 0 and place < len(text):
            text[place] = source.randint(0, 255)
        elif kind == 1:
            text[place:place] = source.choice(TOKENS)
        elif kind == 2:
            del text[place : place + source.randint(1, 9)]
        else:
            other = source.choice(seeds)
            text[place:place] = other[source.randint(0, len(other)) :]
    return bytes(text)


def blocks(text: bytes) -> None:
    """Parse a text as a stream, cut into small pieces."""
    pieces = [text[i : i + 11] for i in range(0, len(text), 11)]
    for _ in svmlight_blocks(pieces, Reading(threads=1), block_bytes=40):
        pass


HASHER = rb.TextHasher(columns=1 << 10, words=(1, 2), characters=(2, 3))

# Each parser with the kind of texts that it reads.
TARGETS: dict[str, tuple[str, Callable[[bytes], object]]] = {
    "svmlight": ("svmlight", lambda text: parse_svmlight(text, Reading(threads=1))),
    "blocks": ("svmlight", blocks),
    "vowpal": ("vowpal", lambda text: parse_vowpal(text, Reading(columns=1 << 10))),
    "lines": ("text", label_text_lines),
    "mps": ("mps", lambda text: parse_mps(text.decode("latin-1"), "fuzz.mps")),
    "lp": ("lp", lambda text: parse_lp(text.decode("latin-1"), "fuzz.lp")),
    "hasher": ("text", HASHER.transform_one),
}


def fuzz(name: str, inputs: int, seed: int) -> None:
    """Throw so many inputs at one parser."""
    began, refused = time.perf_counter(), 0
    kind, parse = TARGETS[name]
    for number in range(seed, seed + inputs):
        text = damaged(random.Random(number), SEEDS[kind])
        start = time.perf_counter()
        try:
            parse(text)
        except rb.InputError:
            refused += 1
        except BaseException:
            print(f"{name}: seed {number}: {text!r}")
            raise
        if number > seed and time.perf_counter() - start > SLOW_SECONDS:
            raise TimeoutError(f"{name}: seed {number} took long: {text!r}")
        if number % 100_000 == 99_999:
            print(f"{name}: {number + 1:,} inputs, {refused:,} refused", flush=True)
    print(f"{name}: done, {inputs:,} inputs in {time.perf_counter() - began:.0f} s", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", default=list(TARGETS))
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    for target in chosen.targets:
        fuzz(target, chosen.inputs, chosen.seed)
