"""Decimal text to the nearest double.

A number is written  [+-] digits [. digits] [e [+-] digits],  with a digit before or after the
point. Its digits are gathered into an integer m and its point and exponent into q, so that the
number is m·10^q. Three roads lead to the double nearest to it:

1. m < 2^53 and |q| <= 22: both m and 10^|q| are doubles, so one multiplication or division
   rounds once and therefore correctly (Clinger 1990).
2. m < 2^64: the leading 128 bits of m·10^q from a table of powers (Eisel and Lemire 2021), with
   an error below two units of their last place. The rounding is correct unless the halfway point
   between two doubles lies inside that error, and then road 3 is taken. Of more than 19 digits,
   m holds the first 19, and m·10^q and (m + 1)·10^q must round to the same double.
3. Everything else (halfway cases, and results that are subnormal or overflow) is *hard*: the
   reader says so, and the caller lets Python's ``float``, which rounds correctly, settle the text.

The functions are compiled without fast-math, because reordered arithmetic would round twice. They
look for no end of the text: whoever calls them sees to it that a byte which belongs to no number
follows, such as a newline. Positions are unsigned, which spares Numba the check for negative
indices; mixed with signed numbers they would turn into floats, hence the typed constants.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.loops import exact_part

# What `read_number` found.
EXACT, HARD, MALFORMED = 0, 1, 2

ONE, TEN, ZERO_DIGIT = np.uint64(1), np.uint64(10), np.uint64(ord("0"))
PLUS, MINUS, POINT, ZERO, EXPONENT = (ord(letter) for letter in "+-.0e")
LOWER_CASE = 0x20

# 19 digits always fit into 64 bits, 20 may not.
MOST_DIGITS = np.uint64(19)
# Far beyond what any double reaches, and far from overflowing the arithmetic on exponents.
EXPONENT_CEILING = np.int64(1 << 40)

DOUBLE_BITS = 53
LARGEST_EXACT = np.uint64(1 << DOUBLE_BITS)
EXACT_POWERS = np.array([10.0**q for q in range(23)])
LARGEST_EXACT_POWER = 22

# 10^q for q outside these bounds makes every 64-bit m zero, subnormal or infinite.
LOWEST_POWER, HIGHEST_POWER = -342, 308
# The doubles m·2^k with 2^52 <= m < 2^53 are the normal ones for these k. The topmost k is left
# out, because there rounding up may overflow.
LOWEST_SHIFT, HIGHEST_SHIFT = -1074, 970

LOW_HALF, HALF_WORD = np.uint64(0xFFFFFFFF), np.uint64(32)
TOP_BIT = np.uint64(63)
NEARLY_CARRY = np.uint64(2**64 - 2)


def power_of_ten(q: int) -> tuple[int, int]:
    """Give t and k with 2^127 <= t < 2^128 and t <= 10^q / 2^k < t + 1."""
    if q >= 0:
        power = 10**q
        k = power.bit_length() - 128
        return (power >> k if k > 0 else power << -k), k
    divisor = 10**-q
    k = divisor.bit_length() + 127
    return (1 << k) // divisor, -k


def tabulate_powers() -> tuple[np.ndarray, np.ndarray]:
    """Tabulate the 128 leading bits of the powers of ten, as two words each, and their shifts."""
    powers = [power_of_ten(q) for q in range(LOWEST_POWER, HIGHEST_POWER + 1)]
    words = np.array([(t >> 64, t & (2**64 - 1)) for t, _ in powers], dtype=np.uint64)
    return words, np.array([k for _, k in powers], dtype=np.int64)


POWER_WORDS, POWER_SHIFTS = tabulate_powers()


@exact_part
def read_digits(text: Any, i: Any, number: Any) -> Any:
    """Append the digits at i to a number, modulo 2^64; give it and the position after them."""
    digit = np.uint64(text[i]) - ZERO_DIGIT
    while digit < TEN:
        number = number * TEN + digit
        i += ONE
        digit = np.uint64(text[i]) - ZERO_DIGIT
    return number, i


@exact_part
def read_exponent(text: Any, i: Any) -> Any:
    """Read an exponent's sign and digits; give it, the position after it and whether it has any."""
    negative = text[i] == MINUS
    if negative or text[i] == PLUS:
        i += ONE
    first = i
    exponent = np.int64(0)
    digit = np.int64(text[i]) - ZERO
    while 0 <= digit <= 9:
        exponent = min(10 * exponent + digit, EXPONENT_CEILING)
        i += ONE
        digit = np.int64(text[i]) - ZERO
    return -exponent if negative else exponent, i, i > first


@exact_part
def first_digits(text: Any, i: Any) -> Any:
    """Give the number that the first 19 significant digits from i on make; there must be more."""
    number = taken = np.uint64(0)
    while taken < MOST_DIGITS:
        digit = np.uint64(text[i]) - ZERO_DIGIT
        if digit < TEN:  # and not the point
            number = number * TEN + digit
            taken += np.uint64(number > np.uint64(0))
        i += ONE
    return number


