"""Slow, obvious twins of the text hasher and of the reader of labelled lines.

They follow the rules in `rosenblatt.data.text_loops` word for word, over Python's strings and whole
numbers: no batches, no tables of bits, no sorting, one dict for each document. Only the table of
word characters is shared; a test of its own holds it to `unicodedata`.
"""

import math

from rosenblatt.data.unicode_words import NOT_IN_WORDS, case_steps

BITS = 2**64 - 1
WORD_SEED, PHRASE_SEED = 0x243F6A8885A308D3, 0x13198A2E03707344
CHARACTER_SEED = 0xA4093822299F31D0


def mix(x):
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & BITS
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & BITS
    return x ^ (x >> 31)


def as_bytes(document):
    return document.encode("utf-8", "surrogatepass") if isinstance(document, str) else document


def characters(data):
    """Decode bytes, with None in the place of each byte that belongs to no character."""
    found, i = [], 0
    while i < len(data):
        for length in (1, 2, 3, 4):
            try:
                character = data[i : i + length].decode()
            except UnicodeDecodeError:
                continue
            break
        else:
            character, length = None, 1
        found.append(character)
        i += length
    return found


STEPS = case_steps().tolist()


def words(data, lowercase):
    found = [""]
    for character in characters(data):
        if character is None or STEPS[ord(character)] == NOT_IN_WORDS:
            found.append("")
        else:
            step = STEPS[ord(character)] if lowercase else 0
            found[-1] += chr(ord(character) + step)
    return [word for word in found if word]


def hash_of_word(word):
    data, h = word.encode(), WORD_SEED
    for i in range(0, len(data), 8):
        h = mix(h ^ int.from_bytes(data[i : i + 8], "little"))
    return h


def hash_of_phrase(phrase):
    first, *rest = map(hash_of_word, phrase)
    for h in rest:
        first = mix(mix(first ^ PHRASE_SEED) ^ h)
    return first


def hash_of_characters(text):
    h = CHARACTER_SEED
    for character in text:
        h = mix(h ^ ord(character))
    return h


def grams(sequence, span):
    shortest, longest = span
    return [
        sequence[i : i + n]
        for n in range(shortest, longest + 1)
        for i in range(len(sequence) - n + 1)
    ]


def hashes(document, words_span, characters_span, lowercase):
    found = words(as_bytes(document), lowercase)
    result = []
    if words_span is not None:
        result += map(hash_of_phrase, grams(found, words_span))
    if characters_span is not None:
        for word in found:
            padded = f" {word} "
            result += map(hash_of_characters, grams(padded, characters_span) or [padded])
    return result


def weight(total, counts):
    if counts == "linear":
        return float(total)
    if counts == "binary":
        return math.copysign(1.0, total)
    return math.copysign(1 + math.log(abs(total)), total)


def row(
    document,
    columns=2**18,
    words=(1, 1),
    characters=None,
    lowercase=True,
    counts="linear",
    norm="l2",
    signed=True,
):
    """Give the columns and the values of a document."""
    totals = {}
    for h in hashes(document, words, characters, lowercase):
        column = (h >> 32) * columns >> 32
        totals[column] = totals.get(column, 0) + (-1 if signed and h & 1 else 1)
    values = {c: weight(totals[c], counts) for c in sorted(totals) if totals[c] != 0}
    if norm == "l2" and values:
        length = math.sqrt(sum(value * value for value in values.values()))
        values = {column: value / length for column, value in values.items()}
    return list(values), list(values.values())


def labelled_lines(data):
    """Give (label, text) of each line, or line and column where a label or a tab is missing."""
    mark = len(b"\xef\xbb\xbf") if data.startswith(b"\xef\xbb\xbf") else 0
    found = []
    *lines, last = data[mark:].split(b"\n")
    lines = [line[:-1] if line.endswith(b"\r") else line for line in lines] + [last]
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        label, tab, text = line.partition(b"\t")
        if not label or not tab:
            return number, len(label) + 1 + (mark if number == 1 else 0)
        found.append((label.decode(), text))
    return found
