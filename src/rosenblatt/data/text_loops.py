"""Text to hashed columns: the rules, and the compiled loop that follows them.

The rules
---------
- The text is UTF-8. A byte that belongs to no character (RFC 3629: nothing overlong, no surrogate)
  separates words.
- A *word* is a longest run of word characters, lower-cased one by one if asked for
  (`unicode_words`). Words of one character count.
- mix(x) is a fixed bijection of 64 bits. It mixes well: each bit in sways each bit out.
- The hash of a word is h after  h ← mix(h ⊕ chunk), from h = WORD_SEED, over the UTF-8 of the word
  in chunks of eight bytes, read as little-endian numbers; the last is filled up with zeros, which
  no word contains.
- The hash of n words in a row, whatever stands between them, is g(n), where g(1) is the hash of
  the first word and  g(n) = mix(mix(g(n-1) ⊕ PHRASE_SEED) ⊕ hash of word n).
- The hash of n characters is c(n), where c(0) = CHARACTER_SEED and  c(n) = mix(c(n-1) ⊕ character),
  the character as its code point. The n-grams of characters are those of each word with a blank
  before and after it; a word that is even so shorter than the shortest n-gram asked for counts as
  one n-gram, whole.
- Of a hash, the upper 32 bits give the column, ⌊upper·columns / 2^32⌋, and the lowest bit the
  sign: -1 if it is set, and +1 always if hashing is unsigned.
- t, the sum of the signs in a column, gives its value: t, or (1 + log|t|)·sign(t), or sign(t). A
  column where t = 0 is left out. The values of a row are divided by their Euclidean norm if asked.

How it works
------------
ASCII is read eight bytes at a time as one number. In it, additions that overflow no byte leave in
the top bit of each whether it is a letter, a digit or neither; the lowest byte that is none ends
the word. So most words cost one step, without a branch for each letter. A word with a character
beyond ASCII is read again, character by character. The keys of a row (column and sign) are sorted
by insertion if they are few and else by radix, and equal columns, now neighbours, are added up.

Numbers are unsigned, since Numba checks signed indices for being negative, and makes a float of an
unsigned number and a signed one.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.data.unicode_words import NOT_IN_WORDS
from rosenblatt.loops import exact_loop, exact_part

# What becomes of a sum of signs.
LINEAR, SUBLINEAR, BINARY = 0, 1, 2

# The first digits of π, in base 16: numbers that nobody chose.
WORD_SEED = np.uint64(0x243F6A8885A308D3)
PHRASE_SEED = np.uint64(0x13198A2E03707344)
CHARACTER_SEED = np.uint64(0xA4093822299F31D0)
# Multipliers and shifts of David Stafford's thirteenth mixer, also used by SplitMix64.
FIRST_FACTOR, SECOND_FACTOR = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
FIRST_SHIFT, SECOND_SHIFT, THIRD_SHIFT = np.uint64(30), np.uint64(27), np.uint64(31)

ZERO, ONE, TWO, SIX, SEVEN, EIGHT = (np.uint64(n) for n in (0, 1, 2, 6, 7, 8))
HALF_WORD, LAST_BYTE, WORD_BITS = np.uint64(32), np.uint64(56), np.uint64(64)
BLANK = np.uint64(ord(" "))

# For numbers of eight bytes: the same byte eight times over.
EACH = 0x0101010101010101
ONES, LOWER_BITS, TOP_BITS = np.uint64(EACH), np.uint64(0x7F * EACH), np.uint64(0x80 * EACH)
SMALL = np.uint64(0x20 * EACH)  # the bit in which small letters differ from capitals
# Adding these to bytes below 0x80 sets the top bit from a letter (or digit) on, or beyond it.
FROM_A, BEYOND_Z = np.uint64((0x80 - ord("a")) * EACH), np.uint64((0x7F - ord("z")) * EACH)
FROM_0, BEYOND_9 = np.uint64((0x80 - ord("0")) * EACH), np.uint64((0x7F - ord("9")) * EACH)
UNDERSCORES = np.uint64(ord("_") * EACH)

# UTF-8: the first bytes of characters of two, three and four bytes, and what the others look like.
LEAD_2, LEAD_3, LEAD_4, AFTER_LEADS = (np.uint64(byte) for byte in (0xC2, 0xE0, 0xF0, 0xF5))
MARK_2, LATER, LATER_MASK, LATER_BITS = (np.uint64(byte) for byte in (0xC0, 0x80, 0xC0, 0x3F))
ASCII_END, END_2, END_3 = np.uint64(0x80), np.uint64(0x800), np.uint64(0x10000)
SURROGATE, AFTER_SURROGATES = np.uint64(0xD800), np.uint64(0xE000)
CODE_POINTS = np.uint64(0x110000)

NO_COLUMN = np.uint64(1 << 32)


class HashRules(NamedTuple):
    """The options, as the loop compares with them."""

    columns: np.uint64
    fewest_words: np.uint64
    most_words: np.uint64  # 0 for no n-grams of words
    fewest_characters: np.uint64
    most_characters: np.uint64  # 0 for no n-grams of characters
    small: np.uint64  # SMALL if capitals become small letters, else 0
    sign_bit: np.uint64  # 1 if signed, else 0
    counts: int
    normed: bool
    digit_bits: np.uint64  # of a key, sorted at a time
    digits: np.uint64  # an even number


class HashRoom(NamedTuple):
    """Where the loop writes: the result, and what it needs for one row."""

    ends: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    keys: np.ndarray
    spare_keys: np.ndarray
    counters: np.ndarray
    sums: np.ndarray
    phrases: np.ndarray  # hashes of the last 1, 2, … words
    spellings: np.ndarray  # of the last 0, 1, 2, … characters


@exact_part
def mix(x: Any) -> Any:
    """Mix the bits of a number; no two numbers give the same."""
    x = (x ^ (x >> FIRST_SHIFT)) * FIRST_FACTOR
    x = (x ^ (x >> SECOND_SHIFT)) * SECOND_FACTOR
    return x ^ (x >> THIRD_SHIFT)


@exact_part
def eight_bytes(text: Any, i: Any, stop: Any) -> Any:
    """Give the bytes from i on as a little-endian number, with zeros from the stop on."""
    if i + EIGHT <= stop:  # written so that it becomes one machine instruction
        low = np.uint64(text[i]) | np.uint64(text[i + ONE]) << EIGHT
        low |= np.uint64(text[i + TWO]) << np.uint64(16)
        low |= np.uint64(text[i + np.uint64(3)]) << np.uint64(24)
        low |= np.uint64(text[i + np.uint64(4)]) << np.uint64(32)
        low |= np.uint64(text[i + np.uint64(5)]) << np.uint64(40)
        low |= np.uint64(text[i + SIX]) << np.uint64(48)
        return low | np.uint64(text[i + SEVEN]) << np.uint64(56)
    number = shift = ZERO
    while i < stop:
        number |= np.uint64(text[i]) << shift
        shift += EIGHT
        i += ONE
    return number


@exact_part
def classify(chunk: Any) -> Any:
    """Give the top bits of the bytes that are ASCII letters, and of all that end an ASCII word."""
    low = chunk & LOWER_BITS
    small = low | SMALL
    letters = (small + FROM_A) & ~(small + BEYOND_Z) & ~chunk & TOP_BITS
    digits = (low + FROM_0) & ~(low + BEYOND_9)
    others = (low ^ UNDERSCORES) + LOWER_BITS
    return letters, TOP_BITS & ~letters & ((~digits & others) | chunk)


@exact_part
def read_word(text: Any, start: Any, stop: Any, steps: Any, rules: Any) -> Any:
    """Hash the word at `start`; give the hash and the position after it, `start` if there is none.

    What stands at that position neither belongs to the word nor begins another.
    """
    h, i = WORD_SEED, start
    while True:
        chunk = eight_bytes(text, i, stop)
        letters, ends = classify(chunk)
        end = ends & (~ends + ONE)
        if chunk & end != ZERO:
            return read_wide_word(text, start, stop, steps)
        inside = (end >> SEVEN) - ONE  # every bit of the bytes before the end
        length = ((inside & ONES) * ONES) >> LAST_BYTE
        if length > ZERO:
            h = mix(h ^ ((chunk | ((letters >> TWO) & rules.small)) & inside))
            i += length
        if length < EIGHT:
            return h, i


@exact_part
def decode(text: Any, i: Any, stop: Any) -> Any:
    """Give the character at i and its number of bytes, which is 0 if there is no valid one."""
    if i >= stop:
        return ZERO, ZERO
    code = np.uint64(text[i])
    if code < ASCII_END:
        return code, ONE
    length = TWO + np.uint64(code >= LEAD_3) + np.uint64(code >= LEAD_4)
    if code < LEAD_2 or code >= AFTER_LEADS or i + length > stop:
        return ZERO, ZERO
    code &= LOWER_BITS >> (length + LAST_BYTE)
    for j in range(i + ONE, i + length):
        later = np.uint64(text[j])
        if later & LATER_MASK != LATER:
            return ZERO, ZERO
        code = code << SIX | (later & LATER_BITS)
    overlong = (length == EIGHT >> ONE and code < END_3) or (length > TWO and code < END_2)
    if overlong or SURROGATE <= code < AFTER_SURROGATES or code >= CODE_POINTS:
        return ZERO, ZERO
    return code, length


@exact_part
def encode(code: Any) -> Any:
    """Give the UTF-8 of a character as a little-endian number, and its number of bits."""
    if code < ASCII_END:
        return code, EIGHT
    last = LATER | (code & LATER_BITS)
    if code < END_2:
        return MARK_2 | code >> SIX | last << EIGHT, np.uint64(16)
    middle = LATER | (code >> SIX & LATER_BITS)
    if code < END_3:
        lead = LEAD_3 | code >> np.uint64(12)
        return lead | middle << EIGHT | last << np.uint64(16), np.uint64(24)
    second = LATER | (code >> np.uint64(12) & LATER_BITS)
    lead = LEAD_4 | code >> np.uint64(18)
    return lead | second << EIGHT | middle << np.uint64(16) | last << np.uint64(24), HALF_WORD


@exact_part
def read_wide_word(text: Any, i: Any, stop: Any, steps: Any) -> Any:
    """Do as `read_word`, one character after the other."""
    h, chunk, filled = WORD_SEED, ZERO, ZERO
    code, length = decode(text, i, stop)
    while length > ZERO and steps[code] != NOT_IN_WORDS:
        number, bits = encode(np.uint64(np.int64(code) + np.int64(steps[code])))
        chunk |= number << filled
        filled += bits
        if filled >= WORD_BITS:
            h = mix(h ^ chunk)
            filled -= WORD_BITS
            chunk = number >> (bits - filled) if filled > ZERO else ZERO
        i += length
        code, length = decode(text, i, stop)
    return mix(h ^ chunk) if filled > ZERO else h, i


@exact_part
def key_of(h: Any, rules: Any) -> Any:
    """Give the column of a hash, followed by the bit of the sign."""
    column = ((h >> HALF_WORD) * rules.columns) >> HALF_WORD
    return np.uint32(column << ONE | (h & rules.sign_bit))


@exact_part
def add_phrases(h: Any, words: Any, size: Any, rules: Any, room: Any) -> Any:
    """Add the n-grams of words that end in a word with so many before it; give the keys so far."""
    phrases = room.phrases
    n = min(words + ONE, rules.most_words)
    while n > ONE:
        phrases[n] = mix(mix(phrases[n - ONE] ^ PHRASE_SEED) ^ h)
        if n >= rules.fewest_words:
            room.keys[size] = key_of(phrases[n], rules)
            size += ONE
        n -= ONE
    phrases[ONE] = h
    if rules.fewest_words == ONE:
        room.keys[size] = key_of(h, rules)
        size += ONE
    return size


@exact_part
def add_spellings(
    text: Any, i: Any, stop: Any, size: Any, steps: Any, rules: Any, room: Any
) -> Any:
    """Add the n-grams of the characters of a word; give the keys so far."""
    spellings = room.spellings
    code, length, characters = BLANK, ZERO, ZERO
    while i <= stop:
        characters += ONE
        n = min(characters, rules.most_characters)
        while n > ZERO:
            spellings[n] = mix(spellings[n - ONE] ^ code)
            if n >= rules.fewest_characters:
                room.keys[size] = key_of(spellings[n], rules)
                size += ONE
            n -= ONE
        i += length
        code, length = decode(text, i, stop)
        if length == ZERO:
            code, length = BLANK, ONE
        else:
            code = np.uint64(np.int64(code) + np.int64(steps[code]))
    if characters < rules.fewest_characters:
        room.keys[size] = key_of(spellings[characters], rules)
        size += ONE
    return size


@exact_part
def collect(text: Any, i: Any, stop: Any, steps: Any, rules: Any, room: Any) -> Any:
    """Write the keys of a document; give their number."""
    words = size = ZERO
    while i < stop:
        h, end = read_word(text, i, stop, steps, rules)
        if end > i:
            if rules.most_words > ZERO:
                size = add_phrases(h, words, size, rules, room)
            if rules.most_characters > ZERO:
                size = add_spellings(text, i, end, size, steps, rules, room)
            words += ONE
        i = end + ONE
    return size


@exact_part
def sort_few(keys: Any, size: Any) -> Any:
    """Sort keys by insertion."""
    for j in range(ONE, size):
        key, k = keys[j], np.uint64(j)
        while k > ZERO and keys[k - ONE] > key:
            keys[k] = keys[k - ONE]
            k -= ONE
        keys[k] = key


@exact_part
def sort_by_digit(keys: Any, target: Any, size: Any, shift: Any, rules: Any, counters: Any) -> Any:
    """Write keys into the target, in the order of one of their digits and else as they were."""
    counters[: ONE << rules.digit_bits] = ZERO
    mask = (ONE << rules.digit_bits) - ONE
    for j in range(size):
        counters[np.uint64(keys[j]) >> shift & mask] += ONE
    place = ZERO
    for k in range(ONE << rules.digit_bits):
        place, counters[k] = place + counters[k], place
    for j in range(size):
        digit = np.uint64(keys[j]) >> shift & mask
        target[counters[digit]] = keys[j]
        counters[digit] += ONE


@exact_part
def sort_keys(size: Any, rules: Any, room: Any) -> Any:
    """Sort the keys of a row by column.

    Insertion moves about size²/4 keys; each digit costs a look at every counter.
    """
    if size * size < rules.digits << (rules.digit_bits + TWO):
        sort_few(room.keys, size)
        return
    shift = ONE  # the bit of the sign needs no order
    for _ in range(rules.digits >> ONE):
        sort_by_digit(room.keys, room.spare_keys, size, shift, rules, room.counters)
        shift += rules.digit_bits
        sort_by_digit(room.spare_keys, room.keys, size, shift, rules, room.counters)
        shift += rules.digit_bits


@exact_part
def add_up(size: Any, entry: Any, room: Any) -> Any:
    """Write the distinct columns from an entry on, and the sums of their signs; give how many."""
    found, previous, total = ZERO, NO_COLUMN, 0.0
    columns, sums = room.columns, room.sums
    for j in range(size):
        key = np.uint64(room.keys[j])
        column = key >> ONE
        sign = 1.0 - 2.0 * np.float64(np.int64(key & ONE))
        found += np.uint64(column != previous)
        total = total + sign if column == previous else sign
        columns[entry + found - ONE] = column
        sums[found - ONE] = total
        previous = column
    return found


@exact_part
def weight(total: Any, counts: Any) -> Any:
    """Give the value of a sum of signs."""
    if counts == LINEAR or abs(total) <= 1.0:
        return total
    if counts == BINARY:
        return math.copysign(1.0, total)
    return math.copysign(1.0 + math.log(abs(total)), total)


@exact_part
def weigh(found: Any, entry: Any, rules: Any, room: Any) -> Any:
    """Write the values of a row, leaving out sums of zero; give the entry after it."""
    kept, squares = ZERO, 0.0
    for k in range(found):
        value = weight(room.sums[k], rules.counts)
        room.columns[entry + kept] = room.columns[entry + k]
        room.sums[kept] = value
        squares += value * value
        kept += np.uint64(value != 0.0)
    norm = math.sqrt(squares) if rules.normed and kept > ZERO else 1.0
    for k in range(kept):
        room.values[entry + k] = room.sums[k] / norm
    return entry + kept


@exact_loop
def hash_rows(text: Any, starts: Any, stops: Any, steps: Any, rules: Any, room: Any) -> Any:
    """Hash the documents between the starts and the stops; give the number of entries written."""
    entry = ZERO
    for row in range(np.uint64(starts.size)):
        size = collect(text, starts[row], stops[row], steps, rules, room)
        sort_keys(size, rules, room)
        entry = weigh(add_up(size, entry, room), entry, rules, room)
        room.ends[row] = entry
    return entry