@exact_part
def significant_digits(text: Any, first: Any, digits: Any) -> Any:
    """Give how many of the digits that begin at `first` are left without the leading zeros."""
    i = first
    while digits > np.uint64(0) and (text[i] == ZERO or text[i] == POINT):
        if text[i] == ZERO:
            digits -= ONE
        i += ONE
    return digits


@exact_part
def high_word(a: Any, b: Any) -> Any:
    """Give the upper 64 bits of the 128-bit product of two words."""
    a_high, a_low = a >> HALF_WORD, a & LOW_HALF
    b_high, b_low = b >> HALF_WORD, b & LOW_HALF
    middle = a_high * b_low + ((a_low * b_low) >> HALF_WORD)
    other = a_low * b_high + (middle & LOW_HALF)
    return a_high * b_high + (middle >> HALF_WORD) + (other >> HALF_WORD)


@exact_part
def leading_zeros(word: Any) -> Any:
    """Give the number of zero bits above the highest one of a word that is not zero."""
    count = np.uint64(0)
    for step in (np.uint64(32), np.uint64(16), np.uint64(8), np.uint64(4), np.uint64(2), ONE):
        if word >> (np.uint64(64) - step) == np.uint64(0):
            word <<= step
            count += step
    return count


@exact_part
def round_product(mantissa: Any, q: Any) -> Any:
    """Round mantissa·10^q through its 128 leading bits; give the double and EXACT or HARD.

    With w = mantissa·2^zeros and t from the table, floor(w·t / 2^64) = high·2^64 + low falls short
    of the true product by less than 2. Of `high`, 53 bits are kept and `rest` is rounded away.
    """
    if mantissa == np.uint64(0):
        return 0.0, EXACT
    if q < LOWEST_POWER or q > HIGHEST_POWER:
        return 0.0, HARD
    row = np.uint64(q - LOWEST_POWER)
    zeros = leading_zeros(mantissa)
    w = mantissa << zeros
    carried = high_word(w, POWER_WORDS[row, 1])
    low = w * POWER_WORDS[row, 0] + carried
    high = high_word(w, POWER_WORDS[row, 0]) + np.uint64(low < carried)
    dropped = np.uint64(10) + (high >> TOP_BIT)
    half = ONE << (dropped - ONE)
    rest = high & (half + half - ONE)
    doubtful = (rest == half - ONE and low >= NEARLY_CARRY) or (rest == half and low == 0)
    shift = np.int64(dropped) + 128 + POWER_SHIFTS[row] - np.int64(zeros)
    if doubtful or shift < LOWEST_SHIFT or shift > HIGHEST_SHIFT:
        return 0.0, HARD
    kept = np.int64(high >> dropped) + np.int64(rest >= half)
    # Kept is 2^52 or more, and that leading bit, which a double leaves out, counts the exponent up.
    bits = (np.uint64(shift - LOWEST_SHIFT) << np.uint64(DOUBLE_BITS - 1)) + np.uint64(kept)
    return np.uint64(bits).view(np.float64), EXACT


@exact_part
def convert(mantissa: Any, q: Any) -> Any:
    """Give the double nearest to mantissa·10^q and EXACT, or 0 and HARD."""
    if mantissa < LARGEST_EXACT and -LARGEST_EXACT_POWER <= q <= LARGEST_EXACT_POWER:
        number = np.float64(np.int64(mantissa))
        power = EXACT_POWERS[np.uint64(abs(q))]
        return number / power if q < 0 else number * power, EXACT
    return round_product(mantissa, q)


@exact_part
def convert_long(text: Any, first: Any, q: Any, digits: Any) -> Any:
    """Convert a number of more than 19 significant digits, which is m.…·10^q with 19 in m.

    It lies between m·10^q and (m + 1)·10^q. If both round to the same double, so does it.
    """
    mantissa = first_digits(text, first)
    q += np.int64(digits - MOST_DIGITS)
    below, kind = round_product(mantissa, q)
    above, other_kind = round_product(mantissa + ONE, q)
    return below, EXACT if kind == other_kind == EXACT and below == above else HARD


@exact_part
def read_number(text: Any, start: Any) -> Any:
    """Read the number at `start`; give its value, the position after it and what was found."""
    negative = text[start] == MINUS
    first = start + ONE if negative or text[start] == PLUS else start
    mantissa, i = read_digits(text, first, np.uint64(0))
    digits = i - first
    q = np.int64(0)
    if text[i] == POINT:
        point = i
        mantissa, i = read_digits(text, point + ONE, mantissa)
        fraction = i - point - ONE
        digits += fraction
        q = -np.int64(fraction)
    if digits == np.uint64(0):
        return 0.0, i, MALFORMED
    if text[i] | LOWER_CASE == EXPONENT:
        exponent, i, found = read_exponent(text, i + ONE)
        if not found:
            return 0.0, i, MALFORMED
        q += exponent
    if digits > MOST_DIGITS:
        digits = significant_digits(text, first, digits)
    if digits > MOST_DIGITS:
        value, kind = convert_long(text, first, q, digits)
    else:
        value, kind = convert(mantissa, q)
    return -value if negative else value, i, kind
